"""The one gate: rules in layers, protected names, approvals, and the explanation of a decision."""
