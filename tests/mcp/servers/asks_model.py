"""A handshake-era server that wants the client's model: ``sample`` hands its arguments on, ``nag`` asks COUNT times.

What came back is the result of the call; ``can`` says what the client can, ``roots`` what it lets see.
"""

import json

import peer

FORM = {"type": "object", "properties": {"x": {"type": "string"}}}
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("sample", "nag", "can", "roots")]
CALLS = {}
CAN = {}
COUNTS = {}


def ask(number, method, params):
    peer.send({"jsonrpc": "2.0", "id": f"ask-{number}", "method": method, "params": params})


def on_call(message):
    match message:
        case {"method": "tools/call", "params": {"name": "can"}}:
            peer.answer(message, peer.text(json.dumps(CAN)))
        case {"method": "tools/call", "id": number, "params": {"name": name, "arguments": arguments}}:
            CALLS[f"ask-{number}"] = message
            if name == "nag":
                COUNTS[f"ask-{number}"] = [arguments["count"], {}]
                ask(number, "elicitation/create", {"mode": "form", "message": "x?", "requestedSchema": FORM})
            else:
                ask(number, "roots/list" if name == "roots" else "sampling/createMessage", arguments)
        case {"id": str(asked), "result": {"action": action}} if asked in COUNTS:
            left, seen = COUNTS[asked]
            seen[action] = seen.get(action, 0) + 1
            COUNTS[asked][0] = left - 1
            if left > 1:
                form = {"mode": "form", "message": "x?", "requestedSchema": FORM}
                ask(asked.removeprefix("ask-"), "elicitation/create", form)
            else:
                peer.answer(CALLS[asked], peer.text(json.dumps(seen)))
        case {"id": str(asked), "result": result}:
            peer.answer(CALLS[asked], peer.text(json.dumps(result)))
        case {"id": str(asked), "error": error}:
            peer.answer(CALLS[asked], peer.text(f"{error['code']}: {error['message']}", isError=True))
        case _:
            pass


def begin(message):
    CAN.update(message["params"]["capabilities"])


peer.serve(on_call, tools=TOOLS, on_initialize=begin)
