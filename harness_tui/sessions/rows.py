"""Reading one session's rows, inside a connection that the store opened."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, TypeAlias, cast

from harness_tui.core.codec import CodecError
from harness_tui.core.envelope import Envelope, envelope_from_json
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.events import Notice
from harness_tui.core.messages import AssistantMessage, Message, ToolCall
from harness_tui.sessions import packing, repair
from harness_tui.sessions.records import message_from_data, storable

EventRow: TypeAlias = tuple[int, str, str | None, str, str, str | None]
"""``seq, time, run, type, json, blobs``"""

MessageRow: TypeAlias = tuple[int, str, str, str | None]
"""``seq, role, json, blobs``"""

EVENT_COLUMNS: Final = "seq, time, run, type, json, blobs"
MESSAGE_COLUMNS: Final = "seq, role, json, blobs"


def last_seq(connection: sqlite3.Connection, session: str) -> int:
    """Return the number of the session's latest event. Raises ``UsageError`` for an unknown session."""
    return numbers(connection, session)[0]


def numbers(connection: sqlite3.Connection, session: str) -> tuple[int, int]:
    """Return the number of the latest event, and the last that may have been seen although it was not recorded."""
    session = storable(session)
    row = connection.execute("SELECT last_seq, reserved FROM sessions WHERE id = ?", (session,)).fetchone()
    if row is None:
        raise UsageError(
            "there is no such session", where=session or "(empty)", mend="see 'harness sessions list'", code="unknown"
        )
    return int(row[0]), max(int(row[0]), int(row[1]))


def open_calls(connection: sqlite3.Connection, session: str) -> tuple[list[ToolCall], int]:
    """Return the calls of the last assistant message that have no result, in order, and the number of its event."""
    row = connection.execute(
        f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE session = ? AND role = 'assistant' ORDER BY seq DESC LIMIT 1",
        (session,),
    ).fetchone()
    if row is None:
        return [], 0
    seq = int(row[0])
    message = read_messages(connection, session, [row])[0]
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


def last_run(connection: sqlite3.Connection, session: str) -> str | None:
    """Return the run of the last answer."""
    row = connection.execute(
        "SELECT run FROM events WHERE session = ? AND seq = "
        "(SELECT max(seq) FROM messages WHERE session = ? AND role = 'assistant')",
        (session, session),
    ).fetchone()
    return row[0] if row else None


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


def read_events(connection: sqlite3.Connection, session: str, rows: Sequence[EventRow]) -> list[Envelope]:
    """Read rows of ``events``; a damaged one becomes a ``notice`` in its place, unknown types are left out."""
    texts = _texts(connection, [row[5] for row in rows])
    found: list[Envelope] = []
    for seq, time, run, kind, text, blobs in rows:
        head = {"type": kind, "seq": seq, "time": time, "session": session, "run": run}
        try:
            data = packing.unpack(json.loads(text), packing.read_places(blobs), texts)
            envelope = envelope_from_json(head | data)
        except (TypeError, ValueError, RecursionError, CodecError) as error:
            told = f"event {seq} ({kind}) of the record cannot be read: {error}"
            envelope = Envelope(seq, time, session, Notice("warning", "sessions", told), run)
        if envelope is not None:
            found.append(envelope)
    return found


def read_messages(connection: sqlite3.Connection, session: str, rows: Sequence[MessageRow]) -> list[Message]:
    """Read rows of ``messages``. Raises ``HarnessError``: a history with a hole is not sent to a model."""
    texts = _texts(connection, [row[3] for row in rows])
    return [_message(session, row, texts) for row in rows]


def history(connection: sqlite3.Connection, session: str, after: int) -> list[tuple[int, Message]]:
    """Return the messages after the event ``after`` as a model is sent them, what was repaired laid over them.

    Raises ``HarnessError`` for one that cannot be read and that was not repaired yet.
    """
    overlay = repair.read(connection, session)
    rows = [row for row in _message_rows(connection, session, after) if overlay.keeps(row[0])]
    messages = read_messages(connection, session, rows)
    laid = overlay.lay([(row[0], message) for row, message in zip(rows, messages, strict=True)])
    return [(seq, message) for seq, message in laid if message is not None]


def damaged_history(connection: sqlite3.Connection, session: str, after: int) -> list[tuple[int, Message | None]]:
    """Return the same for a repair: ``None`` stands for a message that cannot be read."""
    rows = _message_rows(connection, session, after)
    texts = _texts(connection, [row[3] for row in rows])
    found: list[tuple[int, Message | None]] = []
    for row in rows:
        try:
            found.append((row[0], _message(session, row, texts)))
        except HarnessError:
            found.append((row[0], None))
    return repair.read(connection, session).lay(found)


def raw_messages(
    connection: sqlite3.Connection, session: str, *, after: int = 0, limit: int = -1
) -> list[tuple[int, Message]]:
    """Return messages as they were recorded, what was undone too; one that cannot be read is left out."""
    rows = connection.execute(
        f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?",
        (session, after, limit),
    ).fetchall()
    texts = _texts(connection, [row[3] for row in rows])
    found: list[tuple[int, Message]] = []
    for row in rows:
        with contextlib.suppress(HarnessError):
            found.append((row[0], _message(session, row, texts)))
    return found


def last_compaction(connection: sqlite3.Connection, session: str) -> int:
    """Return the number of the last ``context_compacted`` that was not undone, 0 without one."""
    undone, marks = _undone(connection, session)
    (found,) = connection.execute(
        "SELECT max(seq) FROM events WHERE session = ? AND type = 'context_compacted' "
        f"AND coalesce(run, '') NOT IN ({marks})",
        (session, *undone),
    ).fetchone()
    return int(found or 0)


def highest_call(connection: sqlite3.Connection, session: str) -> int:
    """Return the highest n of the calls ``c{n}`` that were started, 0 without one."""
    (found,) = connection.execute(
        "SELECT max(CAST(substr(call, 2) AS INTEGER)) FROM ("
        "SELECT CASE WHEN json_valid(json) THEN json_extract(json, '$.call') END AS call "
        "FROM events WHERE session = ? AND type = 'tool_started'"
        ") WHERE call GLOB 'c[0-9]*' AND call NOT GLOB 'c*[^0-9]*'",
        (session,),
    ).fetchone()
    return int(found or 0)


def undone_runs(connection: sqlite3.Connection, session: str) -> set[str]:
    """Return the runs that are undone now."""
    found: set[str] = set()
    for run, kind in connection.execute(
        "SELECT run, type FROM events WHERE session = ? AND type IN ('undo_applied', 'redo_applied') ORDER BY seq",
        (session,),
    ):
        (found.add if kind == "undo_applied" else found.discard)(str(run))
    return found


def _undone(connection: sqlite3.Connection, session: str) -> tuple[list[str], str]:
    runs = sorted(undone_runs(connection, session))
    return runs, ", ".join("?" * len(runs))


def _message_rows(connection: sqlite3.Connection, session: str, after: int) -> list[MessageRow]:
    undone, marks = _undone(connection, session)
    return connection.execute(
        f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE session = ? AND seq > ? "
        f"AND seq NOT IN (SELECT seq FROM events WHERE session = ? AND run IN ({marks})) ORDER BY seq",
        (session, after, session, *undone),
    ).fetchall()


def _message(session: str, row: MessageRow, texts: dict[str, str]) -> Message:
    seq, role, text, blobs = row
    try:
        return message_from_data(role, packing.unpack(json.loads(text), packing.read_places(blobs), texts))
    except (KeyError, TypeError, ValueError, RecursionError, CodecError) as error:
        raise HarnessError(
            f"message {seq} of the record cannot be read: {error}",
            where=session,
            mend="open the session again, which leaves it out",
            code="unreadable",
        ) from error


def _texts(connection: sqlite3.Connection, columns: Sequence[str | None]) -> dict[str, str]:
    keys: list[str] = []
    for column in columns:
        if column:
            try:
                keys += [key for _, key in packing.read_places(column)]
            except ValueError:
                continue  # whoever reads the row tells of it
    return packing.fetch(connection, keys) if keys else {}
