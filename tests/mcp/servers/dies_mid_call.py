"""A server on the official SDK that is killed inside its tool. COUNTER counts the calls; after DEATHS it lives."""

import os
import signal
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("dying", log_level="ERROR")
counter = Path(os.environ["COUNTER"])


@server.tool()
def work() -> str:
    """Work until it is too much."""
    calls = len(counter.read_text()) + 1 if counter.exists() else 1
    counter.write_text("x" * calls)
    if calls <= int(os.environ.get("DEATHS", "1000")):
        print("out of memory", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return f"call {calls} by {os.getpid()}"


if __name__ == "__main__":
    server.run()
