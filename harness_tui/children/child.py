"""One child process: its pipes, its exit, and its end together with everything that it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from harness_tui.children import processes
from harness_tui.children.environment import CHILD_MARK
from harness_tui.children.exits import watch_exit
from harness_tui.children.listing import memory_of
from harness_tui.children.pipes import ErrorRing, ReadPipe
from harness_tui.children.stderr_log import StderrLog
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import STOP_GRACE_S
from harness_tui.core.text import clean_for_display

_LINGER_S: Final = 0.25  # what a finished child's group may still do: finish writing
_POLL_S: Final = (0.005, 0.01, 0.02, 0.05)
_SWEEP_S: Final = 4.0
_NOTHING: Final = 3  # so often nothing is found before nothing is there
_KILLED_S: Final = 0.05


class ManagedChild:
    """A process with its own session and group; satisfies ``core.seams.Child``. Made by the registry only.

    Its group ends with it: when the process exits by itself, what it left in its group gets a moment, then TERM, then
    KILL. With ``on_left`` (called then) what it left lives on instead, wherever it went, and so does this object:
    :meth:`left` tells it. :meth:`stop` ends all of it, also descendants that left the group. ``on_ended`` is called
    once nothing is left.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        *,
        owner: str,
        mark: str,
        on_ended: Callable[[ManagedChild], None],
        on_left: Callable[[ManagedChild], None] | None = None,
    ) -> None:
        self._process = process
        self._on_left = on_left
        self._owner = owner
        self._mark = f"{CHILD_MARK}={mark}"
        self._on_ended = on_ended
        self._stdin: asyncio.StreamWriter | None = None
        self._output: ReadPipe | None = None
        self._errors: asyncio.ReadTransport | None = None
        self._ring = ErrorRing()
        self._exited = asyncio.Event()
        self._ended = False
        self._ending: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._unwatch: Callable[[], None] | None = None
        self._log: StderrLog | None = None
        self._seen: tuple[processes.Running, ...] = ()
        self._looked = asyncio.Event()
        self._over = asyncio.Event()

    def connect(
        self,
        *,
        stdin: asyncio.StreamWriter | None,
        output: ReadPipe | None,
        errors: asyncio.ReadTransport | None,
        ring: ErrorRing,
        log: StderrLog | None = None,
    ) -> None:
        """Take the connected pipes and begin to watch for the exit; called once, by the registry."""
        self._stdin, self._output, self._errors, self._ring, self._log = stdin, output, errors, ring, log
        self._unwatch = watch_exit(self._process, self._on_exit)

    @property
    def pid(self) -> int:
        """The process id, also that of its group."""
        return self._process.pid

    @property
    def owner(self) -> str:
        """``mcp:NAME``, ``lsp:NAME`` or ``bash``."""
        return self._owner

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; ``None`` while it runs."""
        return self._process.returncode

    @property
    def stdin(self) -> asyncio.StreamWriter | None:
        """The pipe to it, when asked for."""
        return self._stdin

    @property
    def stdout(self) -> asyncio.StreamReader | None:
        """The pipe from it, when asked for."""
        return self._output.reader if self._output is not None else None

    def stderr_tail(self) -> str:
        """Return the last lines of its standard error, cleaned for display."""
        return self._ring.tail()

    async def memory(self) -> int:
        """Return the resident bytes of it with what it started; 0 once it has exited."""
        return 0 if self.returncode is not None else await asyncio.to_thread(memory_of, self.pid)

    async def wait(self) -> int:
        """Wait until the process itself has exited, whoever holds its pipes; return its status."""
        await self._exited.wait()
        return self._status()

    async def left(self) -> Sequence[int]:
        """Wait for the exit; return the pids of what the process left and what runs now, empty without ``on_left``."""
        await self._exited.wait()
        await self._looked.wait()
        return [] if self._ended else [running.pid for running in self._seen if processes.is_alive(running)]

    @property
    def log_path(self) -> str | None:
        """The file that keeps its standard error."""
        return str(self._log.path) if self._log is not None else None

    def seen(self) -> tuple[processes.Running, ...]:
        """Return the descendants that were there at the last look."""
        return self._seen

    @property
    def keeps_left(self) -> bool:
        """Whether the process has exited and what it left lives on."""
        return self._on_left is not None and self.returncode is not None and not self._ended

    def look(self, rows: Mapping[int, processes.Running]) -> tuple[processes.Running, ...]:
        """Find the descendants, and what is left of the group, in a table of what runs. Changes nothing."""
        roots = (self.pid,) if self.returncode is None else ()
        return tuple(processes.find_strays(None, known=self._seen, roots=roots, groups=(self.pid,), running=rows))

    def saw(self, before: Sequence[processes.Running], now: Sequence[processes.Running]) -> None:
        """Take the result of a look; ``before`` is what :meth:`seen` was when it began."""
        self._seen = (*now, *(running for running in self._seen if running not in before and running not in now))

    async def look_for_left(self) -> None:
        """Look whether anything that the process left still runs; when nothing does, this child has ended."""
        self.saw(self._seen, await asyncio.to_thread(self._find_left))
        if not self._seen and self._stopping is None:
            self._finish()

    async def gone(self) -> None:
        """Wait until nothing is there any more, neither the process nor what it left."""
        await self._over.wait()

    async def stop(
        self, polite: Callable[[], Awaitable[None]] | None = None, *, grace: float = STOP_GRACE_S
    ) -> int | None:
        """End the process, its group and its stray descendants; return when they are gone.

        Steps: ``polite``, TERM, KILL, each given ``grace`` seconds, then a sweep. Calls that come meanwhile, or later,
        share the first one; a cancelled caller does not cancel it. The status is ``None`` only for a process that even
        KILL does not end (it waits inside the kernel).
        """
        return await self.end(polite, grace=grace, sweep=True)

    async def end(self, polite: Callable[[], Awaitable[None]] | None, *, grace: float, sweep: bool) -> int | None:
        """Do what :meth:`stop` says; without ``sweep`` the registry looks for strays itself."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop(polite, grace, sweep), name=f"stop {self._owner}")
        await asyncio.shield(self._stopping)
        return self.returncode

    def kill_now(self) -> None:
        """Send KILL to the group and to the descendants that were seen, at once and without a loop."""
        if not self._ended:
            self._signal_group(signal.SIGKILL)
            processes.send(self._seen, signal.SIGKILL)

    def reap_now(self, timeout: float) -> None:
        """Wait for the killed process without a loop, ``timeout`` seconds at most."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout)

    # --- the end ---------------------------------------------------------------------------------

    def _status(self) -> int:
        status = self.returncode
        assert status is not None
        return status

    def _on_exit(self, _status: int) -> None:
        self._exited.set()
        if self._stopping is None:
            self._ending = asyncio.create_task(self._end_after_exit(), name=f"end {self._owner}")

    async def _end_after_exit(self) -> None:
        if self._on_left is not None:
            self.saw(self._seen, await asyncio.to_thread(self._find_left))
            self._looked.set()
            if self._seen:
                self._on_left(self)
                return
        elif await asyncio.to_thread(processes.group_is_alive, self.pid):
            await asyncio.sleep(_LINGER_S)
            await self._end_group(STOP_GRACE_S)
        if self._log is not None:
            await self._log.close()
        self._finish()

    def _find_left(self) -> tuple[processes.Running, ...]:
        return tuple(processes.find_strays(self._mark, known=self._seen, groups=(self.pid,)))

    async def _stop(self, polite: Callable[[], Awaitable[None]] | None, grace: float, sweep: bool) -> None:
        if self._ending is not None:
            self._ending.cancel()  # it only waits; from here on the stop does its work
        if not self._ended:
            # Before the end: afterwards nothing tells that those who cleaned their environment belonged here.
            await self._look_again(self._mark if sweep else None)
            if polite is not None and self.returncode is None:
                await self._try_polite(polite, grace)
            await self._end_all(grace)
        if sweep:
            left = await asyncio.to_thread(sweep_strays, self._mark, self._seen, 0.0)
            self._seen = tuple(left)
        await self._close_pipes()
        self._finish()
        self._looked.set()

    async def _look_again(self, mark: str | None) -> None:
        before = self._seen
        roots = (self.pid,) if self.returncode is None else ()
        now = await asyncio.to_thread(processes.find_strays, mark, known=before, roots=roots, groups=(self.pid,))
        self.saw(before, now)

    async def _end_all(self, grace: float) -> None:
        """Send TERM to the group and to the descendants that left it, then KILL to those that it did not end."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._signal_group(number)
            strays = [running for running in self._seen if running.group != self.pid]
            await asyncio.to_thread(processes.send, strays, number)
            if await self._all_end_within(grace if number is signal.SIGTERM else max(grace, STOP_GRACE_S)):
                return
            await self._look_again(None)  # TERM may have made one of them start something

    async def _all_end_within(self, seconds: float) -> bool:
        limit = asyncio.get_running_loop().time() + seconds
        if not await self._exits_within(seconds):
            return False
        turn = 0
        while await asyncio.to_thread(self._something_runs):
            left = limit - asyncio.get_running_loop().time()
            if left <= 0:
                return False
            await asyncio.sleep(min(left, _POLL_S[min(turn, len(_POLL_S) - 1)]))
            turn += 1
        return True

    def _something_runs(self) -> bool:
        return any(map(processes.is_alive, self._seen)) or processes.group_is_alive(self.pid)

    async def _try_polite(self, polite: Callable[[], Awaitable[None]], grace: float) -> None:
        loop = asyncio.get_running_loop()
        limit = loop.time() + grace
        step = asyncio.ensure_future(polite())
        exited = asyncio.ensure_future(self._exited.wait())  # nobody is there any more to be polite to
        await asyncio.wait({step, exited}, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        exited.cancel()
        if not step.done():
            step.cancel()
            await asyncio.wait({step}, timeout=grace)
        elif not step.cancelled() and (error := step.exception()) is not None:
            # Whatever it was, the next steps follow; the reason is kept where the child's own complaints are.
            self._ring.append(f"\nthe polite stop failed: {clean_for_display(repr(error))}\n".encode())
            return
        await self._exits_within(limit - loop.time())

    async def _exits_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._exited.wait(), max(0.0, seconds))
        except TimeoutError:
            return False
        return True

    async def _end_group(self, grace: float) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not await asyncio.to_thread(processes.group_is_alive, self.pid):
                return
            self._signal_group(number)
            if await self._group_ends_within(grace if number is signal.SIGTERM else max(grace, STOP_GRACE_S)):
                return

    async def _group_ends_within(self, seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        limit, turn = loop.time() + seconds, 0
        while await asyncio.to_thread(processes.group_is_alive, self.pid):
            if loop.time() >= limit:
                return False
            await asyncio.sleep(_POLL_S[min(turn, len(_POLL_S) - 1)])
            turn += 1
        return True

    def _signal_group(self, number: signal.Signals) -> None:
        # A group with a member keeps its number, so this never reaches a stranger.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    async def _close_pipes(self) -> None:
        if self._stdin is not None:
            self._stdin.close()
        if self._output is not None:
            await self._output.drain()
        if self._errors is not None:
            self._errors.close()
        if self._log is not None:
            await self._log.close()

    def _finish(self) -> None:
        if self._ended or self.returncode is None:
            return
        self._ended = True
        self._over.set()
        if self._unwatch is not None:
            self._unwatch()
        if self._stdin is not None:
            self._stdin.close()
        self._on_ended(self)


async def stop_child(children: Iterable[ManagedChild], pid: int) -> None:
    """End the child ``pid``, or the one whose command has left ``pid`` running, with everything that it started.

    Nothing happens when none of ``children`` is it. Raises ``HarnessError`` when even KILL does not end it.
    """
    for child in tuple(children):
        if pid != child.pid and not (child.keeps_left and any(running.pid == pid for running in child.seen())):
            continue
        await child.stop()
        left = {running.pid for running in child.seen()} | ({child.pid} if child.returncode is None else set[int]())
        if left:
            raise left_over(left)


def left_over(pids: Collection[int]) -> HarnessError:
    """Return the error that names what could not be ended."""
    return HarnessError(
        f"these processes could not be ended: {', '.join(map(str, sorted(pids)))}",
        mend="they wait inside the kernel or belong to another user; end them by hand",
        code="left-over",
    )


def sweep_strays(mark: str, known: Sequence[processes.Running], grace: float) -> list[processes.Running]:
    """End whatever carries ``mark`` (``NAME=value``) or belongs to ``known``; return what could not be ended. Blocks.

    TERM comes first, given ``grace`` seconds (none without any); what is found after that gets KILL at once. It is over
    when nothing is found several times in a row: one that passes itself on by forking is often between two processes.
    """
    strays = processes.find_strays(mark, known=known)
    if not strays and not known:
        return []
    if strays and grace > 0:
        processes.send(strays, signal.SIGTERM)
        processes.wait_gone(strays, grace)
    end = time.monotonic() + _SWEEP_S
    found = {(running.pid, running.started): running for running in (*known, *strays)}
    nothing = 0
    while nothing < _NOTHING and time.monotonic() < end:
        strays = processes.find_strays(mark, known=found.values())
        nothing = 0 if strays else nothing + 1
        processes.send(strays, signal.SIGKILL)
        processes.wait_gone(strays, _KILLED_S)
        found.update(((running.pid, running.started), running) for running in strays)
    return strays
