"""The warehouse of the tour: a small MCP server on the official SDK."""

from mcp.server import MCPServer

STOCK = {"apples": 12, "pears": 5, "plums": 0}

server = MCPServer("warehouse", log_level="ERROR")


@server.tool()
def stock(item: str) -> str:
    """Return how many crates of an item lie in the warehouse."""
    if item not in STOCK:
        return f"{item}: not sold here; the shop sells {', '.join(sorted(STOCK))}"
    return f"{item}: {STOCK[item]} crates in the warehouse"


if __name__ == "__main__":
    server.run()
