"""What providers are sent of a conversation, whoever led it before them."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from fakes.chat_server import FakeReply, FakeRequest, chat_server
from fakes.dialect_models import ADAPTERS, GREP, READ, WHOLE, model_at, playing, stream
from fakes.dialects import SIGNATURE, Answer

from harness_tui.core.messages import AssistantMessage, Attachment, Message, ToolCall, ToolMessage, UserMessage
from harness_tui.core.seams import CallChunk, Finished, ModelEvent, ModelSettings, ReasoningChunk, TextChunk
from harness_tui.core.values import ToolSpec

pytestmark = pytest.mark.xdist_group("libraries of providers")  # else each worker imports them all

LIBRARY = [name for name in ADAPTERS if name != "compatible"]
each = pytest.mark.parametrize("adapter", ADAPTERS)
PICTURE = base64.b64encode(b"\x89PNG picture").decode()
PDF = base64.b64encode(b"%PDF-1.7 document").decode()


def message_of(events: Sequence[ModelEvent]) -> AssistantMessage:
    """The message that the agent makes of an answer."""
    end = events[-1]
    assert isinstance(end, Finished)
    return AssistantMessage(
        "".join(event.text for event in events if isinstance(event, TextChunk)),
        "".join(event.text for event in events if isinstance(event, ReasoningChunk)),
        tuple(event.call for event in events if isinstance(event, CallChunk)),
        opaque=json.loads(json.dumps(end.opaque)),  # as it comes back from the record
    )


def results(message: AssistantMessage) -> list[Message]:
    return [ToolMessage(call.call, call.tool, f"result of {call.call}") for call in message.calls]


async def sent(adapter: str, messages: Sequence[Message], *, provider: str = "mine") -> dict[str, Any]:
    """Return the body of a request with these messages."""
    async with chat_server(playing(adapter, Answer(text=("ok",)))) as server:
        model = model_at(adapter, server.url, provider=provider)
        await stream(model, messages, [READ, GREP])
        await model.close()
        return server.requests[0].data


async def told(adapter: str, answer: Answer = WHOLE, *, provider: str = "mine") -> AssistantMessage:
    """Return the message that an answer of this adapter becomes."""
    async with chat_server(playing(adapter, answer)) as server:
        model = model_at(adapter, server.url, provider=provider)
        events = await stream(model, tools=[READ, GREP])
        await model.close()
    return message_of(events)


# --- the own answer goes back as it came -----------------------------------------------------------------------------


async def test_anthropic_gets_its_thinking_back_with_its_signature_and_in_its_place() -> None:
    message = await told("anthropic")
    body = await sent("anthropic", [UserMessage("hi"), message, *results(message)])
    assert body["messages"][1] == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Let me see.", "signature": SIGNATURE},
            {"type": "text", "text": "I will look, Grüße."},
            {"type": "tool_use", "id": "call_a", "name": "read", "input": {"path": "ä.py"}},
            {"type": "tool_use", "id": "call_b", "name": "grep", "input": {"pattern": "x y"}},
        ],
    }
    first, second = body["messages"][2]["content"]
    assert (first["tool_use_id"], second["tool_use_id"]) == ("call_a", "call_b")
    assert first["content"] == "result of call_a" or first["content"][0]["text"] == "result of call_a"


async def test_responses_get_their_encrypted_reasoning_back_and_store_nothing() -> None:
    message = await told("openai-responses")
    body = await sent("openai-responses", [UserMessage("hi"), message, *results(message)])
    assert body["store"] is False
    kinds = [item.get("type", item.get("role")) for item in body["input"]]
    assert kinds.count("function_call") == kinds.count("function_call_output") == 2
    calls = [item for item in body["input"] if item.get("type") == "function_call"]
    assert [call["call_id"] for call in calls] == ["call_a", "call_b"]


async def test_a_reasoning_model_of_responses_gets_its_encrypted_reasoning_back() -> None:
    async with chat_server(playing("openai-responses", WHOLE)) as server:
        model = model_at("openai-responses", server.url)
        model._model = "gpt-5"
        message = message_of(await stream(model, tools=[READ, GREP]))
        await stream(model, [UserMessage("hi"), message, *results(message)], [READ, GREP])
        await model.close()
    body = server.requests[1].data
    (reasoning,) = [item for item in body["input"] if item.get("type") == "reasoning"]
    assert reasoning["encrypted_content"] == SIGNATURE
    assert reasoning["summary"] == [{"type": "summary_text", "text": "Let me see."}]
    assert "reasoning.encrypted_content" in server.requests[0].data["include"]


async def test_google_gets_the_signature_of_a_call_back() -> None:
    message = await told("google")
    body = await sent("google", [UserMessage("hi"), message, *results(message)])
    parts = body["contents"][1]["parts"]
    calls = [part for part in parts if "functionCall" in part]
    assert [part["functionCall"]["name"] for part in calls] == ["read", "grep"]
    assert calls[0]["thoughtSignature"] == SIGNATURE


@pytest.mark.parametrize("adapter", LIBRARY)
async def test_nothing_is_kept_twice(adapter: str) -> None:
    message = await told(adapter)
    kept = json.dumps(message.opaque or {}, ensure_ascii=False)
    assert "look" not in kept
    assert "ä.py" not in kept


# --- nobody else gets it ---------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("before", LIBRARY)
async def test_a_conversation_goes_on_with_another_provider(before: str, adapter: str) -> None:
    message = await told(before, provider="first")
    assert message.calls[0] == ToolCall("call_a", "read", {"path": "ä.py"})
    body = await sent(adapter, [UserMessage("hi"), message, *results(message)], provider="second")
    text = json.dumps(body, ensure_ascii=False)
    assert SIGNATURE not in text
    assert "Let me see" not in text
    for expected in ("I will look, Grüße.", "ä.py", "x y", "result of call_a", "result of call_b"):
        assert text.count(expected) == 1, expected


@pytest.mark.parametrize("adapter", ["anthropic", "google", "openai-responses"])
async def test_two_providers_of_one_kind_are_two(adapter: str) -> None:
    message = await told(adapter, provider="first")
    body = await sent(adapter, [UserMessage("hi"), message, *results(message)], provider="second")
    assert SIGNATURE not in json.dumps(body)


@pytest.mark.parametrize("adapter", ["anthropic", "google", "openai-responses"])
@pytest.mark.parametrize("damage", ["text", "calls", "redacted", "shape"])
async def test_what_is_no_longer_whole_is_not_sent_as_if_it_were(adapter: str, damage: str) -> None:
    message = await told(adapter)
    assert message.opaque is not None
    match damage:
        case "text":
            message = replace(message, text="I will [redacted], Grüße.")
        case "calls":
            message = replace(message, calls=message.calls[:1])
        case "redacted":
            parts = json.loads(json.dumps(message.opaque["parts"]).replace(SIGNATURE, "[redacted]"))
            message = replace(message, opaque=message.opaque | {"parts": parts})
        case _:
            message = replace(message, opaque=message.opaque | {"parts": [{"part": "nothing"}]})
    body = await sent(adapter, [UserMessage("hi"), message, *results(message)])
    text = json.dumps(body, ensure_ascii=False)
    assert SIGNATURE not in text
    assert message.text in text


@each
async def test_ids_and_names_that_a_provider_refuses_are_put_in_its_own_form(adapter: str) -> None:
    call = ToolCall("functions.read:0", "a tool.gone", {"path": "x"})
    history = [UserMessage("hi"), AssistantMessage(calls=(call,)), ToolMessage(call.call, call.tool, "found")]
    text = json.dumps(await sent(adapter, history))
    assert "functions.read:0" not in text
    assert "a tool.gone" not in text
    assert '"found"' in text


@each
async def test_calls_without_results_and_results_without_calls_are_put_right(adapter: str) -> None:
    history = [
        ToolMessage("c0", "read", "orphan"),
        UserMessage("hi"),
        AssistantMessage("", "", (ToolCall("c1", "read", {}), ToolCall("c2", "read", {}, '{"bad'))),
        ToolMessage("c2", "read", "late", is_error=True),
        UserMessage("and now?"),
        AssistantMessage("   "),
        AssistantMessage("half", cut=True),
        UserMessage("go on"),
    ]
    text = json.dumps(await sent(adapter, history))
    for expected in ("orphan", "no result was recorded", "late", '{\\\\\\"bad', "half", "go on"):
        assert expected in text or expected.replace("\\\\\\", "\\") in text, expected


@each
async def test_a_conversation_that_ends_with_the_model_goes_on(adapter: str) -> None:
    body = await sent(adapter, [UserMessage("hi"), AssistantMessage("hello")])
    text = json.dumps(body)
    assert "hello" in text


# --- prompt cache, files, settings -----------------------------------------------------------------------------------


async def test_anthropic_is_told_where_to_keep_its_cache() -> None:
    body = await sent("anthropic", [UserMessage("hi"), AssistantMessage("ho"), UserMessage("more")])
    mark = {"type": "ephemeral", "ttl": "5m"}
    assert body["system"] == [{"type": "text", "text": "be brief", "cache_control": mark}]
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, mark]
    assert body["messages"][-1]["content"][-1]["cache_control"] == mark
    assert json.dumps(body).count("cache_control") == 3


@each
async def test_tools_are_sent_as_they_are_and_never_strict(adapter: str) -> None:
    body = await sent(adapter, [UserMessage("hi")])
    text = json.dumps(body["tools"])
    assert '"strict": true' not in text
    assert "additionalProperties" not in text
    assert json.dumps(READ.parameters) in text


@each
async def test_an_image_is_sent(adapter: str) -> None:
    picture = Attachment("image", "image/png", 12, path="a.png", content=PICTURE)
    text = json.dumps(await sent(adapter, [UserMessage("see", (picture,))]))
    assert PICTURE in text


@each
async def test_an_image_of_a_kind_that_no_model_takes_is_a_line_of_text(adapter: str) -> None:
    picture = Attachment("image", "image/bmp", 12, path="a.bmp", content=PICTURE)
    text = json.dumps(await sent(adapter, [UserMessage("see", (picture,))]))
    assert PICTURE not in text
    assert "[image a.bmp of 12 bytes (image/bmp): this model does not take it]" in text


@each
async def test_a_pdf_is_sent_where_it_is_taken_and_else_a_line_of_text(adapter: str) -> None:
    paper = Attachment("resource", "application/pdf", 17, path="a.pdf", content=PDF)
    text = json.dumps(await sent(adapter, [UserMessage("see", (paper,))]))
    assert (PDF in text) is (adapter != "compatible")
    assert ("[PDF a.pdf of 17 bytes (application/pdf)" in text) is (adapter == "compatible")


@each
async def test_an_image_of_a_result_reaches_the_model(adapter: str) -> None:
    picture = Attachment("image", "image/png", 12, path="a.png", content=PICTURE)
    call = ToolCall("c1", "read", {"path": "a.png"})
    history = [
        UserMessage("hi"),
        AssistantMessage(calls=(call,)),
        ToolMessage("c1", "read", "a picture", False, (picture,)),
    ]
    text = json.dumps(await sent(adapter, history))
    assert PICTURE in text
    assert "a picture" in text


@pytest.mark.parametrize(
    ("adapter", "names"),
    [
        ("compatible", ("temperature", "max_tokens", "reasoning_effort")),
        ("openai-chat", ("temperature", "max_completion_tokens", "reasoning_effort")),
        ("openai-responses", ("temperature", "max_output_tokens", "reasoning")),
        ("anthropic", ("max_tokens", "thinking")),
    ],
)
async def test_settings_are_sent_under_the_names_of_the_provider(adapter: str, names: tuple[str, ...]) -> None:
    async def answer(reply: FakeReply, request: FakeRequest) -> None:
        await ADAPTERS[adapter].play(reply, Answer(text=("ok",)))

    async with chat_server(answer) as server:
        name = "claude-sonnet-4-6" if adapter == "anthropic" else "m"
        model = model_at(adapter, server.url, name=name, extra_body={"metadata": {"team": "blue"}})
        settings = ModelSettings("s", "build", temperature=0.5, max_output_tokens=9000, reasoning_effort="high")
        assert await stream(model, settings=settings)
        await model.close()
    body = server.requests[0].data
    assert set(names) <= set(body)
    assert body["metadata"] == {"team": "blue"}


FORM = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("adapter", "name", "place"),
    [
        ("compatible", "m", ("response_format", "json_schema", "schema")),
        ("openai-chat", "gpt-5.1", ("response_format", "json_schema", "schema")),
        ("openai-responses", "gpt-5.1", ("text", "format", "schema")),
        ("anthropic", "claude-sonnet-4-6", ("output_config", "format", "schema")),
        ("google", "gemini-3.5-flash", ("generationConfig", "responseJsonSchema")),
    ],
)
async def test_the_form_of_an_answer_is_told_in_the_providers_own_way(
    adapter: str, name: str, place: tuple[str, ...]
) -> None:
    settings = ModelSettings(system="s", agent="build", output_schema=FORM)
    async with chat_server(playing(adapter, Answer(text=('{"n": 1}',)))) as server:
        model = model_at(adapter, server.url, name=name)
        events = await stream(model, settings=settings)
        await model.close()
    found = server.requests[0].data
    for key in place:
        found = found[key]
    found.pop("title", None)  # Google's library puts the name there
    assert found == FORM
    assert '"strict": true' not in json.dumps(server.requests[0].data)
    assert events[0] == TextChunk('{"n": 1}')


HALF = "\ud83d"


@each
async def test_half_a_character_in_a_conversation_makes_no_request_that_cannot_be_written(adapter: str) -> None:
    messages = [
        UserMessage(f"hi {HALF}", (Attachment("text", "text/plain", 1, "a.txt", content=HALF),)),
        AssistantMessage(f"so {HALF}\ude00", calls=(ToolCall("c1", "read", {"path": HALF, HALF: [HALF]}),)),
        ToolMessage("c1", "read", f"out {HALF}"),
        UserMessage("go on"),
    ]
    tool = ToolSpec("read", f"reads {HALF}", {"type": "object", "properties": {"path": {"enum": ["a", HALF]}}})
    settings = ModelSettings(system=f"s {HALF}", agent="build")
    async with chat_server(playing(adapter, Answer(text=("ok",)))) as server:
        model = model_at(adapter, server.url)
        assert (await stream(model, messages, (tool,), settings=settings))[0] == TextChunk("ok")
        await model.close()
    text = json.dumps(server.requests[0].data, ensure_ascii=False)
    assert "so \U0001f600" in text
    assert "\ufffd" in text
    text.encode()  # raises where half a character is left
