"""One server at one root, as the pool asks it.

A question is an *inquiry*: a task that starts the server if need be, shows it what is on disk and lets a strategy
collect the answer. Whoever asked waits for it as long as agreed; when that is over, the verdict is "unknown" and the
inquiry goes on, so that a late answer is still reported.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.record import record
from harness_tui.core.seams import Clock, ProcessSpawner
from harness_tui.core.values import DiagnosticItem, VerdictWord
from harness_tui.lsp.connection import Connection
from harness_tui.lsp.diagnostics import DiagnosticStore, ItemSet, Known, Slot, merge, read_items
from harness_tui.lsp.documents import Document
from harness_tui.lsp.lifecycle import Owner, ServerLife, Timings
from harness_tui.lsp.rpc import INPUT_CLOSED, PeerClosedError
from harness_tui.lsp.spec import ServerSpec
from harness_tui.lsp.strategies import OtherWayError, choose
from harness_tui.lsp.text import NotADocumentError

_THREAD_ITEMS: Final = 300
_EARLY_S: Final = 0.02
"""A set that only waits for quiet counts this much before its asker stops to wait."""
_DEPENDANTS: Final = 5
_DEPENDANTS_AFTER_S: Final = 0.1


@record
class Answer:
    """What one server says of one file. ``reason`` goes on after its name, except for ``skipped``."""

    name: str
    verdict: VerdictWord
    elapsed_ms: int
    items: tuple[DiagnosticItem, ...] = ()
    reason: str | None = None
    strategy: str | None = None


class _Inquiry:
    """A question under way. ``deadline`` is the latest of its askers', in monotonic seconds; ``late`` when all left."""

    def __init__(self, path: Path, asked: float) -> None:
        self.path = path
        self.asked = asked
        self.deadline = 0.0
        self.late = False
        self.strategy: str | None = None


class Client(ServerLife):
    """A server at a root, inside ``project``."""

    def __init__(
        self,
        spec: ServerSpec,
        root: Path,
        project: Path,
        argv: tuple[str, ...],
        *,
        spawner: ProcessSpawner,
        store: DiagnosticStore,
        owner: Owner,
        clock: Clock,
        timings: Timings,
    ) -> None:
        super().__init__(spec, root, argv, spawner=spawner, store=store, owner=owner, clock=clock, timings=timings)
        self._project = project
        self._inquiries: dict[Path, tuple[_Inquiry, asyncio.Task[Answer]]] = {}
        self._last_used = clock.monotonic()
        self._dependants: asyncio.Task[None] | None = None

    # --- what the pool asks ----------------------------------------------------------------------

    @property
    def idle_for(self) -> float:
        """Seconds since it was last used; 0 while it works."""
        return 0.0 if self._inquiries else self.clock.monotonic() - self._last_used

    def open_paths(self) -> list[Path]:
        """Return the documents that the running server has open."""
        return self.connection.documents.paths() if self.connection is not None else []

    async def touch(self, path: Path) -> None:
        """Show ``path`` to the server: at once when it runs, after its start (in the background) when it does not."""
        self._last_used = self.clock.monotonic()
        if self.connection is not None:
            await self._show(self.connection, path)
        elif self.may_start and self.pause == 0:
            self.in_background(self._show_after_start(path), f"lsp touch {self.spec.name}")

    def announce(self, path: Path) -> None:
        """Report a change of a file that this server does not serve."""
        if self.connection is None:
            return
        try:
            self.connection.announce(path)
        except PeerClosedError:
            return  # it has just ended: its next life sees the disk as it is

    async def ask(self, path: Path, wait: float) -> Answer:
        """Return what the server says of ``path`` as it is on disk now, after ``wait`` seconds at most."""
        asked = self.clock.monotonic()
        self._last_used = asked
        if not self.may_start:
            return self._unknown(asked, self.reason)
        if (pause := self.pause) > wait:
            return self._unknown(asked, f"{self.reason}; it may start again in {pause:.0f} s")
        running = self._inquiries.get(path)
        if running is not None and self.connection is not None:
            # Under way for what may be an older text: it goes on with the newest one.
            await self._show(self.connection, path)
            running = self._inquiries.get(path)
        inquiry, task = running if running is not None and not running[1].done() else self._begin(path, asked)
        inquiry.late = False
        inquiry.deadline = max(inquiry.deadline, asked + wait - _EARLY_S)
        await asyncio.wait({task}, timeout=max(0.0, asked + wait - self.clock.monotonic()))
        if not task.done():
            inquiry.late = True
            why = "has not answered" if self.connection is not None else "is still starting"
            return self._unknown(asked, f"{why} after {round(wait, 1):g} s", inquiry.strategy)
        if task.cancelled():
            return self._unknown(asked, "was stopped")
        return replace(task.result(), elapsed_ms=self._since(asked))

    async def stop(self, reason: str) -> None:
        """Stop the server and everything that is asked of it; it starts again when it is used."""
        for _, task in list(self._inquiries.values()):
            task.cancel()
        await super().stop(reason)

    async def restart(self) -> None:
        """Stop the server, forget its failures, start it and show it what it had open. Raises ``HarnessError``."""
        paths = self.open_paths()
        await self.stop("restarts")
        self.forgive()
        connection = await self.connected()
        for path in paths:
            await self._show(connection, path)

    async def shown(self, path: Path) -> tuple[Connection, Document]:
        """Start the server if need be and show it ``path`` as it is on disk.

        Raises ``HarnessError`` (also its kinds ``NotADocumentError`` and ``PeerClosedError``).
        """
        self._last_used = self.clock.monotonic()
        connection = await self.connected()
        return connection, await self._sync(connection, path)

    async def current(self, path: Path, wait: float) -> tuple[Connection, Document, list[Any]]:
        """Return what the server says of ``path`` as it is now, in its own words: raw items.

        Raises ``HarnessError`` when that is not known after ``wait`` seconds.
        """
        answer = await self.ask(path, wait)
        document = self.connection.documents.get(path) if self.connection is not None else None
        if answer.verdict not in ("fresh", "unchanged") or self.connection is None or document is None:
            raise HarnessError(f"{self.spec.name} {answer.reason or 'has not answered'}")
        slots = self._current_slots(self.connection, document)
        return self.connection, document, [item for slot in slots for item in slot.raw]

    # --- inquiries -------------------------------------------------------------------------------

    def _begin(self, path: Path, asked: float) -> tuple[_Inquiry, asyncio.Task[Answer]]:
        inquiry = _Inquiry(path, asked)
        task: asyncio.Task[Answer] = self.in_background(self._inquire(inquiry), f"lsp inquiry {self.spec.name}")
        self._inquiries[path] = (inquiry, task)
        task.add_done_callback(lambda _: self._end_inquiry(inquiry))
        asyncio.get_running_loop().call_later(self.timings.busy, self._show_busy, inquiry)
        return inquiry, task

    def _end_inquiry(self, inquiry: _Inquiry) -> None:
        if self._is_running(inquiry):
            del self._inquiries[inquiry.path]
        if self.state == "busy" and not self._inquiries:
            self.set_state("ready", None)

    def _show_busy(self, inquiry: _Inquiry) -> None:
        if self.state == "ready" and self._is_running(inquiry):
            self.set_state("busy", None)

    def _is_running(self, inquiry: _Inquiry) -> bool:
        running = self._inquiries.get(inquiry.path)
        return running is not None and running[0] is inquiry

    async def _inquire(self, inquiry: _Inquiry) -> Answer:
        asked = inquiry.asked
        connection: Connection | None = None
        try:
            async with asyncio.timeout(self.timings.inquiry):
                connection = await self.connected()
                await self._sync(connection, inquiry.path)
                document, found = await self._collect(connection, inquiry)
        except NotADocumentError as error:
            return Answer(self.spec.name, "skipped", self._since(asked), reason=error.what)
        except TimeoutError:
            return self._unknown(asked, f"has not answered after {self.timings.inquiry:g} s", inquiry.strategy)
        except PeerClosedError as error:
            # A write fails a moment before it is known how the process ended.
            ended = await connection.exit_reason() if connection is not None and error.code == INPUT_CLOSED else None
            return self._unknown(asked, ended or error.what, inquiry.strategy)
        except HarnessError as error:
            if self.state == "absent":
                return Answer(self.spec.name, "skipped", self._since(asked), reason=self.reason)
            return self._unknown(asked, self.reason or error.what, inquiry.strategy)
        answer = self._answer(inquiry, document, found)
        if answer.verdict == "fresh" and connection.abilities.asks_across_files:
            self._look_after_dependants(connection, inquiry.path)
        if inquiry.late:
            self.owner.answered_late(self, inquiry.path, asked)
        return answer

    async def _collect(self, connection: Connection, inquiry: _Inquiry) -> tuple[Document, ItemSet]:
        while True:
            # Another question may have closed it meanwhile, and opened it anew.
            document = connection.documents.get(inquiry.path) or await self._sync(connection, inquiry.path)
            version = document.version
            strategy = choose(connection)
            inquiry.strategy = strategy.name
            try:
                await strategy.collect(connection, document, lambda: inquiry.deadline)
            except OtherWayError:
                continue
            if document.version != version:
                continue  # the text changed while it was asked about
            found = await self._read(connection, document)
            if document.version == version and connection.documents.get(inquiry.path) is document:
                return document, found

    async def _read(self, connection: Connection, document: Document) -> ItemSet:
        slots = self._current_slots(connection, document)
        name, lines, encoding = self._name(document.path), document.lines, connection.abilities.encoding

        def read() -> ItemSet:
            sets = [
                read_items(slot.raw, path=name, lines=lines, encoding=encoding, root=self._project) for slot in slots
            ]
            return ItemSet(
                merge(found.items for found in sets),
                sum(found.omitted for found in sets),
                sum(found.broken for found in sets),
            )

        if sum(len(slot.raw) for slot in slots) > _THREAD_ITEMS:
            return await asyncio.to_thread(read)
        return read()

    def _current_slots(self, connection: Connection, document: Document) -> list[Slot]:
        slots = self.store.slots(self.key, document.path).items()
        return [slot for source, slot in slots if connection.is_current(source, slot, document)]

    def _answer(self, inquiry: _Inquiry, document: Document, found: ItemSet) -> Answer:
        known = Known(found.items, document.snapshot.digest, told=not inquiry.late)
        before = self.store.known(self.key, document.path)
        self.store.remember(self.key, document.path, known)
        self.warm = True
        if self.state == "warming":
            self.set_state("ready", None)
        notes: list[str] = []
        if found.omitted:
            notes.append(f"has {found.omitted} more than are kept")
        if found.broken:
            notes.append(f"sent {found.broken} that could not be read")
        return Answer(
            self.spec.name,
            "unchanged" if before == known and known.told else "fresh",
            self._since(inquiry.asked),
            found.items,
            " and ".join(notes) or None,
            inquiry.strategy,
        )

    # --- showing documents -----------------------------------------------------------------------

    async def revive(self, paths: list[Path]) -> None:
        """Start again after a crash and show ``paths``, which were open."""
        for path in paths:
            await self._show_after_start(path)
            if self.connection is None:
                return

    async def _sync(self, connection: Connection, path: Path) -> Document:
        return await connection.sync(path, busy=tuple(self._inquiries))

    async def _show(self, connection: Connection, path: Path) -> None:
        try:
            await self._sync(connection, path)
        except (NotADocumentError, PeerClosedError):
            return  # a question about it says so; a touch only prepares

    async def _show_after_start(self, path: Path) -> None:
        try:
            connection = await self.connected()
        except HarnessError:
            return  # told where it failed
        await self._show(connection, path)

    # --- sets that nobody asked for --------------------------------------------------------------

    def on_set(self, connection: Connection, path: Path) -> None:
        """Take a set that nobody asked for: ``Connection``'s listener."""
        if path not in self._inquiries and self.store.known(self.key, path) is not None:
            self.in_background(self._report_unasked(connection, path), f"lsp late {self.spec.name}")

    async def _report_unasked(self, connection: Connection, path: Path) -> None:
        await asyncio.sleep(self.spec.settle)
        document = connection.documents.get(path)
        known = self.store.known(self.key, path)
        if document is None or known is None or path in self._inquiries:
            return
        if not self._current_slots(connection, document):
            return  # a set for an older text
        version = document.version
        found = await self._read(connection, document)
        if connection is not self.connection or document.version != version or known.items == found.items:
            return
        self.store.remember(self.key, path, Known(found.items, document.snapshot.digest, told=False))
        self.owner.answered_late(self, path, self.clock.monotonic())

    def _look_after_dependants(self, connection: Connection, path: Path) -> None:
        """Ask anew about other open files: a change of one may break another, and nobody tells who only asks."""
        if self._dependants is not None:
            self._dependants.cancel()
        self._dependants = self.in_background(self._ask_dependants(connection, path), f"lsp others {self.spec.name}")

    async def _ask_dependants(self, connection: Connection, path: Path) -> None:
        await asyncio.sleep(_DEPENDANTS_AFTER_S)
        others = [other for other in reversed(connection.documents.paths()) if other != path]
        for other in [other for other in others if self.store.known(self.key, other) is not None][:_DEPENDANTS]:
            asked = self.clock.monotonic()
            document, known = connection.documents.get(other), self.store.known(self.key, other)
            if self._inquiries or document is None or known is None:
                return  # somebody waits for an answer: that one goes first, and looks after the others again
            version = document.version
            try:
                await choose(connection).collect(connection, document, lambda: 0.0)
            except (OtherWayError, HarnessError):
                return  # nobody asked for it
            found = await self._read(connection, document)
            if document.version != version or other in self._inquiries or known.items == found.items:
                continue
            self.store.remember(self.key, other, Known(found.items, document.snapshot.digest, told=False))
            self.owner.answered_late(self, other, asked)

    # --- small things ----------------------------------------------------------------------------

    def _name(self, path: Path) -> str:
        return path.relative_to(self._project).as_posix() if self._project in path.parents else path.as_posix()

    def _since(self, moment: float) -> int:
        return round((self.clock.monotonic() - moment) * 1000)

    def _unknown(self, asked: float, reason: str | None, strategy: str | None = None) -> Answer:
        return Answer(self.spec.name, "unknown", self._since(asked), reason=reason, strategy=strategy)
