"""One streamed answer of the chat completions protocol: from its chunks to our events.

Servers differ: reasoning has three names and may be a list of parts, as text may; why an answer ended is said in
several words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, cast

from harness_tui.core.seams import CallChunk, Finished, ModelEvent, ReasoningChunk, TextChunk, Usage
from harness_tui.models.adapt import CALL_EXTRAS_KEY, PROVIDER_KEY
from harness_tui.models.chat_calls import AnswerError, ChatCalls
from harness_tui.models.chat_reasoning import ReasoningTrail
from harness_tui.models.sound_text import Halves

_LENGTH: Final = frozenset({"length", "model_length", "max_tokens"})
"""The limit of output tokens: OpenAI's word, Mistral's, and that of servers that pass Anthropic's on."""


class ChatAnswer:
    """Takes the chunks of one answer, in order. ``finish`` is the provider's reason once it came.

    ``came`` tells whether there was any chunk, ``begun`` whether anything of the answer itself was in one.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._calls = ChatCalls()
        self._trail = ReasoningTrail()
        self._text, self._reasoning = Halves(), Halves()
        self._usage = Usage()
        self.finish: str | None = None
        self.error: Any = None
        self.begun = False
        self.came = False

    def take(self, chunk: dict[str, Any]) -> Iterator[ModelEvent]:
        """Yield the text and the reasoning of a chunk; calls are kept until :meth:`end`.

        Raises :class:`AnswerError`.
        """
        self.came = True
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
        self.error = fields.get("error") or self.error
        if isinstance(fields.get("finish_reason"), str):
            self.finish = fields["finish_reason"]

    def _delta(self, delta: dict[str, Any]) -> Iterator[ModelEvent]:
        if reasoning := self._trail.take(delta):
            self.begun = True
            if shown := self._reasoning.take(reasoning):
                yield ReasoningChunk(shown)
        if text := _text_of(delta.get("content")) or _text_of(delta.get("refusal")):
            self.begun = True
            if shown := self._text.take(text):
                yield TextChunk(shown)
        parts: Any = delta.get("tool_calls")
        if not parts and isinstance(delta.get("function_call"), dict):  # how calls were made before there were several
            parts = [{"function": delta["function_call"]}]
        for position, part in enumerate(cast(list[Any], parts) if isinstance(parts, list) else ()):
            if isinstance(part, dict):
                self.begun = True
                self._calls.take(position, cast(dict[str, Any], part))

    def end(self) -> Iterator[ModelEvent]:
        """Yield what was held back, the calls in order, then the end of the answer."""
        if rest := self._reasoning.rest():
            yield ReasoningChunk(rest)
        if rest := self._text.rest():
            yield TextChunk(rest)
        extras: dict[str, Any] = {}
        for call, extra in self._calls.end():
            if extra:
                extras[call.call] = extra
            yield CallChunk(call)
        reason: Literal["stop", "calls", "length"] = "calls" if self._calls else "stop"
        # Reasoning is wanted back with the calls that it led to, and with nothing else.
        kept = ({CALL_EXTRAS_KEY: extras} if extras else {}) | (self._trail.kept() if self._calls else {})
        opaque = {PROVIDER_KEY: self._provider, **kept} if kept else None
        yield Finished(self._usage, opaque, "length" if self.finish in _LENGTH else reason)


def _text_of(content: Any) -> str:
    """Return the text of ``content``, be it text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = cast(list[Any], content) if isinstance(content, list) else ()
    texts = [cast(dict[str, Any], part).get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


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
