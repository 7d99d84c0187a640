"""One suite for every protocol: the same answers and the same faults give the same events, whoever speaks."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from fakes.chat_server import FakeChatServer, FakeReply, FakeRequest, Handler, chat_server
from fakes.dialect_models import ADAPTERS, GREP, KEY, READ, SETTINGS, WHOLE, model_at, playing, stream
from fakes.dialects import ANTHROPIC, CHAT, GOOGLE, RESPONSES, USAGE, Answer, Dialect, Read

from harness_tui.core.messages import ToolCall, UserMessage
from harness_tui.core.seams import (
    CallChunk,
    Finished,
    ModelError,
    ModelEvent,
    ReasoningChunk,
    TextChunk,
)
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.library_dialects import DIALECTS
from harness_tui.models.library_model import LibraryModel
from harness_tui.models.openai_compatible import OpenAICompatibleModel

pytestmark = pytest.mark.xdist_group("libraries of providers")  # else each worker imports them all

each = pytest.mark.parametrize("adapter", ADAPTERS)


@asynccontextmanager
async def asked(adapter: str, handler: Handler, **options: Any) -> AsyncIterator[tuple[Any, FakeChatServer]]:
    async with chat_server(handler) as server:
        model = model_at(adapter, server.url, **options)
        try:
            yield model, server
        finally:
            await model.close()


async def answered(adapter: str, handler: Handler, **options: Any) -> list[ModelEvent]:
    async with asked(adapter, handler, **options) as (model, _):
        return await stream(model, tools=[READ, GREP])


async def refused(adapter: str, handler: Handler, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as raised:
        await answered(adapter, handler, **options)
    assert KEY not in f"{raised.value.message} {raised.value.hint}"
    return raised.value


def plain(events: Sequence[ModelEvent]) -> list[ModelEvent]:
    """The events without what belongs to one provider alone."""
    return [
        replace(event, opaque=None, usage=replace(event.usage, reasoning=0)) if isinstance(event, Finished) else event
        for event in events
    ]


# --- what is tested against is what the provider's own library reads -----------------------------------------------


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES, ANTHROPIC, GOOGLE], ids=lambda dialect: dialect.kind)
@pytest.mark.parametrize(
    "answer", [WHOLE, Answer(text=("half of", " it"), finish="length"), Answer(text=("x" * 10**6,))]
)
async def test_each_script_is_read_by_the_providers_own_library(dialect: Dialect, answer: Answer) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await dialect.play(reply, answer)

    async with chat_server(handler) as server:
        read = await dialect.read_by_sdk(server.url.removesuffix("/v1") + dialect.base)
    assert read == Read("".join(answer.text), [(tool, json.loads("".join(pieces))) for _, tool, pieces in answer.calls])
    assert server.requests[0].path == dialect.path


# --- answers ---------------------------------------------------------------------------------------------------------


@each
async def test_reasoning_text_and_two_parallel_calls_with_split_arguments(adapter: str) -> None:
    events = await answered(adapter, playing(adapter, WHOLE))
    end = events[-1]
    assert isinstance(end, Finished)
    assert plain(events) == [
        ReasoningChunk("Let me "),
        ReasoningChunk("see."),
        TextChunk("I will "),
        TextChunk("look, Grüße."),
        CallChunk(ToolCall("call_a", "read", {"path": "ä.py"})),
        CallChunk(ToolCall("call_b", "grep", {"pattern": "x y"})),
        replace(end, opaque=None, reason="calls", usage=replace(end.usage, reasoning=0)),
    ]
    assert (end.usage.input, end.usage.output, end.usage.cache_read) == (
        USAGE["input"],
        USAGE["output"],
        USAGE["cached"],
    )
    assert end.usage.reasoning == (0 if adapter == "anthropic" else USAGE["reasoning"])


@each
async def test_text_alone_ends_with_stop(adapter: str) -> None:
    events = plain(await answered(adapter, playing(adapter, Answer(text=("a", " b\n", "\n c")))))
    assert events[:3] == [TextChunk("a"), TextChunk(" b\n"), TextChunk("\n c")]
    assert isinstance(events[3], Finished)
    assert events[3].reason == "stop"


@each
async def test_an_answer_that_the_limit_cuts_says_so(adapter: str) -> None:
    *texts, end = await answered(adapter, playing(adapter, Answer(text=("half",), finish="length")))
    assert texts == [TextChunk("half")]
    assert isinstance(end, Finished)
    assert end.reason == "length"


@pytest.mark.parametrize("adapter", [name for name in ADAPTERS if name != "google"])
async def test_arguments_that_are_cut_come_as_they_are_for_the_model_to_mend(adapter: str) -> None:
    answer = Answer(calls=(("call_a", "read", ('{"path": "a', ".p")), ("call_b", "grep", ("[1]",))), finish="length")
    calls = [event.call for event in await answered(adapter, playing(adapter, answer)) if isinstance(event, CallChunk)]
    assert calls == [ToolCall("call_a", "read", {}, '{"path": "a.p'), ToolCall("call_b", "grep", {}, "[1]")]


@each
async def test_a_call_without_arguments_is_one_with_none(adapter: str) -> None:
    answer = Answer(calls=(("call_a", "read", ()),))
    calls = [event for event in await answered(adapter, playing(adapter, answer)) if isinstance(event, CallChunk)]
    assert calls == [CallChunk(ToolCall("call_a", "read", {}))]


@each
async def test_a_piece_of_a_megabyte_is_read(adapter: str) -> None:
    text = "xyz \n" * 200_000
    events = await answered(adapter, playing(adapter, Answer(text=(text,))))
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == text


@each
async def test_what_a_filter_ends_is_an_error(adapter: str) -> None:
    error = await refused(adapter, playing(adapter, Answer(text=("well",), finish="filter")))
    assert error.kind == "content_filter"
    assert error.message.startswith("the content filter of mine ended the answer")


@each
async def test_odd_line_ends_comments_and_missing_blanks_are_read(adapter: str) -> None:
    class Odd(FakeReply):
        async def raw(self, data: bytes) -> None:
            if data.startswith((b"data: ", b"event: ")):
                lines = [line for line in data.decode().split("\n") if line and not line.startswith("event:")]
                data = f": busy\r\nretry: 5\r\nnonsense\r\n{lines[-1].replace('data: ', 'data:')}\r\n\r\n".encode()
            await super().raw(data)

    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await ADAPTERS[adapter].play(Odd(reply.writer), WHOLE)

    assert plain(await answered(adapter, handler)) == plain(await answered(adapter, playing(adapter, WHOLE)))


WHOLES: dict[str, Any] = {
    "openai-chat": {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": "I will look.",
                    "tool_calls": [
                        {"id": "call_a", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
                    ],
                },
            }
        ],
    },
    "openai-responses": {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": [
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "I will look.", "annotations": []}],
            },
            {"type": "function_call", "id": "f", "call_id": "call_a", "name": "read", "arguments": '{"path": "a"}'},
        ],
    },
    "anthropic": {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "content": [
            {"type": "text", "text": "I will look."},
            {"type": "tool_use", "id": "call_a", "name": "read", "input": {"path": "a"}},
        ],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "google": [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "I will look."}]}}]},
        {
            "candidates": [
                {
                    "index": 0,
                    "finishReason": "STOP",
                    "content": {
                        "role": "model",
                        "parts": [{"functionCall": {"id": "call_a", "name": "read", "args": {"path": "a"}}}],
                    },
                }
            ]
        },
    ],
}


@each
async def test_an_answer_that_comes_in_one_piece_is_read_too(adapter: str) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json(WHOLES[ADAPTERS[adapter].kind])

    events = await answered(adapter, handler)
    assert events[:2] == [TextChunk("I will look."), CallChunk(ToolCall("call_a", "read", {"path": "a"}))]
    assert isinstance(events[2], Finished)


@each
@pytest.mark.parametrize("body", [{"error": {"message": "we are busy", "code": 503}}, {"hello": 1}, []])
async def test_what_comes_in_one_piece_and_is_no_answer_is_told(adapter: str, body: Any) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json(body)

    error = await refused(adapter, handler)
    assert error.kind == ("overloaded" if "error" in body else "server")


# --- requests --------------------------------------------------------------------------------------------------------


@each
async def test_only_the_key_and_the_configured_headers_are_sent(adapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, f"never-{name.lower()}")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Never: never-custom")
    async with asked(adapter, playing(adapter, Answer(text=("a",)))) as (model, server):
        model._endpoint = replace(model._endpoint, headers={"X-Team": "blue"})
        await stream(model)
    request = server.requests[0]
    assert "never" not in str(request.headers).lower() + request.path
    assert KEY in request.headers[ADAPTERS[adapter].key_header]
    assert request.headers["user-agent"].startswith("harness/")
    assert not [name for name in request.headers if name.startswith("x-stainless") or name == "cookie"]


def test_anthropic_itself_gets_a_key_and_a_token_each_in_its_place_alone() -> None:
    def names(url: str, key: str) -> set[str]:
        return set(DIALECTS["anthropic"].key_headers(Endpoint("mine", url), key))

    assert names("https://api.anthropic.com/v1/", "sk-ant-api03-x") == {"x-api-key"}
    assert names("https://api.anthropic.com", "sk-ant-oat01-x") == {"authorization"}
    assert names("https://gateway.test/anthropic", "sk-ant-api03-x") == {"x-api-key", "authorization"}


async def test_configured_headers_are_sent() -> None:
    for adapter in ADAPTERS:
        async with chat_server(playing(adapter, Answer(text=("a",)))) as server:
            dialect = ADAPTERS[adapter]
            kind = "openai-compatible" if adapter == "compatible" else dialect.kind
            endpoint = Endpoint(
                "mine",
                server.url.removesuffix("/v1") + dialect.base,
                headers={"X-Team": "blue", "User-Agent": "own"},
                kind=kind,
            )
            model: Any = (
                OpenAICompatibleModel(endpoint, "m") if adapter == "compatible" else LibraryModel(endpoint, "m")
            )
            await stream(model)
            await model.close()
        headers = server.requests[0].headers
        assert (headers["x-team"], headers["user-agent"]) == ("blue", "own")
        assert not {"authorization", "x-api-key", "x-goog-api-key"} & set(headers), adapter


@each
async def test_every_library_is_asked_once_for_each_request(adapter: str) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json({"error": {"message": "no"}}, status=500)

    async with asked(adapter, handler) as (model, server):
        with pytest.raises(ModelError):
            await stream(model)
    assert len(server.requests) == 1


# --- faults ----------------------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize(
    ("status", "code", "message", "kind", "hint"),
    [
        (401, "invalid_api_key", f"Incorrect key {KEY}", "auth", "check the key in MINE_API_KEY"),
        (403, "permission_error", "not you", "permission", "MINE_API_KEY may not use m"),
        (429, "rate_limit_error", "slow down", "rate_limit", "wait, or take another model"),
        (529, "overloaded_error", "Overloaded", "overloaded", "wait, or take another model"),
        (400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", "context", "/new"),
        (400, "context_length_exceeded", "This model's maximum context length is 8", "context", "/new"),
        (500, "api_error", "oops", "server", None),
        (400, "invalid_request_error", "no such field", "request", None),
        (404, "not_found_error", "no such model", "request", "is there a model 'm' at"),
    ],
)
async def test_a_status_is_told_in_the_same_words(
    adapter: str, status: int, code: str, message: str, kind: str, hint: str | None
) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json(ADAPTERS[adapter].error(status, code, message), status, Retry_After="7")

    error = await refused(adapter, handler)
    assert error.kind == kind
    assert error.message == f"mine answered {status}: {message.replace(KEY, '[redacted]')}"
    assert hint is None or hint in (error.hint or "")
    assert error.retry_after == (None if status == 404 else 7.0)


async def test_google_says_in_the_body_how_long_to_wait() -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}
        error = {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [retry]}
        await reply.json({"error": error}, 429)

    error = await refused("google", handler)
    assert (error.kind, error.retry_after) == ("rate_limit", 17.5)


async def test_a_key_that_google_does_not_know_is_an_error_of_the_key() -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        message = "API key not valid. Please pass a valid API key."
        await reply.json({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}, 400)

    assert (await refused("google", handler)).kind == "auth"


@each
async def test_a_stream_that_breaks_is_told_after_what_came(adapter: str) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await ADAPTERS[adapter].half(reply, "half an ")

    async with asked(adapter, handler) as (model, _):
        came: list[ModelEvent] = []
        with pytest.raises(ModelError) as raised:
            await stream(model, came=came)
    assert came == [TextChunk("half an ")]
    assert raised.value.kind == "cut"
    assert raised.value.message == "the stream of mine broke before the answer was whole: it ended early"


@each
async def test_a_connection_that_is_reset_in_the_middle_is_a_cut(adapter: str) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await ADAPTERS[adapter].half(reply, "half an ")
        await asyncio.sleep(0.05)
        sock: socket.socket = reply.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        reply.writer.transport.abort()

    error = await refused(adapter, handler)
    assert error.kind == "cut"


@each
async def test_garbage_in_the_middle_is_no_answer(adapter: str) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await ADAPTERS[adapter].half(reply, "half an ")
        await reply.raw(b'data: {"id": "x", \xff\xfe\n\n')
        await asyncio.sleep(30)

    error = await refused(adapter, handler)
    assert error.kind == "server"
    assert error.message.startswith('mine sent no valid answer: an event is no JSON: {"id": "x"')


@each
async def test_an_error_in_the_middle_of_the_stream_is_one(adapter: str) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await ADAPTERS[adapter].half(reply, "half an ")
        await reply.event(ADAPTERS[adapter].in_stream)
        await asyncio.sleep(30)

    error = await refused(adapter, handler)
    assert (error.kind, error.message) == ("overloaded", "mine: we are busy")


@each
async def test_silence_in_the_middle_ends_the_request(adapter: str) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await ADAPTERS[adapter].half(reply, "half an ")
        await asyncio.sleep(30)

    async with asked(adapter, handler, silence=0.2) as (model, server):
        with pytest.raises(ModelError) as raised:
            await stream(model)
        async with asyncio.timeout(10):
            await server.gone.wait()
    assert raised.value.kind == "silence"
    assert raised.value.message == "mine sent nothing for 0.2 s in the middle of its answer"


@each
async def test_signs_of_life_are_no_silence(adapter: str) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        for number in range(12):
            if number == 0:
                await reply.head()
            await reply.raw(b": still here\n\n")
            await asyncio.sleep(0.05)

        class Rest(FakeReply):
            async def head(self, *_: Any, **__: Any) -> None:
                pass

        await ADAPTERS[adapter].play(Rest(reply.writer), Answer(text=("late",)))

    events = await answered(adapter, handler, silence=0.3)
    assert events[0] == TextChunk("late")


@each
async def test_an_answer_that_never_begins_is_a_timeout(adapter: str) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await asyncio.sleep(30)

    async with asked(adapter, handler, timeout=20) as (model, _):
        await model._open() if isinstance(model, LibraryModel) else None
        model._endpoint = replace(model._endpoint, timeout=0.2)
        with pytest.raises(ModelError) as raised:
            await stream(model)
    assert (raised.value.kind, raised.value.message) == ("timeout", "mine did not begin to answer within 0.2 s")


@each
async def test_a_cancel_in_the_middle_closes_the_connection_at_once(adapter: str) -> None:
    begun = asyncio.Event()

    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await ADAPTERS[adapter].half(reply, "half an ")
        await asyncio.sleep(60)

    async with asked(adapter, handler) as (model, server):

        async def listen() -> None:
            async with aclosing(model.stream([UserMessage("hi")], (), SETTINGS)) as events:
                async for _ in events:
                    begun.set()

        task = asyncio.create_task(listen())
        async with asyncio.timeout(30):
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.gone.wait()
        assert plain(await finishing(adapter, model, server))[0] == TextChunk("again")


async def finishing(adapter: str, model: Any, server: FakeChatServer) -> list[ModelEvent]:
    server.handler = playing(adapter, Answer(text=("again",)))
    return await stream(model)


@each
async def test_nobody_at_the_address_is_told_with_it(adapter: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = model_at(adapter, f"http://127.0.0.1:{port}/v1")
    with pytest.raises(ModelError) as raised:
        await stream(model)
    await model.close()
    assert raised.value.kind == "connection"
    assert raised.value.message.startswith(f"mine cannot be reached at http://127.0.0.1:{port}")


@each
async def test_a_web_page_is_no_answer(adapter: str) -> None:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head(200, "text/html")
        await reply.raw(b"<html><title>Welcome</title></html>")

    error = await refused(adapter, handler)
    assert error.kind == "request"
    assert error.message.startswith("mine answered with a web page at http://127.0.0.1:")


@each
async def test_an_answer_without_end_is_not_kept(adapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_tui.models.whole_answer.data_of", bounded)

    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        while True:
            await reply.raw(b"x" * 1_000)

    error = await refused(adapter, handler)
    assert (error.kind, error.message) == ("server", "mine sent no valid answer: a line is longer than 10000 bytes")


def bounded(chunks: AsyncIterator[bytes]) -> Any:
    from harness_tui.models.event_stream import data_of

    return data_of(chunks, line_bytes=10_000)
