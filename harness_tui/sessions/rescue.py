"""What happens to a damaged database: kept aside byte for byte, and what can be read goes into a new one.

SQLite stops at the first damaged page. Here each table is read around such pages, by the numbers of its rows; what lies
below a page that was lost is looked for in the file itself (``carving``). A session whose own row was lost is made anew
from its events. The damaged file is copied, together
with its ``-wal`` and ``-shm``, before SQLite closes it, which would write into it; it is read from another copy.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from harness_tui.core.paths import make_private_folder
from harness_tui.core.record import record
from harness_tui.sessions import packing
from harness_tui.sessions.carving import carve
from harness_tui.sessions.damage import MAGIC
from harness_tui.sessions.tables import RESERVE

FOLDER: Final = "damaged"
"""Where damaged databases are kept, beside the database; the latest five of them."""

_KEPT: Final = 5
_NAMED: Final = 5
_SUFFIXES: Final = ("", "-wal", "-shm")
_TABLES: Final = ("sessions", "events", "messages", "blobs", "blob_refs", "repairs", "locks")
_PAGE: Final = 256
_ROWS: Final = 2**62
_LONGEST: Final = 64 * 1024**3
_HEAD: Final = 100


@record
class Rescued:
    """What came of it: where the damaged files are, and how many sessions and events could be read.

    ``incomplete`` are the sessions that had, or may have had, more than was found.
    """

    kept: Path
    sessions: int
    events: int
    incomplete: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Say it to a person."""
        found = (
            f"{self.sessions} sessions with {self.events} events were read from it"
            if self.sessions
            else ("nothing could be read from it")
        )
        lost = ""
        if self.incomplete:
            more = len(self.incomplete) - _NAMED
            names = ", ".join(self.incomplete[:_NAMED]) + (f" and {more} more" if more > 0 else "")
            lost = f"; parts may be missing of {names}"
        return (
            f"the session database was damaged; {found}{lost}. The damaged files are kept as they were in {self.kept}"
        )


def keep_aside(path: Path) -> Path:
    """Copy the database and its logs into the folder of damaged ones, byte for byte, and return where they are.

    Raises ``OSError``.
    """
    folder = make_private_folder(path.parent / FOLDER)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    kept = folder / stamp
    number = 1
    while kept.exists():
        number += 1
        kept = folder / f"{stamp}-{number}"
    kept.mkdir(mode=0o700)
    for suffix in _SUFFIXES:
        source = path.with_name(path.name + suffix)
        if source.exists():
            descriptor = os.open(kept / source.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as target, source.open("rb") as file:
                shutil.copyfileobj(file, target)
                target.flush()
                os.fsync(descriptor)
    for old in sorted(entry for entry in folder.iterdir() if entry.is_dir())[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    return kept


def replace_damaged(path: Path, kept: Path, set_up: Callable[[Path], None]) -> Rescued:
    """Put a new database in the place of ``path``, with what can be read of ``kept``; nobody may have it open.

    ``set_up`` makes an empty database of the present schema. Raises ``OSError`` and ``sqlite3.Error``.
    """
    with tempfile.TemporaryDirectory(prefix=".rescue-", dir=path.parent) as name:
        work = Path(name)
        for file in kept.iterdir():
            shutil.copyfile(file, work / file.name)
        new = work / f"new-{path.name}"
        set_up(new)
        events = _read_into(work / path.name, new)
        incomplete = _incomplete(new)
        sessions = _rebuild(new)
        for suffix in _SUFFIXES[1:]:  # they belong to the damaged file; to the new one they would be poison
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        os.replace(new, path)
    return Rescued(kept, sessions, events, incomplete)


def _read_into(damaged: Path, new: Path) -> int:
    """Copy every row that can be read; return how many of them are events."""
    target = sqlite3.connect(new, isolation_level=None)
    _mend_head(damaged, new)
    is_whole = False
    try:
        for source in _opened(damaged):
            target.execute("BEGIN")
            doubtful = [table for table in _TABLES if not _copy_table(source, target, table)]
            is_whole = not doubtful
            target.execute("COMMIT")
            with contextlib.suppress(sqlite3.Error):  # what is in the log belongs into the file
                source.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if not is_whole:
            target.execute("BEGIN")
            with contextlib.suppress(OSError, ValueError):  # ValueError: the file is empty
                for table, values in carve(damaged):
                    _insert(target, table, _columns(target, table)[: len(values)], values)
            target.execute("COMMIT")
        return int(target.execute("SELECT count(*) FROM events").fetchone()[0])
    finally:
        target.close()


def _copy_table(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> bool:
    """Copy what SQLite can read of a table; false when that may not be all."""
    columns = _shared_columns(source, target, table)
    if not columns:
        return False
    trouble: list[int] = []
    for row in _rows(source, table, columns, trouble):
        _insert(target, table, columns, row)
    return not trouble


def _insert(target: sqlite3.Connection, table: str, columns: Sequence[str], row: Sequence[Any]) -> None:
    marks = ",".join("?" * len(columns))
    with contextlib.suppress(sqlite3.Error):  # a value that the column does not take
        target.execute(f"INSERT OR IGNORE INTO {table} ({','.join(columns)}) VALUES ({marks})", row)


def _opened(damaged: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to the damaged file, where it can be opened at all: with its log, else without."""
    _lengthen(damaged)
    for with_log in (True, False):
        if not with_log:
            for suffix in _SUFFIXES[1:]:
                damaged.with_name(damaged.name + suffix).unlink(missing_ok=True)
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(damaged, isolation_level=None)
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error:
            if connection is not None:
                connection.close()
            continue
        try:
            yield connection
        finally:
            connection.close()
        return


def _mend_head(damaged: Path, new: Path) -> None:
    """Give a file that lost its first bytes those of a new database; its tables may be whole behind them."""
    with contextlib.suppress(OSError), damaged.open("r+b") as file, new.open("rb") as pattern:
        if file.read(len(MAGIC)) == MAGIC:
            return
        head = bytearray(pattern.read(_HEAD))
        page = int.from_bytes(head[16:18], "big")
        pages = file.seek(0, os.SEEK_END) // page
        head[18:20] = b"\1\1"  # no write-ahead log
        head[28:32] = pages.to_bytes(4, "big")
        head[32:40] = bytes(8)  # free pages are not looked for
        file.seek(0)
        file.write(head)


def _lengthen(damaged: Path) -> None:
    """Give a file that was cut off the size that it says it has: SQLite reads nothing of one that is shorter."""
    with contextlib.suppress(OSError), damaged.open("r+b") as file:
        head = file.read(100)
        page = int.from_bytes(head[16:18], "big")
        size = int.from_bytes(head[28:32], "big") * (65536 if page == 1 else page)
        # A size that is rubbish itself makes no file of terabytes.
        if head.startswith(MAGIC) and file.seek(0, os.SEEK_END) < size <= _LONGEST:
            file.truncate(size)


def _shared_columns(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> list[str]:
    try:
        there = {str(row[1]) for row in source.execute(f"PRAGMA table_info({table})")}
    except sqlite3.Error:
        return []
    return [name for name in _columns(target, table) if name in there]


def _columns(target: sqlite3.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in target.execute(f"PRAGMA table_info({table})")]


def _rows(source: sqlite3.Connection, table: str, columns: list[str], trouble: list[int]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of ``table`` in the order of their numbers, jumping over those that cannot be read.

    ``trouble`` gets the numbers at which that was so.
    """
    query = f"SELECT rowid, {','.join(columns)} FROM {table} WHERE rowid >= ? ORDER BY rowid LIMIT ?"

    def page(start: int, limit: int) -> list[tuple[Any, ...]] | None:
        try:
            return source.execute(query, (start, limit)).fetchall()
        except (sqlite3.Error, OverflowError):
            return None

    start, limit = 1, _PAGE
    while True:
        found = page(start, limit)
        if found is None and limit > 1:
            limit = 1  # up to the damaged one, one by one
            continue
        if found is None:
            trouble.append(start)
            following = _next_readable(page, start)
            if following is None:
                return
            start, limit = following, _PAGE
            continue
        for row in found:
            yield tuple(row[1:])
        if not found:
            return
        start = int(found[-1][0]) + 1


def _next_readable(page: Callable[[int, int], list[tuple[Any, ...]] | None], bad: int) -> int | None:
    """Return the first number after ``bad`` from where on rows can be read, ``None`` when there is none.

    Rows lie in pages by their numbers, so that what is readable after a damaged page begins at one number.
    """
    step = 1
    while bad + step < _ROWS:
        found = page(bad + step, 1)
        if found is not None:
            if not found:
                return None
            low, high = bad + step // 2, bad + step
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if page(middle, 1) is not None else (middle, high)
            return high
        step *= 2
    return None


def _incomplete(new: Path) -> tuple[str, ...]:
    """Return the sessions whose numbers have gaps, or that the index knows more of, before it is made to fit."""
    connection = sqlite3.connect(new)
    try:
        found = connection.execute(
            "SELECT id FROM sessions WHERE last_seq > (SELECT coalesce(max(seq), 0) FROM events WHERE session = id) "
            "OR messages > (SELECT count(*) FROM messages WHERE session = id) OR id IN (SELECT session FROM (SELECT "
            "session, CASE WHEN json_valid(json) THEN coalesce(json_extract(json, '$.first_seq'), seq) ELSE seq END - "
            "lag(seq, 1, 0) OVER (PARTITION BY session ORDER BY seq) AS step FROM events) WHERE step > 1) "
            "ORDER BY updated DESC"
        ).fetchall()
    finally:
        connection.close()
    return tuple(str(row[0]) for row in found)


def _rebuild(new: Path) -> int:
    """Make the index fit what was read; return the number of sessions."""
    connection = sqlite3.connect(new, isolation_level=None)
    try:
        connection.execute("BEGIN")
        for (session,) in connection.execute(
            "SELECT DISTINCT session FROM events WHERE session NOT IN (SELECT id FROM sessions)"
        ).fetchall():
            _make_row(connection, str(session))
        connection.execute(
            "UPDATE sessions SET "
            "last_seq = max(last_seq, coalesce((SELECT max(seq) FROM events WHERE session = sessions.id), 0)), "
            "messages = (SELECT count(*) FROM messages WHERE session = sessions.id)"
        )
        connection.execute("UPDATE sessions SET reserved = max(reserved, last_seq + ?) WHERE last_seq > 0", (RESERVE,))
        for table in ("events", "messages"):
            for session, text in connection.execute(f"SELECT session, blobs FROM {table} WHERE blobs IS NOT NULL"):
                with contextlib.suppress(ValueError):
                    refs = [(session, key) for _, key in packing.read_places(text)]
                    connection.executemany("INSERT OR IGNORE INTO blob_refs VALUES (?, ?)", refs)
        packing.drop_unused(connection)
        connection.execute("COMMIT")
        return int(connection.execute("SELECT count(*) FROM sessions").fetchone()[0])
    finally:
        connection.close()


def _make_row(connection: sqlite3.Connection, session: str) -> None:
    first, last = connection.execute("SELECT min(time), max(time) FROM events WHERE session = ?", (session,)).fetchone()
    row = connection.execute(
        "SELECT json FROM events WHERE session = ? AND type = 'session_started'", (session,)
    ).fetchone()
    started: dict[str, Any] = {}
    if row is not None:
        with contextlib.suppress(ValueError):
            started = dict(json.loads(row[0]))
    parent = json.dumps(started["parent"]) if isinstance(started.get("parent"), dict) else None
    root = started.get("root")
    connection.execute(
        "INSERT INTO sessions (id, root, title, created, updated, parent) VALUES (?, ?, ?, ?, ?, ?)",
        (session, root if isinstance(root, str) else "/", "(found in a damaged database)", first, last, parent),
    )
