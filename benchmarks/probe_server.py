"""An MCP server for the bench: a small answer, and answers as large as one message may be.

With TOOLS in the environment it has that many tools more.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from mcp.server import MCPServer

server = MCPServer("bench", log_level="ERROR")

MEGABYTES = 16


@server.tool(structured_output=False)
def small(word: str) -> str:
    """Give the word back."""
    return f"{word} it is"


@server.tool(structured_output=False)
async def slow(word: str) -> str:
    """Give the word back after a twentieth of a second."""
    await asyncio.sleep(0.05)
    return word


@server.tool(structured_output=False)
def text(megabytes: int = MEGABYTES) -> str:
    """Give text, 16 MB where nothing else is said."""
    line = 'row {:07d}: "quoted", naïve and a little longer, as lines of a log are\n'
    size = len(line.format(0).encode()) + 3  # what the quotes and the end of line add in JSON
    return "".join(line.format(number) for number in range(megabytes * 1_000_000 // size))


@server.tool(structured_output=False)
def unused() -> dict[str, Any]:
    """Be one more tool."""
    return {}


for number in range(int(os.environ.get("TOOLS", "0"))):
    server.add_tool(small, name=f"step_{number:04d}", description=f"Does step {number} of the work.")

if __name__ == "__main__":
    server.run()
