"""A server without the SDK that does what the first word of the file FAULT says, and works when there is none.

Words that end in ``_start`` count when it starts, the others when its tool ``work`` is called. PIDS gets every pid.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import peer

FAULT = Path(os.environ["FAULT"])
PIDS = Path(os.environ["PIDS"])
SLEEPER = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
OTHER = ({"name": "work", "inputSchema": {"type": "object"}}, {"name": "ping", "inputSchema": {"type": "object"}})


def fault():
    return FAULT.read_text().strip() if FAULT.exists() else ""


def note(pid):
    with PIDS.open("a") as file:
        file.write(f"{pid}\n")


def helper(**how):
    note(subprocess.Popen([sys.executable, "-S", "-c", SLEEPER], **how).pid)


def out(raw):
    sys.stdout.buffer.write(raw)
    sys.stdout.buffer.flush()


def begin(word):  # noqa: C901 - a table
    match word:
        case "exit_start":
            print("GITHUB_TOKEN is not set", file=sys.stderr)
            sys.exit(1)
        case "module_start":
            print("Traceback\nModuleNotFoundError: No module named 'tools'", file=sys.stderr)
            sys.exit(1)
        case "usage_start":
            print("usage: srv [-h]\nsrv: error: unrecognized arguments: --x", file=sys.stderr)
            sys.exit(2)
        case "quiet_start":
            sys.exit(0)
        case "mute_start":
            sys.stdin.read()
        case "page_start":
            out(b"<!doctype html>\n<title>hello</title>\n")
            sys.stdin.read()
        case "lsp_start":
            out(b"Content-Length: 2\r\n\r\n{}")
            sys.stdin.read()
        case "http_start":
            out(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            sys.stdin.read()
        case "refuse_start":
            for message in peer.incoming():
                peer.refuse(message, -32601, "Method not found")
        case "slow_start":
            time.sleep(0.3)
        case "banner_start":
            out(b'Welcome!\n\xff\xfe\x00\n{"half\n')
        case "probe_start":
            exit_at_probe()
        case "flood_start":
            sys.stderr.write("noise " * 200_000)
            sys.stderr.flush()
        case "child_start":
            helper()
        case "session_start":
            helper(start_new_session=True)
        case "stubborn_start":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            helper()


def exit_at_probe():
    plain = peer.incoming

    def incoming():
        for message in plain():
            if message.get("method") == "server/discover":
                sys.exit("unknown method")
            yield message

    peer.incoming = incoming


def on_call(request):  # noqa: C901 - a table
    word = fault() if request.get("params", {}).get("name") == "work" else ""
    if request.get("method") != "tools/call":
        return
    match word:
        case "die":
            print("out of memory", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        case "leave":
            os._exit(3)
        case "hang":
            return
        case "beat":
            token = request["params"]["_meta"]["progressToken"]
            for step in range(50):
                params = {"progressToken": token, "progress": step}
                peer.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
                time.sleep(0.05)
            return
        case "huge":
            out(b'{"jsonrpc":"2.0","id":%d,"result":"' % request["id"] + b"x" * 17_000_000 + b'"}\n')
        case "endless":
            out(b"y" * 34_000_000 + b"\n")
            peer.answer(request, peer.text("worked"))
        case "glued":
            out(b"loading...")
            peer.answer(request, peer.text("worked"))
        case "bytes":
            out(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"w\xff"}]}}\n' % request["id"])
        case "refuse":
            peer.refuse(request, -32603, "the disk is full")
        case "stranger":
            peer.answer({"id": 9999}, peer.text("not yours"))
            peer.answer(request, peer.text("worked"))
        case "closed":
            os.close(1)
            time.sleep(60)
        case _:
            peer.answer(request, peer.text("worked"))


if __name__ == "__main__":
    note(os.getpid())
    begin(fault())
    peer.serve(on_call, tools=list(OTHER))
