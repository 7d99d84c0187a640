"""Every event of a session: the one contract between the core and whoever renders it.

An event is what happened, without its number; :class:`Envelope` gives it number, time, session and run. JSON is one
object a line: ``{"type", "seq", "time", "session", "run"?, ...fields}``. Adding a field is free, renaming is not.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from harness_tui.core.event_parts import (
    CommandRef,
    ContextPart,
    Offer,
    Parent,
    Preview,
    QueueItem,
    RunError,
    ServerDetail,
    Truncation,
)
from harness_tui.core.event_registry import EVENTS as EVENTS
from harness_tui.core.event_registry import Event as Event
from harness_tui.core.event_registry import event
from harness_tui.core.messages import AssistantMessage, Attachment, Message, UserMessage
from harness_tui.core.values import (
    Decision,
    DiagnosticItem,
    Question,
    ServerVerdict,
    SourceRef,
    TodoItem,
    VerdictWord,
)

# --- session and run -----------------------------------------------------------------------------


@event
class SessionStarted(Event):
    """Always the first event of a session."""

    type = "session_started"
    root: str
    title: str | None = None
    parent: Parent | None = None


@event
class SessionChanged(Event):
    """Title, agent, model or mode changed; absent fields did not."""

    type = "session_changed"
    title: str | None = None
    agent: str | None = None
    model: str | None = None
    mode: str | None = None


@event
class RunStarted(Event):
    """A run begins with this message. ``parent`` is the call that a subagent works for, also one that goes on."""

    type = "run_started"
    agent: str
    model: str
    mode: str
    message: UserMessage
    command: CommandRef | None = None
    parent: Parent | None = None


@event
class MessageAdded(Event):
    """A message that no model made entered the replay log.

    ``command``: what a server's prompt says besides its first message; that may be in the assistant's role.
    ``compaction``: what takes the place of the history before it. ``hook``: why a hook wants the run to go on.
    ``schema``: why the answer is not the JSON that was asked for. ``task``: what came of a call that an earlier process
    of the session had to leave to its server.
    """

    type = "message_added"
    message: Message
    origin: Literal["prompt", "steer", "shell", "diagnostics", "compaction", "hook", "schema", "command", "task"]


@event
class TextDelta(Event):
    """A piece of the answer."""

    type = "text_delta"
    text: str


@event
class TextFinished(Event):
    """The whole text of this answer."""

    type = "text_finished"
    text: str


@event
class ReasoningDelta(Event):
    """A piece of the model's reasoning."""

    type = "reasoning_delta"
    text: str


@event
class ReasoningFinished(Event):
    """The whole reasoning of this answer."""

    type = "reasoning_finished"
    text: str


@event
class StepFinished(Event):
    """A model request is answered; ``message`` holds the calls that come next."""

    type = "step_finished"
    step: int
    message: AssistantMessage


@event
class RunFinished(Event):
    """The last event of a run. ``output``: the value of its answer, where a schema was asked for (absent for null)."""

    type = "run_finished"
    reason: Literal["completed", "cancelled", "failed", "refused", "step_limit"]
    error: RunError | None = None
    output: Any | None = None


# --- tools ---------------------------------------------------------------------------------------


@event
class ToolStarted(Event):
    """A call enters the gate."""

    type = "tool_started"
    call: str
    tool: str
    title: str
    arguments: dict[str, Any]
    source: SourceRef


@event
class ToolProgress(Event):
    """A running call reports."""

    type = "tool_progress"
    call: str
    progress: float | None = None
    total: float | None = None
    message: str | None = None
    output_delta: str | None = None


@event
class ToolFinished(Event):
    """The one result of a call, as the model is sent it."""

    type = "tool_finished"
    call: str
    tool: str
    output: str
    is_error: bool
    metadata: dict[str, Any]
    truncated: Truncation | None = None
    attachments: tuple[Attachment, ...] | None = None


@event
class FileChanged(Event):
    """A tool changed a file. SHA-256 of the bytes; no ``before`` = created, no ``after`` = deleted.

    The modes are permission bits. ``folders`` were made for a new file, the outermost first, named as ``path`` is.
    """

    type = "file_changed"
    path: str
    added: int
    removed: int
    before: str | None = None
    after: str | None = None
    before_mode: int | None = None
    after_mode: int | None = None
    folders: tuple[str, ...] | None = None


@event
class TodoUpdated(Event):
    """The whole list of steps."""

    type = "todo_updated"
    items: tuple[TodoItem, ...]


# --- requests to a person ------------------------------------------------------------------------


@event
class PermissionRequested(Event):
    """Someone is asked, or would have been asked, about a call.

    A second one of the same ``call`` takes the place of the first: what would happen is another thing by now.
    ``changes`` is the unified diff of a server's tool since it was allowed, where that is why it is asked about again.
    ``asked_by`` are the rules that say so, each with where it stands.
    """

    type = "permission_requested"
    request: str
    call: str
    permission: str
    patterns: tuple[str, ...]
    preview: Preview
    offers: tuple[Offer, ...]
    reason: str | None = None
    changes: str | None = None
    asked_by: tuple[str, ...] | None = None


@event
class PermissionResolved(Event):
    """Exactly one per gated call. ``rule``: a configured rule decided; ``policy``: ``--ask`` did.

    ``edited`` are the files whose proposed text the person altered before they allowed it.
    """

    type = "permission_resolved"
    call: str
    decision: Decision
    scope: Literal["once", "session", "project", "user", "rule", "policy"]
    request: str | None = None
    rule: str | None = None
    note: str | None = None
    edited: tuple[str, ...] | None = None


@event
class QuestionAsked(Event):
    """Questions of the agent, a form of a server, or a page to open."""

    type = "question_asked"
    request: str
    source: str
    title: str
    questions: tuple[Question, ...] | None = None
    schema: dict[str, Any] | None = None
    url: str | None = None


@event
class QuestionAnswered(Event):
    """How a question ended."""

    type = "question_answered"
    request: str
    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


# --- surroundings --------------------------------------------------------------------------------


@event
class DiagnosticsReported(Event):
    """The merged verdict on a file; ``servers`` are names, ``by_server`` what each of them said."""

    type = "diagnostics_reported"
    path: str
    verdict: VerdictWord
    elapsed_ms: int
    servers: tuple[str, ...]
    items: tuple[DiagnosticItem, ...]
    late: bool
    reason: str | None = None
    by_server: tuple[ServerVerdict, ...] | None = None


@event
class ServerChanged(Event):
    """A server's state. States of ``mcp`` and ``lsp`` are those of ``core.values``."""

    type = "server_changed"
    kind: Literal["mcp", "lsp"]
    name: str
    state: str
    detail: ServerDetail
    reason: str | None = None


@event
class Notice(Event):
    """Something a person should know; ``hint`` says what to do."""

    type = "notice"
    level: Literal["info", "warning", "error"]
    source: str
    text: str
    hint: str | None = None


@event
class QueueChanged(Event):
    """The messages that wait, whole."""

    type = "queue_changed"
    items: tuple[QueueItem, ...]


@event
class UsageUpdated(Event):
    """Tokens of the last request, and how full the context is. ``cost`` in US dollars."""

    type = "usage_updated"
    input: int
    output: int
    reasoning: int
    cache_read: int
    cache_write: int
    context_used: int
    cost: float | None = None
    context_limit: int | None = None


@event
class ModelRetried(Event):
    """A request failed and is tried again after ``wait_s`` seconds."""

    type = "model_retried"
    kind: str
    message: str
    attempt: int
    wait_s: float


@event
class ContextCompacted(Event):
    """History was replaced by a summary; ``before`` and ``after`` are tokens, ``after`` an estimate.

    ``kept`` and ``omitted`` say for a person what stands in the message that follows, and what no longer does.
    """

    type = "context_compacted"
    before: int
    after: int
    summary: str
    kept: tuple[str, ...]
    omitted: tuple[str, ...]


@event
class ContextReported(Event):
    """What the next request would hold, part by part; ``total`` is the sum, ``used`` what the provider last counted.

    The tokens of parts are estimates. ``off`` parts are left out of requests, and out of ``total``.
    """

    type = "context_reported"
    parts: tuple[ContextPart, ...]
    total: int
    used: int | None = None
    limit: int | None = None


@event
class UndoApplied(Event):
    """A run was taken back: its messages are sent no more, the files in ``paths`` are as they were before it.

    Those in ``conflicts`` were changed by something else since, and are left as they are.
    """

    type = "undo_applied"
    run: str
    paths: tuple[str, ...]
    conflicts: tuple[str, ...]


@event
class RedoApplied(Event):
    """A run that was taken back is in force again; the fields are those of ``undo_applied``."""

    type = "redo_applied"
    run: str
    paths: tuple[str, ...]
    conflicts: tuple[str, ...]


DELTAS: Final = (TextDelta, ReasoningDelta)
"""Events that a merged stream may join."""
