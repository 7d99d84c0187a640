"""An answer in one piece, as the stream that was asked for: some gateways do not stream, whatever one says.

What came is told by its first character, not by the type that the server gives it: streams are sent as JSON, and whole
answers as plain text.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, Final, TypeAlias, cast

from harness_tui.models.event_stream import LINE_BYTES, NoEventsError, TooLongError, data_of

Event: TypeAlias = dict[str, Any]

_SHOWN_CHARS: Final = 200
_BLANK: Final = b" \t\r\n\xef\xbb\xbf"


async def data_of_answer(chunks: AsyncIterator[bytes]) -> AsyncGenerator[str, None]:
    """Yield the data of each event of an answer, be it a stream or one piece.

    Raises ``TooLongError``, and ``NoEventsError`` with the beginning of what is neither.
    """
    head = b""
    async for chunk in chunks:
        head += chunk
        if head.strip(_BLANK):
            break
    if head.lstrip(_BLANK)[:1] not in (b"{", b"["):
        async with aclosing(data_of(_after(head, chunks))) as pieces:
            async for data in pieces:
                yield data
        return
    whole = bytearray(head)
    async for chunk in chunks:
        whole += chunk
        if len(whole) > LINE_BYTES:
            raise TooLongError(f"it is longer than {LINE_BYTES} bytes")
    text = whole.decode("utf-8-sig", "replace")
    try:
        events = as_events(json.loads(text))
    except (ValueError, RecursionError):
        events = []
    if not events:
        raise NoEventsError(text[:_SHOWN_CHARS])
    for event in events:
        yield json.dumps(event)


async def _after(head: bytes, rest: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    yield head
    async for chunk in rest:
        yield chunk


def as_events(data: Any) -> list[Event]:
    """Return a whole answer of any protocol as its stream would have come; empty for what is no answer."""
    if isinstance(data, list):  # Google without server-sent events
        return [cast(Event, item) for item in cast(list[Any], data) if isinstance(item, dict)]
    if not isinstance(data, dict):
        return []
    fields = cast(Event, data)
    if isinstance(fields.get("choices"), list):
        return [_chat(fields)]
    if "candidates" in fields or fields.get("error"):
        return [fields]
    if fields.get("type") == "message" and isinstance(fields.get("content"), list):
        return _messages(fields)
    if isinstance(fields.get("output"), list):
        return _responses(fields)
    return []


def _chat(answer: Event) -> Event:
    choices: list[Event] = []
    for number, choice in enumerate(_objects(answer["choices"])):
        message = _object(choice.get("message"))
        calls = [{"index": index} | call for index, call in enumerate(_objects(message.get("tool_calls")))]
        delta = message | ({"tool_calls": calls} if calls else {})
        choices.append({"index": number, "delta": delta, "finish_reason": choice.get("finish_reason") or "stop"})
    return answer | {"object": "chat.completion.chunk", "choices": choices}


def _messages(message: Event) -> list[Event]:
    usage = _object(message.get("usage"))
    events: list[Event] = [{"type": "message_start", "message": message | {"content": [], "stop_reason": None}}]
    for index, block in enumerate(_objects(message["content"])):
        match block.get("type"):
            case "text":
                start, deltas = block | {"text": ""}, [{"type": "text_delta", "text": block.get("text", "")}]
            case "thinking":
                start = block | {"thinking": "", "signature": ""}
                deltas = [
                    {"type": "thinking_delta", "thinking": block.get("thinking", "")},
                    {"type": "signature_delta", "signature": block.get("signature", "")},
                ]
            case "tool_use":
                arguments = json.dumps(block.get("input", {}), ensure_ascii=False)
                start, deltas = block | {"input": {}}, [{"type": "input_json_delta", "partial_json": arguments}]
            case _:
                start, deltas = block, list[Event]()
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": message.get("stop_reason") or "end_turn", "stop_sequence": message.get("stop_sequence")}
    return [*events, {"type": "message_delta", "delta": end, "usage": usage}, {"type": "message_stop"}]


def _responses(response: Event) -> list[Event]:
    events: list[Event] = [{"type": "response.created", "response": response | {"output": [], "status": "in_progress"}}]
    for index, item in enumerate(_objects(response["output"])):
        at = {"output_index": index, "item_id": item.get("id", f"item_{index}")}
        item = {"id": at["item_id"]} | item
        match item.get("type"):
            case "message":
                events.append(
                    {"type": "response.output_item.added", "output_index": index, "item": item | {"content": []}}
                )
                for place, part in enumerate(_objects(item.get("content"))):
                    delta = {"delta": part.get("text", part.get("refusal", "")), "content_index": place, "logprobs": []}
                    kind = "response.refusal.delta" if part.get("type") == "refusal" else "response.output_text.delta"
                    events.append({"type": kind, **at, **delta})
            case "reasoning":
                events.append(
                    {"type": "response.output_item.added", "output_index": index, "item": item | {"summary": []}}
                )
                for place, part in enumerate(_objects(item.get("summary"))):
                    delta = {"delta": part.get("text", ""), "summary_index": place}
                    events.append({"type": "response.reasoning_summary_text.delta", **at, **delta})
            case "function_call":
                arguments = item.get("arguments", "")
                start = item | {"arguments": ""}
                events.append({"type": "response.output_item.added", "output_index": index, "item": start})
                events.append({"type": "response.function_call_arguments.done", **at, "arguments": arguments})
            case _:
                events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    last = {"incomplete": "response.incomplete", "failed": "response.failed"}
    kind = last.get(str(response.get("status")), "response.completed")
    events.append({"type": kind, "response": response})
    return [event | {"sequence_number": number} for number, event in enumerate(events)]


def _object(value: Any) -> Event:
    return cast(Event, value) if isinstance(value, dict) else {}


def _objects(value: Any) -> list[Event]:
    return [cast(Event, item) for item in cast(list[Any], value) if isinstance(item, dict)] if value else []
