"""The lives of one server at one root: when it starts, how it fails, when it is started again.

A start is single-flight. A failure is told once and has a pause after it, each longer than the last; too many of them
turn the server off until a person restarts it.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Protocol

from harness_tui.core.errors import HarnessError
from harness_tui.core.record import record
from harness_tui.core.seams import Clock, ProcessSpawner
from harness_tui.core.values import LspState
from harness_tui.lsp.connection import Connection
from harness_tui.lsp.diagnostics import DiagnosticStore
from harness_tui.lsp.process import probe
from harness_tui.lsp.rpc import INPUT_CLOSED, PeerClosedError, RpcError
from harness_tui.lsp.spec import ServerSpec
from harness_tui.lsp.trace import Trace


@record
class Timings:
    """The times of a server in seconds, and the limits on its crashes.

    ``backoff`` is the pause before each next start; it begins anew after ``healthy`` seconds of life. ``crashes``
    within ``crash_window`` turn the server off until a person restarts it. ``inquiry`` is how long a late answer is
    waited for, ``busy`` after how much waiting a server is shown as busy, ``idle`` after which rest it is stopped,
    ``rest`` after which one that is too large is started anew; ``look`` is how often that is looked for.
    """

    backoff: tuple[float, ...] = (1.0, 4.0, 15.0, 60.0)
    healthy: float = 300.0
    crashes: int = 5
    crash_window: float = 600.0
    inquiry: float = 120.0
    busy: float = 0.5
    idle: float = 600.0
    rest: float = 10.0
    look: float = 30.0


class Owner(Protocol):
    """Who owns servers and tells people about them. The first argument is always the server that it is about."""

    def server_changed(self, server: ServerLife) -> None:
        """Its state, or what goes with it, is another now."""
        ...

    def server_failed(self, server: ServerLife, text: str, hint: str) -> None:
        """It failed; called once for each failure. ``text`` goes on after the server's name."""
        ...

    def server_fault(self, server: ServerLife, text: str) -> None:
        """It sent something that was left out. ``text`` goes on after the server's name."""
        ...

    def binary_broken(self, server: ServerLife, reason: str) -> None:
        """Its binary was found and does not work."""
        ...

    def answered_late(self, server: ServerLife, path: Path, asked: float) -> None:
        """An answer came after its asker had gone, or without being asked for; ``asked`` in monotonic seconds."""
        ...


class ServerLife(ABC):
    """One server at one root, with the connection of its present life. Nothing starts before :meth:`connected`.

    ``reason`` goes on after the server's name: "exited with status 1".
    """

    def __init__(
        self,
        spec: ServerSpec,
        root: Path,
        argv: tuple[str, ...],
        *,
        spawner: ProcessSpawner,
        store: DiagnosticStore,
        owner: Owner,
        clock: Clock,
        timings: Timings,
    ) -> None:
        self.spec = spec
        self.root = root
        self.argv = argv
        self.key = f"{spec.name}\0{root}"
        self.state: LspState = "stopped"
        self.reason: str | None = None
        self.starts = 0
        self.warm = False
        self.store = store
        self.owner = owner
        self.clock = clock
        self.timings = timings
        self.trace = Trace()
        self._spawner = spawner
        self._connection: Connection | None = None
        self._ready = False
        self._born = 0.0
        self._starting: asyncio.Task[Connection] | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._crashes: deque[float] = deque(maxlen=max(1, timings.crashes))
        self._failures = 0
        self._retry_at = 0.0
        self._held = False
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._connection.pid if self._connection is not None else None

    @property
    def restarts(self) -> int:
        """How many starts there were after the first."""
        return max(0, self.starts - 1)

    @property
    def connection(self) -> Connection | None:
        """The connection while the server runs and has shaken hands."""
        return self._connection if self._ready else None

    @property
    def may_start(self) -> bool:
        """Whether using it may start it."""
        return not (self._closed or self._held) and self.state not in ("disabled", "absent")

    @property
    def pause(self) -> float:
        """Seconds until the next start is allowed, 0 when nothing is waited for."""
        return 0.0 if self._ready else max(0.0, self._retry_at - self.clock.monotonic())

    async def connected(self) -> Connection:
        """Return the running server's connection; starts it when it does not run, after the pause that is due.

        Raises ``HarnessError`` when it cannot be started, :class:`PeerClosedError` when it is stopped meanwhile.
        """
        if self._connection is not None and self._ready:
            return self._connection
        if not self.may_start:
            raise HarnessError(self.reason or "may not start", where=self.spec.name)
        if self._starting is None:
            self._starting = self.in_background(self._start(), f"lsp start {self.spec.name}")
        starting = self._starting
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            if not starting.cancelled():
                raise
            raise PeerClosedError("was stopped", code="closed") from None

    async def stop(self, reason: str) -> None:
        """Stop the server with everything that it started; it starts again when it is used."""
        starting = self._starting
        if starting is not None:
            starting.cancel()
            await asyncio.wait({starting})
        connection, self._connection, self._ready = self._connection, None, False
        if connection is not None:
            await connection.stop()
        if self._sweeping is not None:
            await asyncio.wait({self._sweeping})
        self.store.drop_server(self.key)
        self.set_state("stopped", reason)

    async def hold(self, reason: str) -> None:
        """Stop the server until :meth:`forgive`: using it does not start it meanwhile."""
        self._held = True
        await self.stop(reason)

    def hold_back(self, reason: str) -> None:
        """Let nothing but :meth:`forgive` start a server that does not run."""
        self._held, self.reason = True, reason

    async def close(self) -> None:
        """Stop the server for good and wait for everything that was under way."""
        self._closed = True
        await self.stop("the session ended")
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def forgive(self) -> None:
        """Forget the failures so far, and that it was held."""
        self._held = False
        self._crashes.clear()
        self._failures, self._retry_at = 0, 0.0

    def set_state(self, state: LspState, reason: str | None) -> None:
        """Change the state and tell the owner."""
        if (state, reason) != (self.state, self.reason):
            self.state, self.reason = state, reason
            self.owner.server_changed(self)

    def in_background(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run ``work`` as a task of this server; what it raises against expectation is told to the owner."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._background_done)
        return task

    # --- hooks -----------------------------------------------------------------------------------

    @abstractmethod
    async def revive(self, paths: list[Path]) -> None:
        """Start again after a crash and show ``paths``, which were open."""

    @abstractmethod
    def on_set(self, connection: Connection, path: Path) -> None:
        """Take a set that nobody asked for: ``Connection``'s listener."""

    # --- lives -----------------------------------------------------------------------------------

    async def _start(self) -> Connection:
        try:
            if (pause := self.pause) > 0:
                await asyncio.sleep(pause)
            if self._sweeping is not None:
                await asyncio.wait({self._sweeping})
            return await self._live()
        finally:
            self._starting = None

    async def _live(self) -> Connection:
        self.starts += 1
        self.warm = False
        self._born = self.clock.monotonic()
        connection = Connection(
            self.spec, self.root, self.key, store=self.store, listener=self, clock=self.clock, trace=self.trace
        )
        self._connection = connection
        self.set_state("starting", None)
        try:
            await connection.start(self._spawner, self.argv)
        except asyncio.CancelledError:
            self._connection = None
            await connection.stop()
            raise
        except (HarnessError, TimeoutError) as error:
            ended = await connection.exit_reason() if getattr(error, "code", None) == INPUT_CLOSED else None
            said = connection.complaint()
            reason = f"it {ended}" if ended else _why(error)
            reason = f"{reason}: {said}" if said else reason
            await connection.stop()
            self._connection = None
            await self._start_failed(reason)
            raise HarnessError(self.reason or reason, where=self.spec.name) from error
        self._ready = True
        self.set_state("warming", None)
        return connection

    async def _start_failed(self, reason: str) -> None:
        if self.spec.probe:
            broken = await probe(self._spawner, self.spec, self.argv[0], self.root)
            if broken is not None:
                self.set_state("absent", broken)
                self.owner.binary_broken(self, broken)
                return
        self._failed(f"did not start: {reason}")

    def _failed(self, reason: str) -> None:
        now, limits = self.clock.monotonic(), self.timings
        if now - self._born >= limits.healthy:
            self._failures = 0
        pause = limits.backoff[min(self._failures, len(limits.backoff) - 1)]
        pause *= random.uniform(1.0, 1.1)  # several servers that fell together do not start together
        self._failures += 1
        self._crashes.append(now)
        if len(self._crashes) >= limits.crashes and now - self._crashes[0] <= limits.crash_window:
            text = f"failed {limits.crashes} times within {limits.crash_window / 60:.0f} minutes and is off: {reason}"
            self.set_state("disabled", text)
            self.owner.server_failed(self, text, f"/lsp restart {self.spec.name} starts it again")
            return
        self._retry_at = now + pause
        self.set_state("crashed", reason)
        self.owner.server_failed(self, reason, f"it may start again after {pause:.0f} s")

    def on_end(self, connection: Connection, reason: str) -> None:
        """Take the end of a life: ``Connection``'s listener."""
        if connection.stopping or connection is not self._connection or not self._ready:
            return  # wanted, or told by the start that failed
        said = connection.complaint()
        paths = connection.documents.paths()
        self._connection, self._ready = None, False
        self.store.drop_server(self.key)
        self._sweeping = self.in_background(connection.stop(), f"lsp sweep {self.spec.name}")
        self._failed(f"{reason}: {said}" if said else reason)
        if self.may_start:
            self.in_background(self.revive(paths), f"lsp revive {self.spec.name}")

    def on_fault(self, text: str) -> None:
        """Pass on what the server sent wrongly: ``Connection``'s listener."""
        self.owner.server_fault(self, text)

    def _background_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, (HarnessError, TimeoutError)):
            self.owner.server_fault(self, f"met an error of our own: {type(error).__name__}: {error}")


def _why(error: Exception) -> str:
    match error:
        case TimeoutError():
            return "it did not answer initialize in time"
        case RpcError():
            return f"it refused initialize: {error.what}"
        case PeerClosedError():
            return f"it {error.what}"
        case HarnessError():
            return error.what
        case _:
            return str(error)
