"""One supervisor for one server: its state, its starts and restarts, and the calls to it.

A server is started when it is first needed, or when the session opens. One that failed is started again at its next
use, after 1, then 2 seconds; three failures within five minutes leave it failed until somebody asks for a restart. A
call is never repeated: whether the first one had an effect is not known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.event_parts import ServerDetail
from harness_tui.core.values import McpState
from harness_tui.mcp import sdk
from harness_tui.mcp.advice import Clues, advice, other_language
from harness_tui.mcp.budget import FAILURE_WINDOW_S, FAILURES, RestartBudget, installing, start_limit
from harness_tui.mcp.deadlines import OnProgress, within
from harness_tui.mcp.definitions import require_offered
from harness_tui.mcp.listing import CallOutcome, Listing
from harness_tui.mcp.means import Means, SupervisorEvents
from harness_tui.mcp.reasons import UNSUPPORTED_PROTOCOL, CallError, StartError, plain_words
from harness_tui.mcp.use import Use
from harness_tui.mcp.watched import Watched

if TYPE_CHECKING:
    from mcp import Client

    from harness_tui.mcp.connection import Connection

BACK_OFF_S: Final = (1.0, 2.0, 4.0)
STOP_S: Final = 5.0
LOOK_S: Final = 1.0

T = TypeVar("T")


class Supervisor:
    """The one owner of a server. ``listing`` is what it offers, from its manifest until it has answered itself."""

    def __init__(
        self,
        server: McpServerSettings,
        *,
        means: Means,
        events: SupervisorEvents,
        slots: asyncio.Semaphore,
    ) -> None:
        self.server = server
        self.state: McpState = "idle"
        self.reason: str | None = None
        self.mend: str | None = None
        self.kind: str | None = None
        self.listing: Listing | None = None
        self.starts = 0
        self.watched = Watched()
        self._means = means
        self._events = events
        self._slots = slots
        self._connection: Connection | None = None
        self._latest: Connection | None = None
        self._starting: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Future[Any]] = set()
        self._budget = RestartBudget()
        self._use = Use(server.timeout.unused if server.lazy and not server.url else 0.0, self._unused)
        self._closed = False
        if server.error is not None:
            self.state, self.reason = "failed", server.error
        elif not server.enabled:
            self.state, self.reason = "disabled", "disabled in the configuration"
        elif not server.trusted:
            self.state = "disabled"
            self.reason = f"{server.source or 'this folder'} is not trusted yet: `harness trust` allows it to start"
        self._startable = self.reason is None

    # --- what is known ---------------------------------------------------------------------------

    @property
    def startable(self) -> bool:
        """Whether it may be started at all: enabled, trusted, its entry without error."""
        return self._startable and not self._closed

    @property
    def offered(self) -> bool:
        """Whether its tools are to be shown: a failed server keeps them, its next use starts it again."""
        return self._startable

    @property
    def running(self) -> bool:
        """Whether a request needs no start."""
        return self._usable() is not None

    @property
    def starting(self) -> asyncio.Task[None] | None:
        """The start that is under way."""
        return self._starting if self._starting is not None and not self._starting.done() else None

    @property
    def detail(self) -> ServerDetail:
        """What is known of the server beyond its state."""
        return ServerDetail(
            pid=self._connection.transport.pid if self._connection is not None else None,
            protocol=self.listing.protocol if self.listing is not None else None,
            tools=len(self.listing.tools) if self.listing is not None else None,
            stderr_tail=self.stderr_tail or None,
            restarts=max(0, self.starts - 1),
        )

    @property
    def stderr_tail(self) -> str:
        """The last lines of its standard error, also of a process that has ended."""
        return self._latest.transport.stderr_tail() if self._latest is not None else ""

    # --- life ------------------------------------------------------------------------------------

    def begin(self) -> asyncio.Task[None] | None:
        """Start it in the background unless it runs; return the start that is under way. Nothing if it may not run."""
        if not self.startable or self._budget.spent or self._usable() is not None:
            return None
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start(), name=f"mcp-start:{self.server.name}")
        return self._starting

    async def ready(self) -> Connection:
        """Return a live connection, starting the server or waiting for its start. Raises ``CallError``."""
        while (connection := self._usable()) is None:
            start = self.begin()
            if start is None:
                raise self._unavailable()
            await asyncio.wait({start})  # the start is everybody's: a waiter that is cancelled leaves it alone
            if self._usable() is None and not (start.cancelled() and self.startable):
                raise self._unavailable()
        return connection

    async def restart(self) -> None:
        """End it and start it afresh, its failures forgotten. Returns when the start succeeded or failed."""
        if not self.startable:
            raise self._unavailable()
        self._budget.forgive()
        await self._halt()
        start = self.begin()
        if start is not None:
            await asyncio.wait({start})

    async def stop(self) -> None:
        """End it until :meth:`restart`: calls fail meanwhile. Raises ``CallError`` for one that may not start."""
        if not self.startable:
            raise self._unavailable()
        self._budget.close()
        await self._halt()
        self._set("stopped", "was stopped by a person")

    async def close(self) -> None:
        """End it for good; bounded."""
        if self._closed:
            return
        self._closed = True
        await self._halt()
        if self.state not in ("disabled", "failed"):
            self._set("stopped")

    def _unused(self) -> None:
        """Nobody has called it for long: end it, its tools stay known and its next use starts it."""
        connection = self._usable()
        if connection is None or self.watched.active:
            return
        self._connection = None
        connection.stop()
        self._set("idle", f"not used for {self.server.timeout.unused / 60:g} minutes: its next use starts it again")

    async def _halt(self) -> None:
        """End a start that is under way and the connection, and wait for both."""
        self._use.close()
        start, self._starting = self._starting, None
        if start is not None and not start.done():
            start.cancel()
            await asyncio.wait({start}, timeout=STOP_S)
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.stop()
        if self._ending:
            _, late = await asyncio.wait(self._ending, timeout=STOP_S)
            for task in late:
                task.cancel()

    async def _start(self) -> None:
        if self._ending:  # the old process must be gone before the new one, and why it went must be known
            await asyncio.wait(self._ending, timeout=STOP_S)
        if self._budget.spent:
            return
        self.starts += 1
        pause = self._budget.pause(asyncio.get_running_loop().time(), BACK_OFF_S)
        self._set(
            "starting",
            f"is started again in {pause:.1f} s" if pause else installing(self.server, known=self.listing is not None),
        )
        await asyncio.sleep(pause)
        async with self._slots:
            try:
                connection, listing = await self._connect()
            except StartError as error:
                found = advice(self.server, error, self._clues())
                self.kind, self.mend = found.kind, found.mend
                self._fail(found.words, state="needs_auth" if error.needs_auth else "failed")
                return
        self._connection = connection
        self.kind = self.mend = None
        self.take(listing)
        self._set("ready", listing.remark)
        self._pass_on_remarks(connection)
        self._use.wait()
        if not connection.alive:  # it went away between its answer and now
            self._ended(connection)

    def _counted(self) -> float:
        """Return the time in seconds, without that in which a person was waited for: a login is no slow start."""
        return asyncio.get_running_loop().time() - self._means.people.away(self.server.name)

    def _clues(self) -> Clues:
        if self._latest is None:
            return Clues()
        transport = self._latest.transport
        status = getattr(transport, "status", None)
        return Clues(status, transport.stderr_tail(), self._latest.exchange.first_junk, transport.own_returncode)

    async def _connect(self) -> tuple[Connection, Listing]:
        """Connect, a second time in the other era when the server cannot stand the first one's opening."""
        connection_class = await sdk.load(over_http=bool(self.server.url))
        limit = self._counted() + start_limit(self.server, known=self.listing is not None)
        known = self.listing.era if self.listing is not None else None
        first, second = ("legacy", "auto") if known == "legacy" else ("auto", "legacy")
        try:
            return await self._attempt(connection_class, first, limit)
        except StartError as error:
            opening_refused = error.exited if first == "auto" else error.rpc == UNSUPPORTED_PROTOCOL
            if not opening_refused or self.server.url:
                raise
            if self._latest is not None and self._latest.task is not None:
                await asyncio.wait({self._latest.task}, timeout=STOP_S)
        return await self._attempt(connection_class, second, limit)

    async def _attempt(self, connection_class: type[Connection], mode: str, limit: float) -> tuple[Connection, Listing]:
        connection = connection_class(
            self.server,
            mode=mode,
            means=self._means,
            on_listing=self._relisted,
            on_resource=self._resource_changed,
            watched=self.watched,
        )
        self._latest = connection
        connection.start()
        assert connection.task is not None
        self._ending.add(connection.task)
        connection.task.add_done_callback(lambda task: self._gone(connection, task))
        try:
            while not connection.opened.done() and (left := limit - self._counted()) > 0:
                await asyncio.wait({connection.opened}, timeout=min(left, LOOK_S))
                if other_language(self.server, self._clues()) is not None:
                    break  # it would be silent to the end
        except asyncio.CancelledError:
            connection.stop()
            raise
        if not connection.opened.done():
            connection.stop()
            allowed = start_limit(self.server, known=self.listing is not None)
            raise StartError(f"did not answer within {allowed:g} s", where=self.server.name, timed_out=True)
        outcome = connection.opened.result()
        if isinstance(outcome, StartError):
            raise outcome
        return connection, outcome

    def _gone(self, connection: Connection, task: asyncio.Task[None]) -> None:
        self._ending.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._events.remarked(self, f"its connection ended with an error: {plain_words(error)}")
        if connection is self._connection:
            self._ended(connection)

    def _ended(self, connection: Connection) -> None:
        """The running connection is gone, and nobody asked for it."""
        self._connection = None
        self._pass_on_remarks(connection)
        if not self._closed:
            self._fail(connection.end_words())

    def _fail(self, reason: str, state: McpState = "failed") -> None:
        if self._budget.failed(asyncio.get_running_loop().time()):
            reason = f"{reason} (failed {FAILURES} times within {FAILURE_WINDOW_S / 60:.0f} minutes, not tried again)"
        self._set(state, reason)

    def _usable(self) -> Connection | None:
        return self._connection if self._connection is not None and self._connection.alive else None

    def _unavailable(self) -> CallError:
        reason = self.reason or ("the session is ending" if self._closed else "is not running")
        mend = "r in the panel Servers (F2) starts it again" if self._startable else None
        return CallError(reason, where=f"MCP server {self.server.name}", mend=mend)

    def _set(self, state: McpState, reason: str | None = None) -> None:
        if (state, reason) == (self.state, self.reason):
            return
        self.state, self.reason = state, reason
        self._events.state_changed(self)

    def take(self, listing: Listing) -> None:
        """Take up what the server offers now."""
        before, self.listing = self.listing, listing
        if before != listing:
            self._events.listing_changed(self, before)

    def _pass_on_remarks(self, connection: Connection) -> None:
        for text in connection.exchange.take_remarks():
            self._events.remarked(self, text)

    def _relisted(self, listing: Listing) -> None:
        self.take(listing)
        if self.state == "ready":
            self._set("ready", listing.remark)

    def _resource_changed(self, uri: str) -> None:
        if self.watched.change(uri):
            self._events.resource_changed(self, uri)

    # --- calls -----------------------------------------------------------------------------------

    async def call_tool(
        self, tool: str, arguments: dict[str, Any], *, on_progress: OnProgress | None, fingerprint: str | None
    ) -> CallOutcome:
        """Call ``tool`` once; with ``fingerprint`` only while its definition still has it.

        Raises :class:`CallError`. Cancelling ends the wait at once and tells the server.
        """
        connection = await self.ready()
        require_offered(self.listing, self.server.name, tool, fingerprint)
        return await self._request(
            connection, tool, lambda report: connection.call_tool(tool, arguments, report), on_progress
        )

    async def ask(self, what: str, operation: Callable[[Client], Awaitable[T]]) -> T:
        """Make the requests of ``operation``, which ``what`` names, starting the server when needed.

        Raises :class:`CallError`.
        """
        return await self.follow(what, lambda client, _: operation(client), None)

    async def follow(
        self, what: str, operation: Callable[[Client, OnProgress], Awaitable[T]], on_progress: OnProgress | None
    ) -> T:
        """As :meth:`ask`, for requests that report progress, which extends their time."""
        connection = await self.ready()
        return await self._request(
            connection, what, lambda report: connection.ask(lambda client: operation(client, report)), on_progress
        )

    async def _request(
        self,
        connection: Connection,
        what: str,
        request: Callable[[OnProgress], Awaitable[T]],
        on_progress: OnProgress | None = None,
    ) -> T:
        """Await one request within the time-outs, its errors in plain words."""
        try:
            with self._use.hold():
                return await within(
                    self.server.timeout,
                    request,
                    server=self.server.name,
                    what=what,
                    on_progress=on_progress,
                    abandon=self._abandon,
                    away=lambda: self._means.people.away(self.server.name),
                )
        except CallError:
            raise
        except Exception as error:  # whatever the SDK, its validation or the transport raises
            raise await self._call_error(connection, what, error) from error
        finally:
            self._pass_on_remarks(connection)

    def _abandon(self, request: asyncio.Future[Any]) -> None:
        self._ending.add(request)
        request.add_done_callback(self._ending.discard)

    async def _call_error(self, connection: Connection, what: str, error: BaseException) -> CallError:
        where = f"MCP server {self.server.name}"
        if await connection.ended_by(error):
            words = await connection.loss_words()
            return CallError(
                f"it {words} during {what}; whether that had an effect is not known",
                where=where,
                mend="it is started again at its next use",
                effect_unknown=True,
                lost=True,
            )
        return CallError(f"{what}: {plain_words(error)}", where=where)
