"""A server on the official SDK that takes its time before it reads anything."""

import os
import time

from official import MCPServer

server = MCPServer("slow", log_level="ERROR")


@server.tool()
def work() -> str:
    """Work."""
    return "worked"


if __name__ == "__main__":
    time.sleep(float(os.environ.get("DELAY", "2")))
    server.run()
