"""A server whose tool ``hang`` never returns, unless cancelled, and answers late even then; ``work`` works."""

import peer

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("hang", "work", "beat")]


def on_call(request):
    match request:
        case {"method": "notifications/cancelled", "params": {"requestId": cancelled}}:
            peer.answer({"id": cancelled}, peer.text("too late"))
        case {"method": "tools/call", "params": {"name": "work"}}:
            peer.answer(request, peer.text("worked"))
        case _:
            pass


peer.serve(on_call, tools=TOOLS)
