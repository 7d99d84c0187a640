"""The adapter against a real server on loopback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest
from fakes.chat_server import FakeReply, FakeRequest, Handler, chat_server

from harness_tui.core.errors import UsageError
from harness_tui.core.messages import Message, ToolCall, UserMessage
from harness_tui.core.redaction import redact
from harness_tui.core.seams import (
    CallChunk,
    Finished,
    ModelError,
    ModelEvent,
    ModelSettings,
    ReasoningChunk,
    TextChunk,
    Usage,
)
from harness_tui.core.values import ToolSpec
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.openai_compatible import OpenAICompatibleModel

KEY = "tok-0123456789abcdef"
SETTINGS = ModelSettings(system="be brief", agent="build")


async def drain(model: OpenAICompatibleModel, messages: Sequence[Message] = (UserMessage("hi"),)) -> list[ModelEvent]:
    async with asyncio.timeout(20), aclosing(model.stream(messages, (), SETTINGS)) as events:
        return [event async for event in events]


async def asked(handler: Handler, **options: Any) -> list[ModelEvent]:
    """Return what the model streams when the server answers so."""
    async with chat_server(handler) as server:
        model = OpenAICompatibleModel(endpoint(server.url, options.pop("timeout", 10.0)), "qwen", **options)
        try:
            return await drain(model)
        finally:
            await model.close()


async def refused(handler: Handler, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as raised:
        await asked(handler, **options)
    return raised.value


def endpoint(url: str, timeout: float = 10.0) -> Endpoint:
    return Endpoint("mine", url, KEY, "MINE_API_KEY", timeout=timeout)


async def test_text_reasoning_and_usage_are_streamed() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await reply.raw(b": a comment\n\n")
        await reply.delta(role="assistant", content="")
        await reply.delta(reasoning_content="hm")
        await reply.delta(content="Grüß ")
        await reply.delta(content="Gott", finish="stop")
        details = {"prompt_tokens_details": {"cached_tokens": 5}, "completion_tokens_details": {"reasoning_tokens": 3}}
        await reply.event({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 4, **details}})
        await reply.event("[DONE]")

    assert await asked(answer) == [
        ReasoningChunk("hm"),
        TextChunk("Grüß "),
        TextChunk("Gott"),
        Finished(Usage(input=10, output=4, reasoning=3, cache_read=5), reason="stop"),
    ]


async def test_parallel_calls_with_split_arguments_are_put_together() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        first = {"index": 0, "id": "call_a", "type": "function", "function": {"name": "read", "arguments": ""}}
        second = {"index": 1, "id": "call_b", "type": "function", "function": {"name": "list", "arguments": '{"pa'}}
        await reply.delta(tool_calls=[first])
        await reply.delta(tool_calls=[{"index": 0, "function": {"arguments": '{"path": '}}])
        await reply.delta(tool_calls=[second])
        await reply.delta(tool_calls=[{"index": 0, "function": {"arguments": '"a.py"}'}}])
        await reply.delta(tool_calls=[{"index": 1, "function": {"arguments": 'th": "."}'}}], finish="tool_calls")
        await reply.event("[DONE]")

    assert await asked(answer) == [
        CallChunk(ToolCall("call_a", "read", {"path": "a.py"})),
        CallChunk(ToolCall("call_b", "list", {"path": "."})),
        Finished(reason="calls"),
    ]


async def test_whole_calls_that_share_an_index_or_have_no_id_stay_apart() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await reply.delta(tool_calls=[{"index": 0, "id": "x1", "function": {"name": "a", "arguments": "{}"}}])
        await reply.delta(
            tool_calls=[
                {"index": 0, "id": "x2", "function": {"name": "b", "arguments": {"n": 1}}, "extra_content": {"s": 1}}
            ]
        )
        await reply.delta(tool_calls=[{"index": 1, "function": {"name": "c"}}], finish="tool_calls")

    events = await asked(answer)
    calls = [event.call for event in events if isinstance(event, CallChunk)]
    assert [(call.tool, call.arguments) for call in calls] == [("a", {}), ("b", {"n": 1}), ("c", {})]
    assert [call.call for call in calls[:2]] == ["x1", "x2"]
    assert calls[2].call.startswith("call_")
    assert events[-1] == Finished(
        opaque={"provider": "mine", "call_extras": {"x2": {"extra_content": {"s": 1}}}}, reason="calls"
    )


@pytest.mark.parametrize("text", ['{"bad', "[1]", '{"a": ' * 200 + "1" + "}" * 200])
async def test_arguments_that_are_no_object_are_kept_raw(text: str) -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        call = {"index": 0, "id": "x", "function": {"name": "edit", "arguments": text}}
        await reply.delta(tool_calls=[call], finish="tool_calls")

    assert (await asked(answer))[0] == CallChunk(ToolCall("x", "edit", {}, text))


async def test_the_request_is_what_the_protocol_says() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await reply.delta(content="ok", finish="stop")

    async with chat_server(answer) as server:
        place = Endpoint("mine", server.url + "/", KEY, headers={"X-Team": "a"}, extra_body={"top_k": 3})
        model = OpenAICompatibleModel(place, "qwen", context=100, output_limit=50)
        settings = ModelSettings("be brief", "build", temperature=0.5, reasoning_effort="low")
        tool = ToolSpec("read", "Reads.", {"type": "object"})
        async with aclosing(model.stream((UserMessage("hi"),), (tool,), settings)) as events:
            async for _ in events:
                pass
        await model.close()
        (request,) = server.requests
    assert (model.name, model.context_limit) == ("mine/qwen", 100)
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["x-team"] == "a"
    assert request.data == {
        "model": "qwen",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read",
                    "description": "Reads.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "reasoning_effort": "low",
        "max_tokens": 50,
        "top_k": 3,
    }


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"message": "bad field", "type": "invalid_request_error"}}, "request"),
        (400, {"error": {"message": "too long", "code": "context_length_exceeded"}}, "context"),
        (400, {"error": {"message": "the request exceeds the available context size"}}, "context"),
        (400, {"error": {"message": "blocked", "code": "content_filter"}}, "content_filter"),
        (401, {"error": {"message": "no"}}, "auth"),
        (403, {"error": {"message": "no"}}, "permission"),
        (404, {"error": {"message": "no such model"}}, "request"),
        (408, {}, "timeout"),
        (413, {"error": "too large"}, "context"),
        (429, {"error": {"message": "slow down"}}, "rate_limit"),
        (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, "permission"),
        (500, {"error": {"message": "oops"}}, "server"),
        (502, {}, "server"),
        (503, {"error": {"message": "Loading model"}}, "overloaded"),
        (529, {"error": {"type": "overloaded_error"}}, "overloaded"),
        (301, {}, "request"),
    ],
)
async def test_a_status_becomes_the_kind_that_the_agent_acts_on(status: int, body: Any, kind: str) -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json(body, status)

    assert (await refused(answer)).kind == kind


async def test_a_wrong_key_is_named_by_its_variable_and_never_shown() -> None:
    async def answer(reply: FakeReply, request: FakeRequest) -> None:
        await reply.json({"error": {"message": f"bad key {request.headers['authorization']}\x1b[31m"}}, 401)

    error = await refused(answer)
    assert error.hint == "check the key in MINE_API_KEY"
    assert error.message == "mine answered 401: bad key Bearer [redacted]"
    assert KEY not in redact(f"a traceback with {KEY}")


async def test_the_pause_that_a_provider_asks_for_is_told() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json({"error": {"message": "slow down"}}, 429, Retry_After="2.5")

    assert (await refused(answer)).retry_after == 2.5


async def test_nobody_there_names_the_address() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        port = held.getsockname()[1]
        model = OpenAICompatibleModel(Endpoint("mine", f"http://user:hidden-word@127.0.0.1:{port}/v1"), "qwen")
        with pytest.raises(ModelError) as raised:
            await drain(model)
        await model.close()
    assert raised.value.kind == "connection"
    assert f"at http://127.0.0.1:{port}/v1" in raised.value.message
    assert "hidden-word" not in raised.value.message


async def test_a_stream_that_breaks_is_cut() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await reply.delta(content="half an ans")

    assert (await refused(answer)).kind == "cut"


async def test_a_chunked_stream_that_breaks_is_cut_too() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head(Transfer_Encoding="chunked")
        await reply.raw(b"5\r\ndata:")

    assert (await refused(answer)).kind == "cut"


async def test_silence_in_the_middle_is_an_error() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await reply.delta(content="wait")
        await asyncio.sleep(30)

    error = await refused(answer, silence=0.1)
    assert (error.kind, error.message) == ("silence", "mine sent nothing for 0.1 s in the middle of its answer")


async def test_comments_of_a_busy_server_are_no_silence() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await reply.delta(content="slow ")
        for _ in range(6):
            await asyncio.sleep(0.1)
            await reply.raw(b": still here\n\n")
        await reply.delta(content="answer", finish="stop")

    assert (await asked(answer, silence=0.5))[:2] == [TextChunk("slow "), TextChunk("answer")]


@pytest.mark.parametrize("with_head", [False, True])
async def test_an_answer_that_never_begins_is_a_timeout(with_head: bool) -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        if with_head:
            await reply.head()
        await asyncio.sleep(30)

    assert (await refused(answer, timeout=0.2)).kind == "timeout"


async def test_a_long_wait_for_the_first_piece_is_no_silence() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await asyncio.sleep(0.3)
        await reply.delta(content="ok", finish="stop")

    assert (await asked(answer, silence=0.05))[0] == TextChunk("ok")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "overloaded", "type": "overloaded_error"}, "overloaded"),
        ({"message": "slow down", "code": 429}, "rate_limit"),
        ({"message": "prompt is too long", "type": "invalid_request_error"}, "context"),
        ("it broke", "server"),
    ],
)
async def test_an_error_inside_the_stream_has_its_kind(error: Any, kind: str) -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await reply.event({"error": error})

    assert (await refused(answer)).kind == kind


async def test_an_answer_that_the_filter_ended_is_an_error() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await reply.delta(content="I", finish="content_filter")

    assert (await refused(answer)).kind == "content_filter"


async def test_an_answer_at_its_limit_says_so() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await reply.delta(content="too lo", finish="length")

    assert (await asked(answer))[-1] == Finished(reason="length")


async def test_an_answer_in_one_piece_is_taken_too() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json({"choices": [{"message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"}]})

    assert await asked(answer) == [TextChunk("whole"), Finished(reason="stop")]


async def test_a_web_page_is_no_answer() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head(200, "text/html")
        await reply.raw(b"<html>welcome</html>")

    error = await refused(answer)
    assert error.kind == "request"
    assert "/v1" in (error.hint or "")


@pytest.mark.parametrize("data", ["{", "[1]", '{"choices": ["x"]}'])
async def test_nonsense_in_the_stream_is_a_server_error(data: str) -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await reply.event(data)

    assert (await refused(answer)).kind == "server"


async def test_a_server_without_stream_options_is_asked_again_without() -> None:
    async def answer(reply: FakeReply, request: FakeRequest) -> None:
        if "stream_options" in request.data:
            await reply.json({"error": {"message": "unknown field: stream_options"}}, 400)
            return
        await reply.head()
        await reply.delta(content="ok", finish="stop")

    assert (await asked(answer))[0] == TextChunk("ok")


async def test_cancelling_closes_the_connection() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await reply.delta(content="a")
        await asyncio.sleep(30)

    async with chat_server(answer) as server:
        model = OpenAICompatibleModel(endpoint(server.url), "qwen")
        begun = asyncio.Event()

        async def consume() -> None:
            async for _ in model.stream((UserMessage("hi"),), (), SETTINGS):
                begun.set()

        task = asyncio.create_task(consume())
        async with asyncio.timeout(10):
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.gone.wait()
        await model.close()


async def test_closing_the_stream_early_closes_the_connection() -> None:
    async def answer(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head()
        await reply.delta(content="a")
        await asyncio.sleep(30)

    async with chat_server(answer) as server:
        model = OpenAICompatibleModel(endpoint(server.url), "qwen")
        async with asyncio.timeout(10):
            stream = model.stream((UserMessage("hi"),), (), SETTINGS)
            assert await anext(stream) == TextChunk("a")
            await stream.aclose()
            await server.gone.wait()
        await model.close()


@pytest.mark.parametrize("url", ["", "127.0.0.1:8080", "ftp://host/v1", "http://", "http://host:nan/v1"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="no http or https address"):
        OpenAICompatibleModel(Endpoint("mine", url, source="config.yaml:3"), "qwen")


async def test_what_is_named_like_a_secret_in_the_body_is_one() -> None:
    async def answer(reply: FakeReply, request: FakeRequest) -> None:
        await reply.json({"error": {"message": f"bad body {request.body.decode()}"}}, 400)

    extra = {"vendor": {"api_key": "body-EEEE-24680135"}, "stop_token": "</s>", "secrets": ["list-FFFF-1122334455"]}
    async with chat_server(answer) as server:
        model = OpenAICompatibleModel(Endpoint("mine", server.url, extra_body=extra), "qwen")
        with pytest.raises(ModelError) as raised:
            await drain(model)
        await model.close()
    assert "body-EEEE" not in raised.value.message
    assert "list-FFFF" not in raised.value.message
    assert "</s>" in raised.value.message
    assert "body-EEEE" not in redact("a log with body-EEEE-24680135")


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it() -> None:
    with pytest.raises(UsageError) as raised:
        OpenAICompatibleModel(Endpoint("mine", "http://h/v1", "secret\nkey", "MINE_API_KEY"), "qwen")
    assert raised.value.where == "MINE_API_KEY"
    assert "secret" not in str(raised.value)
