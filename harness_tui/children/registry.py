"""The one registry of every process that this shell starts, and the one place where they are started.

Each child gets its own session and group, an allow-listed environment and drained pipes, and is ended with everything
that it started: by its owner, by :meth:`ChildRegistry.close`, or by :meth:`ChildRegistry.close_now` when no loop runs.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from harness_tui.children import processes
from harness_tui.children.child import ManagedChild, sweep_strays
from harness_tui.children.environment import CHILD_MARK, SHELL_MARK, child_environment, foreground_environment
from harness_tui.children.exits import watch_exit
from harness_tui.children.foreground import ForegroundProgram, ignoring_interrupts
from harness_tui.children.ledger import ChildLedger
from harness_tui.children.lookup import find_binary
from harness_tui.children.pipes import ErrorRing, ReadPipe, drain_to, read_pipe, write_pipe
from harness_tui.children.starting import discard, kill_group, resolve_program, start_error, terminate
from harness_tui.core.clock import rfc3339
from harness_tui.core.errors import HarnessError
from harness_tui.core.ids import new_id
from harness_tui.core.redaction import redact

_CLOSE_GRACE_S: Final = 1.0
_REAP_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """One running child. ``started`` is RFC 3339, ``rss`` in bytes, ``restarts`` earlier starts of its owner."""

    owner: str
    pid: int
    ppid: int
    started: str
    rss: int
    restarts: int
    command: tuple[str, ...]


class ChildRegistry:
    """Starts, lists and ends processes; satisfies ``core.seams.ProcessSpawner``.

    ``ledger_dir`` is where the record for a later start is kept (none without it); ``environ`` is what children inherit
    from, by default this process's environment.
    """

    def __init__(self, ledger_dir: Path | None = None, environ: Mapping[str, str] | None = None) -> None:
        self.shell_id = new_id("shell")
        self._environ: Mapping[str, str] = os.environ if environ is None else environ
        self._ledger = ChildLedger(ledger_dir, self.shell_id) if ledger_dir is not None else None
        self._children: dict[int, ManagedChild] = {}
        self._foreground: dict[int, ForegroundProgram] = {}
        self._raw: dict[int, subprocess.Popen[bytes]] = {}  # started in a thread, not yet taken over by the loop
        self._raw_lock = threading.RLock()
        self._starts: Counter[str] = Counter()
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
        stdin: Literal["null", "pipe"] = "null",
        stdout: Literal["pipe", "null"] = "pipe",
        stderr: Literal["ring", "stdout"] = "ring",
        stdout_limit: int = 65_536,
    ) -> ManagedChild:
        """Start ``argv`` in ``cwd`` with the base environment, the ``inherit``-ed names, then ``env``.

        ``stdout_limit`` is the ``StreamReader`` limit in bytes. Raises ``HarnessError`` with code ``not-found``,
        ``not-executable``, ``cwd``, ``closed`` or ``spawn``.
        """
        mark = new_id("child")
        marks = {SHELL_MARK: self.shell_id, CHILD_MARK: mark}
        environment = child_environment(self._environ, owner=owner, inherit=inherit, env=env) | marks

        def start() -> subprocess.Popen[bytes]:
            program = resolve_program(argv, owner, cwd, environment)
            return self._start(
                [program, *argv[1:]],
                owner=owner,
                cwd=cwd,
                env=environment,
                stdin=subprocess.PIPE if stdin == "pipe" else subprocess.DEVNULL,
                stdout=subprocess.PIPE if stdout == "pipe" else subprocess.DEVNULL,
                stderr=subprocess.PIPE if stderr == "ring" else subprocess.STDOUT,
            )

        starting = asyncio.ensure_future(asyncio.to_thread(start))
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(self._discard_unwanted)
            raise
        child = ManagedChild(
            process,
            owner=owner,
            command=tuple(redact(part) for part in argv),
            mark=mark,
            started=datetime.now(UTC),
            on_ended=self._forget,
        )
        try:
            await _connect(child, process, stdout_limit)
        except BaseException:
            self._discard(process)
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
        # On the loop's own thread: the terminal is the program's alone from here on, nobody waits for a frame.
        process = self._start(
            [program, *argv[1:]],
            owner="foreground",
            cwd=folder,
            env=environment,
            stdin=None,
            stdout=None,
            stderr=None,
            own_session=False,
        )
        with self._raw_lock:
            self._raw.pop(process.pid, None)
        command = tuple(redact(part) for part in argv)
        self._foreground[process.pid] = ForegroundProgram(process, command, datetime.now(UTC))
        exited = asyncio.Event()
        unwatch = watch_exit(process, lambda _status: exited.set())
        try:
            with ignoring_interrupts():
                await exited.wait()
        finally:
            unwatch()
            if process.poll() is None:
                await asyncio.to_thread(terminate, process)
            self._foreground.pop(process.pid, None)
        return process.returncode

    def list(self) -> list[ProcessInfo]:
        """Return what runs now, oldest first."""
        infos = [self._info(child.owner, child.pid, child.started, child.command) for child in self._children.values()]
        infos += [
            self._info("foreground", pid, entry.started, entry.command) for pid, entry in self._foreground.items()
        ]
        return sorted(infos, key=lambda info: info.started)

    async def close(self) -> None:
        """End everything, in parallel, and start nothing any more. Returns when nothing is left; may be called twice.

        Raises ``HarnessError`` that names what could not be ended.
        """
        self._closed = True
        if not self._used:
            return
        children = list(self._children.values())
        await asyncio.gather(*(child.end(None, grace=_CLOSE_GRACE_S, sweep=False) for child in children))
        for entry in list(self._foreground.values()):
            await asyncio.to_thread(terminate, entry.process)
        mark = f"{SHELL_MARK}={self.shell_id}"
        left = await asyncio.to_thread(sweep_strays, mark, [], _CLOSE_GRACE_S)
        if left or self._children:
            pids = sorted({running.pid for running in left} | set(self._children))
            raise HarnessError(
                f"these processes could not be ended: {', '.join(map(str, pids))}",
                mend="they wait inside the kernel or belong to another user; end them by hand",
                code="left-over",
            )
        self._settle()

    def close_now(self) -> None:
        """Kill everything without a loop: the last resort at exit and in signal handlers. Never raises."""
        self._closed = True
        if not self._used:
            return
        with self._raw_lock:
            raw = list(self._raw.values())
        for process in raw:
            kill_group(process.pid)
        children = list(self._children.values())
        for child in children:
            child.kill_now()
        for entry in self._foreground.values():
            with contextlib.suppress(OSError):
                entry.process.kill()
        for child in children:
            child.reap_now(_REAP_S)
        strays = processes.find_strays(f"{SHELL_MARK}={self.shell_id}")
        processes.send(strays, signal.SIGKILL)
        self._settle()

    # --- inside ----------------------------------------------------------------------------------

    def _start(
        self,
        argv: Sequence[str],
        *,
        owner: str,
        cwd: Path,
        env: Mapping[str, str],
        stdin: int | None,
        stdout: int | None,
        stderr: int | None,
        own_session: bool = True,
    ) -> subprocess.Popen[bytes]:
        # The lock makes close() and close_now() see every process: one that is started is in _raw or refused.
        with self._raw_lock:
            if self._closed:
                raise HarnessError("the shell is ending, nothing is started any more", where=owner, code="closed")
            if not self._used:
                self._used = True
                atexit.register(self.close_now)
            try:
                process = subprocess.Popen(
                    argv, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=own_session
                )
            except (OSError, ValueError) as error:
                raise start_error(error, argv[0], owner) from error
            self._raw[process.pid] = process
            return process

    def _adopt(self, child: ManagedChild) -> None:
        with self._raw_lock:
            self._raw.pop(child.pid, None)
        self._starts[child.owner] += 1
        self._children[child.pid] = child
        running = processes.look(child.pid)
        if self._ledger is not None and running is not None:
            self._ledger.started(running.pid, running.started, child.owner, child.command)

    def _forget(self, child: ManagedChild) -> None:
        if self._children.get(child.pid) is child:
            del self._children[child.pid]
            if self._ledger is not None:
                self._ledger.ended(child.pid)

    def _discard_unwanted(self, starting: asyncio.Future[subprocess.Popen[bytes]]) -> None:
        if not starting.cancelled() and starting.exception() is None:
            self._discard(starting.result())

    def _discard(self, process: subprocess.Popen[bytes]) -> None:
        discard(process)
        with self._raw_lock:
            self._raw.pop(process.pid, None)

    def _settle(self) -> None:
        if self._ledger is not None:
            self._ledger.close()
        atexit.unregister(self.close_now)

    def _info(self, owner: str, pid: int, started: datetime, command: tuple[str, ...]) -> ProcessInfo:
        running = processes.look(pid)
        return ProcessInfo(
            owner=owner,
            pid=pid,
            ppid=running.ppid if running is not None else os.getpid(),
            started=rfc3339(started),
            rss=running.rss if running is not None else 0,
            restarts=max(0, self._starts[owner] - 1) if ":" in owner else 0,
            command=command,
        )


async def _connect(child: ManagedChild, process: subprocess.Popen[bytes], stdout_limit: int) -> None:
    ring = ErrorRing()
    writer: asyncio.StreamWriter | None = None
    output: ReadPipe | None = None
    errors: asyncio.ReadTransport | None = None
    if process.stdin is not None:
        writer = await write_pipe(process.stdin)
    if process.stdout is not None:
        output = await read_pipe(process.stdout, stdout_limit)
    if process.stderr is not None:
        errors = await drain_to(ring, process.stderr)
    child.connect(stdin=writer, output=output, errors=errors, ring=ring)
