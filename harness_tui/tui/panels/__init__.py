"""The side panel: diagnostics, servers and notices, skills."""
