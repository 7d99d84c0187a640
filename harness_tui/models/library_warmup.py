"""Gets a provider's library ready in a thread, so that the loop that draws the screen never waits for it.

Importing is half of it: the other half are validators that are built when the first answer comes, a second of work in
one piece. So one short answer is played to the library before the first request, through a client that goes nowhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from harness_tui.core.foreground import KeysFirst
from harness_tui.core.lean_imports import no_pauses
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.library_dialects import Dialect, load

T = TypeVar("T")
log = logging.getLogger(__name__)

_NOWHERE: Final = "http://nowhere.invalid/v1"
_WAIT_S: Final = 30.0
_WARM: Final[set[str]] = set()


async def in_own_thread(work: Callable[[], T]) -> T:
    """Return what ``work`` returns, done in a thread that nobody waits for when the program ends meanwhile."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if result.done():  # nobody waits for it any more
            return
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(value)

    def run() -> None:
        value, failure = None, None
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: the program ends
            loop.call_soon_threadsafe(settle, value, failure)

    threading.Thread(target=run, name="library of a provider", daemon=True).start()
    return await result


def warm_up(dialect: Dialect) -> None:
    """Import what ``dialect`` needs and let it read one answer; takes a second or two. Raises ``ImportError``."""
    if dialect.kind in _WARM:
        return
    with no_pauses():
        with KeysFirst():
            load(dialect)
        try:
            asyncio.run(asyncio.wait_for(_rehearse(dialect), _WAIT_S))
        except Exception as error:  # noqa: BLE001 - the first request is slower then, nothing else
            log.debug("the rehearsal of %s failed: %s", dialect.kind, type(error).__name__)
    _WARM.add(dialect.kind)


async def _rehearse(dialect: Dialect) -> None:
    import httpx2
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.messages import ModelRequest, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    def answer(request: httpx2.Request) -> httpx2.Response:
        text = "".join(_written(event) for event in ANSWERS[dialect.kind])
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, text=text)

    tool = ToolDefinition(name="look", description="looks", parameters_json_schema={"type": "object"}, strict=False)
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
        model = dialect.open(Endpoint("nobody", _NOWHERE, kind=dialect.kind), "m", client)
        asking = model_request_stream(
            model,
            [ModelRequest(parts=[UserPromptPart(content="hello")], instructions="short")],
            model_request_parameters=ModelRequestParameters(function_tools=[tool]),
            instrument=False,
        )
        async with asking as stream:
            async for _ in stream:
                pass
            stream.get()


def _written(event: dict[str, Any]) -> str:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"


def _chat(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def _responses() -> list[dict[str, Any]]:
    item = {"type": "message", "id": "m", "role": "assistant", "status": "in_progress", "content": []}
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": "{}"}
    thought = {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    base = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "in_progress", "output": []}
    done = base | {"status": "completed", "output": [thought, item, call], "usage": usage}
    at = {"output_index": 1, "item_id": "m", "content_index": 0}
    events: Sequence[dict[str, Any]] = (
        {"type": "response.created", "response": base},
        {"type": "response.output_item.added", "output_index": 0, "item": thought},
        {"type": "response.output_item.done", "output_index": 0, "item": thought},
        {"type": "response.output_item.added", "output_index": 1, "item": item},
        {"type": "response.output_text.delta", **at, "delta": "hi", "logprobs": []},
        {"type": "response.output_item.done", "output_index": 1, "item": item},
        {"type": "response.output_item.added", "output_index": 2, "item": call},
        {"type": "response.function_call_arguments.done", "output_index": 2, "item_id": "f", "arguments": "{}"},
        {"type": "response.output_item.done", "output_index": 2, "item": call},
        {"type": "response.completed", "response": done},
    )
    return [event | {"sequence_number": number} for number, event in enumerate(events)]


def _messages() -> list[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    blocks: Sequence[tuple[dict[str, Any], dict[str, Any]]] = (
        ({"type": "thinking", "thinking": "", "signature": ""}, {"type": "thinking_delta", "thinking": "hm"}),
        ({"type": "text", "text": ""}, {"type": "text_delta", "text": "hi"}),
        (
            {"type": "tool_use", "id": "c", "name": "look", "input": {}},
            {"type": "input_json_delta", "partial_json": "{}"},
        ),
    )
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None}}
    ]
    for index, (block, delta) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": "tool_use", "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": end, "usage": usage}, {"type": "message_stop"}]


def _google(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    candidate = {"index": 0, "content": {"role": "model", "parts": list(parts)}, **more}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [candidate], "modelVersion": "m", "responseId": "r", "usageMetadata": usage}


_CALL: Final = {"index": 0, "id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
ANSWERS: Final[dict[str, list[dict[str, Any]]]] = {
    "openai-chat": [_chat(reasoning_content="hm"), _chat(content="hi"), _chat("tool_calls", tool_calls=[_CALL])],
    "openai-responses": _responses(),
    "anthropic": _messages(),
    "google": [
        _google({"text": "hm", "thought": True}),
        _google({"text": "hi"}, {"functionCall": {"name": "look", "args": {}}}, finishReason="STOP"),
    ],
}
"""One short answer in each protocol."""
