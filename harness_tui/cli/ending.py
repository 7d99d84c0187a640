"""How a verb ends at a signal: from its first import on, and when it ends already and is asked again.

While an event loop runs, ``common.run_async`` takes signals. Before and after it these handlers do.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Final, NoReturn

INTERRUPTED: Final = 130
"""The exit code of what a signal ended."""


def end_at_signals() -> None:
    """Let SIGTERM and SIGHUP interrupt as SIGINT does. What is ignored stays ignored: ``nohup``."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def end_at_once_from_now_on() -> None:
    """The work has been interrupted in order; a further signal ends what is left of the program without a word."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)


def _leave(_number: int, _frame: object) -> None:
    leave(INTERRUPTED)


def leave(code: int) -> NoReturn:
    """End the process without waiting for a thread that is stuck, such as one that writes what nobody reads."""
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(code)
