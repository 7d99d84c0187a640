"""The seams between packages: Protocols, and the values that pass through them.

Packages of one row never import each other; they meet here. A double of a Protocol is named ``Fake*`` and lives in
``tests/fakes``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from harness_tui.core.events import Event, Offer, Preview
from harness_tui.core.messages import AssistantMessage, Attachment, Message, ToolCall
from harness_tui.core.values import Action, Question, Rule, Scope, ToolSpec, Verdict

# --- time, events, audit -------------------------------------------------------------------------


class Clock(Protocol):
    """Time that tests can hold."""

    def now(self) -> datetime:
        """Return the present moment, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...


class EventSink(Protocol):
    """Takes events. Never blocks and never raises."""

    def emit(self, event: Event) -> None:
        """Publish ``event``."""
        ...


class AuditSink(Protocol):
    """Takes audit records: calls, decisions, blocks, auth events. Redaction happens inside."""

    def record(self, kind: str, **fields: Any) -> None:
        """Append one record of ``kind`` with JSON ``fields``."""
        ...


# --- permissions ---------------------------------------------------------------------------------

Origin: TypeAlias = Literal["model", "call", "person"]
"""Who wants it: the model; a person through ``/call`` or ``tools call`` (gated like the model); a person by typing it
(``!cmd``, a mention, an MCP prompt: allowed unless denied)."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to be decided: a permission key and the value that patterns are matched against.

    ``display`` is what a person is shown for it, such as one simple command of a longer one.
    """

    permission: str
    value: str
    display: str | None = None


@dataclass(frozen=True, slots=True)
class GateCall:
    """A call before the gate. ``grants`` are allow rules of this run only (a trusted file's ``allowed-tools``)."""

    call: str
    tool: str
    checks: tuple[Check, ...]
    session: str
    agent: str
    mode: str
    origin: Origin = "model"
    fingerprint: str | None = None
    grants: tuple[Rule, ...] = ()
    agent_rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class LayerResult:
    """What one layer says of one check; ``source`` is ``file:line``."""

    layer: str
    decision: Action
    rule: str
    source: str


@dataclass(frozen=True, slots=True)
class PartDecision:
    """The decision on one check, with the rule that made it and every layer that had a say."""

    check: Check
    decision: Action
    rule: str
    layer: str
    source: str
    layers: tuple[LayerResult, ...] = ()


@dataclass(frozen=True, slots=True)
class GateDecision:
    """The decision on a call: the strictest of its parts. ``offers`` is what a wider approval would store.

    ``scope`` is where the approval came from when an approval turned an ask into allow.
    """

    action: Action
    parts: tuple[PartDecision, ...]
    offers: tuple[Offer, ...] = ()
    reason: str | None = None
    scope: Scope | Literal["rule"] = "rule"


class PermissionGate(Protocol):
    """The one gate. Never raises: whatever it does not understand is ``ask``."""

    def decide(self, call: GateCall) -> GateDecision:
        """Decide on ``call``; pure, nobody is asked."""
        ...

    def remember(self, call: GateCall, scope: Scope, rules: Sequence[Rule]) -> None:
        """Store an approval: for the session in memory, for project and user in their files."""
        ...


# --- processes -----------------------------------------------------------------------------------


class Child(Protocol):
    """A child process with its own session and process group."""

    @property
    def pid(self) -> int:
        """The process id, also that of its group."""
        ...

    @property
    def owner(self) -> str:
        """``mcp:NAME``, ``lsp:NAME`` or ``bash``."""
        ...

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; ``None`` while it runs."""
        ...

    @property
    def stdin(self) -> asyncio.StreamWriter | None:
        """The pipe to it, when asked for."""
        ...

    @property
    def stdout(self) -> asyncio.StreamReader | None:
        """The pipe from it, when asked for."""
        ...

    def stderr_tail(self) -> str:
        """Return the last lines of its standard error, cleaned for display."""
        ...

    async def wait(self) -> int:
        """Wait until the process itself has exited (not until its pipes are closed)."""
        ...

    async def stop(self, polite: Callable[[], Awaitable[None]] | None = None, *, grace: float = 2.0) -> int | None:
        """End it and its whole group: ``polite``, TERM, KILL, each given ``grace`` seconds; then reap."""
        ...


class ProcessSpawner(Protocol):
    """The only way to start a process."""

    async def spawn(
        self,
        argv: Sequence[str],
        *,
        owner: str,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        inherit: Sequence[str] = (),
        stdin: Literal["null", "pipe"] = "null",
        stdout: Literal["pipe", "null"] = "pipe",
        stderr: Literal["ring", "stdout"] = "ring",
        stdout_limit: int = 65_536,
    ) -> Child:
        """Start ``argv`` in ``cwd`` with the base environment, the ``inherit``-ed names, then ``env``.

        Raises ``HarnessError`` that names a missing binary or folder. ``stdout_limit`` is the ``StreamReader`` limit.
        """
        ...


# --- diagnostics ---------------------------------------------------------------------------------


class DiagnosticsSource(Protocol):
    """Language servers, as the file tools see them."""

    async def touch(self, path: Path) -> None:
        """Tell the servers that ``path`` is of interest, or has new bytes on disk. Starts them when needed."""
        ...

    async def diagnostics(self, path: Path, wait: float | None) -> Verdict:
        """Return the verdict on ``path`` within ``wait`` seconds, or within the configured time for ``None``."""
        ...


# --- tools ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """A request to a person that a tool or server makes: questions, a form by schema, or a page."""

    kind: Literal["question", "form", "sampling", "auth"]
    source: str
    title: str
    questions: tuple[Question, ...] | None = None
    schema: dict[str, Any] | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionReply:
    """How a request to a person ended."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] = field(default_factory=dict[str, Any])


AskPerson: TypeAlias = Callable[[QuestionRequest], Awaitable[QuestionReply]]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call may use.

    ``root`` is the project root, ``cwd`` the start folder (relative paths and ``bash`` start there). ``session_dir``
    is created by whoever writes into it first. ``ask`` is ``None`` where nobody can be asked.
    """

    session: str
    run: str | None
    call: str
    agent: str
    root: Path
    cwd: Path
    session_dir: Path
    origin: Origin
    emit: Callable[[Event], None]
    ask: AskPerson | None = None


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call whose arguments fit, ready for the gate.

    ``title`` is one line for a person (verb and target), ``checks`` empty when nothing needs a decision. ``state``
    carries what :meth:`Tool.run` needs (parsed arguments, the hash that the preview was made from).
    """

    title: str
    checks: tuple[Check, ...]
    preview: Preview
    state: Any = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gives: ``output`` for the model (limits already applied), ``metadata`` for people.

    ``full_output`` is where the whole is when ``output`` was cut, ``full_bytes`` its size.
    """

    output: str
    is_error: bool = False
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    attachments: tuple[Attachment, ...] = ()
    full_output: str | None = None
    full_bytes: int = 0


@runtime_checkable
class Tool(Protocol):
    """One tool. ``prepare`` has no effect; ``run`` comes after the gate."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description, parameters."""
        ...

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Check ``arguments`` and say what would happen. Raises ``ToolError`` that the model can mend."""
        ...

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Do it. Raises ``ToolError``, or ``StalePreviewError`` when the preview no longer holds."""
        ...


class ToolSource(Protocol):
    """A package that offers tools; asked again at every step."""

    def tools(self) -> Sequence[Tool]:
        """Return the tools known now, in a stable order."""
        ...


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One argument of a prompt."""

    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """A prompt of a server, usable as a command."""

    server: str
    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a rendered prompt, verbatim."""

    role: Literal["user", "assistant"]
    text: str
    attachments: tuple[Attachment, ...] = ()


class PromptSource(Protocol):
    """Servers that offer prompts."""

    def prompts(self) -> Sequence[PromptSpec]:
        """Return the prompts known now."""
        ...

    async def get_prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> Sequence[PromptMessage]:
        """Fetch a prompt's messages. Raises ``HarnessError``."""
        ...


# --- models --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What goes with a request. ``purpose`` ``internal`` is for compaction and titles.

    ``session`` and ``subagent`` tell whose request it is; no provider is sent them.
    """

    system: str
    agent: str
    purpose: Literal["turn", "internal"] = "turn"
    temperature: float | None = None
    reasoning_effort: str | None = None
    max_output_tokens: int | None = None
    session: str | None = None
    subagent: bool = False


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningChunk:
    """A piece of reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class CallChunk:
    """A whole call; calls come in the order in which the model made them."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request; ``cost`` in US dollars where the price is known."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of an answer. ``opaque`` is what the provider wants back verbatim.

    ``reason`` is ``length`` when the answer was cut at the limit of output tokens.
    """

    usage: Usage = Usage()
    opaque: dict[str, Any] | None = None
    reason: Literal["stop", "calls", "length"] | None = None


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


@dataclass(frozen=True, slots=True)
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


__all__ = [
    "Action",
    "AnswerScript",
    "AskPerson",
    "AssistantMessage",
    "AuditSink",
    "CallChunk",
    "Check",
    "Child",
    "Clock",
    "DiagnosticsSource",
    "EventSink",
    "Finished",
    "GateCall",
    "GateDecision",
    "LayerResult",
    "Model",
    "ModelError",
    "ModelErrorKind",
    "ModelEvent",
    "ModelSettings",
    "Origin",
    "PartDecision",
    "PermissionGate",
    "PreparedCall",
    "ProcessSpawner",
    "PromptArgument",
    "PromptMessage",
    "PromptSource",
    "PromptSpec",
    "QuestionReply",
    "QuestionRequest",
    "ReasoningChunk",
    "ScriptedAnswer",
    "TextChunk",
    "Tool",
    "ToolContext",
    "ToolResult",
    "ToolSource",
    "Usage",
]
