"""The history gives way to a summary: near the limit, when a person wants it, when a request was too long."""

from __future__ import annotations

import asyncio

import pytest
from fakes.fake_tool import FakeTool

from harness_tui.core.events import (
    ContextCompacted,
    MessageAdded,
    Notice,
    RunFinished,
    TodoUpdated,
    ToolStarted,
    UndoApplied,
    UsageUpdated,
)
from harness_tui.core.intents import Cancel, Compact, Submit, Undo

SKILL = "---\nname: brew\ndescription: How to brew\n---\nBoil the water first.\n"
BIG = "word " * 400
HUGE = "word " * 8000


def texts(request):
    return [message.get("text", "") for message in request["messages"]]


def turns_of(requests):
    return [request for request in requests if request.get("purpose") != "internal"]


async def test_a_request_that_would_come_near_the_limit_is_made_from_a_summary(stage):
    show = await stage(
        {
            "context": 20000,
            "internal": ["Goal: paint it blue."],
            "turns": [{"text": HUGE}, {"text": "ok", "usage": {"input": 16500, "output": 10}}, {"text": "third"}],
        }
    )
    await show.say("first " + BIG)
    await show.say("second")
    assert not show.of(ContextCompacted)
    await show.say("what colour?")
    (compacted,) = show.of(ContextCompacted)
    assert compacted.summary == "Goal: paint it blue."
    assert compacted.before > 16500 > compacted.after
    sent = turns_of(show.requests())[-1]
    (only,) = sent["messages"]
    assert "<summary>\nGoal: paint it blue.\n</summary>" in only["text"]
    assert "[person]\nwhat colour?" in only["text"]
    assert "[person]\nsecond" in only["text"]
    assert "first word" not in only["text"]


async def test_below_the_limit_nothing_is_summed_up(stage):
    show = await stage(
        {"context": 20000, "turns": [{"text": "a", "usage": {"input": 15900, "output": 50}}, {"text": "b"}]}
    )
    await show.say("one")
    await show.say("two")
    assert not show.of(ContextCompacted)
    assert texts(show.requests()[-1]) == ["one", "a", "two"]


async def test_configuration_switches_it_off_and_sets_the_reserve(stage):
    script = {"context": 20000, "turns": [{"text": HUGE, "usage": {"input": 19000, "output": 50}}, {"text": "b"}]}
    show = await stage(script, settings={"compaction": {"auto": False}})
    await show.say("one")
    await show.say("two")
    assert not show.of(ContextCompacted)
    show = await stage(
        {"context": 20000, "turns": [{"text": HUGE, "usage": {"input": 9000, "output": 1}}, {"text": "b"}]},
        settings={"compaction": {"reserve": 12000, "keep": 50}},
    )
    await show.say("one")
    await show.say("two")
    assert len(show.of(ContextCompacted)) == 1


async def test_a_person_sums_up_with_a_focus_and_the_next_request_begins_with_the_summary(stage):
    show = await stage(
        {"internal": ["short"], "turns": [{"text": BIG}, {"text": "b"}, {"text": "c"}]},
        settings={"compaction": {"keep": 0}},
    )
    await show.say("one " + BIG)
    await show.say("two")
    await show.send(Compact("the colours"))
    assert (await show.next(RunFinished)).reason == "completed"
    internal = [request for request in show.requests() if request.get("purpose") == "internal"]
    assert "What matters most to the person: the colours" in internal[0]["messages"][0]["text"]
    assert internal[0]["tools"] == []
    await show.say("three")
    sent = texts(show.requests()[-1])
    assert len(sent) == 2
    assert "<summary>\nshort\n</summary>" in sent[0]
    assert sent[1] == "three"
    (compacted,) = show.of(ContextCompacted)
    assert "1 latest message" in compacted.kept
    assert "3 messages" in compacted.omitted


async def test_without_a_script_for_it_the_summary_of_a_replay_is_a_word(stage):
    show = await stage({"turns": [{"text": BIG}]}, settings={"compaction": {"keep": 0}})
    await show.say("one " + BIG)
    await show.send(Compact())
    await show.next(RunFinished)
    assert show.of(ContextCompacted)[0].summary == "(summary)"


async def test_an_overflow_is_answered_by_one_summary_and_one_more_try(stage):
    show = await stage(
        {
            "internal": ["sum"],
            "turns": [{"text": BIG}, {"error": {"kind": "context", "message": "too long"}}, {"text": "made it"}],
        },
        settings={"compaction": {"keep": 0}},
    )
    await show.say("one " + BIG)
    end = await show.say("two")
    assert end.reason == "completed"
    assert len(show.of(ContextCompacted)) == 1
    assert "<summary>\nsum\n</summary>" in texts(show.requests()[-1])[0]


async def test_a_second_overflow_fails_the_run(stage):
    error = {"error": {"kind": "context", "message": "too long"}}
    show = await stage(
        {"turns": [{"text": BIG}, error, error, {"text": "never"}]}, settings={"compaction": {"keep": 0}}
    )
    await show.say("one " + BIG)
    end = await show.say("two")
    assert (end.reason, end.error.kind) == ("failed", "context")
    assert len(show.of(ContextCompacted)) == 1


async def test_an_overflow_of_the_only_message_fails_the_run_without_a_summary(stage):
    show = await stage({"turns": [{"error": {"kind": "context", "message": "too long"}}]})
    end = await show.say("one")
    assert (end.reason, end.error.kind) == ("failed", "context")
    assert not show.of(ContextCompacted)


async def test_a_summary_that_cannot_be_had_leaves_the_history(stage):
    show = await stage(
        {
            "internal": [{"error": {"kind": "auth", "message": "no key"}}],
            "turns": [{"text": BIG}, {"text": "b"}],
        },
        settings={"compaction": {"keep": 0}},
    )
    await show.say("one")
    await show.send(Compact())
    end = await show.next(RunFinished)
    assert (end.reason, end.error.kind) == ("failed", "auth")
    assert not show.of(ContextCompacted)
    await show.say("two")
    assert texts(show.requests()[-1]) == ["one", BIG, "two"]


async def test_a_summary_that_is_cancelled_leaves_the_history(stage):
    show = await stage(
        {"internal": [{"text": "never", "wait": "go.flag"}], "turns": [{"text": BIG}, {"text": "b"}]},
        settings={"compaction": {"keep": 0}},
    )
    await show.say("one")
    await show.send(Compact())
    while not any("summing up" in notice.text for notice in show.of(Notice)):
        await show.next(Notice)
    await show.send(Cancel())
    assert (await show.next(RunFinished)).reason == "cancelled"
    await show.say("two")
    assert texts(show.requests()[-1]) == ["one", BIG, "two"]


@pytest.mark.rule("3.9.10", "3.9.11")
async def test_steps_files_and_skills_stay_and_the_catalogue_is_sent_once(stage):
    show = await stage({"turns": []})
    skill = show.project / ".harness" / "skills" / "brew" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL)
    (show.project / "a.txt").write_text("hello\n")
    await asyncio.to_thread(show.workspace.trust.grant, show.workspace.project)
    show = await stage(
        {
            "internal": ["sum"],
            "turns": [
                {"tools": [{"name": "skill", "arguments": {"name": "brew"}}]},
                {"tools": [{"name": "read", "arguments": {"path": "a.txt"}}]},
                {"tools": [{"name": "todo", "arguments": {"items": [{"id": "1", "text": "boil", "state": "active"}]}}]},
                {"text": "done"},
                {"tools": [{"name": "skill", "arguments": {"name": "brew"}}]},
                {"text": "again"},
            ],
        },
        settings={"compaction": {"keep": 0}},
    )
    await show.say("go")
    assert show.of(TodoUpdated)
    await show.send(Compact())
    await show.next(RunFinished)
    (compacted,) = show.of(ContextCompacted)
    assert {"1 step", "file a.txt", "skill brew"} <= set(compacted.kept)
    await show.say("more")
    sent = show.requests()[-1]
    text = texts(sent)[0]
    assert text.count("Boil the water first.") == 1
    assert "- [active] 1: boil" in text
    assert "<open_files>\n- a.txt\n</open_files>" in text
    assert sent["system"].count("<available_skills>") == 1
    assert "<available_skills>" not in "".join(texts(sent))
    assert "loaded already" in texts(sent)[-1]


@pytest.mark.rule("3.9.12")
async def test_a_resumed_session_goes_on_after_the_summary(stage):
    show = await stage({"internal": ["sum"], "turns": [{"text": BIG}]}, settings={"compaction": {"keep": 0}})
    await show.say("one " + BIG)
    await show.send(Compact())
    await show.next(RunFinished)
    await show.workspace.close()
    again = await stage({"turns": [{"text": "b"}]}, session=show.live.id)
    await again.say("two")
    sent = texts(again.requests()[-1])
    assert len(sent) == 2
    assert "<summary>\nsum\n</summary>" in sent[0]
    assert sent[1] == "two"


async def test_calls_are_counted_on_after_a_summary_and_a_resume(stage):
    turns = [{"tools": [{"name": "list"}, {"name": "list", "arguments": {"path": "."}}]}, {"text": BIG}]
    show = await stage({"internal": ["sum"], "turns": turns}, settings={"compaction": {"keep": 0}})
    await show.say("one")
    await show.send(Compact())
    await show.next(RunFinished)
    await show.workspace.close()
    again = await stage({"turns": [{"tools": [{"name": "list"}]}, {"text": "b"}]}, session=show.live.id)
    await again.say("two")
    assert [event.call for event in again.of(ToolStarted)] == ["c3"]


async def test_a_wish_during_a_run_is_met_before_its_next_step(stage):
    hold = FakeTool("hold")
    show = await stage(
        {"internal": ["sum"], "turns": [{"text": BIG}, {"tools": [{"name": "hold"}]}, {"text": "end"}]},
        hold,
        settings={"compaction": {"keep": 0}},
    )
    await show.say("one " + BIG)
    await show.send(Submit("two"))
    await show.send(Compact("x"))
    assert (await show.next(RunFinished)).reason == "completed"
    assert len(show.of(ContextCompacted)) == 1
    last = [event for event in show.of(MessageAdded) if event.origin == "compaction"]
    assert len(last) == 1
    assert show.of(UsageUpdated)[-1].context_used == show.of(ContextCompacted)[0].after


async def test_the_last_message_of_the_person_is_kept_through_a_long_run(stage):
    calls = [{"tools": [{"name": "list", "arguments": {"path": "."}}], "text": HUGE[:9000]} for _ in range(3)]
    show = await stage(
        {
            "context": 20000,
            "internal": ["sum"],
            "turns": [
                *calls,
                {"text": BIG, "tools": [{"name": "list"}], "usage": {"input": 16900, "output": 1}},
                {"text": "end"},
            ],
        },
        settings={"compaction": {"keep": 0}},
    )
    await show.say("paint the bike shed green")
    assert len(show.of(ContextCompacted)) == 1
    (only,) = texts(turns_of(show.requests())[-1])
    assert "<request>\n[person]\npaint the bike shed green\n</request>" in only
    assert only.endswith("Go on from there.")


async def test_a_summary_is_undone_as_a_run_is(stage):
    show = await stage(
        {"internal": ["sum"], "turns": [{"text": BIG}, {"text": "b"}, {"text": "c"}]},
        settings={"compaction": {"keep": 0}},
    )
    await show.say("one")
    await show.send(Compact())
    await show.next(RunFinished)
    await show.send(Undo())
    await show.next(UndoApplied)
    await show.live.idle()
    await show.say("two")
    assert texts(show.requests()[-1]) == ["one", BIG, "two"]
    await show.workspace.close()
    again = await stage({"turns": [{"text": "d"}]}, session=show.live.id)
    await again.say("three")
    assert texts(again.requests()[-1]) == ["one", BIG, "two", "b", "three"]


async def test_a_short_history_is_summed_up_too_when_a_person_wants_it(stage):
    show = await stage({"internal": ["sum"], "turns": [{"text": "a"}, {"text": "b"}]})
    await show.say("one")
    await show.send(Compact())
    await show.next(RunFinished)
    (compacted,) = show.of(ContextCompacted)
    assert (compacted.kept, compacted.omitted) == (("1 latest message",), ("1 message",))
    await show.say("two")
    first, second = texts(show.requests()[-1])
    assert "<summary>\nsum\n</summary>" in first
    assert "[assistant]\na" in first
    assert second == "two"
