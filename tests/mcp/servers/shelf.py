"""A server on the official SDK with things to read: text, a picture, a template, values for arguments, changes."""

import base64

from mcp_types import Completion, PromptReference
from official import Context, MCPServer
from plain import PNG

server = MCPServer("shelf", log_level="ERROR")
NOTE = ["first"]
AUTHORS = ["ada", "alan", "barbara"]


@server.resource("note://today", name="today", description="What is to be done.", mime_type="text/plain")
def today() -> str:
    return NOTE[-1]


@server.resource("note://pixel", name="pixel", mime_type="text/html")
def pixel() -> bytes:
    return PNG


@server.resource("note://blob", name="blob", mime_type="image/png")
def blob() -> bytes:
    return b"\x00\x01\x02"


@server.resource("note://big", name="big", mime_type="text/plain")
def big() -> str:
    return "x" * 400_000


@server.resource("note://{author}/{title}", name="by author", mime_type="text/plain")
def by_author(author: str, title: str) -> str:
    return f"{title} by {author}"


@server.prompt()
def review(author: str, title: str = "") -> str:
    """Review a note."""
    return f"Review {title} by {author}."


@server.completion()
async def complete(ref, argument, context):
    known = context.arguments if context is not None and context.arguments else {}
    if argument.name == "author":
        return Completion(values=[name for name in AUTHORS if name.startswith(argument.value)])
    if argument.name == "title" and known.get("author"):
        kind = "prompt" if isinstance(ref, PromptReference) else "note"
        return Completion(values=[f"{kind}-of-{known['author']}"])
    return None


@server.tool()
async def write(text: str, ctx: Context) -> str:
    """Write the note of today."""
    NOTE.append(text)
    await ctx.notify_resource_updated("note://today")
    return base64.b64encode(text.encode()).decode()


@server.tool()
async def lend(ctx: Context) -> str:
    """Put one more note on the shelf."""
    server.resource("note://lent", name="lent")(lambda: "lent")
    await ctx.notify_resources_changed()
    return "lent"


if __name__ == "__main__":
    server.run()
