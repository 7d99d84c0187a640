"""What a session works with: the parts of one project, wired by ``workspace``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from harness_tui.agent.answer_form import AnswerForm
from harness_tui.config.places import Places
from harness_tui.config.project import Project
from harness_tui.config.settings import Settings
from harness_tui.core.late_results import LateResults
from harness_tui.core.record import record
from harness_tui.core.resources import ResourceSource
from harness_tui.core.seams import (
    AuditSink,
    Clock,
    DiagnosticsSource,
    PermissionGate,
    ProcessSpawner,
    PromptSource,
    Tool,
    ToolSource,
)
from harness_tui.library.library import Library
from harness_tui.models.registry import ModelRegistry
from harness_tui.sessions.blobs import BlobStore
from harness_tui.sessions.store import SessionStore

if TYPE_CHECKING:
    from harness_tui.agent.child_sessions import Subagents

AskPolicy: TypeAlias = Literal["person", "allow", "refuse"]
"""Who decides what nobody's rule decides: a person at a front end, or ``--ask``."""


@record
class AgentParts:
    """The parts of one project.

    ``wait_for_servers`` returns when no configured server is starting any more, or when its time is up. ``late_tool``
    waits for the server of a tool that is not known yet, ``late_prompts`` for the server that a command's name begins
    with, and tells whether its prompts are known only now. ``forget_session`` ends what a session left running and
    drops what tools keep of it. ``blobs`` holds what changes of files replaced. ``step_limit`` is ``--max-steps``,
    ``answer_form`` is ``--output-schema``.
    """

    project: Project
    places: Places
    settings: Settings
    gate: PermissionGate
    models: ModelRegistry
    library: Library
    sources: Sequence[ToolSource]
    prompts: PromptSource | None
    resources: ResourceSource | None
    spawner: ProcessSpawner
    store: SessionStore
    audit: AuditSink
    clock: Clock
    wait_for_servers: Callable[[], Awaitable[None]]
    late_tool: Callable[[str], Awaitable[Tool | None]]
    late_prompts: Callable[[str], Awaitable[bool]]
    trusted: bool
    subagents: Subagents
    forget_session: Callable[[str], Awaitable[None]]
    blobs: BlobStore
    diagnostics: DiagnosticsSource | None = None
    late_results: LateResults | None = None
    step_limit: int | None = None
    answer_form: AnswerForm | None = None

    def tools(self) -> dict[str, Tool]:
        """Return every tool known now by its name; on a clash the earlier source wins."""
        found: dict[str, Tool] = {}
        for source in self.sources:
            for tool in source.tools():
                found.setdefault(tool.spec.name, tool)
        return found
