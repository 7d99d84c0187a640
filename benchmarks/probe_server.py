"""An MCP server for the bench: a small answer, and answers as large as one message may be."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer

server = MCPServer("bench", log_level="ERROR")

MEGABYTES = 16


@server.tool(structured_output=False)
def small(word: str) -> str:
    """Give the word back."""
    return f"{word} it is"


@server.tool(structured_output=False)
def text() -> str:
    """Give 16 MB of text."""
    line = 'row {:07d}: "quoted", naïve and a little longer, as lines of a log are\n'
    size = len(line.format(0).encode()) + 3  # what the quotes and the end of line add in JSON
    return "".join(line.format(number) for number in range(MEGABYTES * 1_000_000 // size))


@server.tool(structured_output=False)
def unused() -> dict[str, Any]:
    """Be one more tool."""
    return {}


if __name__ == "__main__":
    server.run()
