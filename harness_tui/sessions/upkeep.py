"""Keeps recorded sessions within their room: what is removed, in which order, and what never is.

Never touched: sessions that a living process has open, pinned ones, the ancestors of both (a subagent's session goes
with the session that it worked for, and only so), and the session that changed last.

A closed session above its own limit loses what is kept beside its record (large outputs, images that servers sent),
oldest file first, then the deltas of its answers, whose whole text is recorded too. Above the limit for all, whole
sessions go, the one that changed longest ago first. Contents that nothing names any more go with them.
"""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.events import ReasoningDelta, TextDelta, ToolProgress
from harness_tui.core.limits import MIB
from harness_tui.core.record import record
from harness_tui.sessions import locks
from harness_tui.sessions.blobs import BlobStore
from harness_tui.sessions.index import SessionInfo, folder_bytes
from harness_tui.sessions.store import SessionStore

ROOM_LEFT: Final = 0.9
"""Removing goes on until this part of a limit is reached, so that the next session does not start it again."""

_MARGIN_S: Final = 0.1
_REDUNDANT: Final = (TextDelta.type, ReasoningDelta.type, ToolProgress.type)


@record
class Limits:
    """Bytes; 0 sets no limit."""

    total: int
    session: int


@dataclass(slots=True)
class Cleaned:
    """What was done: sessions that were removed or made smaller, and what is still above its limit."""

    removed: int = 0
    slimmed: int = 0
    freed: int = 0
    above: int = 0

    @property
    def text(self) -> str:
        """Say it to a person; empty when nothing was done and nothing has to be."""
        parts: list[str] = []
        if self.removed:
            parts.append(f"removed {_count(self.removed, 'session')} that changed longest ago")
        if self.slimmed:
            parts.append(f"removed kept outputs of {_count(self.slimmed, 'session')} above the limit for one")
        said = " and ".join(parts)
        if said:
            said += f", {self.freed / MIB:.1f} MiB in all"
        if self.above:
            said += f"{'; ' if said else ''}sessions still take {self.above / MIB:.1f} MiB more than their limit: those"
            said += " that are open, pinned or the latest are not removed"
        return said


def tidy(store: SessionStore, blobs: BlobStore, limits: Limits) -> Cleaned:
    """Bring sessions within ``limits`` and return what was done. Does file work, and may take seconds."""
    made = Cleaned()
    if limits.session:
        _slim(store, limits.session, made)
    size = total_bytes(store, blobs)
    if limits.total and size > limits.total:
        shrink(store)  # the log of the database, and its free pages, hold nothing that would have to be removed
        size = total_bytes(store, blobs)
    if limits.total and size > limits.total:
        _remove_oldest(store, blobs, limits.total, size, made)
    return made


def total_bytes(store: SessionStore, blobs: BlobStore) -> int:
    """Return what all sessions take on disk: the database with its log, kept outputs, kept contents of files."""
    path = store.database.path
    files = (path, path.with_name(path.name + "-wal"))
    size = sum(_size(file) for file in files)
    return size + folder_bytes(path.parent / "sessions") + folder_bytes(blobs.folder)


def sweep_contents(store: SessionStore, blobs: BlobStore) -> int:
    """Remove contents of files that no session's record names any more; return the bytes freed.

    While a session is open, what was put a short while ago stays: its record may be about to name it.
    """
    begun = time.time()
    with store.database.read() as connection:
        live = locks.live_sessions(connection)
        rows = connection.execute("SELECT json FROM events WHERE type = 'file_changed'").fetchall()
    named: set[str] = set()
    for (text,) in rows:
        with contextlib.suppress(ValueError, AttributeError):
            data = json.loads(text)
            named.update(key for key in (data.get("before"), data.get("after")) if isinstance(key, str))
    return blobs.sweep(named) if live else blobs.sweep(named, older_than=time.time() - begun + _MARGIN_S)


def _slim(store: SessionStore, limit: int, made: Cleaned) -> None:
    for info in store.list():
        if info.bytes <= limit or info.live or info.pinned:
            continue
        freed = _remove_files(store.folder(info.session), info.bytes - int(limit * ROOM_LEFT))
        if info.bytes - freed > limit:
            freed += _remove_deltas(store, info.session)
        if freed:
            made.slimmed += 1
            made.freed += freed


def _remove_files(folder: Path, wanted: int) -> int:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()] if folder.is_dir() else []
    freed = 0
    for path in sorted(files, key=lambda path: (path.stat().st_mtime_ns, path.name)):
        if freed >= wanted:
            break
        size = _size(path)
        with contextlib.suppress(OSError):
            path.unlink()
            freed += size
    return freed


def _remove_deltas(store: SessionStore, session: str) -> int:
    marks = ",".join("?" * len(_REDUNDANT))
    where = f"WHERE session = ? AND type IN ({marks})"
    with store.database.write() as connection:
        if locks.holder_of(connection, session) is not None:
            return 0
        (size,) = connection.execute(
            f"SELECT coalesce(sum(length(CAST(json AS BLOB))), 0) FROM events {where}", (session, *_REDUNDANT)
        ).fetchone()
        connection.execute(f"DELETE FROM events {where}", (session, *_REDUNDANT))
        connection.execute("UPDATE sessions SET bytes = max(0, bytes - ?) WHERE id = ?", (size, session))
    return int(size)


def _remove_oldest(store: SessionStore, blobs: BlobStore, limit: int, size: int, made: Cleaned) -> None:
    goal, start = int(limit * ROOM_LEFT), size
    waiting = _removable(store)
    while size > goal and waiting:
        expected = size
        while waiting and expected > goal:
            info = waiting.pop(0)
            with contextlib.suppress(HarnessError):  # it was opened, or removed, in the meantime
                store.delete(info.session)
                made.removed += 1
                expected -= info.bytes
        sweep_contents(store, blobs)
        shrink(store)
        size = total_bytes(store, blobs)  # what several of them shared was counted in each
    made.freed += max(0, start - size)
    made.above = max(0, size - limit)


def _removable(store: SessionStore) -> list[SessionInfo]:
    """Return the sessions that may go, the one that changed longest ago first; each takes its subagents' along."""
    infos = {info.session: info for info in store.list()}
    kept = {info.session for info in infos.values() if info.live or info.pinned}
    tops = [info for info in infos.values() if info.parent is None or info.parent.session not in infos]
    kept.update(info.session for info in sorted(tops, key=lambda info: info.updated)[-1:])
    for session in tuple(kept):
        parent = infos[session].parent
        while parent is not None and parent.session in infos and parent.session not in kept:
            kept.add(parent.session)
            parent = infos[parent.session].parent
    return [info for info in sorted(tops, key=lambda info: info.updated) if info.session not in kept]


def shrink(store: SessionStore) -> None:
    """Give free pages of the database back to the disk, as far as other processes let us."""
    with contextlib.suppress(HarnessError), store.database.write_alone() as connection:
        if connection.execute("PRAGMA auto_vacuum").fetchone() == (0,):
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("VACUUM")
        else:
            # Not ``execute``: it takes one step only, which is one page, because no step returns a column.
            connection.executescript("PRAGMA incremental_vacuum")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number > 1 else ''}"
