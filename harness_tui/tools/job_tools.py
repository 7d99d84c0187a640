"""``bash_output`` and ``bash_kill``: the commands that a session has in the background."""

from __future__ import annotations

from typing import Any

from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.seams import PreparedCall, ToolContext, ToolResult
from harness_tui.tools.builtin import BuiltinTool, title_of
from harness_tui.tools.job_results import job_result
from harness_tui.tools.jobs import Job, Jobs


class _JobTool(BuiltinTool):
    properties = {"id": {"type": "string", "description": "The job, as bash named it"}}  # noqa: RUF012
    required = ("id",)

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._jobs = jobs

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Find the job; it is the session's own, so nothing has to be permitted. Raises ``ToolError``."""
        job = self._jobs.find(self.name, context.session, self.checked(arguments)["id"])
        return PreparedCall(
            title=title_of(self.verb, f"{job.id}: {job.command}"),
            checks=(),
            preview=ArgumentsPreview({"id": job.id}),
            state=job,
            polls=job.running,
        )

    verb: str


class BashOutputTool(_JobTool):
    """Reads what a job has written since it was last read."""

    name = "bash_output"
    verb = "Output of"
    description = "Read what a background command has written since you last read it, and whether it still runs."

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Return the new output and the state."""
        job: Job = prepared.state
        return await job_result(job)


class BashKillTool(_JobTool):
    """Ends a job with everything that it started."""

    name = "bash_kill"
    verb = "End"
    description = "End a background command with everything that it started."

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """End it, then return its last output."""
        job: Job = prepared.state
        if not job.running:
            return await job_result(job)
        await job.stop()
        return await job_result(job, ended=True)
