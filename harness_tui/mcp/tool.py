"""A tool of an MCP server behind the seam that all tools share."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Final, Protocol, cast

from harness_tui.core.errors import ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.events import ToolProgress
from harness_tui.core.seams import Check, PreparedCall, ToolContext, ToolResult
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.core.values import SourceRef, ToolSpec
from harness_tui.mcp.deadlines import OnProgress
from harness_tui.mcp.listing import CallOutcome, ToolDefinition
from harness_tui.mcp.people import asked_by
from harness_tui.mcp.results import result_of
from harness_tui.mcp.task_records import OpenCall, TaskFolder, opening

_TITLE_CHARS: Final = 100
_ARGUMENT_CHARS: Final = 40
_PROGRESS_S: Final = 0.1


class Caller(Protocol):
    """Who makes the call: the pool."""

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        on_progress: OnProgress | None = None,
        fingerprint: str | None = None,
    ) -> CallOutcome:
        """Call ``tool`` of ``server``; with ``fingerprint`` only while its definition still has it."""
        ...


class McpTool:
    """One tool of one server; satisfies ``core.seams.Tool``. ``server`` and ``definition`` are the exact way back."""

    def __init__(self, name: str, server: str, definition: ToolDefinition, caller: Caller) -> None:
        self.server = server
        self.definition = definition
        self._caller = caller
        self._spec = ToolSpec(
            name=name,
            description=definition.description,
            parameters=definition.schema,
            source=SourceRef("mcp", server),
            read_only=definition.read_only,
            fingerprint=definition.fingerprint,
        )

    @property
    def spec(self) -> ToolSpec:
        """Name, description, parameters; the schema is the server's, untouched."""
        return self._spec

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Say what would be called with which arguments. The server is the judge of these."""
        if not isinstance(arguments, dict):
            raise ToolError("the arguments must be an object", where=self._spec.name, code="arguments")
        return PreparedCall(
            title=self._title(arguments),
            checks=(Check("mcp", self._spec.name),),
            preview=ArgumentsPreview(arguments),
            state=arguments,
        )

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Call the tool, progress reported. Raises ``ToolError`` when the server cannot be had or the call fails."""
        folder = TaskFolder(context.session_dir / "tasks") if context.recorded else None
        call = OpenCall(self.server, self.definition.name, name=self._spec.name, call=context.call, folder=folder)
        with asked_by(context.ask), opening(call):
            outcome = await self._caller.call(
                self.server,
                self.definition.name,
                cast(dict[str, Any], prepared.state),
                on_progress=CallProgress(context),
                fingerprint=self._spec.fingerprint,
            )
        return await result_of(outcome, context, server=self.server, definition=self.definition)

    def _title(self, arguments: Mapping[str, Any]) -> str:
        said = ", ".join(f"{key}={cut_end(_plain(value), _ARGUMENT_CHARS)}" for key, value in arguments.items())
        title = f"{self.server}: {self.definition.title or self.definition.name}" + (f" ({said})" if said else "")
        return cut_end(clean_for_display(title, one_line=True), _TITLE_CHARS)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


class CallProgress:
    """Progress of one call as events, at most ten a second: a server may report without any pause."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._next = 0.0

    def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        now = time.monotonic()
        if now < self._next and progress != total:
            return
        self._next = now + _PROGRESS_S
        said = cut_end(clean_for_display(message, one_line=True), 500) if message else None
        self._context.emit(ToolProgress(self._context.call, progress, total, said))
