"""The store: sessions are listed, read back as they were, and never half written."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.event_parts import Parent
from harness_tui.core.events import (
    ContextCompacted,
    Event,
    MessageAdded,
    Notice,
    RunFinished,
    RunStarted,
    SessionChanged,
    SessionStarted,
    StepFinished,
    TextDelta,
    ToolFinished,
    UndoApplied,
)
from harness_tui.core.messages import AssistantMessage, Attachment, ToolCall, ToolMessage, UserMessage
from harness_tui.core.redaction import REDACTOR
from harness_tui.sessions.packing import LOST
from harness_tui.sessions.search import search
from harness_tui.sessions.store import INTERRUPTED, SessionStore
from harness_tui.sessions.tables import RESERVE

TIME = "2026-01-02T03:04:05.678Z"


def envelopes(session: str, *events: Event, start: int = 1, run: str | None = "run_1") -> list[Envelope]:
    return [Envelope(start + index, TIME, session, event, run) for index, event in enumerate(events)]


def prompt(text: str, *attachments: Attachment) -> RunStarted:
    return RunStarted("build", "offline", "ask", UserMessage(text, attachments))


def asks(*calls: str) -> StepFinished:
    return StepFinished(1, AssistantMessage(calls=tuple(ToolCall(call, "read", {"path": "a.py"}) for call in calls)))


def result(call: str, text: str = "done") -> ToolFinished:
    return ToolFinished(call, "read", text, False, {})


def test_events_come_back_as_they_were_appended(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    written = [
        *envelopes(session, SessionStarted("/p"), run=None),
        *envelopes(session, prompt("hi"), TextDelta("hello "), RunFinished("completed"), start=2),
    ]
    store.append(session, written)
    assert list(store.events(session)) == written
    assert list(store.events(session, 3)) == written[3:]
    assert store.last_seq(session) == 4


def test_more_events_than_a_page_come_back_in_order(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    store.append(session, envelopes(session, *(TextDelta(str(number)) for number in range(1300))))
    assert [envelope.seq for envelope in store.events(session)] == list(range(1, 1301))


def test_an_event_with_a_field_named_like_the_head_keeps_it(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    store.append(session, envelopes(session, UndoApplied("run_0", ("a.py",), ()), run=None))
    (envelope,) = store.events(session)
    assert envelope.event == UndoApplied("run_0", ("a.py",), ())


def test_messages_are_the_prompt_the_answer_and_the_results(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    store.append(session, envelopes(session, prompt("read it"), asks("c1"), result("c1", "text of a.py")))
    assert [(stored.seq, stored.message) for stored in store.messages(session)] == [
        (1, UserMessage("read it")),
        (2, AssistantMessage(calls=(ToolCall("c1", "read", {"path": "a.py"}),))),
        (3, ToolMessage("c1", "read", "text of a.py")),
    ]
    assert store.info(session).messages == 3


def test_the_prompt_is_one_message_though_two_events_carry_it(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    store.append(session, envelopes(session, prompt("go on"), MessageAdded(UserMessage("go on"), "prompt")))
    store.append(session, envelopes(session, prompt("go on"), start=3, run="run_2"))
    store.append(session, envelopes(session, MessageAdded(UserMessage("go on"), "prompt"), start=4, run="run_2"))
    assert [stored.seq for stored in store.messages(session)] == [1, 3]


def test_a_steering_message_with_the_same_text_is_a_message_of_its_own(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    store.append(session, envelopes(session, prompt("go on"), MessageAdded(UserMessage("go on"), "steer")))
    assert [stored.seq for stored in store.messages(session)] == [1, 2]


def test_a_result_that_no_model_asked_for_is_shown_and_not_sent(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    store.append(
        session, envelopes(session, result("call_by_hand"), prompt("hi"), asks("c1"), result("c1"), result("c1"))
    )
    assert [stored.seq for stored in store.messages(session)] == [2, 3, 4]
    assert len(list(store.events(session))) == 5


def test_opaque_parts_and_attached_content_are_kept_for_the_model_and_not_shown(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    attached = Attachment("text", "text/plain", 3, path="a.txt", content="abc")
    answer = AssistantMessage("yes", opaque={"provider": "p", "signature": "sk-aaaaaaaaaaaaaaaaaaaaaaaa"})
    store.append(session, envelopes(session, prompt("see", attached), StepFinished(1, answer)))
    assert [stored.message for stored in store.messages(session)] == [UserMessage("see", (attached,)), answer]
    shown = [envelope.to_json() for envelope in store.events(session)]
    assert "content" not in shown[0]["message"]["attachments"][0]
    assert "opaque" not in shown[1]["message"]


def test_messages_begin_after_the_last_compaction_unless_all_are_wanted(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    compacted = ContextCompacted(100, 10, "short", (), ())
    store.append(session, envelopes(session, prompt("one"), compacted, MessageAdded(UserMessage("short"), "prompt")))
    assert [stored.seq for stored in store.messages(session)] == [3]
    assert [stored.seq for stored in store.messages(session, since_compaction=False)] == [1, 3]


def test_secrets_reach_neither_events_nor_messages_nor_titles(store: SessionStore, database: Path) -> None:
    REDACTOR.add("correct-horse-battery")
    session = store.create(Path("/p")).session
    picture = Attachment("image", "image/png", 9, path="a.png", content="AIza" + "b" * 40)
    text = "my key is correct-horse-battery and ghp_0123456789abcdefghijABCDEFGHIJ"
    store.append(session, envelopes(session, prompt(text, picture), SessionChanged(title="correct-horse-battery")))
    store.close()
    written = b"".join(path.read_bytes() for path in database.parent.iterdir() if path.is_file())
    assert b"correct-horse" not in written
    assert b"ghp_0123" not in written
    (stored,) = store.messages(session)
    assert stored.message == UserMessage("my key is [redacted] and [redacted]", (picture,))
    assert store.info(session).title == "[redacted]"


def test_an_event_number_that_was_used_already_writes_nothing(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    store.append(session, envelopes(session, prompt("one")))
    with pytest.raises(HarnessError) as raised:
        store.append(session, [*envelopes(session, TextDelta("a"), start=2), *envelopes(session, TextDelta("b"))])
    assert raised.value.code == "out-of-order"
    assert store.last_seq(session) == 1


def test_a_call_without_a_result_gets_one_once(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    store.append(session, envelopes(session, prompt("hi"), asks("c1", "c2", "c3"), result("c1")))
    assert store.repair(session) == [ToolMessage(call, "read", INTERRUPTED, True) for call in ("c2", "c3")]
    assert store.repair(session) == []
    gap, *answers = list(store.events(session))[3:]
    assert isinstance(gap.event, Notice)
    assert (gap.first_seq, gap.seq) == (4, 3 + RESERVE)
    assert [(item.seq, item.run, item.event) for item in answers] == [
        (gap.seq + 1, "run_1", ToolFinished("c2", "read", INTERRUPTED, True, {"interrupted": True})),
        (gap.seq + 2, "run_1", ToolFinished("c3", "read", INTERRUPTED, True, {"interrupted": True})),
    ]
    assert [stored.message for stored in store.messages(session)][2:] == [
        ToolMessage("c1", "read", "done"),
        ToolMessage("c2", "read", INTERRUPTED, True),
        ToolMessage("c3", "read", INTERRUPTED, True),
    ]


def test_a_whole_session_needs_no_repair(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    assert store.repair(session) == []
    store.append(session, envelopes(session, prompt("hi"), asks("c1"), result("c1")))
    assert store.repair(session) == []


def test_a_session_is_found_by_the_start_of_its_id_if_only_one_starts_so(store: SessionStore) -> None:
    store.create(Path("/p"), session_id="ses_aaa1")
    store.create(Path("/p"), session_id="ses_aab1")
    assert store.info("ses_aab").session == "ses_aab1"
    with pytest.raises(UsageError, match="ses_aaa1, ses_aab1"):
        store.info("ses_aa")
    for unknown in ("ses_b", "", "ses_a_", "%"):
        with pytest.raises(UsageError, match="no such session"):
            store.info(unknown)


def test_the_whole_id_is_found_though_another_starts_with_it(store: SessionStore) -> None:
    store.create(Path("/p"), session_id="ses_1")
    store.create(Path("/p"), session_id="ses_12")
    assert store.info("ses_1").session == "ses_1"


def test_bytes_that_are_no_text_name_no_session_and_find_nothing(store: SessionStore, tmp_path: Path) -> None:
    store.create(Path("/p"), title="mine")
    for call in (store.info, store.last_seq, store.delete, store.undo_log, lambda name: store.rename(name, "t")):
        with pytest.raises(UsageError, match="there is no such session"):
            call("ses_\udcff")
    assert search(store, tmp_path / "index.db", "mine\udcff") == []


def test_a_bad_or_used_id_is_refused(store: SessionStore) -> None:
    store.create(Path("/p"), session_id="ses_1")
    for name in ("../evil", "ses_1", "a" * 65):
        with pytest.raises(HarnessError):
            store.create(Path("/p"), session_id=name)


def test_sessions_are_listed_by_project_with_the_latest_first(store: SessionStore) -> None:
    first, second = store.create(Path("/p")).session, store.create(Path("/p")).session
    other = store.create(Path("/q")).session
    store.append(first, [Envelope(1, "2999-01-01T00:00:00.000Z", first, prompt("# do\nit"), "run_1")])
    assert [info.session for info in store.list(Path("/p"))] == [first, second]
    assert {info.session for info in store.list()} == {first, second, other}
    assert store.list(Path("/p"))[0].title == "# do"


def test_the_latest_session_is_one_with_messages_and_no_subagents(store: SessionStore) -> None:
    assert store.latest(Path("/p")) is None
    main = store.create(Path("/p")).session
    child = store.create(Path("/p"), parent=Parent(main, "run_1", "c1")).session
    store.create(Path("/p"))
    store.append(main, envelopes(main, prompt("one")))
    store.append(child, [Envelope(1, "2999-01-01T00:00:00.000Z", child, prompt("two"), "run_2")])
    latest = store.latest(Path("/p"))
    assert latest is not None
    assert latest.session == main
    assert store.info(child).parent == Parent(main, "run_1", "c1")


def test_a_renamed_session_has_its_title_in_the_list_and_in_the_record(store: SessionStore) -> None:
    session = store.create(Path("/p"), title="old").session
    store.rename(session, "  new\ntitle ")
    assert store.info(session).title == "new title"
    assert [envelope.event for envelope in store.events(session)] == [SessionChanged(title="new title")]


def test_an_open_session_is_renamed_without_touching_its_numbers(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    assert store.lock(session)
    store.rename(session, "new")
    assert store.info(session).title == "new"
    assert store.last_seq(session) == 0


def test_a_deleted_session_takes_its_subagents_and_folders_along(store: SessionStore) -> None:
    main = store.create(Path("/p")).session
    child = store.create(Path("/p"), parent=Parent(main, "run_1", "c1")).session
    other = store.create(Path("/p")).session
    store.append(main, envelopes(main, prompt("one")))
    store.folder(child).mkdir(parents=True)
    (store.folder(child) / "out.txt").write_text("12345")
    assert store.info(child).bytes == 5
    store.delete(main)
    assert [info.session for info in store.list()] == [other]
    assert not store.folder(child).exists()
    with pytest.raises(UsageError):
        list(store.events(main))


def test_an_open_session_is_not_deleted(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    with store.locked(session), pytest.raises(HarnessError) as raised:
        store.delete(session)
    assert raised.value.code == "live"
    store.delete(session)


def test_size_counts_what_was_written(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    store.append(session, envelopes(session, TextDelta("é")))
    assert store.info(session).bytes == len('{"text":"é"}'.encode())


def test_odd_text_is_kept(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    text = "lone \ud800 surrogate, NUL \x00, 日本語"
    store.append(session, envelopes(session, prompt(text), TextDelta(text)))
    assert [envelope.event for envelope in store.events(session)] == [prompt(text), TextDelta(text)]


def test_an_event_too_deep_for_json_is_told_of_and_its_neighbours_kept(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"a": deep}
    store.append(
        session, envelopes(session, ToolFinished("c1", "read", "x", False, {"deep": deep}), TextDelta("after"))
    )
    first, second = (envelope.event for envelope in store.events(session))
    assert isinstance(first, Notice)
    assert "tool_finished" in first.text
    assert second == TextDelta("after")


def test_a_damaged_event_becomes_a_notice_and_a_damaged_message_an_error(store: SessionStore, database: Path) -> None:
    session = store.create(Path("/p")).session
    store.append(session, envelopes(session, prompt("one"), TextDelta("two")))
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE events SET json = '{' WHERE seq = 1")
        connection.execute("UPDATE messages SET json = '[]' WHERE seq = 1")
    connection.close()
    first, second = store.events(session)
    assert isinstance(first.event, Notice)
    assert second.event == TextDelta("two")
    with pytest.raises(HarnessError, match="message 1"):
        store.messages(session)


def test_an_event_type_of_a_later_version_is_left_out(store: SessionStore, database: Path) -> None:
    session = store.create(Path("/p")).session
    store.append(session, envelopes(session, TextDelta("one"), TextDelta("two")))
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE events SET type = 'from_the_future' WHERE seq = 1")
    connection.close()
    assert [envelope.seq for envelope in store.events(session)] == [2]


def test_a_session_that_was_closed_goes_on_with_the_next_number(store: SessionStore) -> None:
    session = store.create(Path("/p"), lock=True).session
    store.append(session, envelopes(session, prompt("hi")))
    store.unlock(session, seen=1)
    assert store.lock(session)
    assert store.repair(session) == []
    assert store.last_seq(session) == 1


def test_numbers_that_were_seen_and_not_recorded_are_not_given_again(store: SessionStore) -> None:
    session = store.create(Path("/p"), lock=True).session
    store.append(session, envelopes(session, prompt("hi")))
    store.unlock(session, seen=7)  # events 2 to 7 could not be written
    store.repair(session)
    (gap,) = store.events(session, 1)
    assert (gap.first_seq, gap.seq) == (2, 7)
    assert store.last_seq(session) == 7


def test_a_session_that_died_before_its_first_event_begins_with_number_one(store: SessionStore) -> None:
    session = store.create(Path("/p"), lock=True).session
    assert store.repair(session) == []
    assert store.last_seq(session) == 0


def test_a_closed_session_is_renamed_behind_every_number_that_was_seen(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    store.append(session, envelopes(session, prompt("hi")))
    store.rename(session, "new")
    assert store.last_seq(session) == 1 + RESERVE + 1


def test_a_text_that_stands_in_many_places_is_kept_once(store: SessionStore, database: Path) -> None:
    image = Attachment("image", "image/png", 750_000, path="a.png", content="iVBO" * 250_000)
    output = "line\n" * 8_000
    session = store.create(Path("/p")).session
    number = 1
    for turn in range(10):
        call = f"c{turn}"
        written = envelopes(session, prompt(f"turn {turn}", image), asks(call), result(call, output), start=number)
        store.append(session, written)
        number += 3
    assert [stored.message for stored in store.messages(session)][:3] == [
        UserMessage("turn 0", (image,)),
        AssistantMessage(calls=(ToolCall("c0", "read", {"path": "a.py"}),)),
        ToolMessage("c0", "read", output),
    ]
    assert [envelope.event for envelope in store.events(session)][2] == result("c0", output)
    store.close()
    assert sum(path.stat().st_size for path in database.parent.iterdir()) < 1_000_000 + 40_000 + 300_000
    assert 1_040_000 < store.info(session).bytes < 1_060_000


def test_texts_of_a_deleted_session_go_unless_another_has_them(store: SessionStore, database: Path) -> None:
    shared, own = "s" * 5000, "o" * 6000
    first, second = store.create(Path("/p")).session, store.create(Path("/p")).session
    store.append(first, envelopes(first, prompt(shared), prompt(own)))
    store.append(second, envelopes(second, prompt(shared)))
    store.delete(first)
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT size FROM blobs").fetchall() == [(5000,)]
    connection.close()
    assert [stored.message for stored in store.messages(second)] == [UserMessage(shared)]


def test_a_long_text_that_was_lost_says_so_in_its_place(store: SessionStore, database: Path) -> None:
    session = store.create(Path("/p")).session
    picture = Attachment("image", "image/png", 9, path="a.png", content="A" * 5000)
    store.append(session, envelopes(session, prompt("a long text " * 500, picture)))
    with sqlite3.connect(database) as connection:
        connection.execute("DELETE FROM blobs")
    connection.close()
    (stored,) = store.messages(session)
    assert stored.message == UserMessage(LOST, (replace(picture, content=None),))


def test_five_hundred_results_of_one_answer_each_belong_to_it(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    calls = [f"c{number}" for number in range(500)]
    store.append(session, envelopes(session, prompt("go"), asks(*calls)))
    for number, call in enumerate(calls):
        store.append(session, envelopes(session, result(call), result(call), start=3 + 2 * number))
    assert [stored.seq for stored in store.messages(session)] == [1, 2, *range(3, 1003, 2)]
    assert store.repair(session) == []


def test_a_write_that_fails_leaves_its_calls_waiting(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    store.append(session, envelopes(session, prompt("go"), asks("c1")))
    with pytest.raises(HarnessError):
        store.append(session, [*envelopes(session, result("c1"), start=3), *envelopes(session, result("c1"))])
    store.append(session, envelopes(session, result("c1"), start=3))
    assert [stored.seq for stored in store.messages(session)] == [1, 2, 3]
