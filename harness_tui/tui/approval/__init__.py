"""Requests to a person: approvals, questions and forms, in the place of the prompt."""
