"""Cancel at every event of a run: the stream stays whole, and the next request has one result for each call."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from fakes.fake_tool import FakeTool

from harness_tui.core.envelope import Envelope
from harness_tui.core.events import (
    Event,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from harness_tui.core.intents import Cancel
from harness_tui.core.seams import Check, QuestionRequest, ToolContext, ToolResult

SCRIPT: dict[str, Any] = {
    "turns": [
        {
            "reasoning": "let me think",
            "text": "I look first.",
            "tools": [{"name": name, "arguments": {}} for name in ("look", "look", "change", "missing")],
        },
        {"error": {"kind": "overloaded", "message": "busy", "retry_after": 0.01}},
        {"text": "half an ans", "error": {"kind": "server", "message": "gone", "retry_after": 0.01}},
        {
            "text": "Now the rest.",
            "tools": [{"name": "ask", "arguments": {}}, {"name": "change", "raw": "{"}],
            "usage": {"input": 3, "output": 4},
        },
        {"text": "All done."},
    ],
    "answers": [
        {"kind": "permission", "match": "make", "action": "allow"},
        {"kind": "question", "match": "*", "action": "accept", "content": {"a": "b"}},
    ],
}
EVENTS = 45
"""How many events the whole run has; the test of the whole run counts them."""


def tools() -> tuple[FakeTool, ...]:
    async def report(context: ToolContext) -> ToolResult:
        context.emit(ToolProgress(context.call, output_delta="some of it"))
        await asyncio.sleep(0)
        return ToolResult("changed")

    async def ask(context: ToolContext) -> ToolResult:
        assert context.ask is not None
        reply = await context.ask(QuestionRequest("question", "ask", "Which one?"))
        return ToolResult(reply.action)

    return (
        FakeTool("look", read_only=True),
        FakeTool("change", checks=(Check("bash", "make"),), act=report),
        FakeTool("ask", act=ask),
    )


def run_events(play: Any) -> list[Event]:
    return [envelope.event for envelope in play.seen if envelope.run is not None]


def cancel_at(play: Any, place: int) -> None:
    """Send ``cancel`` right after the run's event with this index, before anything that waits can go on."""
    count = 0

    def listen(envelope: Envelope) -> None:
        nonlocal count
        count += envelope.run is not None
        if envelope.run is not None and count == place + 1:
            sending.append(asyncio.ensure_future(play.send(Cancel())))

    sending: list[asyncio.Future[None]] = []
    play.live.stream.listen(listen)


def assert_whole(play: Any) -> None:
    """Check what holds for every stream, however its run ended."""
    numbers = [envelope.seq for envelope in play.seen]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(play.of(RunFinished)) == len(play.of(RunStarted))
    started = Counter(event.call for event in play.of(ToolStarted))
    assert started == Counter(event.call for event in play.of(ToolFinished))
    assert set(started.values()) <= {1}
    asked = [event.request for event in play.of(PermissionRequested)]
    assert asked == [event.request for event in play.of(PermissionResolved) if event.request]
    assert [event.request for event in play.of(QuestionAsked)] == [event.request for event in play.of(QuestionAnswered)]


def assert_answered(messages: list[dict[str, Any]]) -> None:
    """Check that every call of a request has exactly one result, right after the message that asked for it."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["call"] in waiting
            waiting.remove(message["call"])
            continue
        assert waiting == []
        if message["role"] == "assistant":
            waiting = [call["call"] for call in message["calls"]]
    assert waiting == []


async def test_the_whole_run_has_the_events_that_are_cancelled_at(stage: Any) -> None:
    play = await stage(SCRIPT, *tools())
    assert (await play.say("go")).reason == "completed"
    assert_whole(play)
    assert len(run_events(play)) == EVENTS, [event.type for event in run_events(play)]


@pytest.mark.parametrize("place", range(EVENTS - 1))
async def test_a_run_that_is_cancelled_at_this_event_leaves_a_whole_stream_and_record(stage: Any, place: int) -> None:
    play = await stage(SCRIPT, *tools())
    cancel_at(play, place)
    end = await play.say("go")
    assert end.reason == "cancelled"
    await play.say("what happened?")
    assert_whole(play)
    assert_answered(play.requests()[-1]["messages"])
    await play.workspace.close()
    (play.project / "requests.jsonl").unlink()
    again = await stage({"turns": [{"text": "I see."}]}, session=play.live.id)
    assert (await again.say("and now?")).reason == "completed"
    (request,) = again.requests()
    assert_answered(request["messages"])
