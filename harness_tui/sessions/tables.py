"""The SQL of one session's rows, inside a transaction that the store opened."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import replace
from typing import Any, Final, cast

from harness_tui.core.codec import CodecError
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.events import (
    MessageAdded,
    Notice,
    RunStarted,
    SessionChanged,
    SessionStarted,
    StepFinished,
    ToolFinished,
)
from harness_tui.core.messages import AssistantMessage, Message, ToolCall
from harness_tui.core.redaction import redact
from harness_tui.sessions.records import (
    event_from_row,
    event_json,
    headline,
    message_from_json,
    message_json,
    message_of,
    storable,
)

_TITLE_CHARS: Final = 200


def last_seq(connection: sqlite3.Connection, session: str) -> int:
    """Return the number of the session's latest event. Raises ``UsageError`` for an unknown session."""
    row = connection.execute("SELECT last_seq FROM sessions WHERE id = ?", (session,)).fetchone()
    if row is None:
        raise UsageError(
            "there is no such session", where=session or "(empty)", mend="see 'harness sessions list'", code="unknown"
        )
    return int(row[0])


def set_last(connection: sqlite3.Connection, session: str, seq: int, updated: str) -> None:
    """Note the latest event and its time in the index."""
    connection.execute("UPDATE sessions SET last_seq = ?, updated = ? WHERE id = ?", (seq, updated, session))


def set_title(connection: sqlite3.Connection, session: str, title: str) -> None:
    """Set the title in the index."""
    connection.execute("UPDATE sessions SET title = ? WHERE id = ?", (stored_title(title), session))


def stored_title(title: str | None) -> str | None:
    """Return ``title`` on one line, redacted and cut to 200 characters; ``None`` when nothing is left."""
    return storable(redact(" ".join((title or "").split()))[:_TITLE_CHARS]) or None


def insert(connection: sqlite3.Connection, envelope: Envelope) -> None:
    """Write an event, the message that it adds, and what it changes in the index."""
    session, (kind, text) = envelope.session, _event_text(envelope)
    connection.execute(
        "INSERT INTO events (session, seq, time, run, type, json) VALUES (?, ?, ?, ?, ?, ?)",
        (session, envelope.seq, envelope.time, envelope.run, kind, text),
    )
    connection.execute("UPDATE sessions SET bytes = bytes + ? WHERE id = ?", (_size(text), session))
    match envelope.event:
        case SessionStarted(title=str(title)) | SessionChanged(title=str(title)):
            set_title(connection, session, title)
        case RunStarted() | MessageAdded() | StepFinished() | ToolFinished():
            _insert_message(connection, envelope)
        case _:
            pass


def _event_text(envelope: Envelope) -> tuple[str, str]:
    # Foreign data (nested a thousand deep, say) may not fit JSON: the event is told of, its neighbours are kept.
    try:
        return envelope.event.type, event_json(envelope)
    except (TypeError, ValueError, RecursionError) as error:
        text = f"a {envelope.event.type} event could not be recorded: {error}"
        return Notice.type, event_json(replace(envelope, event=Notice("warning", "sessions", text)))


def _insert_message(connection: sqlite3.Connection, envelope: Envelope) -> None:
    message = message_of(envelope)
    if message is None or not _belongs(connection, envelope, message):
        return
    text = message_json(message)
    connection.execute(
        "INSERT INTO messages (session, seq, role, json) VALUES (?, ?, ?, ?)",
        (envelope.session, envelope.seq, message.role, text),
    )
    connection.execute(
        "UPDATE sessions SET messages = messages + 1, bytes = bytes + ?, headline = coalesce(headline, ?) WHERE id = ?",
        (_size(text), headline(message), envelope.session),
    )


def _belongs(connection: sqlite3.Connection, envelope: Envelope, message: Message) -> bool:
    """Tell whether the event's message is a new one that a provider would take.

    The prompt comes in ``run_started`` and may come again in the ``message_added`` that follows it; a result belongs to
    a call that the model made and that has none yet (``/call`` has results that no model asked for).
    """
    match envelope.event:
        case MessageAdded(origin="prompt"):
            row = connection.execute(
                "SELECT m.json, e.type, e.run FROM messages m JOIN events e ON e.session = m.session AND e.seq = m.seq "
                "WHERE m.session = ? ORDER BY m.seq DESC LIMIT 1",
                (envelope.session,),
            ).fetchone()
            return row is None or tuple(row) != (message_json(message), RunStarted.type, envelope.run)
        case ToolFinished(call=call):
            calls, _ = open_calls(connection, envelope.session)
            return any(open_call.call == call for open_call in calls)
        case _:
            return True


def open_calls(connection: sqlite3.Connection, session: str) -> tuple[list[ToolCall], int]:
    """Return the calls of the last assistant message that have no result, in order, and the number of its event."""
    row = connection.execute(
        "SELECT seq, json FROM messages WHERE session = ? AND role = 'assistant' ORDER BY seq DESC LIMIT 1", (session,)
    ).fetchone()
    if row is None:
        return [], 0
    seq = int(row[0])
    message = read_message(session, (seq, "assistant", str(row[1])))
    if not isinstance(message, AssistantMessage) or not message.calls:
        return [], seq
    results = connection.execute(
        "SELECT json FROM messages WHERE session = ? AND seq > ? AND role = 'tool'", (session, seq)
    ).fetchall()
    # Counted, not a set: a provider may give two calls of one answer the same id, and each has its result.
    answered = Counter(json.loads(text)["call"] for (text,) in results)
    left: list[ToolCall] = []
    for call in message.calls:
        if answered[call.call]:
            answered[call.call] -= 1
        else:
            left.append(call)
    return left, seq


def family(connection: sqlite3.Connection, session: str) -> list[str]:
    """Return the session and every session below it (its subagents', theirs, and so on)."""
    rows = connection.execute("SELECT id, parent FROM sessions WHERE parent IS NOT NULL").fetchall()
    children: dict[str, list[str]] = {}
    for name, parent in rows:
        above = cast(dict[str, Any], json.loads(parent)).get("session")
        children.setdefault(str(above), []).append(str(name))
    found, waiting = list[str](), [session]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.append(name)
            waiting.extend(children.get(name, ()))
    return found


def read_event(session: str, row: tuple[int, str, str | None, str, str]) -> Envelope | None:
    """Read a row of ``events``; a damaged one becomes a ``notice`` in its place."""
    try:
        return event_from_row(session, row)
    except (ValueError, CodecError) as error:
        text = f"event {row[0]} ({row[3]}) of the record cannot be read: {error}"
        return Envelope(row[0], row[1], session, Notice("warning", "sessions", text), row[2])


def read_message(session: str, row: tuple[int, str, str]) -> Message:
    """Read a row of ``messages``. Raises ``HarnessError``: a history with a hole is not sent to a model."""
    seq, role, text = row
    try:
        return message_from_json(role, text)
    except (KeyError, ValueError, CodecError) as error:
        raise HarnessError(
            f"message {seq} of the record cannot be read: {error}",
            where=session,
            mend="start a new session",
            code="corrupt",
        ) from error


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
