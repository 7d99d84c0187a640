"""Commands of ``bash`` while they run, and what they leave running: each session's jobs, until the session ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, Final

from harness_tui.core.errors import ToolError
from harness_tui.core.limits import BASH_DRAIN_S
from harness_tui.core.seams import Child
from harness_tui.tools.shell_output import CommandOutput, ProgressPieces

BLOCK: Final = 64 * 1024
MOST_RUNNING: Final = 16
_MOST_ENDED: Final = 50
_AFTER_STOP_S: Final = 0.5
_LAST_STEPS_S: Final = 0.03
"""A program closes its output a moment before it is gone: so long is waited before it counts as left running."""
_GRACE_S: Final = 1.0


class Job:
    """One command: its process, whatever it leaves behind, and all that they write.

    ``id`` is empty until it is kept. ``pieces`` tells the output while somebody waits for the command.
    """

    def __init__(self, command: str, child: Child, output: CommandOutput, pieces: ProgressPieces | None) -> None:
        self.id = ""
        self.command = command
        self.child = child
        self.output = output
        self.told = 0
        self.timed_out = False
        self.left: tuple[int, ...] = ()
        self._pieces = pieces
        self._began = time.monotonic()
        self._seconds: float | None = None
        self._reader = asyncio.create_task(self._read(), name=f"output of {command[:40]!r}")
        self._over = asyncio.create_task(self._watch(), name=f"end of {command[:40]!r}")

    @property
    def running(self) -> bool:
        """Whether the command, or anything that it left, is still there."""
        return not self._over.done()

    @property
    def seconds(self) -> float:
        """How long the command ran, or has run."""
        return time.monotonic() - self._began if self._seconds is None else self._seconds

    async def exit_code(self, timeout: float | None) -> int | None:
        """Wait for the command's own end; after ``timeout`` seconds end it with all descendants and return ``None``."""
        try:
            async with asyncio.timeout(timeout):
                return await self.child.wait()
        except TimeoutError:
            self.timed_out = True
            await self.stop()
            return None
        finally:
            self._seconds = time.monotonic() - self._began

    async def drain(self) -> None:
        """After the command's own end: wait for the rest of its output, for a moment, and see what it has left."""
        await asyncio.wait({self._reader}, timeout=BASH_DRAIN_S)
        if await self.child.left():
            await asyncio.sleep(_LAST_STEPS_S)
        self.left = tuple(await self.child.left())  # looked at last: what ended meanwhile is not left running

    @property
    def held(self) -> bool:
        """Whether something still holds the output open."""
        return not self._reader.done()

    async def stop(self, *, grace: float = _GRACE_S) -> None:
        """End the command and everything that it left; return when it is gone and its output was read."""
        await self.child.stop(grace=grace)
        await asyncio.wait({self._reader}, timeout=_AFTER_STOP_S)  # what was still in the pipe is told as well
        self._reader.cancel()
        await asyncio.wait({self._reader, self._over})

    def end_pieces(self) -> None:
        """Nobody waits for the command any more: its output is only kept from now on."""
        if self._pieces is not None:
            self._pieces.flush()
            self._pieces = None

    async def _read(self) -> None:
        assert self.child.stdout is not None
        while data := await self.child.stdout.read(BLOCK):
            if self._pieces is not None:
                self._pieces.add(data)
            await self.output.add(data)
        await self.output.finish()

    async def _watch(self) -> None:
        await self.child.wait()
        if self._seconds is None:
            self._seconds = time.monotonic() - self._began
        await asyncio.wait({self._reader})
        await self.child.gone()
        self.output.close()


class Jobs:
    """The jobs of every session; ``end`` those of one, ``close`` all."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, Job]] = {}
        self._numbers: dict[str, int] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def check_room(self, session: str) -> None:
        """Raise ``ToolError`` when so much runs in the background that nothing more may."""
        running = [job.id for job in self._kept.get(session, {}).values() if job.running]
        if len(running) >= MOST_RUNNING:
            raise ToolError(
                f"{len(running)} commands run in the background already",
                where="bash",
                mend=f"end one of them with bash_kill: {', '.join(running)}",
            )

    def keep(self, session: str, job: Job) -> str:
        """Keep a job until its session ends; return its id."""
        number = self._numbers[session] = self._numbers.get(session, 0) + 1
        job.id = f"b{number}"
        jobs = self._kept.setdefault(session, {})
        jobs[job.id] = job
        ended = [old for old in jobs.values() if not old.running]
        for old in ended[: max(0, len(ended) - _MOST_ENDED)]:
            del jobs[old.id]
        return job.id

    def find(self, tool: str, session: str, job: str) -> Job:
        """Return a job by its id. Raises ``ToolError`` that lists those there are."""
        jobs = self._kept.get(session, {})
        if job not in jobs:
            known = ", ".join(jobs) or "there is none in this session"
            raise ToolError(f"there is no job {job!r}", where=tool, mend=f"jobs: {known}")
        return jobs[job]

    def of_process(self, pid: int) -> Job | None:
        """Return the job whose command is the process ``pid``, or has left it running."""
        jobs = (job for jobs in self._kept.values() for job in jobs.values())
        return next((job for job in jobs if job.running and pid in (job.child.pid, *job.left)), None)

    def follow(self, work: Coroutine[Any, Any, Any]) -> None:
        """Let something go on in the background, until :meth:`close`."""
        task: asyncio.Task[Any] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self, session: str) -> None:
        """End what a session has running, and forget it."""
        jobs = self._kept.pop(session, {})
        self._numbers.pop(session, None)
        await asyncio.gather(*(job.stop() for job in jobs.values() if job.running))

    async def close(self) -> None:
        """End the jobs of every session."""
        for session in tuple(self._kept):
            await self.end(session)
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
