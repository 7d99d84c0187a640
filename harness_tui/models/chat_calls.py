"""The calls of one answer of the chat completions protocol, put together from their parts.

Servers differ: arguments come split, whole, or as an object; indices are missing, ``null`` or always 0; ids are missing
or come twice; the name comes once, with every part, or after the first one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, cast

from harness_tui.core.ids import new_id
from harness_tui.core.messages import ToolCall
from harness_tui.models.sound_text import sound, sound_data

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

    @property
    def is_whole(self) -> bool:
        """Whether the arguments are an object already: what follows belongs to another call."""
        text = "".join(self.arguments)
        if not text.rstrip().endswith("}"):
            return False
        try:
            return isinstance(json.loads(text), dict)
        except (ValueError, RecursionError):
            return False


class ChatCalls:
    """Takes the parts of calls in order."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def take(self, position: int, part: dict[str, Any]) -> None:
        """Take a part that stood at ``position`` of its chunk. Raises :class:`AnswerError`."""
        function: Any = part.get("function")
        fields = cast(dict[str, Any], function) if isinstance(function, dict) else {}
        name = str(fields.get("name") or "")
        index: Any = part.get("index")
        arguments = fields.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        key = position if index is None else index
        call = self._slot(key, str(part.get("id") or ""), name, more=bool(arguments))
        call.name = call.name or name
        if arguments:
            call.arguments.append(arguments)
            call.size += len(arguments)
        if call.size > ARGUMENT_CHARS:
            raise AnswerError(f"the arguments of a call are longer than {ARGUMENT_CHARS} characters")
        call.extra.update({key: value for key, value in part.items() if key not in ("index", "id", "type", "function")})

    def _slot(self, key: Any, call_id: str, name: str, *, more: bool) -> _Call:
        """Find the call that a part belongs to.

        At the same index a name begins a new call where it comes with another id, or without one after a call that is
        whole.
        """
        for call in reversed(self._calls):
            if call.key != key:
                continue
            if call_id and call.id:
                is_new = bool(name) and call_id != call.id
            else:
                is_new = (
                    not call_id and bool(name) and bool(call.name) and (more or name != call.name) and call.is_whole
                )
            if is_new:
                break
            call.id = call.id or call_id
            return call
        if len(self._calls) >= CALLS:
            raise AnswerError(f"the answer has more than {CALLS} calls")
        self._calls.append(_Call(key, call_id))
        return self._calls[-1]

    def end(self) -> Iterator[tuple[ToolCall, dict[str, Any]]]:
        """Yield each call, with what it carried besides name and arguments. No two have the same id."""
        used: set[str] = set()
        for slot in self._calls:
            call_id = slot.id if slot.id and slot.id not in used else new_id("call")
            used.add(call_id)
            yield parse_call(call_id, slot.name, "".join(slot.arguments)), slot.extra


def parse_call(call: str, tool: str, given: str | dict[str, Any] | None) -> ToolCall:
    """Return the call with its arguments as an object; text that is none (or nested too deep) is kept in ``raw``."""
    call, tool = sound(call), sound(tool)
    text = sound(given) if isinstance(given, str) else json.dumps(given or {}, default=str)
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
    return ToolCall(call, tool, sound_data(cast(dict[str, Any], data)))


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
