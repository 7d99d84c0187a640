"""A handshake-era server that asks while it is called: ``form`` and ``page`` ask once, ``can`` says what we can.

What was answered is the result of the call. ASKED_SCHEMA replaces the form.
"""

import json
import os

import peer

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2},
        "age": {"type": "integer", "minimum": 0},
        "colour": {"type": "string", "enum": ["red", "green"], "default": "green"},
        "mail": {"type": "string", "format": "email", "pattern": "(a+)+$"},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
    },
    "required": ["name"],
}
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("form", "page", "can")]
CALLS = {}
CAN = {}


def on_call(message):
    match message:
        case {"method": "tools/call", "params": {"name": "can"}}:
            peer.answer(message, peer.text(json.dumps(CAN)))
        case {"method": "tools/call", "id": number, "params": {"name": name, "arguments": arguments}}:
            asked = f"ask-{number}"
            CALLS[asked] = message
            url = {"mode": "url", "message": "Log in \x1b[2J", "url": arguments.get("url", ""), "elicitationId": asked}
            schema = json.loads(os.environ["ASKED_SCHEMA"]) if "ASKED_SCHEMA" in os.environ else FORM
            form = {"mode": "form", "message": "Who are you?", "requestedSchema": schema}
            params = url if name == "page" else form
            peer.send({"jsonrpc": "2.0", "id": asked, "method": "elicitation/create", "params": params})
        case {"id": str(asked), "result": result}:
            peer.answer(CALLS[asked], peer.text(json.dumps(result)))
        case {"id": str(asked), "error": error}:
            peer.answer(CALLS[asked], peer.text(f"refused: {error['message']}", isError=True))
        case _:
            pass


def begin(message):
    CAN.update(message["params"]["capabilities"])


peer.serve(on_call, tools=TOOLS, on_initialize=begin)
