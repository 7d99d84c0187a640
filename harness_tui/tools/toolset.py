"""The built-in tools as one source."""

from __future__ import annotations

from collections.abc import Sequence

from harness_tui.core.seams import DiagnosticsSource, ProcessSpawner, Tool
from harness_tui.egress.egress import Egress
from harness_tui.sessions.blobs import BlobStore
from harness_tui.tools.bash_tool import BashTool
from harness_tui.tools.changes import FileChanges
from harness_tui.tools.edit_tool import EditTool
from harness_tui.tools.file_ledger import FileLedger
from harness_tui.tools.job_tools import BashKillTool, BashOutputTool
from harness_tui.tools.jobs import Jobs
from harness_tui.tools.joint_changes import JointChanges
from harness_tui.tools.list_tool import ListTool
from harness_tui.tools.question_tool import QuestionTool
from harness_tui.tools.read_tool import ReadTool
from harness_tui.tools.search_tools import GlobTool, GrepTool
from harness_tui.tools.todo_tool import TodoTool
from harness_tui.tools.webfetch_tool import WebfetchTool
from harness_tui.tools.write_tool import WriteTool


class BuiltinTools:
    """Files, search, shell, web, steps and questions; satisfies ``core.seams.ToolSource``.

    One set serves all sessions of a project: what a session has read, and its list of steps, are kept by session.
    ``diagnostics`` is asked after every write, and warmed up by every read; without it nothing is. ``jobs`` that are
    given outlive this set, and are ended by whoever gave them. ``blobs`` keeps what changes of files replace.
    ``joint`` changes several files as one, for tools of other packages.
    """

    def __init__(
        self,
        spawner: ProcessSpawner,
        diagnostics: DiagnosticsSource | None = None,
        *,
        ledger: FileLedger | None = None,
        jobs: Jobs | None = None,
        egress: Egress | None = None,
        blobs: BlobStore | None = None,
    ) -> None:
        self.ledger = ledger or FileLedger()
        changes = FileChanges(self.ledger, diagnostics, blobs)
        self.joint = JointChanges(changes, diagnostics)
        self._read = ReadTool(self.ledger, diagnostics)
        self.todo = TodoTool()
        self.jobs = jobs or Jobs()
        self._own_jobs = jobs is None
        self._tools: tuple[Tool, ...] = (
            self._read,
            WriteTool(changes),
            EditTool(changes),
            ListTool(),
            GlobTool(spawner),
            GrepTool(spawner),
            BashTool(spawner, self.jobs),
            BashOutputTool(self.jobs),
            BashKillTool(self.jobs),
            WebfetchTool(egress or Egress()),
            self.todo,
            QuestionTool(),
        )

    def tools(self) -> Sequence[Tool]:
        """Return all of them, always in the same order."""
        return self._tools

    def forget(self, session: str) -> None:
        """Drop what is kept of a closed session."""
        self.ledger.forget(session)
        self.todo.forget(session)

    async def close(self) -> None:
        """End what still runs in the background."""
        await self._read.close()
        if self._own_jobs:
            await self.jobs.close()
