"""The replay model: plays what the script says, and refuses a script that says nothing sensible."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import aclosing
from pathlib import Path

import pytest

from harness_tui.core.errors import UsageError
from harness_tui.core.messages import AssistantMessage, Attachment, Message, ToolCall, ToolMessage, UserMessage
from harness_tui.core.seams import (
    CallChunk,
    Finished,
    ModelError,
    ModelEvent,
    ModelSettings,
    ReasoningChunk,
    ScriptedAnswer,
    TextChunk,
    Usage,
)
from harness_tui.core.values import ToolSpec
from harness_tui.models.replay import ReplayModel

TURN = ModelSettings(system="be brief", agent="build", session="ses_1")


def load(folder: Path, text: str) -> ReplayModel:
    path = folder / "script.yaml"
    path.write_text(text, encoding="utf-8")
    return ReplayModel.load("replay:script.yaml", path)


async def ask(
    model: ReplayModel, *messages: Message, settings: ModelSettings = TURN, tools: tuple[ToolSpec, ...] = ()
) -> list[ModelEvent]:
    async with aclosing(model.stream(messages or (UserMessage("hi"),), tools, settings)) as events:  # pyright: ignore
        return [event async for event in events]


async def until_error(model: ReplayModel) -> tuple[list[ModelEvent], ModelError]:
    seen: list[ModelEvent] = []
    try:
        async for event in model.stream((UserMessage("hi"),), (), TURN):
            seen.append(event)
    except ModelError as error:
        return seen, error
    raise AssertionError("the stream ended well")


def said(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextChunk))


async def test_a_turn_is_reasoning_then_text_by_words_then_calls_then_the_end(tmp_path: Path) -> None:
    model = load(
        tmp_path,
        """
        turns:
          - text: "Let me  look."
            reasoning: "First think"
            tools: [{name: read, arguments: {path: a.py, line: 3, on: true, day: 2026-01-02}}]
            usage: {input: 10, output: 2, cost: 0.5}
        """,
    )
    assert await ask(model) == [
        ReasoningChunk("First "),
        ReasoningChunk("think"),
        TextChunk("Let "),
        TextChunk("me  "),
        TextChunk("look."),
        CallChunk(ToolCall("c1", "read", {"path": "a.py", "line": 3, "on": True, "day": "2026-01-02"})),
        Finished(Usage(input=10, output=2, cost=0.5), reason="calls"),
    ]


async def test_each_request_takes_the_next_turn_and_then_the_script_is_over(tmp_path: Path) -> None:
    model = load(tmp_path, "turns: [{text: one}, {text: 2}]")
    assert [said(await ask(model)) for _ in range(4)] == ["one", "2", "(end of script)", "(end of script)"]


async def test_titles_and_summaries_have_their_own_list_and_take_no_turn(tmp_path: Path) -> None:
    model = load(tmp_path, "{turns: [{text: one}], internal: [a summary]}")
    internal = ModelSettings(system="", agent="build", purpose="internal")
    assert [said(await ask(model, settings=internal)) for _ in range(2)] == ["a summary", "(summary)"]
    assert said(await ask(model)) == "one"


async def test_a_subagent_plays_its_own_turns_or_none(tmp_path: Path) -> None:
    model = load(tmp_path, "{turns: [{text: main}], agents: {explore: [{text: found it}]}}")
    explore = ModelSettings(system="", agent="explore", session="ses_2", subagent=True)
    other = ModelSettings(system="", agent="other", session="ses_3", subagent=True)
    assert said(await ask(model, settings=explore)) == "found it"
    assert said(await ask(model, settings=explore)) == "(end of script)"
    assert said(await ask(model, settings=other)) == "(end of script)"
    assert said(await ask(model)) == "main"


async def calls_of(model: ReplayModel, *messages: Message, settings: ModelSettings = TURN) -> list[str]:
    events = await ask(model, *messages, settings=settings)
    return [event.call.call for event in events if isinstance(event, CallChunk)]


async def test_calls_without_an_id_are_counted_through_the_session(tmp_path: Path) -> None:
    model = load(
        tmp_path,
        """
        turns:
          - tools: [{name: a}, {name: b, id: mine}, {name: c, id: c2}, {name: d}]
          - tools: [{name: e}]
          - tools: [{name: f}]
          - tools: [{name: g}]
        """,
    )
    assert await calls_of(model) == ["c1", "mine", "c2", "c3"]
    assert await calls_of(model) == ["c4"]
    resumed = AssistantMessage(calls=(ToolCall("c41", "x", {}), ToolCall("call_99", "x", {})))
    assert await calls_of(model, UserMessage("hi"), resumed, ToolMessage("c41", "x", "")) == ["c42"]
    other = ModelSettings(system="", agent="build", session="ses_2")
    assert await calls_of(model, settings=other) == ["c1"]


async def test_without_a_session_calls_are_counted_from_what_is_sent(tmp_path: Path) -> None:
    model = load(tmp_path, "turns: [{tools: [{name: a}]}, {tools: [{name: b}]}]")
    unnamed = ModelSettings(system="", agent="build")
    assert await calls_of(model, settings=unnamed) == ["c1"]
    sent = AssistantMessage(calls=(ToolCall("c1", "a", {}),))
    assert await calls_of(model, UserMessage("hi"), sent, settings=unnamed) == ["c2"]


async def test_malformed_arguments_reach_the_agent_raw(tmp_path: Path) -> None:
    model = load(tmp_path, """turns: [{tools: [{name: edit, raw: '{"bad'}]}]""")
    assert (await ask(model))[0] == CallChunk(ToolCall("c1", "edit", {}, '{"bad'))


async def test_an_error_comes_after_the_text_with_kind_and_pause(tmp_path: Path) -> None:
    model = load(tmp_path, "turns: [{text: a b, error: {kind: rate_limit, message: slow down, retry_after: 0.1}}]")
    seen, error = await until_error(model)
    assert seen == [TextChunk("a "), TextChunk("b")]
    assert (error.kind, error.message, error.retry_after) == ("rate_limit", "slow down", 0.1)


async def test_a_cut_stream_breaks_before_its_calls(tmp_path: Path) -> None:
    model = load(tmp_path, "turns: [{text: half an ans, tools: [{name: read}], cut: true}]")
    seen, error = await until_error(model)
    assert error.kind == "cut"
    assert said(seen) == "half an ans"
    assert len(seen) == 3


async def test_a_turn_waits_until_its_file_exists(tmp_path: Path) -> None:
    model = load(tmp_path, "turns: [{text: later, wait: sub/go.flag}]")
    asking = asyncio.create_task(ask(model))
    await asyncio.sleep(0.1)
    assert not asking.done()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "go.flag").touch()
    async with asyncio.timeout(10):
        assert said(await asking) == "later"


async def test_a_waiting_turn_can_be_cancelled(tmp_path: Path) -> None:
    model = load(tmp_path, "turns: [{text: later, wait: never.flag}]")
    asking = asyncio.create_task(ask(model))
    await asyncio.sleep(0.05)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_the_delay_lies_between_chunks(tmp_path: Path) -> None:
    model = load(tmp_path, "{delay: 0.05, turns: [{text: one two three}]}")
    start = time.monotonic()
    await ask(model)
    assert time.monotonic() - start >= 0.1


async def test_the_log_has_a_line_for_each_request(tmp_path: Path) -> None:
    (tmp_path / "requests.jsonl").write_text('{"n": 0}\n')
    model = load(tmp_path, "{log: requests.jsonl, turns: [{text: one}]}")
    attached = Attachment("text", "text/plain", 3, path="a.txt", content="abc")
    picture = Attachment("image", "image/png", 3, path="a.png", content="AAAA")
    messages = (
        UserMessage("hi", (attached, picture)),
        AssistantMessage("so", "why", (ToolCall("c1", "read", {"path": "a"}),), opaque={"secret": "part"}),
        ToolMessage("c1", "read", "no such file", True),
    )
    tool = ToolSpec("read", "Reads.", {"type": "object", "$schema": "kept"})
    await ask(model, *messages, tools=(tool,), settings=ModelSettings("be brief", "plan", temperature=0.5))
    await ask(model, settings=ModelSettings("", "build", purpose="internal"))
    lines = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text().splitlines()]
    assert [line["n"] for line in lines] == [0, 1, 2]
    assert lines[1] == {
        "n": 1,
        "agent": "plan",
        "model": "replay:script.yaml",
        "system": "be brief",
        "messages": [
            {
                "role": "user",
                "text": "hi",
                "attachments": [
                    {"kind": "text", "mime": "text/plain", "bytes": 3, "path": "a.txt", "content": "abc"},
                    {"kind": "image", "mime": "image/png", "bytes": 3, "path": "a.png"},
                ],
            },
            {
                "role": "assistant",
                "text": "so",
                "reasoning": "why",
                "calls": [{"call": "c1", "tool": "read", "arguments": {"path": "a"}}],
            },
            {"role": "tool", "call": "c1", "tool": "read", "text": "no such file", "is_error": True, "attachments": []},
        ],
        "tools": [{"name": "read", "description": "Reads.", "parameters": {"type": "object", "$schema": "kept"}}],
        "settings": {"temperature": 0.5},
    }
    assert lines[2]["purpose"] == "internal"


async def test_a_log_that_cannot_be_written_fails_the_request(tmp_path: Path) -> None:
    model = load(tmp_path, "{log: ., turns: []}")
    with pytest.raises(ModelError, match="log"):
        await ask(model)


async def test_answers_are_used_once_in_order_by_kind_and_pattern(tmp_path: Path) -> None:
    model = load(
        tmp_path,
        """
        turns: []
        answers:
          - {kind: permission, match: "time_*", action: allow, scope: session}
          - {kind: permission, action: deny, note: not that}
          - {kind: form, match: "Your *", action: accept, content: {name: x, age: 3}}
        """,
    )
    assert model.take_answer("permission", "edit a.py") == ScriptedAnswer("permission", "*", "deny", note="not that")
    assert model.take_answer("permission", "edit a.py") is None
    assert model.take_answer("form", "Your name") == ScriptedAnswer(
        "form", "Your *", "accept", content={"name": "x", "age": 3}
    )
    assert model.take_answer("question", "Your name") is None
    assert model.unused_answers() == (ScriptedAnswer("permission", "time_*", "allow", "session"),)


def test_settings_of_the_script_are_read(tmp_path: Path) -> None:
    model = load(tmp_path, "{context: 200000, turns: []}")
    assert (model.name, model.context_limit) == ("replay:script.yaml", 200000)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 1, "the script is empty"),
        ("[]", 1, "the script must be an object"),
        ("turns:\n  - {txt: a}", 2, "unknown key 'txt' in a turn (did you mean 'text'?)"),
        ("turns: {}", 1, "turns must be a list"),
        ("turns: [one]", 1, "a turn must be an object"),
        ("turns:\n  - text: a\n    tools:\n      - {arguments: {}}", 4, "a call needs 'name'"),
        ("turns: [{tools: [{name: a, arguments: [1]}]}]", 1, "arguments must be an object"),
        ("turns: [{tools: [{name: a, arguments: {}, raw: b}]}]", 1, "not both"),
        ("turns: [{error: {kind: nope}}]", 1, "kind must be one of auth, permission"),
        ("turns: [{error: {message: a}}]", 1, "an error needs 'kind'"),
        ("turns: [{cut: 1}]", 1, "cut must be true or false"),
        ("turns: [{usage: {input: -1}}]", 1, "input must be a number that is not negative"),
        ("turns: [{usage: {input: 1.5}}]", 1, "input must be a whole number"),
        ("delay: fast\nturns: []", 1, "delay must be a number"),
        ("turns: []\nanswers:\n- {kind: permission, action: maybe}", 3, "action must be one of"),
        ("turns: []\nanswers: [{kind: permission}]", 2, "an answer needs 'action'"),
        ("turns: []\nturns: []", 2, "'turns' is given twice"),
        ("turns: [}", 1, "not valid YAML"),
        ("turns: []\n--- \nturns: []", 2, "not valid YAML"),
        ("turns: &a [*a]", 1, "nested too deeply"),
        ("log: ''\nturns: []", 1, "log must name a file"),
    ],
)
def test_a_bad_script_is_refused_with_its_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    with pytest.raises(UsageError) as raised:
        load(tmp_path, text)
    assert raised.value.where == f"{tmp_path}/script.yaml:{line}"
    assert what in str(raised.value)


def test_a_script_that_is_no_file_is_refused(tmp_path: Path) -> None:
    for name in ("missing.yaml", "."):
        with pytest.raises(UsageError, match="cannot be read"):
            ReplayModel.load("replay:x", tmp_path / name)
