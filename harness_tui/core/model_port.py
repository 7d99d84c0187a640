"""The port to models: what is sent, what comes back piece by piece, and how a request fails."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from harness_tui.core.messages import Message, ToolCall
from harness_tui.core.record import record
from harness_tui.core.values import ToolSpec


@record
class ModelSettings:
    """What goes with a request. ``purpose`` ``internal`` is for compaction and titles.

    ``session`` and ``subagent`` tell whose request it is; no provider is sent them. ``output_schema`` is the JSON
    Schema of the answer, given only where no tools are; an adapter that cannot hand it on leaves it out. ``calls`` is
    the highest number that a call ``c{n}`` of the session had when it was opened: a script counts on from it.
    """

    system: str
    agent: str
    purpose: Literal["turn", "internal"] = "turn"
    temperature: float | None = None
    reasoning_effort: str | None = None
    max_output_tokens: int | None = None
    session: str | None = None
    subagent: bool = False
    output_schema: dict[str, Any] | None = None
    calls: int = 0


@record
class TextChunk:
    """A piece of text."""

    text: str


@record
class ReasoningChunk:
    """A piece of reasoning."""

    text: str


@record
class CallChunk:
    """A whole call; calls come in the order in which the model made them."""

    call: ToolCall


@record
class Usage:
    """Tokens of one request; ``cost`` in US dollars where the price is known."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float | None = None


@record
class Finished:
    """The end of an answer. ``opaque`` is what the provider wants back verbatim.

    ``reason`` is ``length`` when the answer was cut at the limit of output tokens. ``notes`` are what the person
    should be told of it, a sentence each.
    """

    usage: Usage = Usage()
    opaque: dict[str, Any] | None = None
    reason: Literal["stop", "calls", "length"] | None = None
    notes: tuple[str, ...] = ()


ModelEvent: TypeAlias = TextChunk | ReasoningChunk | CallChunk | Finished

ModelErrorKind: TypeAlias = Literal[
    "auth",
    "permission",
    "rate_limit",
    "overloaded",
    "context",
    "connection",
    "timeout",
    "content_filter",
    "server",
    "silence",
    "cut",
    "request",
]
"""``request``: the provider found the request itself wrong, so that trying again is of no use."""


class ModelError(Exception):
    """A failed request. ``retry_after`` is in seconds, ``hint`` says what to do; never holds a key."""

    def __init__(
        self, kind: ModelErrorKind, message: str, *, retry_after: float | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.kind: ModelErrorKind = kind
        self.message = message
        self.retry_after = retry_after
        self.hint = hint


class Model(Protocol):
    """One model of one provider."""

    @property
    def name(self) -> str:
        """``provider/model``."""
        ...

    @property
    def context_limit(self) -> int | None:
        """Tokens that fit, where known."""
        ...

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], settings: ModelSettings
    ) -> AsyncGenerator[ModelEvent, None]:
        """Stream one answer; the last event is ``Finished``. Raises :class:`ModelError`."""
        ...


@record
class ScriptedAnswer:
    """An answer that a replay script gives in place of a person."""

    kind: Literal["permission", "question", "form", "sampling", "auth"]
    match: str
    action: str
    scope: str | None = None
    content: dict[str, Any] | None = None
    note: str | None = None


@runtime_checkable
class AnswerScript(Protocol):
    """Scripted answers, looked at before ``--ask``. Only the ``replay`` model has them."""

    def take_answer(self, kind: str, value: str) -> ScriptedAnswer | None:
        """Return the first unused answer of ``kind`` whose ``match`` fits ``value``, and use it up."""
        ...

    def unused_answers(self) -> Sequence[ScriptedAnswer]:
        """Return what nobody asked for."""
        ...
