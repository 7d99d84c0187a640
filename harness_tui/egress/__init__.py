"""Network policy and the one HTTP client: ``egress.Egress`` is the entry.

Importing the package or ``egress.egress`` imports no HTTP library; the first client does, in a thread.
"""
