"""A person's own program on the terminal: who gets Ctrl-C meanwhile."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
from collections.abc import Callable, Generator
from types import FrameType

from harness_tui.core.record import record


@record
class ForegroundProgram:
    """A program that has the terminal."""

    process: subprocess.Popen[bytes]


@contextlib.contextmanager
def catching_interrupts() -> Generator[None]:
    """Let Ctrl-C and Ctrl-\\ do nothing here while a program is started, which gets them as usual.

    A disposition that is ignored would be inherited; one that is caught is not, so that there is no moment in which a
    key that is meant for the program ends us.
    """
    with _handled_by(lambda _number, _frame: None):
        yield


@contextlib.contextmanager
def ignoring_interrupts() -> Generator[None]:
    """Leave Ctrl-C and Ctrl-\\ to the program, once it has started."""
    with _handled_by(signal.SIG_IGN):
        yield


@contextlib.contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> Generator[None]:
    """A no-op outside the main thread, which cannot set handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, former in before.items():
            if former is not None:
                signal.signal(number, former)
