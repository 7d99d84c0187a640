"""One streamed answer of the chat completions protocol: from its chunks to our events.

Servers differ: arguments come split or whole, indices are missing or always 0, ids are missing, reasoning has two
names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from harness_tui.core.ids import new_id
from harness_tui.core.messages import ToolCall
from harness_tui.core.seams import CallChunk, Finished, ModelEvent, ReasoningChunk, TextChunk, Usage
from harness_tui.models.adapt import CALL_EXTRAS_KEY, PROVIDER_KEY

ARGUMENT_DEPTH: Final = 100
ARGUMENT_CHARS: Final = 16 * 1024 * 1024
CALLS: Final = 256


class AnswerError(ValueError):
    """A chunk that no answer has."""


@dataclass(slots=True)
class _Call:
    key: Any
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    size: int = 0
    extra: dict[str, Any] = field(default_factory=dict[str, Any])


class ChatAnswer:
    """Takes the chunks of one answer, in order. ``finish`` is the provider's reason once it came."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._calls: list[_Call] = []
        self._usage = Usage()
        self.finish: str | None = None
        self.begun = False

    def take(self, chunk: dict[str, Any]) -> Iterator[ModelEvent]:
        """Yield the text and the reasoning of a chunk; calls are kept until :meth:`end`.

        Raises :class:`AnswerError`.
        """
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._usage = _usage(cast(dict[str, Any], usage))
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices:
            return
        choice: Any = cast(list[Any], choices)[0]
        if not isinstance(choice, dict):
            raise AnswerError("a choice is no object")
        fields = cast(dict[str, Any], choice)
        delta: Any = fields.get("delta") or fields.get("message") or {}
        if isinstance(delta, dict):
            yield from self._delta(cast(dict[str, Any], delta))
        if isinstance(fields.get("finish_reason"), str):
            self.finish = fields["finish_reason"]

    def _delta(self, delta: dict[str, Any]) -> Iterator[ModelEvent]:
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str) and reasoning:
            self.begun = True
            yield ReasoningChunk(reasoning)
        text = delta.get("content") or delta.get("refusal")
        if isinstance(text, str) and text:
            self.begun = True
            yield TextChunk(text)
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            for position, part in enumerate(cast(list[Any], calls)):
                if isinstance(part, dict):
                    self.begun = True
                    self._part(position, cast(dict[str, Any], part))

    def _part(self, position: int, part: dict[str, Any]) -> None:
        function: Any = part.get("function")
        fields = cast(dict[str, Any], function) if isinstance(function, dict) else {}
        name = fields.get("name") or ""
        call = self._slot(part.get("index", position), str(part.get("id") or ""), bool(name))
        call.name = call.name or str(name)
        arguments = fields.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        if arguments:
            call.arguments.append(arguments)
            call.size += len(arguments)
        if call.size > ARGUMENT_CHARS:
            raise AnswerError(f"the arguments of a call are longer than {ARGUMENT_CHARS} characters")
        call.extra.update({key: value for key, value in part.items() if key not in ("index", "id", "type", "function")})

    def _slot(self, key: Any, call_id: str, named: bool) -> _Call:
        """Find the call that a part belongs to. The same index with another id and a name is a new call."""
        for call in reversed(self._calls):
            if call.key == key:
                if call_id and call.id and call_id != call.id and named:
                    break
                call.id = call.id or call_id
                return call
        if len(self._calls) >= CALLS:
            raise AnswerError(f"the answer has more than {CALLS} calls")
        self._calls.append(_Call(key, call_id))
        return self._calls[-1]

    def end(self) -> Iterator[CallChunk | Finished]:
        """Yield the calls in order, then the end of the answer."""
        extras: dict[str, Any] = {}
        used: set[str] = set()
        for slot in self._calls:
            call_id = slot.id if slot.id and slot.id not in used else new_id("call")
            used.add(call_id)
            if slot.extra:
                extras[call_id] = slot.extra
            yield CallChunk(parse_call(call_id, slot.name, "".join(slot.arguments)))
        reason: Literal["stop", "calls", "length"] = "calls" if self._calls else "stop"
        opaque = {PROVIDER_KEY: self._provider, CALL_EXTRAS_KEY: extras} if extras else None
        yield Finished(self._usage, opaque, "length" if self.finish == "length" else reason)


def parse_call(call: str, tool: str, given: str | dict[str, Any] | None) -> ToolCall:
    """Return the call with its arguments as an object; text that is none (or nested too deep) is kept in ``raw``."""
    text = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False, default=str)
    if not text.strip():
        return ToolCall(call, tool, {})
    try:
        data: Any = json.loads(text)
        if isinstance(data, str):  # some models wrap the object in one more string
            data = json.loads(data)
    except (ValueError, RecursionError):
        return ToolCall(call, tool, {}, text)
    if not isinstance(data, dict) or _depth(data) > ARGUMENT_DEPTH:
        return ToolCall(call, tool, {}, text)
    return ToolCall(call, tool, cast(dict[str, Any], data))


def _depth(data: Any) -> int:
    depth, level = 0, [data]
    while level and depth <= ARGUMENT_DEPTH:
        depth += 1
        level = [
            item
            for value in level
            if isinstance(value, dict | list)
            for item in (cast(dict[str, Any], value).values() if isinstance(value, dict) else cast(list[Any], value))
        ]
    return depth


def _usage(data: dict[str, Any]) -> Usage:
    prompt, completion = _details(data, "prompt_tokens_details"), _details(data, "completion_tokens_details")
    return Usage(
        input=_count(data, "prompt_tokens"),
        output=_count(data, "completion_tokens"),
        reasoning=_count(completion, "reasoning_tokens"),
        cache_read=_count(prompt, "cached_tokens") or _count(data, "prompt_cache_hit_tokens"),
        cache_write=_count(prompt, "cache_creation_tokens"),
    )


def _details(data: dict[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name)
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _count(data: dict[str, Any], name: str) -> int:
    value = data.get(name)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15 else 0
