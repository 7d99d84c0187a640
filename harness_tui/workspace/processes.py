"""The child processes of one workspace for people: what runs, its end by whoever owns it, and what it wrote."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness_tui.children.registry import ChildRegistry, ProcessInfo
from harness_tui.children.stderr_log import FILE_BYTES, log_file
from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import read_regular
from harness_tui.lsp.pool import LspPool
from harness_tui.mcp.pool import McpPool
from harness_tui.tools.jobs import Jobs

LOG_TAIL_BYTES: Final = 64 * 1024


class WorkspaceProcesses:
    """Lists and ends the children of one workspace. ``logs`` is where standard error of servers is kept."""

    def __init__(self, children: ChildRegistry, mcp: McpPool, lsp: LspPool, jobs: Jobs, logs: Path) -> None:
        self._children = children
        self._mcp = mcp
        self._lsp = lsp
        self._jobs = jobs
        self._logs = logs

    async def list(self) -> Sequence[ProcessInfo]:
        """Return what runs now, oldest first."""
        return await asyncio.to_thread(self._children.list)

    async def stop(self, owner: str, pid: int) -> None:
        """End the process ``pid`` of ``owner`` with everything that it started; return when it is gone.

        A server is ended by its pool, at every root, and stays stopped until it is restarted. Raises ``HarnessError``
        when something could not be ended.
        """
        kind, _, name = owner.partition(":")
        match kind:
            case "mcp":
                await self._mcp.stop(name)
            case "lsp":
                await self._lsp.stop(name)
            case _:
                pass
        await self._children.stop(
            pid
        )  # also one of a server's that its pool does not hold, such as a look at its version

    async def output(self, owner: str, pid: int | None) -> str:
        """Return the last of what ``owner`` wrote: a server's standard error, a job's output. May be empty.

        Raises ``HarnessError`` when it cannot be read.
        """
        if ":" in owner:
            return await asyncio.to_thread(_tail, log_file(self._logs, owner))
        job = self._jobs.of_process(pid) if pid is not None else None
        if job is None:
            return ""
        part, _ = await job.output.part(max(0, job.output.size - LOG_TAIL_BYTES))
        return part.text


def _tail(path: Path) -> str:
    """Return the end of a log, that of the file before it as well where this one has just begun."""
    found = b""
    for file in (path, path.with_name(f"{path.name}.1")):
        try:
            found = read_regular(file, max_bytes=2 * FILE_BYTES) + found
        except HarnessError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                break
            raise
        if len(found) > LOG_TAIL_BYTES:
            found = found[-LOG_TAIL_BYTES:].split(b"\n", 1)[-1]  # the first line was cut
            break
    return found.decode("utf-8", "replace")
