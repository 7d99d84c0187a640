"""Which process a live session belongs to.

A process is known by its id together with its start time, so that a lock of a dead process is never taken for that of
a later one with the same id. Nothing has to be cleaned up after a ``kill -9``.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from functools import lru_cache
from pathlib import Path

from harness_tui.core.errors import HarnessError
from harness_tui.core.record import record


@record
class Holder:
    """A process: ``started`` is its start time in a form that is only compared for equality."""

    pid: int
    started: str


def started(pid: int) -> str | None:
    """Return the start time of process ``pid``, ``None`` when there is none (or it only waits to be reaped)."""
    if sys.platform == "linux":
        return _started_linux(pid)
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else f"{process.create_time():.2f}"
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:
        return "unknown"


def _started_linux(pid: int) -> str | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The name in brackets may hold anything; the fields after it count from 3.
    fields = text.rpartition(")")[2].split()
    state, ticks = fields[0], fields[19]
    return None if state in ("Z", "X") else f"{_boot()}:{ticks}"


@lru_cache(maxsize=1)
def _boot() -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return "boot"


def this_process() -> Holder:
    """Return the process that asks."""
    pid = os.getpid()
    return Holder(pid, started(pid) or "unknown")


def is_alive(holder: Holder) -> bool:
    """Tell whether the process of ``holder`` still runs."""
    return started(holder.pid) == holder.started


def holder_of(connection: sqlite3.Connection, session: str) -> Holder | None:
    """Return the living process that holds ``session``, ``None`` when nobody does."""
    row = connection.execute("SELECT pid, started FROM locks WHERE session = ?", (session,)).fetchone()
    if row is None:
        return None
    holder = Holder(int(row[0]), str(row[1]))
    return holder if is_alive(holder) else None


def take(connection: sqlite3.Connection, session: str) -> bool:
    """Take the lock of ``session`` for this process inside a write; false when a living process holds it."""
    if holder_of(connection, session) is not None:
        return False
    mine = this_process()
    connection.execute("INSERT OR REPLACE INTO locks VALUES (?, ?, ?)", (session, mine.pid, mine.started))
    return True


def give_back(connection: sqlite3.Connection, session: str) -> bool:
    """Give the lock back where it is this process's, and tell whether it was; another's is left alone."""
    mine = this_process()
    found = connection.execute(
        "DELETE FROM locks WHERE session = ? AND pid = ? AND started = ?", (session, mine.pid, mine.started)
    )
    return found.rowcount > 0


def live_sessions(connection: sqlite3.Connection) -> set[str]:
    """Return the sessions that a living process holds."""
    rows = connection.execute("SELECT session, pid, started FROM locks").fetchall()
    return {str(row[0]) for row in rows if is_alive(Holder(int(row[1]), str(row[2])))}


def live_error(session: str, holder: Holder | None) -> HarnessError:
    """Return the error that a session is open, and where."""
    who = f" by process {holder.pid}" if holder is not None else ""
    return HarnessError(
        f"the session is open{who}",
        where=session,
        mend=f"close it there first; 'harness sessions show {session}' reads it, and 'sessions fork' copies it",
        code="live",
    )
