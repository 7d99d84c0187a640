"""The loop of a run: order of calls, parallel reads, step limit, retries, malformed calls, doom loop."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.fake_tool import FakeTool

from harness_tui.core.events import (
    ModelRetried,
    Notice,
    PermissionRequested,
    PermissionResolved,
    RunStarted,
    StepFinished,
    TextFinished,
    ToolFinished,
    ToolStarted,
)
from harness_tui.core.seams import Check, ToolContext, ToolResult

BASH = {"permission": "bash", "pattern": "*", "action": "allow"}


def calls(*names: str, **arguments: Any) -> dict[str, Any]:
    return {"tools": [{"name": name, "arguments": arguments} for name in names]}


async def test_a_run_without_calls_is_one_step_and_its_text(stage: Any) -> None:
    play = await stage({"turns": [{"text": "Hello there."}]})
    end = await play.say("hi")
    assert end.reason == "completed"
    assert [event.message.text for event in play.of(RunStarted)] == ["hi"]
    assert [event.text for event in play.of(TextFinished)] == ["Hello there."]
    assert [event.step for event in play.of(StepFinished)] == [1]


async def test_an_answer_without_a_word_is_told(stage: Any) -> None:
    play = await stage({"turns": [{"text": ""}, {"text": "Hello."}]})
    assert (await play.say("hi")).reason == "completed"
    (told,) = [event for event in play.of(Notice) if event.source == "model"]
    assert (told.level, told.text.endswith("gave an empty answer")) == ("warning", True)
    await play.say("hi")
    assert len([event for event in play.of(Notice) if event.source == "model"]) == 1


async def test_neighbouring_read_only_calls_run_side_by_side_and_others_in_order(stage: Any) -> None:
    look, change = FakeTool("look", read_only=True), FakeTool("change")
    play = await stage({"turns": [calls("look", "look", "change", "change"), {"text": "ok"}]}, look, change)
    assert (await play.say("go")).reason == "completed"
    assert look.most_at_once == 2
    assert change.most_at_once == 1
    results = [message["call"] for message in play.requests()[1]["messages"] if message["role"] == "tool"]
    assert results == ["c1", "c2", "c3", "c4"]


async def test_the_run_stops_at_its_step_limit_after_the_calls_of_the_last_step(stage: Any) -> None:
    tool = FakeTool("work")
    turns = [calls("work", number=number) for number in range(5)]
    play = await stage({"turns": turns}, tool, max_steps=2)
    end = await play.say("go")
    assert end.reason == "step_limit"
    assert len(tool.ran) == 2
    assert len(play.requests()) == 2


async def test_an_unknown_tool_is_a_result_that_names_the_tools_there_are(stage: Any) -> None:
    play = await stage({"turns": [calls("raed"), {"text": "ok"}]})
    assert (await play.say("go")).reason == "completed"
    (finished,) = play.of(ToolFinished)
    assert finished.is_error
    assert "raed" in finished.output
    assert "read" in finished.output


async def test_malformed_arguments_are_a_result_that_the_model_can_mend(stage: Any) -> None:
    tool = FakeTool("work")
    play = await stage({"turns": [{"tools": [{"name": "work", "raw": '{"bad'}]}, {"text": "ok"}]}, tool)
    assert (await play.say("go")).reason == "completed"
    (finished,) = play.of(ToolFinished)
    assert finished.is_error
    assert '{"bad' in finished.output
    assert tool.ran == []


async def test_a_tool_that_crashes_is_a_result_and_the_run_goes_on(stage: Any) -> None:
    async def crash(context: ToolContext) -> ToolResult:
        raise ZeroDivisionError("by hand")

    play = await stage({"turns": [calls("work"), {"text": "ok"}]}, FakeTool("work", act=crash))
    assert (await play.say("go")).reason == "completed"
    (finished,) = play.of(ToolFinished)
    assert finished.is_error
    assert "ZeroDivisionError: by hand" in finished.output


async def test_a_rate_limit_is_waited_for_and_told(stage: Any) -> None:
    turns = [{"error": {"kind": "rate_limit", "message": "slow down", "retry_after": 0.01}}, {"text": "now"}]
    play = await stage({"turns": turns})
    assert (await play.say("go")).reason == "completed"
    (retried,) = play.of(ModelRetried)
    assert (retried.kind, retried.message, retried.attempt, retried.wait_s) == ("rate_limit", "slow down", 1, 0.01)
    assert len(play.requests()) == 2


async def test_an_authentication_error_fails_the_run_at_once(stage: Any) -> None:
    play = await stage({"turns": [{"error": {"kind": "auth", "message": "no such key"}}, {"text": "never"}]})
    end = await play.say("go")
    assert end.reason == "failed"
    assert (end.error.kind, end.error.message) == ("auth", "no such key")
    assert len(play.requests()) == 1


async def test_a_cut_stream_is_tried_again_and_its_half_is_not_sent_back(stage: Any) -> None:
    play = await stage({"turns": [{"text": "half an ans", "cut": True}, {"text": "the whole"}]})
    assert (await play.say("go")).reason == "completed"
    assert [event.text for event in play.of(TextFinished)] == ["half an ans", "the whole"]
    assert [message["role"] for message in play.requests()[1]["messages"]] == ["user"]


async def test_the_third_equal_call_asks_and_allow_by_policy_does_not_cover_it(stage: Any) -> None:
    tool = FakeTool("work")
    turns = [calls("work", x=1), calls("work", x=1), calls("work", x=1), {"text": "ok"}]
    play = await stage({"turns": turns}, tool, policy="allow")
    assert (await play.say("go")).reason == "completed"
    assert len(tool.ran) == 2
    (asked,) = play.of(PermissionRequested)
    assert (asked.permission, asked.patterns) == ("doom_loop", ("work",))
    (resolved,) = play.of(PermissionResolved)
    assert (resolved.decision, resolved.scope) == ("deny", "policy")


async def test_asking_how_a_command_stands_is_no_loop_while_it_runs(stage: Any) -> None:
    look = calls("bash_output", id="b1")
    start = calls("bash", command="sleep 60", background=True)
    ended = [calls("bash_kill", id="b1"), look, look, look]
    play = await stage({"turns": [start, look, look, look, look, *ended, {"text": "ok"}]}, rules=(BASH,))
    assert (await play.say("go")).reason == "completed"
    outputs = [event for event in play.of(ToolFinished) if event.tool == "bash_output"]
    assert [event.metadata.get("running") for event in outputs] == [True] * 4 + [False] * 2 + [None]
    assert [event.patterns for event in play.of(PermissionRequested)] == [("bash_output",)]


async def test_a_question_that_nobody_can_answer_says_so(stage: Any) -> None:
    play = await stage({"turns": [calls("question", questions=[{"text": "May I?"}]), {"text": "ok"}]})
    assert (await play.say("go")).reason == "completed"
    (finished,) = play.of(ToolFinished)
    assert finished.is_error
    assert finished.output == "question: nobody is there to answer (decide yourself and say what you assumed)"


async def test_equal_calls_with_another_between_them_are_no_loop(stage: Any) -> None:
    one, two = FakeTool("one"), FakeTool("two")
    turns = [calls("one"), calls("one"), calls("two"), calls("one"), {"text": "ok"}]
    play = await stage({"turns": turns}, one, two)
    assert (await play.say("go")).reason == "completed"
    assert play.of(PermissionRequested) == []
    assert len(one.ran) == 3


@pytest.mark.parametrize(("policy", "runs"), [("refuse", 0), ("allow", 1)])
async def test_what_no_rule_decides_is_decided_by_policy(stage: Any, policy: str, runs: int) -> None:
    tool = FakeTool("work", checks=(Check("bash", "make"),))
    play = await stage({"turns": [calls("work"), {"text": "ok"}]}, tool, policy=policy)
    assert (await play.say("go")).reason == "completed"
    assert len(tool.ran) == runs


async def test_a_deny_rule_beats_a_policy_that_allows(stage: Any) -> None:
    tool = FakeTool("work", checks=(Check("webfetch", "https://a.test/"),))
    rule = {"permission": "webfetch", "pattern": "https://a.test/*", "action": "deny"}
    play = await stage({"turns": [calls("work"), {"text": "ok"}]}, tool, policy="allow", rules=(rule,))
    assert (await play.say("go")).reason == "completed"
    assert tool.ran == []
    assert play.of(PermissionRequested) == []
    (resolved,) = play.of(PermissionResolved)
    assert (resolved.decision, resolved.scope) == ("deny", "rule")
    assert "config.yaml" in resolved.rule


async def test_each_call_has_one_start_and_one_result(stage: Any) -> None:
    turns = [calls("read", "nothing", path="missing.txt"), {"text": "ok"}]
    play = await stage({"turns": turns})
    assert (await play.say("go")).reason == "completed"
    assert [event.call for event in play.of(ToolStarted)] == [event.call for event in play.of(ToolFinished)]
    assert len(play.of(ToolFinished)) == 2
