"""A session with a model behind each protocol gives the same events; what fails is told, tried again, never leaked."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fakes.chat_server import FakeChatServer, FakeReply, FakeRequest, chat_server
from fakes.dialect_models import ADAPTERS
from fakes.dialects import Answer

from harness_tui.config.loader import Flags
from harness_tui.core.codec import encode
from harness_tui.core.events import (
    ModelRetried,
    RunFinished,
    StepFinished,
    TextDelta,
    TextFinished,
    ToolFinished,
    UsageUpdated,
)
from harness_tui.core.intents import Cancel

pytestmark = pytest.mark.xdist_group("libraries of providers")  # else each worker imports them all

Opener = Callable[..., Any]
KEY = "tok-0123456789abcdef"
HEADER = "hdr-fedcba9876543210"
LOOK = Answer(
    reasoning=("Let me ", "see."),
    text=("I will ", "look."),
    calls=(("call_a", "read", ('{"pa', 'th": "a.txt"}')), ("call_b", "read", ('{"path": ', '"b.txt"}'))),
)
DONE = Answer(text=("Both ", "read."))
each = pytest.mark.parametrize("adapter", ADAPTERS)


@asynccontextmanager
async def session(
    stage: Opener, adapter: str, *turns: Answer | Callable[[FakeReply], Any], key: str = KEY, header: str = HEADER
) -> AsyncIterator[tuple[Any, FakeChatServer]]:
    """A stage whose model is a server that gives these answers in turn."""
    dialect, left = ADAPTERS[adapter], list(turns)

    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        turn = left.pop(0)
        await (dialect.play(reply, turn) if isinstance(turn, Answer) else turn(reply))

    async with chat_server(handler) as server:
        kind = "openai-compatible" if adapter == "compatible" else dialect.kind
        provider = {
            "kind": kind,
            "base_url": server.url.removesuffix("/v1") + dialect.base,
            "api_key": key,
            "headers": {"X-Secret-Token": header},
            "models": {"m": {"context": 1000}},
        }
        opened = await stage({"turns": []}, settings={"providers": {"mine": provider}}, flags=Flags(model="mine/m"))
        for name in ("a", "b"):
            (opened.project / f"{name}.txt").write_text(f"text of {name}\n")
        yield opened, server


def events_of(opened: Any) -> list[dict[str, Any]]:
    """What front ends were sent, without what differs from run to run."""
    told = []
    for envelope in opened.seen:
        data: Any = encode(envelope.event)
        if envelope.event.type in ("usage_updated", "server_changed"):
            continue
        if envelope.event.type == "run_started":
            data.pop("model", None)
        text = json.dumps({"type": envelope.event.type, **data}, default=str)
        told.append(json.loads(text.replace(str(opened.project), "PROJECT")))
    return told


SHAPE = [
    ("session_changed", None),
    ("run_started", None),
    ("message_added", None),
    ("session_changed", None),
    ("reasoning_delta", "Let me "),
    ("reasoning_delta", "see."),
    ("reasoning_finished", "Let me see."),
    ("text_delta", "I will "),
    ("text_delta", "look."),
    ("text_finished", "I will look."),
    ("step_finished", None),
    ("tool_started", "call_a"),
    ("tool_started", "call_b"),
    ("tool_finished", "call_a"),
    ("tool_finished", "call_b"),
    ("text_delta", "Both "),
    ("text_delta", "read."),
    ("text_finished", "Both read."),
    ("step_finished", None),
    ("run_finished", None),
]


@each
async def test_the_same_session_gives_the_same_events(stage: Opener, adapter: str) -> None:
    async with session(stage, adapter, LOOK, DONE) as (opened, server):
        end = await opened.say("read both")
    assert end == RunFinished("completed")
    # Both only look, so they run side by side, and either may be done first.
    assert sorted((result.call, result.is_error) for result in opened.of(ToolFinished)) == [
        ("call_a", False),
        ("call_b", False),
    ]
    assert [event.text for event in opened.of(TextDelta)] == ["I will ", "look.", "Both ", "read."]
    usage = opened.of(UsageUpdated)[0]
    assert (usage.input, usage.output, usage.cache_read, usage.context_limit) == (100, 20, 40, 1000)
    assert len(server.requests) == 2
    told = [event for event in events_of(opened) if event["type"] not in ("session_started", "permission_resolved")]
    told[13:15] = sorted(told[13:15], key=lambda event: event.get("call") or "")  # they run side by side
    assert [(event["type"], event.get("text") or event.get("call")) for event in told] == SHAPE
    assert [event["output"].split("\t")[-1] for event in told[13:15]] == ["text of a", "text of b"]


@each
async def test_a_rate_limit_is_waited_for_and_told_and_nothing_runs_twice(stage: Opener, adapter: str) -> None:
    async def slow_down(reply: FakeReply) -> None:
        body = ADAPTERS[adapter].error(429, "rate_limit_error", "slow down")
        await reply.json(body, 429, Retry_After="0.2")

    async with session(stage, adapter, LOOK, slow_down, DONE) as (opened, server):
        end = await opened.say("read both")
    assert end == RunFinished("completed")
    assert opened.of(ModelRetried) == [ModelRetried("rate_limit", "mine answered 429: slow down", 1, 0.2)]
    assert len(opened.of(ToolFinished)) == 2
    assert len(server.requests) == 3
    assert server.requests[1].data == server.requests[2].data


@each
async def test_a_wait_for_the_provider_ends_with_a_cancel(stage: Opener, adapter: str) -> None:
    async def slow_down(reply: FakeReply) -> None:
        await reply.json(ADAPTERS[adapter].error(429, "rate_limit_error", "slow down"), 429, Retry_After="50")

    async with session(stage, adapter, slow_down) as (opened, _):
        asking = asyncio.create_task(opened.say("hi"))
        async with asyncio.timeout(20):
            while not opened.of(ModelRetried):
                await asyncio.sleep(0.01)
            await opened.send(Cancel())
            assert (await asking).reason == "cancelled"


@each
async def test_a_stream_that_breaks_is_asked_for_again_and_its_text_is_closed(stage: Opener, adapter: str) -> None:
    async def half(reply: FakeReply) -> None:
        await ADAPTERS[adapter].half(reply, "half an ")

    async with session(stage, adapter, half, DONE) as (opened, _):
        end = await opened.say("hi")
    assert end == RunFinished("completed")
    assert [event.text for event in opened.of(TextFinished)] == ["half an ", "Both read."]
    assert [event.kind for event in opened.of(ModelRetried)] == ["cut"]
    assert [event.message.text for event in opened.of(StepFinished)] == ["Both read."]


@each
async def test_malformed_arguments_are_a_result_that_the_model_can_mend(stage: Opener, adapter: str) -> None:
    if adapter == "google":
        pytest.skip("its calls are objects, never text")
    bad = Answer(calls=(("call_a", "read", ('{"path": "a.t',)),))
    async with session(stage, adapter, bad, DONE) as (opened, server):
        end = await opened.say("hi")
    assert end == RunFinished("completed")
    (result,) = opened.of(ToolFinished)
    assert result.is_error
    assert "JSON" in result.output
    assert "a.t" in json.dumps(server.requests[1].data)


@each
async def test_no_key_and_no_header_is_in_anything_that_is_kept(stage: Opener, adapter: str, tmp_path: Path) -> None:
    async def echo(reply: FakeReply) -> None:
        said = f"bad key {KEY}, header {HEADER}, Authorization: Bearer {KEY}"
        await reply.json(ADAPTERS[adapter].error(401, "authentication_error", said), 401)

    async def break_off(reply: FakeReply) -> None:
        await ADAPTERS[adapter].half(reply, "half ")
        await reply.raw(f"data: no JSON {KEY} {HEADER}\n\n".encode())

    told = Answer(text=(f"the key is {KEY} ", f"and the header {HEADER}"))
    secrets = {"key": tmp_path / "key.txt", "header": tmp_path / "header.txt"}
    secrets["key"].write_text(KEY)
    secrets["header"].write_text(HEADER)
    named = {name: f"{{file:{path}}}" for name, path in secrets.items()}
    async with session(stage, adapter, break_off, told, echo, **named) as (opened, server):
        assert (await opened.say("hi")).reason == "completed"
        end = await opened.say("again")
        assert end.error is not None
        assert end.error.kind == "auth"
        assert "providers.mine.api_key" in (end.error.hint or "")
        assert KEY in str(server.requests[0].headers)
        assert server.requests[0].headers["x-secret-token"] == HEADER
        shown = json.dumps(events_of(opened))
        assert f"bad key {KEY}" not in shown
        await opened.workspace.close()
    left = [path for path in files_of(tmp_path) if path not in secrets.values()]
    found = [path for path in left if holds(path, (KEY, HEADER))]
    assert found == []
    assert any(path.name.startswith("harness.db") for path in left)


def files_of(folder: Path) -> Iterator[Path]:
    for base, _, names in os.walk(folder):
        yield from (Path(base, name) for name in names)


def holds(path: Path, values: tuple[str, ...]) -> bool:
    data = path.read_bytes()
    return any(value.encode() in data for value in values)
