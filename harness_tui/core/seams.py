"""The seams between packages: Protocols, and the values that pass through them.

Packages of one row never import each other; they meet here. A double of a Protocol is named ``Fake*`` and lives in
``tests/fakes``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from harness_tui.core.calls import (
    AfterEdit,
    Amended,
    AskPerson,
    CallCancelled,
    Check,
    EditHooks,
    FileChange,
    GateCall,
    GateDecision,
    LayerResult,
    Origin,
    PartDecision,
    PreparedCall,
    PromptArgument,
    PromptMessage,
    PromptSpec,
    Proposal,
    ProposedFile,
    QuestionReply,
    QuestionRequest,
    SamplingRequest,
    TextChange,
    ToolContext,
    ToolResult,
)
from harness_tui.core.events import Event
from harness_tui.core.model_port import (
    AnswerScript,
    CallChunk,
    Finished,
    Model,
    ModelError,
    ModelErrorKind,
    ModelEvent,
    ModelSettings,
    ReasoningChunk,
    ScriptedAnswer,
    TextChunk,
    Usage,
)
from harness_tui.core.values import Rule, Scope, ToolSpec, Verdict

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

    async def memory(self) -> int:
        """Return the resident bytes of it with what it started; 0 once it has exited."""
        ...

    async def left(self) -> Sequence[int]:
        """Wait for the exit; return the pids of what it left running, which only ``keep_left`` lets live on."""
        ...

    async def gone(self) -> None:
        """Wait until nothing is there any more, neither the process nor what it left."""
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
        needs: Sequence[str] = (),
        stdin: Literal["null", "pipe"] = "null",
        stdout: Literal["pipe", "null"] = "pipe",
        stderr: Literal["ring", "stdout"] = "ring",
        stdout_limit: int = 65_536,
        keep_left: bool = False,
    ) -> Child:
        """Start ``argv`` in ``cwd`` with the base environment, the ``inherit``-ed names that are set, then ``env``.

        ``needs`` are names to inherit that must be set. Raises ``HarnessError`` that names a missing binary, folder or
        variable. ``stdout_limit`` is the ``StreamReader`` limit.
        With ``keep_left`` what the process leaves running when it exits lives until it is stopped or the shell ends.
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

    def take_late(self) -> Sequence[Verdict]:
        """Return the errors that became known after their askers had gone, or in other files: each verdict once."""
        ...


# --- tools ---------------------------------------------------------------------------------------


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


class FileChanger(Protocol):
    """Changes several files as one: one preview, one decision on all of their paths, all of them or none.

    The way of the file tools, for tools of other packages that find out what is to be changed.
    """

    async def prepare(
        self, tool: str, title: str, files: Sequence[FileChange], context: ToolContext, checks: Sequence[Check] = ()
    ) -> PreparedCall:
        """Plan the change for the call of ``tool``, to be decided on with ``checks`` before its own.

        ``title`` is one line for a person, the first of ``files`` the one that the call is about. Nothing need have
        been read before. Raises ``StalePreviewError`` when a file has other bytes than the change was made for, or
        ``ToolError``.
        """
        ...

    async def run(self, tool: str, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Write all files, or none. Raises ``StalePreviewError`` when one changed meanwhile, or ``ToolError``."""
        ...


class PromptSource(Protocol):
    """Servers that offer prompts."""

    def prompts(self) -> Sequence[PromptSpec]:
        """Return the prompts known now."""
        ...

    async def get_prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> Sequence[PromptMessage]:
        """Fetch a prompt's messages. Raises ``HarnessError``."""
        ...


__all__ = [
    "AfterEdit",
    "Amended",
    "AnswerScript",
    "AskPerson",
    "AuditSink",
    "CallCancelled",
    "CallChunk",
    "Check",
    "Child",
    "Clock",
    "DiagnosticsSource",
    "EditHooks",
    "EventSink",
    "FileChange",
    "FileChanger",
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
    "Proposal",
    "ProposedFile",
    "QuestionReply",
    "QuestionRequest",
    "ReasoningChunk",
    "SamplingRequest",
    "ScriptedAnswer",
    "TextChange",
    "TextChunk",
    "Tool",
    "ToolContext",
    "ToolResult",
    "ToolSource",
    "Usage",
]
