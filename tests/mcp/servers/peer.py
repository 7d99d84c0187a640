"""A server without the SDK, for cases that must be exact on the wire. It speaks the handshake revision 2025-11-25.

With PEER_LOG set, every message that comes in is appended there, one a line.
"""

import json
import os
import sys

TOOL = {"name": "work", "description": "Works.", "inputSchema": {"type": "object", "properties": {}}}


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(request, result):
    """Answer a request; a notification gets no answer."""
    if "id" in request:
        send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def refuse(request, code, message):
    send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def incoming():
    """Yield the messages that come in, until the input ends."""
    log = os.environ.get("PEER_LOG")
    for line in sys.stdin:
        if log:
            with open(log, "a", encoding="utf-8") as file:
                file.write(line)
        yield json.loads(line)


def serve(on_call, tools=None, capabilities=None, on_initialize=lambda message: None):
    """Answer the handshake and listings; ``on_call(request)`` sees to tool calls and to all else that comes in."""
    for message in incoming():
        method = message.get("method")
        if method == "initialize":
            on_initialize(message)
            result = {
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities or {"tools": {}},
                "serverInfo": {"name": "peer", "version": "1"},
            }
            answer(message, result)
        elif method == "server/discover":
            refuse(message, -32601, "Method not found")
        elif method == "tools/list":
            listed = tools(message) if callable(tools) else {"tools": tools or [TOOL]}
            answer(message, listed)
        elif method == "ping":
            answer(message, {})
        else:
            on_call(message)
