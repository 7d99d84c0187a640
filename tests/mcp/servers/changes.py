"""A server that gets a new tool at its first call and says so."""

import peer

names = ["grow"]


def on_call(request):
    if "id" in request:
        names.append(f"grown_{len(names)}")
        peer.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        peer.answer(request, peer.text("grown"))


peer.serve(
    on_call,
    tools=lambda request: {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]},
    capabilities={"tools": {"listChanged": True}},
)
