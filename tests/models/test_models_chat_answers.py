"""What servers of the chat completions protocol make of it, each odd answer as one of them has sent it."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from fakes.chat_server import FakeReply, FakeRequest, Handler, chat_server
from fakes.dialect_models import ADAPTERS, READ, model_at, playing, stream
from fakes.dialects import Answer

from harness_tui.core.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from harness_tui.core.seams import CallChunk, Finished, ModelError, ModelEvent, ReasoningChunk, TextChunk

each = pytest.mark.parametrize("adapter", ADAPTERS)


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call(arguments: Any = None, name: Any = None, **part: Any) -> dict[str, Any]:
    return part | {"function": {"name": name, "arguments": arguments}}


def text_of(*chunks: Any, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + (["data: [DONE]\n\n"] if done else [])
    return "".join(lines).encode()


def sending(body: bytes, status: int = 200, kind: str = "text/event-stream", **headers: str) -> Handler:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head(status, kind, **headers)
        await reply.raw(body)

    return handler


async def read(body: bytes, kind: str = "text/event-stream", adapter: str = "compatible", **headers: str) -> Any:
    """Return the events of an answer, the error that ended it as the last one."""
    came: list[Any] = []
    async with chat_server(sending(body, kind=kind, **headers)) as server:
        model = model_at(adapter, server.url)
        try:
            await stream(model, came=came)
        except ModelError as error:
            came.append((error.kind, error.message))
        await model.close()
    return came


async def calls_of(*chunks: Any) -> list[tuple[str, dict[str, Any]]]:
    events = await read(text_of(*chunks, delta("tool_calls")))
    found = [event.call for event in events if isinstance(event, CallChunk)]
    assert all(one.call and one.raw is None for one in found)
    assert len({one.call for one in found}) == len(found)
    return [(one.tool, one.arguments) for one in found]


A, B = '{"path": "a"}', '{"path": "b"}'


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([[call(A, "read", index=None), call(B, "read", index=None)]], id="no index, one chunk"),
        pytest.param([[call(A, "read")], [call(B, "read")]], id="neither index nor id"),
        pytest.param([[call(A, "read", id="x")], [call(B, "read")]], id="one id"),
        pytest.param([[call(A, "read", index=0, id="x"), call(B, "read", index=1, id="x")]], id="the same id"),
        pytest.param([[call(A[:5], "read", index=0)], [call(A[5:], "read", index=0)], [call(B, "read", index=1)]],
                     id="the name with every part"),
        pytest.param([[call("", index=0, id="x")], [call(A, "read", index=0)], [call({"path": "b"}, "read", index=1)]],
                     id="the name late, an object"),
    ],
)  # fmt: skip
async def test_calls_stay_apart_and_whole_however_they_are_numbered(chunks: list[Any]) -> None:
    found = await calls_of(*(delta(tool_calls=parts) for parts in chunks))
    assert found == [("read", {"path": "a"}), ("read", {"path": "b"})]


async def test_a_call_of_the_first_form_of_the_protocol_is_one() -> None:
    parts = [{"name": "read", "arguments": A[:5]}, {"arguments": A[5:]}]
    assert await calls_of(*(delta(function_call=part) for part in parts)) == [("read", {"path": "a"})]


async def test_text_and_reasoning_in_parts_are_read() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    events = await read(
        text_of(delta(content=[thinking]), delta(content=[{"type": "text", "text": "so"}]), delta("stop"))
    )
    assert events == [ReasoningChunk("hm"), TextChunk("so"), Finished(reason="stop")]


async def test_a_character_whose_halves_come_apart_is_one() -> None:
    events = await read(text_of(delta(content="a\ud83d"), delta(content="\ude00b"), delta("stop", content="\ud83d")))
    assert events == [TextChunk("a"), TextChunk("\U0001f600b"), TextChunk("\ufffd"), Finished(reason="stop")]


@pytest.mark.parametrize("reason", ["length", "model_length", "max_tokens"])
async def test_every_word_for_the_limit_is_one(reason: str) -> None:
    assert (await read(text_of(delta(content="half"), delta(reason))))[-1] == Finished(reason="length")


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (delta("error"), ("server", "mine ended the answer with an error")),
        (
            {"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 429, "message": "slow down"}}]},
            ("rate_limit", "mine: slow down"),
        ),
        (delta("insufficient_system_resource"), ("overloaded", "mine: it has no room")),
        ({"error": {"message": "gone", "code": "model_not_found"}}, ("request", "mine: gone")),
        ({"error": {"error": {"message": "inner", "code": 401}}}, ("auth", "mine: inner")),
    ],
)
async def test_an_answer_that_ends_with_an_error_says_which(end: Any, error: tuple[str, str]) -> None:
    assert await read(text_of(delta(content="a"), end)) == [TextChunk("a"), error]


@each
async def test_what_is_no_answer_at_all_is_told_in_the_same_words(adapter: str) -> None:
    begin = "mine sent no valid answer: it is no stream and no answer: "
    assert await read(b"hello there", "text/plain", adapter) == [("server", f"{begin}hello there")]
    assert await read(b'{"detail": "who?"}', "text/plain", adapter) == [("server", f'{begin}{{"detail": "who?"}}')]
    cut = ("cut", "the stream of mine broke before the answer was whole: it ended early")
    for nothing in (b"", b"data: [DONE]\n\n", b": ping\n\n"):
        assert await read(nothing, adapter=adapter) == [cut]


async def played(adapter: str, answer: Answer) -> bytes:
    class Kept(FakeReply):
        async def head(self, *_: Any, **__: Any) -> None:
            pass

        async def raw(self, data: bytes) -> None:
            kept.extend(data)

    kept = bytearray()
    await ADAPTERS[adapter].play(Kept(None), answer)  # pyright: ignore[reportArgumentType]
    return bytes(kept)


@each
async def test_a_stream_is_read_whatever_it_is_called_and_however_it_is_packed(adapter: str) -> None:
    body = await played(adapter, Answer(text=("Grüße",)))
    for events in (
        await read(body, "application/json", adapter),
        await read(body, "", adapter),
        await read(b"\xef\xbb\xbf" + body, adapter=adapter),
        await read(gzip.compress(body), adapter=adapter, Content_Encoding="gzip"),
    ):
        assert events[0] == TextChunk("Grüße")
        assert isinstance(events[-1], Finished)


@each
async def test_a_stream_that_ends_in_the_middle_of_a_line_is_cut(adapter: str) -> None:
    body = await played(adapter, Answer(text=("one", "two")))
    place = body.rindex(b"two")
    assert (await read(body[: place + 1], adapter=adapter))[-1][0] == "cut"


async def test_anthropic_is_read_without_its_counts_of_tokens() -> None:
    body = (await played("anthropic", Answer(text=("hi",)))).replace(b'"usage": {', b'"others": {')
    events = await read(body, adapter="anthropic")
    assert events[0] == TextChunk("hi")
    assert isinstance(events[-1], Finished)


# --- reasoning goes back with the calls that it led to --------------------------------------------------------------


async def message_of(*chunks: Any) -> AssistantMessage:
    events: list[ModelEvent] = await read(text_of(*chunks, delta(tool_calls=[call(A, "read", index=0, id="x")]),
                                                  delta("tool_calls")))  # fmt: skip
    end = events[-1]
    assert isinstance(end, Finished)
    return AssistantMessage(
        "".join(event.text for event in events if isinstance(event, TextChunk)),
        "".join(event.text for event in events if isinstance(event, ReasoningChunk)),
        (ToolCall("x", "read", {"path": "a"}),),
        opaque=json.loads(json.dumps(end.opaque)),
    )


async def sent(message: AssistantMessage, *, provider: str = "mine") -> dict[str, Any]:
    messages: list[Message] = [UserMessage("hi"), message, ToolMessage("x", "read", "text of a")]
    async with chat_server(playing("compatible", Answer(text=("ok",)))) as server:
        model = model_at("compatible", server.url, provider=provider)
        await stream(model, messages, (READ,))
        await model.close()
    return server.requests[0].data["messages"][2]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_goes_back_under_its_name_to_its_provider_alone(name: str) -> None:
    message = await message_of(delta(**{name: "let me "}), delta(**{name: "see"}), delta(content="I look."))
    assert message.reasoning == "let me see"
    back = await sent(message)
    assert (back[name], back["content"], len(back["tool_calls"])) == ("let me see", "I look.", 1)
    assert "let me see" not in str(await sent(message, provider="other"))
    assert "let me see" not in str(message.opaque)  # the record has it once


async def test_reasoning_in_parts_of_the_text_goes_back_in_parts() -> None:
    message = await message_of(delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]))
    assert (await sent(message))["content"] == [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]


async def test_details_of_reasoning_go_back_joined_with_their_signatures() -> None:
    pieces: list[dict[str, Any]] = [
        {"type": "reasoning.text", "index": 0, "text": "let ", "signature": None},
        {"type": "reasoning.text", "index": 0, "text": "me", "signature": None},
        {"type": "reasoning.text", "index": 0, "text": "", "signature": "c2ln"},
        {"type": "reasoning.encrypted", "index": 1, "data": "AAAA"},
    ]
    message = await message_of(*(delta(reasoning=piece.get("text"), reasoning_details=[piece]) for piece in pieces))
    assert message.reasoning == "let me"
    back = await sent(message)
    assert back["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "let me", "signature": "c2ln"},
        {"type": "reasoning.encrypted", "index": 1, "data": "AAAA"},
    ]
    assert "reasoning" not in back


async def test_reasoning_without_a_call_is_not_sent_again() -> None:
    events = await read(text_of(delta(reasoning_content="hm"), delta("stop", content="done")))
    assert events == [ReasoningChunk("hm"), TextChunk("done"), Finished(reason="stop")]


# --- what a server refuses is left out, once ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refusal", "gone", "instead"),
    [
        ("property 'reasoning_content' is unsupported", "reasoning_content", None),
        ("Unrecognized request argument supplied: stream_options", "stream_options", None),
        ("Use 'max_completion_tokens' instead of 'max_tokens'", "max_tokens", "max_completion_tokens"),
    ],
)
async def test_what_a_server_does_not_know_is_left_out_from_then_on(
    refusal: str, gone: str, instead: str | None
) -> None:
    message = await message_of(delta(reasoning_content="hm"))
    messages: list[Message] = [UserMessage("hi"), message, ToolMessage("x", "read", "text of a")]

    async def handler(reply: FakeReply, request: FakeRequest) -> None:
        if f'"{gone}"'.encode() in request.body:
            await reply.json({"error": {"message": refusal, "type": "invalid_request_error"}}, 400)
        else:
            await ADAPTERS["compatible"].play(reply, Answer(text=("ok",)))

    async with chat_server(handler) as server:
        model = model_at("compatible", server.url, output_limit=500)
        for _ in range(2):
            assert (await stream(model, messages, (READ,)))[0] == TextChunk("ok")
        await model.close()
    assert [f'"{gone}"'.encode() in request.body for request in server.requests] == [True, False, False]
    assert instead is None or server.requests[-1].data[instead] == 500


async def test_what_somebody_configured_is_never_left_out() -> None:
    async def handler(reply: FakeReply, request: FakeRequest) -> None:
        await reply.json({"error": {"message": "unknown argument: reasoning_effort, max_tokens"}}, 400)

    async with chat_server(handler) as server:
        model = model_at("compatible", server.url, extra_body={"reasoning_effort": "high"})
        with pytest.raises(ModelError, match="unknown argument"):
            await stream(model)
        await model.close()
    assert len(server.requests) == 1
