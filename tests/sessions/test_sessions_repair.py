"""A history that a provider would refuse is mended once, beside the record, and told of."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.envelope import Envelope
from harness_tui.core.events import Event, MessageAdded, Notice, RunStarted, StepFinished, ToolFinished
from harness_tui.core.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from harness_tui.sessions.repair import INTERRUPTED, plan
from harness_tui.sessions.store import SessionStore

TIME = "2026-01-02T03:04:05.678Z"


def asks(*calls: str) -> AssistantMessage:
    return AssistantMessage(calls=tuple(ToolCall(call, "read", {}) for call in calls))


def answers(call: str, text: str = "done") -> ToolMessage:
    return ToolMessage(call, "read", text)


def lost(call: str) -> ToolMessage:
    return ToolMessage(call, "read", INTERRUPTED, True)


HI = UserMessage("hi")


def mended(*messages: Message | None) -> tuple[list[int], list[tuple[int, ToolMessage]], list[str]]:
    made = plan(enumerate(messages, 1))
    return made.left_out, made.put_in, [call.call for call in made.waiting]


def test_a_whole_history_needs_nothing() -> None:
    assert mended(HI, asks("a", "b"), answers("b"), answers("a"), AssistantMessage("ok"), HI) == ([], [], [])


def test_calls_at_the_end_wait_for_a_result_of_their_own() -> None:
    assert mended(HI, asks("a", "b"), answers("a")) == ([], [], ["b"])


def test_calls_in_the_middle_are_answered_behind_the_last_result() -> None:
    assert mended(HI, asks("a", "b", "c"), answers("a"), HI, asks("d"), answers("d")) == (
        [],
        [(3, lost("b")), (3, lost("c"))],
        [],
    )
    assert mended(HI, asks("a"), asks("b"), answers("b")) == ([], [(2, lost("a"))], [])


def test_a_second_result_and_one_that_no_call_asked_for_are_left_out() -> None:
    assert mended(answers("x"), HI, asks("a"), answers("a"), answers("a", "again"), answers("y")) == ([1, 5, 6], [], [])


def test_two_calls_of_the_same_id_have_two_results() -> None:
    assert mended(HI, asks("a", "a"), answers("a"), answers("a"), answers("a")) == ([5], [], [])


def test_a_result_behind_another_message_moves_to_its_answer() -> None:
    assert mended(HI, asks("a", "b"), answers("a"), HI, answers("b")) == ([5], [(3, answers("b"))], [])


def test_a_result_before_its_call_is_left_out_and_the_call_answered() -> None:
    assert mended(HI, answers("a"), asks("a"), HI) == ([2], [(3, lost("a"))], [])


def test_a_message_that_cannot_be_read_is_left_out_with_the_results_of_its_calls() -> None:
    assert mended(HI, None, answers("a"), AssistantMessage("ok")) == ([2, 3], [], [])


def write(database: Path, session: str, rows: list[tuple[int, Message | str]]) -> None:
    """Put messages into the table as no program of ours would."""
    with sqlite3.connect(database) as connection:
        for seq, message in rows:
            data: dict[str, Any] = {}
            if isinstance(message, AssistantMessage):
                data = {"calls": [{"call": call.call, "tool": call.tool, "arguments": {}} for call in message.calls]}
            elif isinstance(message, ToolMessage):
                data = {"call": message.call, "tool": message.tool, "text": message.text, "is_error": message.is_error}
            elif isinstance(message, UserMessage):
                data = {"text": message.text}
            role = "user" if isinstance(message, str) else message.role
            text = message if isinstance(message, str) else json.dumps(data)
            connection.execute(
                "INSERT OR REPLACE INTO messages (session, seq, role, json) VALUES (?, ?, ?, ?)",
                (session, seq, role, text),
            )
        connection.execute("UPDATE sessions SET last_seq = 100, reserved = 100 WHERE id = ?", (session,))
    connection.close()


@pytest.fixture
def broken(store: SessionStore, database: Path) -> str:
    session = store.create(Path("/p")).session
    write(
        database,
        session,
        [
            (1, HI),
            (2, asks("a", "b")),
            (3, UserMessage("meanwhile")),
            (4, answers("b", "late")),
            (5, answers("zzz")),
            (6, "{torn"),
            (7, asks("c")),
        ],
    )
    return session


SENT = [HI, asks("a", "b"), answers("b", "late"), lost("a"), UserMessage("meanwhile"), asks("c"), lost("c")]


def test_a_repair_is_kept_once_and_the_record_stays_as_it_was(store: SessionStore, broken: str, database: Path) -> None:
    with sqlite3.connect(database) as connection:
        before = connection.execute("SELECT * FROM messages ORDER BY seq").fetchall()
    assert store.repair(broken) == [lost("c")]
    assert [stored.message for stored in store.messages(broken)] == SENT
    told, result = (envelope for envelope in store.events(broken))
    assert told.event == Notice(
        "warning",
        "sessions",
        "the history was repaired (messages that cannot be read, left out: 1; results without an open call, left out:"
        " 1; results in the wrong place, moved to their answer: 1; results that were missing, put in as"
        " 'interrupted, effect unknown': 1)",
    )
    assert (told.seq, result.seq, result.event.type) == (101, 102, "tool_finished")
    assert store.repair(broken) == []
    assert len(list(store.events(broken))) == 2
    store.close()
    assert [stored.message for stored in store.messages(broken)] == SENT
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT * FROM messages WHERE seq < 100 ORDER BY seq").fetchall() == before
    connection.close()


def test_a_repaired_session_goes_on(store: SessionStore, broken: str) -> None:
    store.repair(broken)
    more: list[Event] = [
        RunStarted("build", "offline", "ask", UserMessage("next")),
        StepFinished(1, asks("d")),
        ToolFinished("d", "read", "done", False, {}),
        MessageAdded(UserMessage("by the way"), "steer"),
    ]
    store.append(broken, [Envelope(103 + place, TIME, broken, event, "run_9") for place, event in enumerate(more)])
    assert [stored.message for stored in store.messages(broken)] == [
        *SENT,
        UserMessage("next"),
        asks("d"),
        answers("d"),
        UserMessage("by the way"),
    ]
    store.unlock(broken)


def test_what_was_repaired_goes_with_its_session(store: SessionStore, broken: str, database: Path) -> None:
    store.repair(broken)
    store.delete(broken)
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM repairs").fetchone() == (0,)
    connection.close()
