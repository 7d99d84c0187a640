"""A quick and well-behaved handshake-era server: ``work`` says a word or the value of a variable, ``fail`` fails."""

import os

import peer

TOOLS = [
    {
        "name": "work",
        "description": "Says a word.",
        "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}, "variable": {"type": "string"}}},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "fail", "inputSchema": {"type": "object"}},
]


def on_call(request):
    match request:
        case {"method": "tools/call", "params": {"name": "fail"}}:
            peer.answer(request, peer.text("the disk is full", isError=True))
        case {"method": "tools/call", "params": {"arguments": {"variable": name}}}:
            peer.answer(request, peer.text(os.environ.get(name, "(unset)")))
        case {"method": "tools/call", "params": {"arguments": arguments}}:
            peer.answer(request, peer.text(arguments.get("word", "worked")))
        case _:
            pass


peer.serve(on_call, tools=TOOLS)
