"""A server that is killed inside its tool. COUNTER counts the calls; after DEATHS of them it lives."""

import os
import signal
import sys
from pathlib import Path

import peer

counter = Path(os.environ["COUNTER"])


def on_call(request):
    if request.get("method") != "tools/call":
        return
    calls = len(counter.read_text()) + 1 if counter.exists() else 1
    counter.write_text("x" * calls)
    if calls <= int(os.environ.get("DEATHS", "1000")):
        print("out of memory", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    peer.answer(request, peer.text(f"call {calls} by {os.getpid()}"))


peer.serve(on_call)
