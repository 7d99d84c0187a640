"""A well-behaved server on the official SDK."""

import asyncio
import base64
import os

from official import Context, Image, MCPServer, ToolAnnotations, ToolError

server = MCPServer("plain", instructions="Be kind.", log_level="ERROR")
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@server.tool()
def fail() -> str:
    """Always fail."""
    raise ToolError("the disk is full")


@server.tool()
def picture() -> list[str | Image]:
    """Return a picture with a caption."""
    return ["one pixel", Image(data=PNG, format="png")]


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Count, and report each step."""
    for step in range(1, to + 1):
        await ctx.report_progress(step, to, f"step {step}")
        await asyncio.sleep(0.15)
    return f"counted to {to}"


@server.tool()
def environment(name: str) -> str:
    """Return an environment variable."""
    return os.environ.get(name, "(unset)")


@server.prompt()
def greet(who: str) -> str:
    """Greet somebody."""
    return f"Say hello to {who}."


if __name__ == "__main__":
    server.run()
