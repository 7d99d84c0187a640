"""Writing one session's rows, inside a transaction that the store opened."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any, Final

from harness_tui.core.envelope import Envelope
from harness_tui.core.events import (
    MessageAdded,
    Notice,
    RunStarted,
    SessionChanged,
    SessionStarted,
    StepFinished,
    ToolFinished,
)
from harness_tui.core.messages import Message
from harness_tui.core.redaction import redact
from harness_tui.sessions import packing
from harness_tui.sessions.open_calls import OpenCalls
from harness_tui.sessions.records import dumps, event_data, headline, message_data, message_of, storable

RESERVE: Final = 10_000
"""How many numbers a live session may give before they are in the record; see ``SessionStore.repair``."""

_TITLE_CHARS: Final = 200


def set_last(connection: sqlite3.Connection, session: str, seq: int, updated: str, *, ahead: int = RESERVE) -> None:
    """Note the latest event and its time in the index, and that ``ahead`` numbers after it may be seen already."""
    connection.execute(
        "UPDATE sessions SET last_seq = ?, updated = ?, reserved = max(reserved, ?) WHERE id = ?",
        (seq, updated, seq + ahead, session),
    )


def set_reserved(connection: sqlite3.Connection, session: str, seq: int) -> None:
    """Note that no number after ``seq`` was seen; one after the latest event is none that was not."""
    connection.execute("UPDATE sessions SET reserved = max(last_seq, ?) WHERE id = ?", (seq, session))


def set_title(connection: sqlite3.Connection, session: str, title: str) -> None:
    """Set the title in the index."""
    connection.execute("UPDATE sessions SET title = ? WHERE id = ?", (stored_title(title), session))


def stored_title(title: str | None) -> str | None:
    """Return ``title`` on one line, redacted and cut to 200 characters; ``None`` when nothing is left."""
    return storable(redact(" ".join((title or "").split()))[:_TITLE_CHARS]) or None


def insert(connection: sqlite3.Connection, envelope: Envelope, calls: OpenCalls) -> None:
    """Write an event, the message that it adds, and what it changes in the index."""
    insert_event(connection, envelope)
    match envelope.event:
        case RunStarted() | MessageAdded() | StepFinished() | ToolFinished():
            _insert_message(connection, envelope, calls)
        case _:
            pass


def insert_event(connection: sqlite3.Connection, envelope: Envelope) -> None:
    """Write an event alone, and what it changes in the index."""
    session, (kind, text, blobs, size) = envelope.session, _stored_event(connection, envelope)
    connection.execute(
        "INSERT INTO events (session, seq, time, run, type, json, blobs) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (session, envelope.seq, envelope.time, envelope.run, kind, text, blobs),
    )
    connection.execute("UPDATE sessions SET bytes = bytes + ? WHERE id = ?", (size, session))
    match envelope.event:
        case SessionStarted(title=str(title)) | SessionChanged(title=str(title)):
            set_title(connection, session, title)
        case _:
            pass


def _stored_event(connection: sqlite3.Connection, envelope: Envelope) -> tuple[str, str, str | None, int]:
    # Foreign data (nested a thousand deep, say) may not fit JSON: the event is told of, its neighbours are kept.
    try:
        return envelope.event.type, *_stored(connection, envelope.session, event_data(envelope))
    except (TypeError, ValueError, RecursionError) as error:
        text = f"a {envelope.event.type} event could not be recorded: {error}"
        notice = replace(envelope, event=Notice("warning", "sessions", text))
        return Notice.type, *_stored(connection, envelope.session, event_data(notice))


def _stored(connection: sqlite3.Connection, session: str, data: Any) -> tuple[str, str | None, int]:
    """Return the JSON of ``data``, the places of its long texts, which are written, and how many bytes are new."""
    packed = packing.pack(data)
    text = dumps(packed.data)
    return text, packing.places_json(packed.places), _size(text) + packing.keep(connection, session, packed.texts)


def _insert_message(connection: sqlite3.Connection, envelope: Envelope, calls: OpenCalls) -> None:
    message = message_of(envelope)
    if message is None or not _belongs(connection, envelope, message, calls):
        return
    insert_message(connection, envelope.session, envelope.seq, message)


def insert_message(connection: sqlite3.Connection, session: str, seq: int, message: Message) -> None:
    """Write a message of the event ``seq``, and count it in the index."""
    text, blobs, size = _stored(connection, session, message_data(message))
    connection.execute(
        "INSERT INTO messages (session, seq, role, json, blobs) VALUES (?, ?, ?, ?, ?)",
        (session, seq, message.role, text, blobs),
    )
    connection.execute(
        "UPDATE sessions SET messages = messages + 1, bytes = bytes + ?, headline = coalesce(headline, ?) WHERE id = ?",
        (size, headline(message), session),
    )


def _belongs(connection: sqlite3.Connection, envelope: Envelope, message: Message, calls: OpenCalls) -> bool:
    """Tell whether the event's message is a new one that a provider would take.

    The prompt comes in ``run_started`` and may come again in the ``message_added`` that follows it; a result belongs to
    a call that the model made and that has none yet (``/call`` has results that no model asked for).
    """
    match envelope.event:
        case MessageAdded(origin="prompt"):
            row = connection.execute(
                "SELECT m.json, m.blobs, e.type, e.run FROM messages m "
                "JOIN events e ON e.session = m.session AND e.seq = m.seq "
                "WHERE m.session = ? ORDER BY m.seq DESC LIMIT 1",
                (envelope.session,),
            ).fetchone()
            packed = packing.pack(message_data(message))
            same = (dumps(packed.data), packing.places_json(packed.places), RunStarted.type, envelope.run)
            return row is None or tuple(row) != same
        case StepFinished(message=answer):
            calls.ask(answer.calls)
            return True
        case ToolFinished(call=call):
            return calls.take(connection, call)
        case _:
            return True


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
