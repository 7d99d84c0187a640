"""A server that lists its tools in pages; with ENDLESS=1 the pages repeat for ever."""

import os

import peer


def page(request):
    cursor = request.get("params", {}).get("cursor", "0")
    number = int(cursor)
    tools = [{"name": f"tool_{number}", "inputSchema": {"type": "object"}}]
    if os.environ.get("ENDLESS"):
        return {"tools": tools, "nextCursor": str((number + 1) % 3)}
    return {"tools": tools, "nextCursor": str(number + 1)} if number < 2 else {"tools": tools}


peer.serve(lambda request: None, tools=page)
