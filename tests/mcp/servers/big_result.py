"""A server on the official SDK with results of any size."""

from official import MCPServer

server = MCPServer("big", log_level="ERROR")


@server.tool(structured_output=False)
def big(megabytes: int) -> str:
    """Return that many megabytes."""
    return "x" * (megabytes * 1_000_000)


if __name__ == "__main__":
    server.run()
