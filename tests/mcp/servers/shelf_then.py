"""A handshake-era server with one resource that can be subscribed to; ``write`` changes it, ``told`` who subscribed."""

import json

import peer

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("write", "told")]
NOTE = ["first"]
SUBSCRIBED = []


def on_call(message):
    match message:
        case {"method": "resources/list"}:
            listed = [{"uri": "note://today", "name": "today"}, {"uri": "note://lost", "name": "lost"}]
            peer.answer(message, {"resources": listed})
        case {"method": "resources/templates/list"}:
            peer.refuse(message, -32601, "Method not found")
        case {"method": "resources/read", "params": {"uri": "note://today"}}:
            peer.answer(message, {"contents": [{"uri": "note://today", "text": NOTE[-1]}]})
        case {"method": "resources/read"}:
            peer.refuse(message, -32002, "Resource not found")
        case {"method": "resources/subscribe", "params": {"uri": uri}}:
            SUBSCRIBED.append(uri)
            peer.answer(message, {})
        case {"method": "tools/call", "params": {"name": "told"}}:
            peer.answer(message, peer.text(json.dumps(SUBSCRIBED)))
        case {"method": "tools/call"}:
            NOTE.append("second")
            for _ in range(3):
                changed = {"method": "notifications/resources/updated", "params": {"uri": "note://today"}}
                peer.send({"jsonrpc": "2.0", **changed})
            peer.answer(message, peer.text("written"))
        case _:
            pass


peer.serve(on_call, tools=TOOLS, capabilities={"tools": {}, "resources": {"subscribe": True, "listChanged": True}})
