"""The one registry of every process that this shell starts, and the one place where they are started.

Each child gets its own session and group, an allow-listed environment and drained pipes, and is ended with everything
that it started: by its owner, by :meth:`ChildRegistry.close`, or by :meth:`ChildRegistry.close_now` without a loop.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import shlex
import subprocess
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from harness_tui.children import processes
from harness_tui.children.child import ManagedChild, left_over, stop_child, sweep_strays
from harness_tui.children.environment import (
    CHILD_MARK,
    SHELL_MARK,
    check_needs,
    child_environment,
    foreground_environment,
)
from harness_tui.children.exits import watch_exit
from harness_tui.children.foreground import ForegroundProgram, catching_interrupts, ignoring_interrupts
from harness_tui.children.guard import Guard
from harness_tui.children.ledger import ChildLedger, LedgerChild
from harness_tui.children.listing import ProcessInfo, describe, stand_ins
from harness_tui.children.lookup import find_binary
from harness_tui.children.reaper import Reaper, become_subreaper
from harness_tui.children.starting import (
    connect_pipes,
    discard,
    kill_group,
    resolve_program,
    start_error,
    start_or_discard,
    terminate,
)
from harness_tui.children.stderr_log import StderrLog, log_file
from harness_tui.children.sweep import Swept, sweep
from harness_tui.core.clock import rfc3339
from harness_tui.core.errors import HarnessError
from harness_tui.core.ids import new_id
from harness_tui.core.redaction import redact

_CLOSE_GRACE_S: Final = 1.0
_CLOSE_S: Final = 2.5
_REAP_S: Final = 1.0
_LOOKS_S: Final = (0.3, 0.7, 1.0, 2.0, 5.0)
_KEPT_LOOK_S: Final = 1.0


class ChildRegistry:
    """Starts, lists and ends processes; satisfies ``core.seams.ProcessSpawner``.

    ``ledger_dir`` is where the record for a later start is kept (none without it), ``logs`` where standard error of
    servers is kept; ``environ`` is what children inherit from, by default this process's environment. Nothing costs
    anything before the first child is started.
    """

    def __init__(
        self, ledger_dir: Path | None = None, environ: Mapping[str, str] | None = None, *, logs: Path | None = None
    ) -> None:
        self.shell_id = new_id("shell")
        self._environ: Mapping[str, str] = os.environ if environ is None else environ
        self._ledger_dir = ledger_dir
        self._ledger = ChildLedger(ledger_dir, self.shell_id) if ledger_dir is not None else None
        self._logs = logs
        self._guard = Guard(self.shell_id, self._ledger.path if self._ledger is not None else None)
        self._children: dict[int, ManagedChild] = {}
        self._foreground: dict[int, ForegroundProgram] = {}
        self._raw: dict[int, subprocess.Popen[bytes]] = {}  # started in a thread, not yet taken over by the loop
        self._recorded: dict[int, LedgerChild] = {}
        self._left: dict[int, list[int]] = {}
        self._raw_lock = threading.RLock()
        self._reaper = Reaper(self._waited_for, self._raw_lock, self._guard.renew)
        self._starts: Counter[str] = Counter()
        self._looking: asyncio.Task[None] | None = None
        self._fresh = asyncio.Event()
        self._deadline: asyncio.TimerHandle | None = None
        self._used = False
        self._closed = False

    def find_binary(self, name: str, *, project_dirs: Sequence[Path] = ()) -> Path | None:
        """Return the executable that ``name`` stands for, as :func:`harness_tui.children.lookup.find_binary` does."""
        return find_binary(name, project_dirs=project_dirs, path=self._environ.get("PATH", os.defpath))

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
    ) -> ManagedChild:
        """Start ``argv`` in ``cwd`` with the base environment, the ``inherit``-ed and ``needs`` names, then ``env``.

        ``stdout_limit`` is the ``StreamReader`` limit in bytes. With ``keep_left`` what the process leaves behind when
        it exits lives on, listed, until it is stopped or the registry closes. Raises ``HarnessError`` with code
        ``not-found``, ``not-executable``, ``cwd``, ``variable``, ``closed`` or ``spawn``.
        """
        mark = new_id("child")
        command = tuple(redact(part) for part in argv)
        self._reaper.watch()
        marks = {SHELL_MARK: self.shell_id, CHILD_MARK: mark}
        check_needs(self._environ, owner, needs)
        environment = child_environment(self._environ, owner=owner, inherit=(*inherit, *needs), env=env) | marks

        def start() -> subprocess.Popen[bytes]:
            program = resolve_program(argv, owner, cwd, environment)
            return self._start(
                [program, *argv[1:]],
                owner=owner,
                shown=command,
                cwd=cwd,
                env=environment,
                stdin=subprocess.PIPE if stdin == "pipe" else subprocess.DEVNULL,
                stdout=subprocess.PIPE if stdout == "pipe" else subprocess.DEVNULL,
                stderr=subprocess.PIPE if stderr == "ring" else subprocess.STDOUT,
            )

        process = await start_or_discard(start, self._discard)
        child = ManagedChild(
            process,
            owner=owner,
            mark=mark,
            on_ended=self._forget,
            on_left=self._note_left if keep_left else None,
        )
        log = StderrLog(log_file(self._logs, owner)) if self._logs is not None and ":" in owner else None
        if log is not None:
            log.note(f"{rfc3339(datetime.now(UTC))} started {shlex.join(command)} as {process.pid}")
        try:
            await connect_pipes(child, process, stdout_limit, log)
        except BaseException:
            await asyncio.to_thread(self._discard, process)
            raise
        self._adopt(child)
        return child

    async def foreground(
        self, argv: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> int:
        """Run a person's own program (editor, pager) on the terminal and return its exit status; no time-out.

        Only while nothing else draws. The program stays in this process's group, as a shell's job control expects;
        Ctrl-C is its business meanwhile. It sees the whole environment but what is named like a secret.
        """
        folder = cwd or Path.cwd()
        environment = foreground_environment(self._environ) | dict(env or {}) | {SHELL_MARK: self.shell_id}
        program = resolve_program(argv, "foreground", folder, environment)
        command = tuple(redact(part) for part in argv)
        self._reaper.watch()
        # On the loop's own thread: the terminal is the program's alone from here on, nobody waits for a frame.
        with catching_interrupts():
            process = self._start(
                [program, *argv[1:]],
                owner="foreground",
                shown=command,
                cwd=folder,
                env=environment,
                own_session=False,
            )
            with ignoring_interrupts():
                await self._leave_terminal_to(process)
        return process.returncode

    async def _leave_terminal_to(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for the end of a program on the terminal; it is ended where nobody waits any more."""
        with self._raw_lock:
            self._raw.pop(process.pid, None)
            self._foreground[process.pid] = ForegroundProgram(process)
        exited = asyncio.Event()
        unwatch = watch_exit(process, lambda _status: exited.set())
        try:
            await exited.wait()
        finally:
            unwatch()
            if process.poll() is None:
                await asyncio.to_thread(terminate, process)
            self._foreground.pop(process.pid, None)
            self._strike(process.pid)

    def list(self) -> list[ProcessInfo]:
        """Return what runs now, oldest first. Blocks for some milliseconds: call it in a thread."""
        rows = processes.table()
        infos: list[ProcessInfo] = []
        for recorded in tuple(self._recorded.values()):
            child = self._children.get(recorded.pid)
            left = child.seen() if child is not None and child.keeps_left else ()
            log = child.log_path if child is not None else None
            for shown in stand_ins(recorded, left) if left else (recorded,):
                if (info := describe(shown, rows, log=log)) is not None:
                    infos.append(info)
        return sorted(infos, key=lambda info: (info.started, info.pid))

    async def stop(self, pid: int) -> None:
        """End the child ``pid``, as :func:`harness_tui.children.child.stop_child` does; return when it is gone."""
        await stop_child(self._children.values(), pid)

    async def sweep(self) -> Swept:
        """End what earlier shells left behind when they were killed, by their ledgers. Takes its time in a thread."""
        return Swept() if self._ledger_dir is None else await asyncio.to_thread(sweep, self._ledger_dir)

    def hurry(self, seconds: float = _CLOSE_S) -> None:
        """The shell is ending: whatever still runs after ``seconds`` is killed, however politely it is being asked."""
        if self._used and self._deadline is None:
            self._deadline = asyncio.get_running_loop().call_later(seconds, self._kill_all)

    async def close(self) -> None:
        """End everything, in parallel, and start nothing any more. Returns when nothing is left; may be called twice.

        Raises ``HarnessError`` that names what could not be ended.
        """
        self._closed = True
        if not self._used:
            return
        await self._stop_looking()
        children = list(self._children.values())
        await asyncio.gather(*(child.end(None, grace=_CLOSE_GRACE_S, sweep=False) for child in children))
        for entry in list(self._foreground.values()):
            await asyncio.to_thread(terminate, entry.process)
        known = [running for child in children for running in child.seen()]
        left = await asyncio.to_thread(sweep_strays, self._mark, known, _CLOSE_GRACE_S)
        self._reaper.close()
        if left or self._children:
            self._guard.let_finish()
            raise left_over({running.pid for running in left} | set(self._children))
        self._settle()  # before the guard goes: killed between the two, we would leave a record of nothing
        await asyncio.to_thread(self._guard.dismiss)

    def close_now(self) -> None:
        """Kill everything without a loop: the last resort at exit and in signal handlers. Never raises."""
        self._closed = True
        if not self._used:
            return
        with self._raw_lock:
            for pid in self._raw:
                kill_group(pid)
        children = list(self._children.values())
        known = [running for child in children for running in child.seen()]
        self._kill_all()
        for entry in list(self._foreground.values()):
            with contextlib.suppress(OSError):
                entry.process.kill()
        for child in children:
            child.reap_now(_REAP_S)
        left = sweep_strays(self._mark, known, 0.0)
        self._reaper.reap()
        self._guard.let_finish()  # it looks once more, after our own end
        if not left:
            self._settle()

    # --- inside ----------------------------------------------------------------------------------

    def _start(
        self,
        argv: Sequence[str],
        *,
        owner: str,
        shown: tuple[str, ...],
        cwd: Path,
        env: Mapping[str, str],
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        own_session: bool = True,
    ) -> subprocess.Popen[bytes]:
        # The lock makes close() and close_now() see every process: one that is started is in _raw or refused.
        with self._raw_lock:
            if self._closed:
                raise HarnessError("the shell is ending, nothing is started any more", where=owner, code="closed")
            if not self._used:
                self._used = True
                become_subreaper()
                atexit.register(self.close_now)
            try:
                process = subprocess.Popen(
                    argv, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=own_session
                )
            except (OSError, ValueError) as error:
                raise start_error(error, argv[0], owner) from error
            self._raw[process.pid] = process
            self._record(process.pid, owner, shown, serves=stdin == subprocess.PIPE)
            return process

    def _record(self, pid: int, owner: str, command: tuple[str, ...], *, serves: bool) -> None:
        self._starts[owner] += serves  # what is only asked for its version is no earlier start of the server
        running = processes.look(pid)
        started = running.started if running is not None else 0.0
        restarts = max(0, self._starts[owner] - 1) if ":" in owner else 0
        recorded = LedgerChild(pid, started, owner, rfc3339(datetime.now(UTC)), restarts, command)
        self._recorded[pid] = recorded
        self._note(recorded)

    def _note_left(self, child: ManagedChild) -> None:
        recorded = self._recorded[child.pid]
        for stand_in in stand_ins(recorded, child.seen()):
            self._left.setdefault(child.pid, []).append(stand_in.pid)
            self._note(stand_in)

    def _note(self, child: LedgerChild) -> None:
        with self._raw_lock:
            self._guard.started(child.pid, child.started)
            if self._ledger is not None:
                self._ledger.started(child)

    def _strike(self, pid: int) -> None:
        with self._raw_lock:
            if self._recorded.pop(pid, None) is None:
                return
            for gone in (pid, *self._left.pop(pid, ())):
                self._guard.ended(gone)
                if self._ledger is not None:
                    self._ledger.ended(gone)

    def _waited_for(self) -> set[int]:
        running = [child.pid for child in self._children.values() if child.returncode is None]
        guard = () if self._guard.pid is None else (self._guard.pid,)
        return {*running, *self._raw, *self._foreground, *guard}

    def _adopt(self, child: ManagedChild) -> None:
        with self._raw_lock:
            self._children[child.pid] = child
            self._raw.pop(child.pid, None)
        self._fresh.set()
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_now_and_then(), name="look at descendants")

    def _forget(self, child: ManagedChild) -> None:
        if self._children.get(child.pid) is child:
            del self._children[child.pid]
            self._strike(child.pid)

    async def _look_now_and_then(self) -> None:
        """Keep in mind what the children have started: once a parent is gone nothing tells whose it was."""
        turn = 0
        while self._children and not self._closed:
            self._fresh.clear()
            kept = [child for child in self._children.values() if child.keeps_left]
            pause = _LOOKS_S[min(turn, len(_LOOKS_S) - 1)]
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(pause, _KEPT_LOOK_S) if kept else pause):
                    await self._fresh.wait()
                turn = -1
            turn += 1
            before = [(child, child.seen()) for child in self._children.values()]
            now = await asyncio.to_thread(_look, [child for child, _ in before])
            for (child, seen), found in zip(before, now, strict=True):
                child.saw(seen, found)
                if child.keeps_left and not child.seen():
                    await child.look_for_left()

    async def _stop_looking(self) -> None:
        task, self._looking = self._looking, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    def _kill_all(self) -> None:
        for child in list(self._children.values()):
            child.kill_now()

    def _discard(self, process: subprocess.Popen[bytes]) -> None:
        discard(process)
        with self._raw_lock:
            self._raw.pop(process.pid, None)
        self._strike(process.pid)

    @property
    def _mark(self) -> str:
        return f"{SHELL_MARK}={self.shell_id}"

    def _settle(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if self._ledger is not None:
            self._ledger.close()
        atexit.unregister(self.close_now)


def _look(children: Sequence[ManagedChild]) -> list[tuple[processes.Running, ...]]:
    rows = processes.table()
    return [child.look(rows) for child in children]
