"""One streamed answer of pydantic_ai: from its events to ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, cast

from harness_tui.core.ids import new_id
from harness_tui.core.messages import ToolCall
from harness_tui.core.seams import CallChunk, Finished, ModelError, ModelEvent, ReasoningChunk, TextChunk, Usage
from harness_tui.models import failures
from harness_tui.models.chat_calls import ARGUMENT_CHARS, CALLS, parse_call
from harness_tui.models.failures import Caller
from harness_tui.models.library_messages import opaque_parts
from harness_tui.models.sound_text import Halves
from harness_tui.models.tool_schemas import AdaptedTools

_REASONING: Final = ("reasoning_tokens", "thoughts_tokens", "thinking_tokens")


class LibraryAnswer:
    """Takes the events of one answer; ``begun`` tells whether anything of it came yet."""

    def __init__(self, caller: Caller, tools: AdaptedTools, *, kind: str) -> None:
        self._caller = caller
        self._tools = tools
        self._kind = kind
        self._arguments = 0
        self._text, self._reasoning = Halves(), Halves()
        self.begun = False

    def take(self, event: Any) -> Iterator[ModelEvent]:
        """Yield text and reasoning of an event; calls come whole with :meth:`end`. Raises ``ModelError``."""
        match event.event_kind:
            case "part_start":
                yield from self._piece(event.part.part_kind, event.part)
            case "part_delta":
                yield from self._piece(event.delta.part_delta_kind, event.delta)
            case _:
                pass

    def _piece(self, kind: str, piece: Any) -> Iterator[ModelEvent]:
        text = getattr(piece, "content_delta", None) or getattr(piece, "content", None)
        match kind:
            case "text" if isinstance(text, str) and text:
                self.begun = True
                if shown := self._text.take(text):
                    yield TextChunk(shown)
            case "thinking" if isinstance(text, str) and text:
                self.begun = True
                if shown := self._reasoning.take(text):
                    yield ReasoningChunk(shown)
            case "tool-call" | "tool_call":
                self.begun = True
                arguments = getattr(piece, "args_delta", None) or getattr(piece, "args", None)
                self._arguments += len(arguments) if isinstance(arguments, str) else 0
                if self._arguments > ARGUMENT_CHARS:
                    why = f"the arguments of its calls are longer than {ARGUMENT_CHARS} characters"
                    raise failures.no_answer(self._caller, why)
            case _:
                pass

    def end(self, response: Any, *, done: bool) -> Iterator[ModelEvent]:
        """Yield what was held back, the calls in order, then the end. ``done``: the provider said that it is whole.

        Raises ``ModelError`` for an answer that is not whole, or that a filter ended.
        """
        if not done:
            raise failures.cut(self._caller, "it ended early")
        finish = response.finish_reason
        match finish:
            case "content_filter":
                details = response.provider_details or {}
                raise failures.content_filter(self._caller, str(details.get("refusal") or ""))
            case "error":
                raise ModelError("server", f"{self._caller.provider} ended the answer with an error")
            case _:
                pass
        calls = list(self._calls(response.parts))
        if len(calls) > CALLS:
            raise failures.no_answer(self._caller, f"it has more than {CALLS} calls")
        if rest := self._reasoning.rest():
            yield ReasoningChunk(rest)
        if rest := self._text.rest():
            yield TextChunk(rest)
        for _, call in calls:
            yield CallChunk(call)
        ids = {index: call.call for index, call in calls}
        opaque = opaque_parts(response.parts, ids, provider=self._caller.provider, kind=self._kind)
        reason: Literal["stop", "calls", "length"] = "calls" if calls else "stop"
        yield Finished(usage_of(response.usage), opaque, "length" if finish == "length" else reason)

    def _calls(self, parts: Any) -> Iterator[tuple[int, ToolCall]]:
        used: set[str] = set()
        for index, part in enumerate(parts):
            if part.part_kind != "tool-call":
                continue
            call_id = part.tool_call_id if part.tool_call_id and part.tool_call_id not in used else new_id("call")
            used.add(call_id)
            yield index, self._tools.incoming(parse_call(call_id, part.tool_name, part.args))


def usage_of(usage: Any) -> Usage:
    """Return the tokens of a request; ``input`` holds what was read from a cache and written to one."""
    details = cast(dict[str, Any], usage.details or {})
    reasoning = next((details[name] for name in _REASONING if isinstance(details.get(name), int)), 0)
    return Usage(
        input=usage.input_tokens or 0,
        output=usage.output_tokens or 0,
        reasoning=reasoning,
        cache_read=usage.cache_read_tokens or 0,
        cache_write=usage.cache_write_tokens or 0,
    )
