"""Harness inside editors: the Agent Client Protocol on standard input and output.

Built on the package ``agent-client-protocol`` (module ``acp``), which is imported when a connection is served.
"""
