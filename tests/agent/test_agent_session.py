"""A live session: intents, queue and steering, cancel, refusals by a person, calls by hand, resume."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fakes.fake_tool import FakeTool

from harness_tui.core.errors import StalePreviewError
from harness_tui.core.events import (
    MessageAdded,
    Notice,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
    QueueChanged,
    RunFinished,
    RunStarted,
    SessionChanged,
    SessionStarted,
    TextFinished,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from harness_tui.core.intents import Answer, CallTool, Cancel, SetSession, Shell, Submit
from harness_tui.core.seams import Check, QuestionRequest, ToolContext, ToolResult


def calls(*names: str, **arguments: Any) -> dict[str, Any]:
    return {"tools": [{"name": name, "arguments": arguments} for name in names]}


async def hang(context: ToolContext) -> ToolResult:
    context.emit(ToolProgress(context.call, output_delta="so far"))
    await asyncio.sleep(60)
    return ToolResult("never")


async def test_the_first_event_is_session_started_with_number_one(stage: Any) -> None:
    play = await stage({"turns": []})
    await play.next(SessionChanged)
    assert (play.seen[0].seq, type(play.seen[0].event)) == (1, SessionStarted)
    assert [envelope.seq for envelope in play.seen] == list(range(1, len(play.seen) + 1))


async def test_a_message_during_a_run_is_refused_with_a_notice_unless_it_queues(stage: Any) -> None:
    play = await stage({"turns": [calls("work"), {"text": "one"}, {"text": "two"}]}, FakeTool("work"))
    await play.send(Submit("first"))
    await play.send(Submit("second"))
    await play.send(Submit("third", when="queue"))
    ends = [await play.next(RunFinished), await play.next(RunFinished)]
    assert [end.reason for end in ends] == ["completed", "completed"]
    assert [event.message.text for event in play.of(RunStarted)] == ["first", "third"]
    assert any("a run goes on" in event.text for event in play.of(Notice))
    assert [[item.text for item in event.items] for event in play.of(QueueChanged)] == [["third"], []]


async def test_a_steering_message_enters_at_the_next_step(stage: Any) -> None:
    play = await stage({"turns": [calls("work"), {"text": "done"}]}, FakeTool("work"))
    await play.send(Submit("first"))
    await play.send(Submit("rather this", when="steer"))
    assert (await play.next(RunFinished)).reason == "completed"
    texts = [message["text"] for message in play.requests()[-1]["messages"] if message["role"] == "user"]
    assert texts == ["first", "rather this"]
    assert [event.origin for event in play.of(MessageAdded)] == ["prompt", "steer"]


async def test_cancel_ends_the_run_with_a_result_for_each_call_and_keeps_the_output_so_far(stage: Any) -> None:
    play = await stage(
        {"turns": [calls("slow", "after"), {"text": "never"}]}, FakeTool("slow", act=hang), FakeTool("after")
    )
    await play.send(Submit("go"))
    await play.next(ToolProgress)
    await play.send(Cancel())
    assert (await play.next(RunFinished)).reason == "cancelled"
    slow, after = play.of(ToolFinished)
    assert slow.output.startswith("Cancelled by the person")
    assert "so far" in slow.output
    assert after.output == "Cancelled by the person before it ran."
    assert [event.call for event in play.of(ToolStarted)] == ["c1", "c2"]


async def test_a_cancelled_command_keeps_its_output_and_says_what_became_of_it(stage: Any) -> None:
    command = "seq 3000; echo last; sleep 60"
    rule = {"permission": "bash", "pattern": "*", "action": "allow"}
    play = await stage({"turns": [calls("bash", command=command), {"text": "I see."}]}, rules=(rule,))
    await play.send(Submit("go"))
    while "last" not in (await play.next(ToolProgress)).output_delta:
        pass
    await play.send(Cancel())
    assert (await play.next(RunFinished)).reason == "cancelled"
    (finished,) = play.of(ToolFinished)
    assert finished.output.startswith("1\n2\n")
    first, second = finished.output.splitlines()[-2:]
    assert first == f"[the whole, 13898 bytes, is in {finished.truncated.path}]"
    assert second.startswith("[cancelled by the person after ")
    assert Path(finished.truncated.path).read_text().endswith("\n3000\nlast\n")
    assert (await play.say("what came?")).reason == "completed"
    assert [message["text"] for message in play.requests()[1]["messages"] if message["role"] == "tool"] == [
        finished.output
    ]


async def test_what_a_cancelled_shell_command_has_written_is_told_to_the_model(stage: Any) -> None:
    play = await stage({"turns": [{"text": "I see."}]})
    await play.send(Shell("echo part; sleep 60"))
    await play.next(ToolProgress)
    await play.send(Cancel())
    assert (await play.next(RunFinished)).reason == "cancelled"
    assert (await play.say("what came?")).reason == "completed"
    told = play.requests()[0]["messages"][0]["text"]
    assert told.startswith(
        "I ran a command in the shell:\n\n$ echo part; sleep 60\npart\n[cancelled by the person after "
    )


async def test_cancel_while_a_person_is_asked_leaves_one_result(stage: Any) -> None:
    tool = FakeTool("work", checks=(Check("bash", "make"),))
    play = await stage({"turns": [calls("work"), {"text": "never"}]}, tool, policy="person")
    await play.send(Submit("go"))
    asked = await play.next(PermissionRequested)
    await play.send(Cancel())
    assert (await play.next(RunFinished)).reason == "cancelled"
    assert len(play.of(ToolFinished)) == 1
    (resolved,) = play.of(PermissionResolved)
    assert (resolved.request, resolved.decision, resolved.note) == (asked.request, "deny", "the run was cancelled")
    assert tool.ran == []
    await play.send(Answer(asked.request, "allow"))
    assert "nothing waits" in (await play.next(Notice)).text


async def test_cancel_while_a_question_waits_closes_it(stage: Any) -> None:
    async def ask(context: ToolContext) -> ToolResult:
        assert context.ask is not None
        await context.ask(QuestionRequest("question", "work", "Which one?"))
        return ToolResult("never")

    play = await stage({"turns": [calls("work")]}, FakeTool("work", act=ask), policy="person")
    await play.send(Submit("go"))
    asked = await play.next(QuestionAsked)
    await play.send(Cancel())
    assert (await play.next(RunFinished)).reason == "cancelled"
    assert [(event.request, event.action) for event in play.of(QuestionAnswered)] == [(asked.request, "cancel")]


async def test_a_persons_no_without_a_note_ends_the_run(stage: Any) -> None:
    tool, other = FakeTool("work", checks=(Check("bash", "make"),)), FakeTool("other")
    play = await stage({"turns": [calls("work", "other"), {"text": "never"}]}, tool, other, policy="person")
    await play.send(Submit("go"))
    asked = await play.next(PermissionRequested)
    await play.send(Answer(asked.request, "deny"))
    assert (await play.next(RunFinished)).reason == "refused"
    assert len(play.of(ToolFinished)) == 2
    assert other.ran == []
    assert len(play.requests()) == 1


async def test_a_persons_no_with_a_note_is_told_to_the_model(stage: Any) -> None:
    tool = FakeTool("work", checks=(Check("bash", "make"),))
    play = await stage({"turns": [calls("work"), {"text": "ok"}]}, tool, policy="person")
    await play.send(Submit("go"))
    asked = await play.next(PermissionRequested)
    await play.send(Answer(asked.request, "deny", note="use ninja"))
    assert (await play.next(RunFinished)).reason == "completed"
    assert "use ninja" in play.requests()[1]["messages"][-1]["text"]


async def test_a_file_that_changed_after_its_diff_was_approved_is_not_written(stage: Any) -> None:
    async def changed(context: ToolContext) -> ToolResult:
        raise StalePreviewError("the file changed meanwhile")

    tool = FakeTool("work", checks=(Check("bash", "make"),), act=changed)
    play = await stage({"turns": [calls("work"), {"text": "ok"}]}, tool, policy="person")
    await play.send(Submit("go"))
    asked = await play.next(PermissionRequested)
    await play.send(Answer(asked.request, "allow"))
    assert (await play.next(RunFinished)).reason == "completed"
    (finished,) = play.of(ToolFinished)
    assert finished.is_error
    assert finished.output.startswith("the file changed meanwhile: what was approved no longer fits")
    assert [event.decision for event in play.of(PermissionResolved)] == ["allow"]
    assert len(tool.ran) == 1


async def test_a_file_that_changed_is_looked_at_again_where_a_rule_allows_the_call(stage: Any) -> None:
    async def changed_once(context: ToolContext) -> ToolResult:
        if len(tool.ran) == 1:
            raise StalePreviewError("the file changed meanwhile")
        return ToolResult("written")

    tool = FakeTool("work", checks=(Check("bash", "make"),), act=changed_once)
    rule = {"permission": "bash", "pattern": "make", "action": "allow"}
    play = await stage({"turns": [calls("work"), {"text": "ok"}]}, tool, rules=(rule,))
    assert (await play.say("go")).reason == "completed"
    assert [event.output for event in play.of(ToolFinished)] == ["written"]
    assert len(play.of(PermissionResolved)) == 1


async def test_results_stand_in_the_order_of_their_calls_also_after_a_resume(stage: Any) -> None:
    async def late(context: ToolContext) -> ToolResult:
        await asyncio.sleep(0.05)
        return ToolResult("late")

    slow, quick = FakeTool("slow", read_only=True, act=late), FakeTool("quick", read_only=True)
    play = await stage({"turns": [calls("slow", "quick"), {"text": "ok"}]}, slow, quick)
    assert (await play.say("go")).reason == "completed"
    assert [event.call for event in play.of(ToolFinished)] == ["c2", "c1"]
    sent = play.requests()[1]["messages"]
    assert [message["call"] for message in sent if message["role"] == "tool"] == ["c1", "c2"]
    await play.workspace.close()
    (play.project / "requests.jsonl").unlink()
    again = await stage({"turns": [{"text": "yes"}]}, session=play.live.id)
    assert (await again.say("and?")).reason == "completed"
    assert again.requests()[0]["messages"][: len(sent)] == sent


async def test_two_calls_of_one_id_have_two_results_also_after_a_resume(stage: Any) -> None:
    twice = {"tools": [{"name": "work", "id": "same"}, {"name": "work", "id": "same"}]}
    play = await stage({"turns": [twice, {"text": "ok"}]}, FakeTool("work"))
    assert (await play.say("go")).reason == "completed"
    assert [message["role"] for message in play.requests()[1]["messages"]] == ["user", "assistant", "tool", "tool"]
    await play.workspace.close()
    (play.project / "requests.jsonl").unlink()
    again = await stage({"turns": [{"text": "yes"}]}, session=play.live.id)
    assert (await again.say("and?")).reason == "completed"
    roles = [message["role"] for message in again.requests()[0]["messages"]]
    assert roles == ["user", "assistant", "tool", "tool", "assistant", "user"]


async def test_an_approval_for_the_session_is_not_asked_again(stage: Any) -> None:
    tool = FakeTool("time_now", checks=(Check("mcp", "time_now"),))
    turns = [calls("time_now"), calls("time_now"), {"text": "ok"}]
    play = await stage({"turns": turns}, tool, policy="person")
    await play.send(Submit("go"))
    asked = await play.next(PermissionRequested)
    assert "session" in [offer.scope for offer in asked.offers]
    await play.send(Answer(asked.request, "allow", scope="session"))
    assert (await play.next(RunFinished)).reason == "completed"
    assert len(tool.ran) == 2
    assert len(play.of(PermissionRequested)) == 1
    assert [event.scope for event in play.of(PermissionResolved)] == ["session", "session"]


async def test_a_scripted_answer_is_taken_before_the_policy(stage: Any) -> None:
    tool = FakeTool("work", checks=(Check("bash", "make all"),))
    script = {
        "turns": [calls("work"), {"text": "ok"}],
        "answers": [{"kind": "permission", "match": "make *", "action": "allow"}],
    }
    play = await stage(script, tool, policy="refuse")
    assert (await play.say("go")).reason == "completed"
    assert len(tool.ran) == 1
    (resolved,) = play.of(PermissionResolved)
    assert (resolved.decision, resolved.scope) == ("allow", "once")


async def test_a_call_by_hand_goes_through_the_gate_and_asks_no_model(stage: Any) -> None:
    play = await stage({"turns": [{"text": "later"}]})
    (play.project / "notes.txt").write_text("alpha\n")
    await play.send(CallTool("read", {"path": "notes.txt"}))
    assert (await play.next(RunFinished)).reason == "completed"
    (finished,) = play.of(ToolFinished)
    assert "alpha" in finished.output
    assert play.requests() == []
    assert (await play.say("hi")).reason == "completed"
    assert [message["role"] for message in play.requests()[0]["messages"]] == ["user"]


async def test_a_call_by_hand_that_nobody_permits_ends_refused_with_the_reason(stage: Any) -> None:
    play = await stage({"turns": []})
    await play.send(CallTool("bash", {"command": "echo hi"}))
    end = await play.next(RunFinished)
    assert end.reason == "refused"
    assert end.error.kind == "permission"
    assert "Not permitted" in end.error.message


async def test_the_output_of_a_shell_command_is_told_to_the_model(stage: Any) -> None:
    play = await stage({"turns": [{"text": "I see."}]})
    await play.send(Shell("echo from the shell"))
    assert (await play.next(RunFinished)).reason == "completed"
    assert (await play.say("what did it say?")).reason == "completed"
    first = play.requests()[0]["messages"][0]
    assert "$ echo from the shell" in first["text"]
    assert "\nfrom the shell" in first["text"]


async def test_a_changed_model_that_does_not_exist_is_refused_with_a_notice(stage: Any) -> None:
    play = await stage({"turns": []})
    await play.send(SetSession(model="nobody/nothing"))
    notice = await play.next(Notice)
    assert "nobody/nothing" in notice.text
    assert "providers are anthropic, openai, google" in (notice.hint or "")


async def test_an_intent_that_does_not_fit_is_answered_by_a_notice(stage: Any) -> None:
    play = await stage({"turns": []})
    await play.live.send_json({"intent": "submit", "text": 7})
    assert "text" in (await play.next(Notice)).text
    await play.live.send_json(["nonsense"])
    assert "object" in (await play.next(Notice)).text


async def test_an_unknown_command_starts_no_run(stage: Any) -> None:
    play = await stage({"turns": [{"text": "never"}]})
    end = await play.say("/no-such-command x")
    assert end.reason == "refused"
    assert play.of(RunStarted) == []
    assert play.requests() == []


@pytest.mark.parametrize("text", ["/call", "/call read {", "/call read [1]", "/call read 1"])
async def test_a_call_that_cannot_be_read_is_refused_before_anything_starts(stage: Any, text: str) -> None:
    play = await stage({"turns": [{"text": "never"}]})
    end = await play.say(text)
    assert (end.reason, end.error.kind) == ("refused", "usage")
    assert play.of(Notice)[-1].level == "error"
    assert play.of(RunStarted) == []
    assert play.of(ToolStarted) == []


async def test_a_run_that_is_cancelled_before_its_first_step_has_its_end(stage: Any) -> None:
    play = await stage({"turns": [{"text": "never"}]})
    await play.live.send(Submit("go"))
    await play.live.send(Cancel())
    assert (await play.next(RunFinished)).reason == "cancelled"
    assert play.requests() == []


async def test_a_session_that_is_closed_before_its_runs_first_step_records_the_runs_end(stage: Any) -> None:
    play = await stage({"turns": [{"text": "never"}]})
    await play.live.send(Submit("go"))
    await play.live.close()
    ends = [envelope.event for envelope in play.workspace.store.events(play.live.id)]
    assert [end.reason for end in ends if isinstance(end, RunFinished)] == ["cancelled"]


async def test_a_fault_in_a_script_is_told_with_its_file_and_line(stage: Any) -> None:
    play = await stage({"turns": [{"text": "never"}]})
    (play.project / "other.yaml").write_text("turns:\n  - {text: fine}\n  - {txt: wrong}\n")
    end = await play.say("go", model="replay:other.yaml")
    assert end.reason == "refused"
    assert "other.yaml:3" in end.error.message


async def test_a_double_slash_is_a_message_that_begins_with_one(stage: Any) -> None:
    play = await stage({"turns": [{"text": "ok"}]})
    assert (await play.say("//not a command")).reason == "completed"
    assert play.requests()[0]["messages"][0]["text"] == "/not a command"


async def test_a_resumed_session_goes_on_with_its_numbers_and_its_messages(stage: Any) -> None:
    first = await stage({"turns": [{"text": "the first answer"}]})
    assert (await first.say("the first question")).reason == "completed"
    last = first.live.stream.last_seq
    await first.workspace.close()
    (first.project / "requests.jsonl").unlink()
    second = await stage({"turns": [{"text": "the second answer"}]}, session=first.live.id)
    assert (await second.say("the second question")).reason == "completed"
    assert second.seen[0].seq == last + 1
    assert second.of(SessionStarted) == []
    texts = [message["text"] for message in second.requests()[0]["messages"]]
    assert texts == ["the first question", "the first answer", "the second question"]
    assert [event.text for event in second.of(TextFinished)] == ["the second answer"]
