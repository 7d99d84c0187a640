"""The only place that starts processes: whatever runs belongs to a registry, and ends with it."""
