"""A person's own program on the terminal: who gets Ctrl-C meanwhile."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
from collections.abc import Generator

from harness_tui.core.record import record


@record
class ForegroundProgram:
    """A program that has the terminal."""

    process: subprocess.Popen[bytes]


@contextlib.contextmanager
def ignoring_interrupts() -> Generator[None]:
    """Leave Ctrl-C and Ctrl-\\ to the program; a no-op outside the main thread, which cannot set handlers."""
    # After the start, so that the program itself does not inherit the disposition.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
