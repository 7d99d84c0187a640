"""A server with good tools, bad tools, and results with odd parts."""

import peer

TOOLS = [
    {
        "name": "good",
        "description": "Good.",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
    },
    {"name": "no type", "inputSchema": {}},
    {"name": "no_schema"},
    {"name": "text_schema", "inputSchema": "object"},
    {"name": "array_schema", "inputSchema": {"type": "array"}},
    {"name": "bad_hints", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": "perhaps"}},
    {"description": "nameless", "inputSchema": {"type": "object"}},
    "not an object",
    {"name": "good", "description": "The second one.", "inputSchema": {"type": "object"}},
    {"name": "promises", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "required": ["x"]}},
]

ODD = {
    "content": [
        {"type": "text", "text": "readable", "annotations": {"priority": 7}},
        {"type": "hologram", "data": "x"},
        {"type": "image", "data": "AAAA"},
        "bare",
    ]
}


def on_call(request):
    if request.get("method") == "tools/call":
        peer.answer(request, ODD if request["params"]["name"] == "good" else peer.text("no structure"))


peer.serve(on_call, tools=TOOLS)
