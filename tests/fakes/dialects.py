"""The protocols of providers from the server's side: one answer, said in each of them.

``read_by_sdk`` lets the provider's own library read an answer, so that what is tested against is what it would take.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fakes.chat_server import FakeReply

Piece = tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What a model says: pieces of reasoning and text, calls as ``(id, tool, pieces of arguments)``."""

    reasoning: Piece = ()
    text: Piece = ()
    calls: tuple[tuple[str, str, Piece], ...] = ()
    finish: str = "stop"  # or length, filter


@dataclass(frozen=True)
class Read:
    """What the provider's own library made of an answer."""

    text: str
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


@dataclass(frozen=True)
class Dialect:
    """One protocol: its ``kind`` of provider, the address below the server's, and how it says things."""

    kind: str
    base: str
    path: str
    play: Callable[[FakeReply, Answer], Awaitable[None]]
    half: Callable[[FakeReply, str], Awaitable[None]]
    error: Callable[[int, str, str], Any]
    read_by_sdk: Callable[[str], Awaitable[Read]]
    in_stream: Any
    key_header: str


USAGE = {"input": 100, "output": 20, "cached": 40, "reasoning": 7}
SIGNATURE = "c2lnbmF0dXJl"


async def events(reply: FakeReply, items: list[Any], *, named: bool = False) -> None:
    for item in items:
        name = f"event: {item['type']}\n" if named else ""
        await reply.raw(f"{name}data: {json.dumps(item)}\n\n".encode())


# --- OpenAI chat -----------------------------------------------------------------------------------------------------


def chat_chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


async def chat_play(reply: FakeReply, answer: Answer) -> None:
    await reply.head()
    items = [chat_chunk(role="assistant", content="")]
    items += [chat_chunk(reasoning_content=piece) for piece in answer.reasoning]
    items += [chat_chunk(content=piece) for piece in answer.text]
    for index, (call, tool, _) in enumerate(answer.calls):
        first = {"index": index, "id": call, "type": "function", "function": {"name": tool, "arguments": ""}}
        items.append(chat_chunk(tool_calls=[first]))
    longest = max((len(pieces) for _, _, pieces in answer.calls), default=0)
    for place in range(longest):  # the arguments of parallel calls come mixed
        for index, (_, _, pieces) in enumerate(answer.calls):
            if place < len(pieces):
                items.append(chat_chunk(tool_calls=[{"index": index, "function": {"arguments": pieces[place]}}]))
    finish = {"stop": "tool_calls" if answer.calls else "stop", "length": "length", "filter": "content_filter"}
    items.append(chat_chunk(finish=finish[answer.finish]))
    usage = {
        "prompt_tokens": USAGE["input"],
        "completion_tokens": USAGE["output"],
        "total_tokens": USAGE["input"] + USAGE["output"],
        "prompt_tokens_details": {"cached_tokens": USAGE["cached"]},
        "completion_tokens_details": {"reasoning_tokens": USAGE["reasoning"]},
    }
    items.append(chat_chunk() | {"choices": [], "usage": usage})
    await events(reply, items)
    await reply.raw(b"data: [DONE]\n\n")


async def chat_half(reply: FakeReply, text: str) -> None:
    await reply.head()
    await events(reply, [chat_chunk(role="assistant", content=text)])


async def chat_read(url: str) -> Read:
    from openai import AsyncOpenAI

    text, calls = "", dict[int, list[str]]()
    async with AsyncOpenAI(api_key="k", base_url=url, max_retries=0) as client:
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        async for chunk in stream:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for part in choice.delta.tool_calls or ():
                    entry = calls.setdefault(part.index, ["", ""])
                    if part.function is not None:
                        entry[0] += part.function.name or ""
                        entry[1] += part.function.arguments or ""
    return Read(text, [(name, json.loads(arguments)) for name, arguments in calls.values()])


def openai_error(status: int, code: str, message: str) -> Any:
    return {"error": {"message": message, "type": code, "param": None, "code": code}}


# --- OpenAI Responses ------------------------------------------------------------------------------------------------


def responses_items(answer: Answer) -> list[dict[str, Any]]:
    base = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "in_progress", "output": []}
    base |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    items: list[dict[str, Any]] = [{"type": "response.created", "response": base}]
    output: list[dict[str, Any]] = []
    if answer.reasoning:
        whole = "".join(answer.reasoning)
        item: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SIGNATURE}
        at = {"output_index": 0, "item_id": "rs_1", "summary_index": 0}
        part = {"type": "summary_text", "text": ""}
        items.append({"type": "response.output_item.added", "output_index": 0, "item": item})
        items.append({"type": "response.reasoning_summary_part.added", **at, "part": part})
        items += [{"type": "response.reasoning_summary_text.delta", **at, "delta": piece} for piece in answer.reasoning]
        items.append({"type": "response.reasoning_summary_text.done", **at, "text": whole})
        output.append(item | {"summary": [{"type": "summary_text", "text": whole}]})
        items.append({"type": "response.output_item.done", "output_index": 0, "item": output[-1]})
    if answer.text:
        place, whole = len(output), "".join(answer.text)
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
        at = {"output_index": place, "item_id": "msg_1", "content_index": 0}
        empty = {"type": "output_text", "text": "", "annotations": []}
        items.append({"type": "response.output_item.added", "output_index": place, "item": item})
        items.append({"type": "response.content_part.added", **at, "part": empty})
        items += [{"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []} for piece in answer.text]
        items.append({"type": "response.output_text.done", **at, "text": whole, "logprobs": []})
        items.append({"type": "response.content_part.done", **at, "part": empty | {"text": whole}})
        output.append(item | {"status": "completed", "content": [empty | {"text": whole}]})
        items.append({"type": "response.output_item.done", "output_index": place, "item": output[-1]})
    start = len(output)
    for number, (call, tool, _) in enumerate(answer.calls):
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": call, "name": tool, "arguments": ""}
        output.append(item | {"status": "completed"})
        items.append({"type": "response.output_item.added", "output_index": start + number, "item": item})
    longest = max((len(pieces) for _, _, pieces in answer.calls), default=0)
    for place in range(longest):
        for number, (_, _, pieces) in enumerate(answer.calls):
            if place < len(pieces):
                at = {"output_index": start + number, "item_id": f"fc_{number}", "delta": pieces[place]}
                items.append({"type": "response.function_call_arguments.delta", **at})
    for number, (_, tool, pieces) in enumerate(answer.calls):
        whole, at = "".join(pieces), {"output_index": start + number, "item_id": f"fc_{number}"}
        output[start + number]["arguments"] = whole
        items.append({"type": "response.function_call_arguments.done", **at, "arguments": whole, "name": tool})
        items.append(
            {"type": "response.output_item.done", "output_index": start + number, "item": output[start + number]}
        )
    usage = {
        "input_tokens": USAGE["input"],
        "input_tokens_details": {"cached_tokens": USAGE["cached"]},
        "output_tokens": USAGE["output"],
        "output_tokens_details": {"reasoning_tokens": USAGE["reasoning"]},
        "total_tokens": USAGE["input"] + USAGE["output"],
    }
    reasons = {"length": "max_output_tokens", "filter": "content_filter"}
    whole_response = base | {"output": output, "usage": usage, "status": "completed"}
    kind = "response.completed"
    if answer.finish in reasons:
        kind = "response.incomplete"
        whole_response |= {"status": "incomplete", "incomplete_details": {"reason": reasons[answer.finish]}}
    items.append({"type": kind, "response": whole_response})
    return [item | {"sequence_number": number} for number, item in enumerate(items)]


async def responses_play(reply: FakeReply, answer: Answer) -> None:
    await reply.head()
    await events(reply, responses_items(answer), named=True)


async def responses_half(reply: FakeReply, text: str) -> None:
    await reply.head()
    items = responses_items(Answer(text=(text,)))
    end = next(place for place, item in enumerate(items) if item["type"] == "response.output_text.delta")
    await events(reply, items[: end + 1], named=True)


async def responses_read(url: str) -> Read:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key="k", base_url=url, max_retries=0) as client:
        stream = await client.responses.create(model="m", input="hi", stream=True)
        last = [event async for event in stream][-1]
    response = last.response  # type: ignore[union-attr]
    calls = [(item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"]
    return Read(response.output_text, calls)


# --- Anthropic -------------------------------------------------------------------------------------------------------


def anthropic_items(answer: Answer) -> list[dict[str, Any]]:
    usage = {
        "input_tokens": USAGE["input"] - USAGE["cached"],
        "output_tokens": 1,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": USAGE["cached"],
    }
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    items: list[dict[str, Any]] = [
        {"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None}}
    ]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if answer.reasoning:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in answer.reasoning]
        deltas.append({"type": "signature_delta", "signature": SIGNATURE})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if answer.text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in answer.text]))
    for call, tool, pieces in answer.calls:
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces)]
        blocks.append(({"type": "tool_use", "id": call, "name": tool, "input": {}}, deltas))
    for index, (block, deltas) in enumerate(blocks):
        items.append({"type": "content_block_start", "index": index, "content_block": block})
        items.append({"type": "ping"})
        items += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        items.append({"type": "content_block_stop", "index": index})
    finish = {"stop": "tool_use" if answer.calls else "end_turn", "length": "max_tokens", "filter": "refusal"}
    delta = {"stop_reason": finish[answer.finish], "stop_sequence": None}
    items.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": USAGE["output"]}})
    return [*items, {"type": "message_stop"}]


async def anthropic_play(reply: FakeReply, answer: Answer) -> None:
    await reply.head()
    await events(reply, anthropic_items(answer), named=True)


async def anthropic_half(reply: FakeReply, text: str) -> None:
    await reply.head()
    items = anthropic_items(Answer(text=(text,)))
    await events(reply, items[:4], named=True)


async def anthropic_read(url: str) -> Read:
    from anthropic import AsyncAnthropic

    async with (
        AsyncAnthropic(api_key="k", base_url=url, max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=100, messages=[{"role": "user", "content": "hi"}]) as stream,
    ):
        message = await stream.get_final_message()
    text = "".join(block.text for block in message.content if block.type == "text")
    return Read(text, [(block.name, dict(block.input)) for block in message.content if block.type == "tool_use"])


def anthropic_error(status: int, code: str, message: str) -> Any:
    return {"type": "error", "error": {"type": code, "message": message}, "request_id": "req_1"}


# --- Google ----------------------------------------------------------------------------------------------------------


def google_items(answer: Answer) -> list[dict[str, Any]]:
    def chunk(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        candidate = {"index": 0, "content": {"role": "model", "parts": list(parts)}, **more}
        return {"candidates": [candidate], "modelVersion": "m", "responseId": "r1"}

    items = [chunk({"text": piece, "thought": True}) for piece in answer.reasoning]
    items += [chunk({"text": piece}) for piece in answer.text]
    for number, (call, tool, pieces) in enumerate(answer.calls):
        part: dict[str, Any] = {"functionCall": {"id": call, "name": tool, "args": json.loads("".join(pieces) or "{}")}}
        items.append(chunk(part | ({"thoughtSignature": SIGNATURE} if number == 0 and answer.reasoning else {})))
    finish = {"stop": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"}[answer.finish]
    usage = {
        "promptTokenCount": USAGE["input"],
        "candidatesTokenCount": USAGE["output"] - USAGE["reasoning"],
        "thoughtsTokenCount": USAGE["reasoning"],
        "cachedContentTokenCount": USAGE["cached"],
        "totalTokenCount": USAGE["input"] + USAGE["output"],
    }
    return [*items, chunk({"text": ""}, finishReason=finish) | {"usageMetadata": usage}]


async def google_play(reply: FakeReply, answer: Answer) -> None:
    await reply.head()
    await events(reply, google_items(answer))


async def google_half(reply: FakeReply, text: str) -> None:
    await reply.head()
    await events(reply, google_items(Answer(text=(text,)))[:1])


async def google_read(url: str) -> Read:
    from google.genai import Client
    from google.genai.types import HttpOptions

    text, calls = "", list[tuple[str, dict[str, Any]]]()
    async with Client(vertexai=False, api_key="k", http_options=HttpOptions(base_url=url)).aio as client:
        stream = await client.models.generate_content_stream(model="m", contents="hi")
        async for chunk in stream:
            for candidate in chunk.candidates or ():
                for part in (candidate.content.parts if candidate.content else None) or ():
                    text += part.text or "" if not part.thought else ""
                    if part.function_call is not None:
                        calls.append((part.function_call.name or "", dict(part.function_call.args or {})))
    return Read(text, calls)


def google_error(status: int, code: str, message: str) -> Any:
    return {"error": {"code": status, "message": message, "status": code.upper()}}


CHAT = Dialect(
    "openai-chat",
    "/v1",
    "/v1/chat/completions",
    chat_play,
    chat_half,
    openai_error,
    chat_read,
    {"error": {"message": "we are busy", "type": "overloaded_error"}},
    "authorization",
)
RESPONSES = Dialect(
    "openai-responses",
    "/v1",
    "/v1/responses",
    responses_play,
    responses_half,
    openai_error,
    responses_read,
    {
        "type": "error",
        "code": "overloaded_error",
        "message": "we are busy",
        "param": None,
        "sequence_number": 9,
    },
    "authorization",
)
ANTHROPIC = Dialect(
    "anthropic",
    "",
    "/v1/messages",
    anthropic_play,
    anthropic_half,
    anthropic_error,
    anthropic_read,
    {"type": "error", "error": {"type": "overloaded_error", "message": "we are busy"}},
    "x-api-key",
)
GOOGLE = Dialect(
    "google",
    "",
    "/v1beta/models/m:streamGenerateContent?alt=sse",
    google_play,
    google_half,
    google_error,
    google_read,
    {"error": {"code": 503, "message": "we are busy", "status": "UNAVAILABLE"}},
    "x-goog-api-key",
)
