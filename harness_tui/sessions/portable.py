"""A session as one JSON document, written and read again: ``harness sessions export`` and ``import``.

``{"format": "harness-session", "version": 1, "session": {...}, "events": [...], "messages": [...], "repairs": [...],
"files": [...]}``: events as they are shown, messages as a model is sent them (images included), repairs of the history,
and what is kept beside the record (outputs that were cut, whole). Secrets were taken out when they were recorded, and
are again when a document is imported.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.core.codec import CodecError
from harness_tui.core.envelope import Envelope, envelope_from_json
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.ids import new_id
from harness_tui.core.messages import Message
from harness_tui.core.record import record
from harness_tui.sessions import rows, tables
from harness_tui.sessions.index import SessionInfo, check_id, root_text
from harness_tui.sessions.kept_files import KeptFile, files_of, moved, read_files, write_files
from harness_tui.sessions.records import dumps, message_data, message_from_data
from harness_tui.sessions.store import SessionStore

FORMAT: Final = "harness-session"
VERSION: Final = 1
MAX_BYTES: Final = 512 * 1024 * 1024
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")
_MOST: Final = 2**53


@record
class Imported:
    """What an import made. ``renamed_from`` is the document's id where that one was taken; ``left_out`` counts events
    of types that only a later version knows."""

    info: SessionInfo
    renamed_from: str | None
    left_out: int


def export_json(store: SessionStore, session: str) -> Iterator[str]:
    """Yield the document in pieces, so that a long session is not held in memory. Raises ``UsageError``."""
    info = store.info(session)
    head = {
        "format": FORMAT,
        "version": VERSION,
        "session": {
            "id": info.session,
            "title": info.title,
            "root": info.root,
            "created": info.created,
            "updated": info.updated,
            "folder": str(store.folder(info.session)),
        },
    }
    yield json.dumps(head, ensure_ascii=False)[:-1] + ',\n"events": ['
    separator = "\n"
    for envelope in store.events(info.session):
        yield separator + dumps(envelope.to_json())
        separator = ",\n"
    yield '\n],\n"messages": ['
    separator = "\n"
    with store.database.read() as connection:
        messages = rows.raw_messages(connection, info.session)
        repairs = connection.execute(
            "SELECT seq, after, role, json FROM repairs WHERE session = ? ORDER BY rowid", (info.session,)
        ).fetchall()
    for seq, message in messages:
        yield separator + dumps({"seq": seq, **message_data(message)})
        separator = ",\n"
    mended = [
        {"seq": seq, "after": after, "message": json.loads(text) if text else None} for seq, after, _, text in repairs
    ]
    yield '\n],\n"repairs": ' + dumps(mended) + ',\n"files": ['
    separator = "\n"
    for file in files_of(store.folder(info.session)):
        yield separator + dumps(file)
        separator = ",\n"
    yield "\n]\n}\n"


def import_json(store: SessionStore, text: str, root: Path) -> Imported:
    """Record a document's session as one of the project ``root``. Raises ``HarnessError`` and changes nothing then."""
    data = _outline(text)
    named = _named(data)
    with store.database.read() as connection:
        taken = connection.execute("SELECT 1 FROM sessions WHERE id = ?", (named,)).fetchone() is not None
    taken = taken or store.folder(named).exists()
    session = new_id("ses") if taken else named
    document = _document(data, store.folder(session))
    _record(store, session, document, root)
    with store.locked(session):
        store.repair(session)
    return Imported(store.info(session), named if taken else None, document.left_out)


def _record(store: SessionStore, session: str, document: _Document, root: Path) -> None:
    with store.database.write() as connection:
        connection.execute(
            "INSERT INTO sessions (id, root, title, created, updated) VALUES (?, ?, ?, ?, ?)",
            (session, root_text(root), tables.stored_title(document.title), document.created, document.updated),
        )
        try:
            _write(connection, session, document)
            write_files(document.files, store.folder(session))
        except BaseException:  # the id is ours here, and so is the folder
            shutil.rmtree(store.folder(session), ignore_errors=True)
            raise


@dataclass(slots=True)
class _Document:
    title: str | None
    created: str
    updated: str
    events: list[Envelope]
    messages: list[tuple[int, Message]]
    repairs: list[tuple[int, int | None, Message | None]]
    files: list[KeptFile]
    left_out: int = 0


def _outline(text: str) -> dict[str, Any]:
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"this is not JSON: {error}", mend="import what 'sessions export --format json' wrote"
        ) from error
    if not isinstance(data, dict) or cast(dict[str, Any], data).get("format") != FORMAT:
        raise UsageError(
            'this is not an exported session: "format" is not "harness-session"',
            mend="import what 'harness sessions export --format json' wrote",
        )
    given = cast(dict[str, Any], data)
    if given.get("version") != VERSION:
        raise UsageError(
            f"the document has version {given.get('version')!r}, this program reads {VERSION}",
            mend="use the version of Harness that wrote it",
        )
    return given


def _named(given: dict[str, Any]) -> str:
    session = _mapping(given.get("session"), "session").get("id")
    if not isinstance(session, str):
        raise UsageError("session.id is missing")
    check_id(session)
    return session


def _document(given: dict[str, Any], folder: Path) -> _Document:
    """Read what the document holds, its files as those of the session's new ``folder``."""
    head = _mapping(given.get("session"), "session")
    old = head.get("folder")
    if isinstance(old, str) and old.startswith("/") and old.endswith(f"/sessions/{head.get('id')}"):
        try:
            given = given | {
                name: moved(given.get(name, []), old, str(folder)) for name in ("events", "messages", "repairs")
            }
        except RecursionError as error:
            raise UsageError("the document is nested too deeply") from error
    made = _Document(
        head.get("title") if isinstance(head.get("title"), str) else None,
        _time(head.get("created"), "session.created"),
        _time(head.get("updated"), "session.updated"),
        [],
        [],
        [],
        read_files(_items(given, "files")),
    )
    _read_events(made, _items(given, "events"))
    _read_messages(made, _items(given, "messages"))
    for index, item in enumerate(_items(given, "repairs")):
        where = f"repairs[{index}]"
        repair = _mapping(item, where)
        after, message = repair.get("after"), repair.get("message")
        made.repairs.append(
            (
                _number(repair.get("seq"), where),
                None if after is None else _number(after, where),
                None if message is None else _message(message, where),
            )
        )
    return made


def _read_events(made: _Document, items: list[Any]) -> None:
    last = 0
    for index, item in enumerate(items):
        where = f"events[{index}]"
        data = _mapping(item, where)
        try:
            envelope = envelope_from_json(data)
        except (CodecError, RecursionError) as error:
            raise UsageError(f"the event cannot be read: {error}", where=where) from error
        seq = _number(data.get("seq"), where)
        if seq <= last:
            raise UsageError(f"event {seq} follows event {last}", where=where, mend="numbers of events grow")
        last = seq
        _time(data.get("time"), f"{where}.time")
        if envelope is None:
            made.left_out += 1
        else:
            made.events.append(envelope)


def _read_messages(made: _Document, items: list[Any]) -> None:
    last = 0
    for index, item in enumerate(items):
        where = f"messages[{index}]"
        data = _mapping(item, where)
        seq = _number(data.get("seq"), where)
        if seq <= last:
            raise UsageError(f"message {seq} follows message {last}", where=where, mend="numbers of messages grow")
        last = seq
        made.messages.append((seq, _message(data, where)))


def _message(data: Any, where: str) -> Message:
    values = _mapping(data, where)
    try:
        return message_from_data(str(values.get("role")), values)
    except KeyError as error:
        raise UsageError(f"the message has no role that is known: {error}", where=where) from error
    except (CodecError, RecursionError) as error:
        raise UsageError(f"the message cannot be read: {error}", where=where) from error


def _write(connection: sqlite3.Connection, session: str, document: _Document) -> None:
    last = 0
    for envelope in document.events:
        moved = Envelope(envelope.seq, envelope.time, session, envelope.event, envelope.run, envelope.first_seq)
        tables.insert_event(connection, moved)
        last = envelope.seq
    for seq, message in document.messages:
        tables.insert_message(connection, session, seq, message)
        last = max(last, seq)
    for seq, after, message in document.repairs:
        text = dumps(message_data(message)) if message is not None else None
        role = message.role if message is not None else None
        connection.execute("INSERT OR IGNORE INTO repairs VALUES (?, ?, ?, ?, ?)", (session, seq, after, role, text))
    tables.set_last(connection, session, last, document.updated, ahead=0)


def _items(data: dict[str, Any], name: str) -> list[Any]:
    value = data.get(name, [])
    if not isinstance(value, list):
        raise UsageError(f"{name} is not a list")
    return cast(list[Any], value)


def _mapping(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError("this is not an object", where=where)
    return cast(dict[str, Any], value)


def _number(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < _MOST:
        raise UsageError(f"{value!r} is not the number of an event", where=where)
    return value


def _time(value: Any, where: str) -> str:
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise UsageError(f"{value!r} is not a time such as 2026-01-02T03:04:05.678Z", where=where)
    return value


def read_document(path: Path) -> str:
    """Return the text of a document's file. Raises ``HarnessError``."""
    from harness_tui.core.paths import read_regular

    data = read_regular(path, max_bytes=MAX_BYTES)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise HarnessError(f"the file is not UTF-8: {error.reason}", where=str(path)) from error
