"""Whether what is called is what was shown: a manifest may be old, and a server may change its mind."""

from __future__ import annotations

from harness_tui.mcp.listing import Listing
from harness_tui.mcp.reasons import CallError


def require_offered(listing: Listing | None, server: str, tool: str, fingerprint: str | None) -> None:
    """Raise ``CallError`` unless ``server`` has ``tool``, with ``fingerprint`` only as it was decided on."""
    where = f"MCP server {server}"
    definition = listing.tool(tool) if listing is not None else None
    if definition is None:
        names = ", ".join(item.name for item in listing.tools) if listing is not None else ""
        raise CallError(f"it has no tool named {tool}", where=where, mend=f"it has: {names}" if names else None)
    if fingerprint is not None and definition.fingerprint != fingerprint:
        raise CallError(
            f"the definition of {tool} is not the one that was offered and decided on; it was not called",
            where=where,
            mend="look at the tool's present description and call it again",
        )
