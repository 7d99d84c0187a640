"""Tasks of servers that an earlier process of a session left behind: gone on with until each has its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.late_results import LateWork
from harness_tui.core.seams import ToolContext, ToolResult
from harness_tui.mcp.calling import Calling
from harness_tui.mcp.listing import ToolDefinition
from harness_tui.mcp.people import asked_by
from harness_tui.mcp.results import result_of
from harness_tui.mcp.supervisor import Supervisor
from harness_tui.mcp.task_records import TaskFolder, TaskRecord
from harness_tui.mcp.tool import CallProgress

FOLDER: Final = "tasks"


class McpTasks:
    """The tasks of one pool; satisfies ``core.late_results.LateResults``."""

    def __init__(self, calling: Calling, find: Callable[[str], Supervisor]) -> None:
        self._calling = calling
        self._find = find

    def left_over(self, session_dir: Path) -> Sequence[LateWork]:
        """Return the tasks that an earlier process of a session left, oldest first. Blocking: reads files."""
        kept = TaskFolder(session_dir / FOLDER).all()
        return [LateWork(task.call, task.name, task.server, task) for task in kept]

    async def result(self, work: LateWork, context: ToolContext) -> ToolResult:
        """Wait for the end of a task; its failure is a result too. A cancel leaves it to the next process.

        It stays on disk until :meth:`delivered`.
        """
        task = work.state
        assert isinstance(task, TaskRecord)
        folder = TaskFolder(context.session_dir / FOLDER)
        try:
            supervisor = self._find(task.server)
            with asked_by(context.ask):
                outcome = await self._calling.follow(task, folder, CallProgress(context))
        except HarnessError as error:
            return ToolResult(str(error), is_error=True, metadata={"server": task.server, "tool": task.tool})
        known = supervisor.listing.tool(task.tool) if supervisor.listing is not None else None
        definition = known or ToolDefinition(task.tool, "", {"type": "object"})
        return await result_of(outcome, context, server=task.server, definition=definition)

    def delivered(self, work: LateWork, session_dir: Path) -> None:
        """Forget ``work``, whose result is in the record now. Blocking."""
        assert isinstance(work.state, TaskRecord)
        with suppress(OSError):
            TaskFolder(session_dir / FOLDER).drop(work.state)
