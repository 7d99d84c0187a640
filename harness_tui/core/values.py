"""Plain values that cross packages."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, TypeAlias

from harness_tui.core.record import record

Action: TypeAlias = Literal["allow", "ask", "deny"]
Decision: TypeAlias = Literal["allow", "deny"]
Scope: TypeAlias = Literal["once", "session", "project", "user"]
Severity: TypeAlias = Literal["error", "warning", "info", "hint"]
VerdictWord: TypeAlias = Literal["fresh", "unchanged", "unknown", "skipped"]
McpState: TypeAlias = Literal["disabled", "idle", "starting", "ready", "needs_auth", "degraded", "failed", "stopped"]
LspState: TypeAlias = Literal["absent", "starting", "warming", "ready", "busy", "crashed", "disabled", "stopped"]


@record
class Rule:
    """One permission rule. ``source`` is ``file:line``, or says where else it comes from."""

    permission: str
    pattern: str
    action: Action
    source: str | None = None


@record
class AgentDefinition:
    """An agent: who it is, which model and tools it has, what it may do.

    ``tools`` maps a tool name (or pattern) to true or false; the key ``skill`` may hold a tuple of patterns
    of skill names instead. ``prompt`` is added to the base system prompt. ``steps`` limits model requests per run.
    """

    name: str
    description: str = ""
    mode: Literal["primary", "subagent", "all"] = "primary"
    model: str | None = None
    prompt: str = ""
    tools: dict[str, bool | tuple[str, ...]] = field(default_factory=dict[str, "bool | tuple[str, ...]"])
    permission: tuple[Rule, ...] = ()
    steps: int | None = None
    temperature: float | None = None
    start_mode: str | None = None
    source: str = "bundled"
    trusted: bool = True
    reasoning_effort: str | None = None


@record
class SourceRef:
    """Where a tool comes from."""

    kind: Literal["builtin", "mcp", "skill", "lsp"]
    server: str | None = None


@record
class ToolSpec:
    """What a model is told of a tool.

    ``parameters`` is a JSON Schema, untouched up to the model layer. ``read_only`` tools may run in parallel with
    their read-only neighbours, a ``parallel`` one with neighbouring calls of itself. ``fingerprint`` is the hash that
    approvals of foreign tools are bound to.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    source: SourceRef = SourceRef("builtin")
    read_only: bool = False
    fingerprint: str | None = None
    parallel: bool = False


@record
class RelatedPlace:
    """A second place that explains a diagnostic. Lines and columns count from 1, columns in code points."""

    path: str
    line: int
    column: int
    message: str


@record
class DiagnosticItem:
    """One diagnostic. Lines and columns count from 1, columns in code points, the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    severity: Severity
    message: str
    code: str | None = None
    source: str | None = None
    related: tuple[RelatedPlace, ...] | None = None


@record
class ServerVerdict:
    """What one language server says of a file."""

    name: str
    verdict: VerdictWord
    elapsed_ms: int
    reason: str | None = None
    strategy: str | None = None


@record
class Verdict:
    """What is known of a file's diagnostics, and how well.

    ``fresh``: ``items`` belong to the text on disk. ``unchanged``: the text did not change, ``items`` are those of
    before. ``unknown``: nobody answered in time, ``reason`` says why; never the same as clean. ``skipped``: no server
    for this file, or none that could be started. ``path`` is relative to the project root where it lies inside.
    """

    path: str
    verdict: VerdictWord
    elapsed_ms: int
    items: tuple[DiagnosticItem, ...] = ()
    servers: tuple[ServerVerdict, ...] = ()
    reason: str | None = None
    late: bool = False


@record
class Question:
    """One question to a person; ``custom`` allows an answer in free text."""

    id: str
    text: str
    options: tuple[QuestionOption, ...] = ()
    multiple: bool = False
    custom: bool = True


@record
class QuestionOption:
    """One answer to choose."""

    label: str
    description: str | None = None


@record
class TodoItem:
    """One step of the agent's plan."""

    id: str
    text: str
    state: Literal["pending", "active", "done"]
