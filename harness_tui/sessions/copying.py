"""A session that goes on from a point of another one: its rows copied, its long texts shared."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from harness_tui.core.clock import rfc3339
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import UsageError
from harness_tui.core.events import Notice
from harness_tui.core.ids import new_id
from harness_tui.core.seams import Clock
from harness_tui.sessions import packing, rows, tables
from harness_tui.sessions.index import SessionInfo
from harness_tui.sessions.kept_files import copy_files, moved, named_in
from harness_tui.sessions.open_calls import OpenCalls
from harness_tui.sessions.records import dumps
from harness_tui.sessions.store import SessionStore


def fork(
    store: SessionStore, session: str, clock: Clock, *, at: int | None = None, title: str | None = None
) -> SessionInfo:
    """Copy ``session`` up to the event ``at`` (the end without it) and return the copy; the original is not touched.

    The original may be open: what is recorded of it is copied. Events keep their numbers, and a ``notice`` behind them
    says where the copy comes from. Calls whose results are behind ``at`` are answered when the copy is opened. What is
    kept beside the record (outputs that were cut) is the copy's own as well. Raises ``UsageError`` for an unknown
    session or event, ``HarnessError`` when there is no room.
    """
    made = new_id("ses")
    try:
        return _forked(store, session, made, clock, at, title)
    except BaseException:
        shutil.rmtree(store.folder(made), ignore_errors=True)
        raise


def _forked(
    store: SessionStore, session: str, made: str, clock: Clock, at: int | None, title: str | None
) -> SessionInfo:
    with store.database.write() as connection:
        last = rows.last_seq(connection, session)
        end = _checked(connection, session, last, at)
        now = rfc3339(clock.now())
        connection.execute(
            "INSERT INTO sessions (id, root, title, headline, created, updated) "
            "SELECT ?, root, coalesce(?, title), headline, ?, ? FROM sessions WHERE id = ?",
            (made, tables.stored_title(title), now, now, session),
        )
        _copy(connection, session, made, end)
        _move_files(connection, made, store.folder(session), store.folder(made))
        _count(connection, made)
        text = f"this session was forked from {session} at event {end}"
        notice = Envelope(end + 1, now, made, Notice("info", "sessions", text))
        tables.insert(connection, notice, OpenCalls(made))
        tables.set_last(connection, made, end + 1, now, ahead=0)
    return store.info(made)


def _checked(connection: sqlite3.Connection, session: str, last: int, at: int | None) -> int:
    if at is None:
        return last
    row = connection.execute("SELECT 1 FROM events WHERE session = ? AND seq = ?", (session, at)).fetchone()
    if row is None:
        raise UsageError(
            f"there is no event {at}", where=session, mend=f"'harness sessions show --json {session}' lists the numbers"
        )
    return at


def _copy(connection: sqlite3.Connection, session: str, made: str, end: int) -> None:
    for table, columns in (
        ("events", "seq, time, run, type, json, blobs"),
        ("messages", "seq, role, json, blobs"),
    ):
        connection.execute(
            f"INSERT INTO {table} (session, {columns}) "
            f"SELECT ?, {columns} FROM {table} WHERE session = ? AND seq <= ? ORDER BY seq",
            (made, session, end),
        )
    connection.execute(
        "INSERT INTO repairs SELECT ?, seq, after, role, json FROM repairs "
        "WHERE session = ? AND coalesce(after, seq) <= ? ORDER BY rowid",
        (made, session, end),
    )
    # The copy of a subagent's session works for nobody.
    connection.execute(
        "UPDATE events SET json = json_remove(json, '$.parent') WHERE session = ? AND type = 'session_started'", (made,)
    )


def _move_files(connection: sqlite3.Connection, made: str, source: Path, target: Path) -> None:
    """Give the copy the kept files that its record names, and let the record name them where they are then."""
    named: set[str] = set()
    plain: set[str] = set()  # long texts that name nothing: an image may stand in a hundred messages
    mark = dumps(f"{source}/")[1:-1]
    for table in ("events", "messages"):
        rows = connection.execute(
            f"SELECT seq, json, blobs FROM {table} WHERE session = ? AND (blobs IS NOT NULL OR instr(json, ?))",
            (made, mark),
        ).fetchall()
        for seq, text, blobs in rows:
            with contextlib.suppress(ValueError):  # a damaged row is copied as it is
                places = packing.read_places(blobs)
                texts = packing.fetch(connection, {key for _, key in places} - plain)
                plain.update(key for key, long in texts.items() if f"{source}/" not in long)
                if mark not in text and plain.issuperset(texts):
                    continue
                texts = packing.fetch(connection, {key for _, key in places})
                data = packing.unpack(json.loads(text), places, texts)
                named |= named_in("\n".join(_strings(data)), source)
                packed = packing.pack(moved(data, str(source), str(target)))
                packing.keep(connection, made, packed.texts)
                connection.execute(
                    f"UPDATE {table} SET json = ?, blobs = ? WHERE session = ? AND seq = ?",
                    (dumps(packed.data), packing.places_json(packed.places), made, seq),
                )
    copy_files(named, source, target)


def _strings(data: Any) -> Iterator[str]:
    match data:
        case str():
            yield data
        case dict():
            for value in cast(dict[str, Any], data).values():
                yield from _strings(value)
        case list():
            for value in cast(list[Any], data):
                yield from _strings(value)
        case _:
            pass


def _count(connection: sqlite3.Connection, made: str) -> None:
    """Note in the index what the copy refers to, and how much that is."""
    keys: set[str] = set()
    for table in ("events", "messages"):
        for (text,) in connection.execute(
            f"SELECT blobs FROM {table} WHERE session = ? AND blobs IS NOT NULL", (made,)
        ):
            with contextlib.suppress(ValueError):
                keys.update(key for _, key in packing.read_places(text))
    connection.executemany("INSERT OR IGNORE INTO blob_refs VALUES (?, ?)", [(made, key) for key in keys])
    connection.execute(
        "UPDATE sessions SET messages = (SELECT count(*) FROM messages WHERE session = :made), bytes = "
        "(SELECT coalesce(sum(length(CAST(json AS BLOB))), 0) FROM events WHERE session = :made) + "
        "(SELECT coalesce(sum(length(CAST(json AS BLOB))), 0) FROM messages WHERE session = :made) + "
        "(SELECT coalesce(sum(size), 0) FROM blobs WHERE hash IN (SELECT hash FROM blob_refs WHERE session = :made)) "
        "WHERE id = :made",
        {"made": made},
    )


def message_numbers(store: SessionStore, session: str) -> list[tuple[int, str]]:
    """Return where a person spoke: the number of the event before each prompt, and its first line, latest last."""
    found: list[tuple[int, str]] = []
    with store.database.read() as connection:
        rows.last_seq(connection, session)
        undone = rows.undone_runs(connection, session)
        for seq, run, text in connection.execute(
            "SELECT seq, run, json FROM events WHERE session = ? AND type = 'run_started' ORDER BY seq", (session,)
        ).fetchall():
            if run in undone:
                continue
            row = connection.execute(
                "SELECT max(seq) FROM events WHERE session = ? AND seq < ?", (session, seq)
            ).fetchone()
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
                message = json.loads(text)["message"]["text"]
                found.append((int(row[0] or 0), str(message)))
    return found
