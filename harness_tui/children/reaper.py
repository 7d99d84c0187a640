"""Linux: orphans of our children become ours, so that none of them is lost from sight, and none stays a zombie.

A process whose parent ended belongs to the nearest ancestor that is a child subreaper, else to the first process of the
machine. As a subreaper the shell keeps every descendant below itself, and has to take their status when they end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection
from typing import Final

_SET_CHILD_SUBREAPER: Final = 36  # linux/prctl.h
_AGAIN_S: Final = 0.05
_TRIES: Final = 20


def become_subreaper() -> bool:
    """Make this process the parent of its children's orphans; tell whether that worked. Linux only."""
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        return ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False


def reap_orphans(known: Collection[int]) -> bool:
    """Take the status of ended orphans; tell whether an ended child of ours (one of ``known``) is in the way.

    What has our own session was started by code in this process, which waits for it itself: orphans of our children
    never have it, because every child leads a session of its own.
    """
    own = os.getsid(0)
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        if ended is None:
            return False
        try:
            if ended.si_pid in known or os.getsid(ended.si_pid) == own:
                return True
            os.waitpid(ended.si_pid, os.WNOHANG)
        except (ChildProcessError, ProcessLookupError):
            continue


class Reaper:
    """Reaps orphans whenever a child ends. ``known`` are the pids that somebody waits for.

    ``lock`` is held while a child is being started: its pid is not known yet. ``then`` is called under the lock after
    each look.
    """

    def __init__(self, known: Callable[[], Collection[int]], lock: threading.RLock, then: Callable[[], None]) -> None:
        self._known = known
        self._lock = lock
        self._then = then
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._tries = 0

    def watch(self) -> None:
        """Begin to look after orphans on the running loop; a no-op where signals cannot be handled."""
        if sys.platform != "linux" or self._loop is not None:
            return
        if threading.current_thread() is not threading.main_thread():
            return
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGCHLD, self._child_ended)
            self._loop = loop

    def close(self) -> None:
        """Stop watching, after a last look."""
        self.reap()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop, self._loop = self._loop, None
        if loop is not None and not loop.is_closed() and threading.current_thread() is threading.main_thread():
            loop.remove_signal_handler(signal.SIGCHLD)

    def reap(self) -> bool:
        """Reap what there is now; tell whether something has to be looked at again."""
        if sys.platform != "linux":
            return False
        if not self._lock.acquire(blocking=False):
            return True
        try:
            self._then()
            return reap_orphans(self._known())
        finally:
            self._lock.release()

    def _child_ended(self) -> None:
        self._tries = _TRIES
        self._look()

    def _look(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._tries -= 1
        if self.reap() and self._tries > 0 and self._loop is not None:
            self._timer = self._loop.call_later(_AGAIN_S, self._look)
