"""Programs that will not go: each ignores polite signals, leaves its session, and beats in a file while it lives."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

_HEAD = """
import os, signal, sys, time
for number in (1, 2, 15):
    signal.signal(number, signal.SIG_IGN)
end = time.monotonic() + 40

def beat():
    with open("beats", "a") as file:
        file.write(".")
"""

PASSES_ITSELF_ON = _HEAD + textwrap.dedent("""
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        os.setsid()
        beat()
        time.sleep(0.02)
    """)
"""Is another process every twentieth of a second, in a session of its own."""

RESTART_EACH_OTHER = _HEAD + textwrap.dedent("""
    def is_alive(pid):
        try:
            return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False

    def watch(other):
        while time.monotonic() < end:
            if not other or not is_alive(other):
                own = os.getpid()
                other = os.fork()
                if not other:
                    os.setsid()
                    watch(own)
            beat()
            time.sleep(0.01)
        os._exit(0)

    watch(0)
    """)
"""Two processes, each of which starts the other one again when it has ended."""

MANY = _HEAD + textwrap.dedent("""
    for number in range(100):
        if not os.fork():
            os.setsid()
            if number % 2 and os.fork():
                os._exit(0)
            while time.monotonic() < end:
                beat()
                time.sleep(0.1)
            os._exit(0)
    time.sleep(40)
    """)
"""A hundred processes in sessions of their own, half of them orphans."""

ALL = {"passes itself on": PASSES_ITSELF_ON, "restart each other": RESTART_EACH_OTHER, "many": MANY}


def beats(folder: Path) -> int:
    """Return how often a program in ``folder`` has beaten."""
    file = folder / "beats"
    return file.stat().st_size if file.exists() else 0


def is_quiet(folder: Path) -> bool:
    """Tell whether nothing beats any more: each of them would several times in this while, also on a busy machine."""
    before = beats(folder)
    time.sleep(0.7)
    return beats(folder) == before
