"""Every language server of one project, behind one question: what is known of this file?

The pool decides which servers serve a file, asks them at the same time and joins what they say. Of the type checkers
for Python the first found serves, any other server that knows the file's extension serves beside it.

The joined verdict: ``unchanged`` when all servers say so, ``fresh`` when all are fresh or unchanged. When some are
fresh and others not known, it is ``fresh`` (what was found must be shown) and ``reason`` names the others. When none is
fresh and one is not known, it is ``unknown``; items of the others are still given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness_tui.config.settings import LspSettings
from harness_tui.core.clock import SystemClock
from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import ServerDetail
from harness_tui.core.events import DiagnosticsReported, Notice, ServerChanged
from harness_tui.core.paths import name_in
from harness_tui.core.record import record
from harness_tui.core.seams import Clock, EventSink, FileChanger, ProcessSpawner, Tool
from harness_tui.core.text import clean_for_display
from harness_tui.core.values import DiagnosticItem, LspState, ServerVerdict, Verdict, VerdictWord
from harness_tui.lsp.catalog import catalog
from harness_tui.lsp.choosing import Chooser, Chosen, Explained
from harness_tui.lsp.client import Answer, Client
from harness_tui.lsp.diagnostics import DiagnosticStore, merge
from harness_tui.lsp.edit_tools import QuickFixTool, RenameTool
from harness_tui.lsp.lifecycle import ServerLife, Timings
from harness_tui.lsp.memory import MemoryGuard
from harness_tui.lsp.query_tool import QueryTool
from harness_tui.lsp.roots import Binaries, place_in_project
from harness_tui.lsp.spec import ServerSpec
from harness_tui.lsp.tool import DiagnosticsTool

_FAULTS: Final = 5
_STOPPED: Final = "was stopped by a person"


@record
class LspStatus:
    """One server as ``lsp list`` shows it; a server that serves several roots has one for each.

    ``command`` is what was started, or what is configured while nothing is.
    """

    name: str
    state: LspState
    reason: str | None
    root: str | None
    command: tuple[str, ...]
    extensions: tuple[str, ...]
    pid: int | None = None
    restarts: int = 0


class LspPool:
    """The ``DiagnosticsSource`` of a project, and the source of its tools ``diagnostics`` and ``lsp``.

    With somebody who changes files (:meth:`offer_edits`) also of ``rename`` and ``quick_fix``.

    ``root`` is the project root, absolute. ``cold_wait`` is how many seconds the first verdict of a server's life may
    take when no other wait is asked for; ``settings.cold_wait_ms`` beats it. ``trusted`` tells whether binaries of the
    project's own folders may be started. State changes, failures and late answers go to ``sink``.
    """

    def __init__(
        self,
        root: Path,
        settings: LspSettings,
        *,
        spawner: ProcessSpawner,
        sink: EventSink,
        trusted: bool,
        cold_wait: float,
        environ: Mapping[str, str],
        clock: Clock | None = None,
        timings: Timings | None = None,
    ) -> None:
        self.root = root
        self._settings = settings
        self._spawner = spawner
        self._sink = sink
        self._clock = clock or SystemClock()
        self._timings = timings or Timings()
        self._cold_wait = cold_wait if settings.cold_wait_ms is None else settings.cold_wait_ms / 1000
        self._warm_wait = settings.wait_ms / 1000
        self._specs = catalog(settings)
        self._binaries = Binaries(root, trusted=trusted, environ=environ, monotonic=self._clock.monotonic)
        self._chooser = Chooser(root, self._specs, self._binaries)
        self._store = DiagnosticStore()
        self._clients: dict[tuple[str, Path], Client] = {}
        self._faults: dict[str, int] = {}
        self._late: dict[Path, Verdict] = {}
        self._stopped: set[str] = set()
        self._tools: tuple[Tool, ...] = (DiagnosticsTool(self), QueryTool(self))
        self._reaper: asyncio.Task[None] | None = None
        self._closed = False
        self._memory = MemoryGuard(settings.memory_mb, self._timings.rest, self._clock.monotonic, self._notice)

    # --- DiagnosticsSource -----------------------------------------------------------------------

    async def touch(self, path: Path) -> None:
        """Tell the servers that ``path`` is of interest, or has new bytes on disk.

        Servers that run are told before this returns; others start in the background.
        """
        place = place_in_project(path, self.root)
        if place is None or not self._settings.enabled or self._closed:
            return
        self._announce(place)
        await asyncio.gather(*(client.touch(place) for client in self._clients_for(place)))

    async def diagnostics(self, path: Path, wait: float | None = None) -> Verdict:
        """Return what is known of ``path``, absolute or relative to the root, after ``wait`` seconds at most.

        ``None`` waits for the configured time, longer for a server that has not given a verdict since its start. The
        time is that of the slowest server, not the sum. Never raises for what a server does.
        """
        started = self._clock.monotonic()
        place = place_in_project(path, self.root)
        if place is None:
            return self._skipped(path, started, "it is outside the project")
        if self._closed or not self._settings.enabled:
            return self._skipped(
                place, started, "the session ended" if self._closed else "language servers are turned off"
            )
        self._announce(place)
        answers: dict[str, Answer] = {}
        while True:
            clients = [client for client in self._clients_for(place) if client.spec.name not in answers]
            if not clients:
                break
            spent = self._clock.monotonic() - started
            found = await asyncio.gather(*(client.ask(place, self._wait(client, wait, spent)) for client in clients))
            answers |= {answer.name: answer for answer in found}
            if all(client.state != "absent" for client in clients):
                break  # otherwise the next one of the group serves
        if not answers:
            return self._skipped(place, started, self._chooser.why_nobody(place))
        verdict = self._verdict(place, started, list(answers.values()))
        if verdict.verdict in ("fresh", "unchanged"):
            self._late.pop(place, None)  # told now
        return verdict

    def take_late(self) -> list[Verdict]:
        """Return the verdicts with errors that came late since the last call, in the order of their coming."""
        late = list(self._late.values())
        self._late.clear()
        return late

    def tools(self) -> Sequence[Tool]:
        """Return the tools; none when language servers are turned off."""
        return self._tools if self._settings.enabled else ()

    def offer_edits(self, changer: FileChanger) -> None:
        """Offer tools that have ``changer`` change files as servers propose."""
        self._tools = (*self._tools, RenameTool(self, changer), QuickFixTool(self, changer))

    # --- for people ------------------------------------------------------------------------------

    def open_paths(self) -> list[Path]:
        """Return the files that a running server has open, sorted."""
        return sorted({path for client in self._clients.values() for path in client.open_paths()})

    def serving(self, path: Path) -> list[Client]:
        """Return the servers for ``path``, absolute or relative to the root; empty outside the project."""
        place = place_in_project(path, self.root)
        usable = place is not None and self._settings.enabled and not self._closed
        return self._clients_for(place) if place is not None and usable else []

    def running(self) -> list[Client]:
        """Return the servers that have started."""
        return [client for client in self._clients.values() if client.connection is not None]

    def explain(self, path: Path) -> list[Explained]:
        """Return why each server that knows the name of ``path`` serves it or does not; empty outside the project."""
        place = place_in_project(path, self.root)
        return self._chooser.explain(place) if place is not None else []

    def status(self) -> list[LspStatus]:
        """Return every known server, started or not, in the order of preference."""
        entries: list[LspStatus] = []
        serving: dict[str, str] = {}
        for spec in self._specs:
            clients = [client for client in self._clients.values() if client.spec.name == spec.name]
            entries += [
                LspStatus(
                    spec.name,
                    client.state,
                    client.reason,
                    str(client.root),
                    client.argv,
                    spec.extensions,
                    client.pid,
                    client.restarts,
                )
                for client in clients
            ]
            if not clients:
                entries.append(self._unstarted(spec, serving.get(spec.group or "")))
            if spec.group is not None and entries[-1].state not in ("absent", "disabled"):
                serving.setdefault(spec.group, spec.name)
        return entries

    async def restart(self, name: str) -> None:
        """Stop the server ``name`` at every root, forget its failures and start it again.

        A server that did not run is only looked up anew. Raises ``HarnessError`` for an unknown name, or when it does
        not start.
        """
        clients = self._clients_of(name)
        self._stopped.discard(name)
        self._binaries.forget()
        self._faults.pop(name, None)
        await asyncio.gather(*(client.restart() for client in clients))

    async def stop(self, name: str) -> None:
        """Stop the server ``name`` at every root until it is restarted. Raises ``HarnessError`` for an unknown name."""
        clients = self._clients_of(name)
        self._stopped.add(name)
        await asyncio.gather(*(client.hold(_STOPPED) for client in clients))

    def trace(self, name: str) -> str:
        """Return the last messages of the server ``name``. Raises ``HarnessError`` for an unknown name."""
        clients = self._clients_of(name)
        if len(clients) == 1:
            return clients[0].trace.text()
        return "\n".join(f"--- at {client.root}\n{client.trace.text()}" for client in clients)

    def _clients_of(self, name: str) -> list[Client]:
        if name not in {spec.name for spec in self._specs}:
            known = ", ".join(spec.name for spec in self._specs)
            raise HarnessError(f"there is no language server {name}", where="lsp", mend=f"known are {known}")
        return [client for client in self._clients.values() if client.spec.name == name]

    async def close(self) -> None:
        """Stop every server; none starts again."""
        self._closed = True
        if self._reaper is not None:
            self._reaper.cancel()
        await asyncio.gather(*(client.close() for client in self._clients.values()))

    # --- choosing --------------------------------------------------------------------------------

    def _clients_for(self, path: Path) -> list[Client]:
        return [self._client(chosen) for chosen in self._chooser.choose(path)]

    def _client(self, chosen: Chosen) -> Client:
        spec, root, placed = chosen.spec, chosen.root, chosen.placed
        client = self._clients.get((spec.name, root))
        if client is None:
            client = Client(
                replace(spec, initialization=placed.initialization),
                root,
                self.root,
                placed.argv,
                spawner=self._spawner,
                store=self._store,
                owner=self,
                clock=self._clock,
                timings=self._timings,
            )
            self._clients[spec.name, root] = client
            if spec.name in self._stopped:
                client.hold_back(_STOPPED)
            if self._reaper is None:
                self._reaper = asyncio.get_running_loop().create_task(self._reap(), name="lsp idle")
        return client

    def _unstarted(self, spec: ServerSpec, serving: str | None) -> LspStatus:
        state, reason, command = self._chooser.unstarted(spec, serving)
        return LspStatus(spec.name, state, reason, None, command, spec.extensions)

    def _announce(self, path: Path) -> None:
        for client in self._clients.values():
            if not client.spec.serves(path) and client.root in path.parents:
                client.announce(path)

    def _wait(self, client: Client, wait: float | None, spent: float) -> float:
        if wait is None:
            wait = self._warm_wait if client.warm else self._cold_wait
        return max(0.0, wait - spent)

    # --- joining ---------------------------------------------------------------------------------

    def _verdict(self, path: Path, started: float, answers: Sequence[Answer]) -> Verdict:
        word, reason = join(answers)
        return Verdict(
            path=self._name(path),
            verdict=word,
            elapsed_ms=self._since(started),
            items=merge(answer.items for answer in answers),
            servers=tuple(
                ServerVerdict(answer.name, answer.verdict, answer.elapsed_ms, answer.reason, answer.strategy)
                for answer in answers
            ),
            reason=reason,
        )

    def _skipped(self, path: Path, started: float, reason: str) -> Verdict:
        return Verdict(self._name(path), "skipped", self._since(started), reason=reason)

    def _name(self, path: Path) -> str:
        return name_in(self.root / path, self.root)

    def _since(self, moment: float) -> int:
        return round((self._clock.monotonic() - moment) * 1000)

    # --- telling people --------------------------------------------------------------------------

    def server_changed(self, server: ServerLife) -> None:
        """Publish a server's state."""
        detail = ServerDetail(pid=server.pid, restarts=server.restarts, root=str(server.root))
        self._sink.emit(ServerChanged("lsp", server.spec.name, server.state, detail, server.reason))

    def server_failed(self, server: ServerLife, text: str, hint: str) -> None:
        """Tell a person, once for each failure."""
        self._notice(server, f"{server.spec.name} {text}", hint)

    def server_fault(self, server: ServerLife, text: str) -> None:
        """Tell a person about the first few messages that were left out."""
        count = self._faults.get(server.spec.name, 0) + 1
        self._faults[server.spec.name] = count
        if count <= _FAULTS:
            hint = "more of this is not shown until it is restarted" if count == _FAULTS else None
            self._notice(server, f"{server.spec.name} {text}", hint)

    def binary_broken(self, server: ServerLife, reason: str) -> None:
        """Take the binary out of service; the next server of its group serves."""
        self._binaries.mark_broken(Path(server.argv[0]), reason)
        self._clients.pop((server.spec.name, server.root), None)
        self._notice(server, f"{server.spec.name} cannot be used: {reason}", "mend or remove that program")

    def answered_late(self, server: ServerLife, path: Path, asked: float) -> None:
        """Publish what all servers know of ``path`` now."""
        items: list[tuple[DiagnosticItem, ...]] = []
        servers: list[str] = []
        known_here = self._store.known(server.key, path)
        for client in self._clients.values():
            known = self._store.known(client.key, path)
            # Only answers for the same text are joined.
            if known is not None and known_here is not None and known.digest == known_here.digest:
                items.append(known.items)
                servers.append(client.spec.name)
        found = merge(items)
        name, spent = self._name(path), self._since(asked)
        self._sink.emit(DiagnosticsReported(name, "fresh", spent, tuple(servers), found, late=True))
        self._late.pop(path, None)
        if any(item.severity == "error" for item in found):
            self._late[path] = Verdict(name, "fresh", spent, found, late=True)

    def _notice(self, server: ServerLife, text: str, hint: str | None) -> None:
        self._sink.emit(Notice("warning", f"lsp:{server.spec.name}", clean_for_display(text, one_line=True), hint))

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(min(self._timings.look, self._timings.idle))
            for client in list(self._clients.values()):
                if client.connection is not None and client.idle_for >= self._timings.idle:
                    await client.stop("was not used for a while")
            await self._memory.look(list(self._clients.values()))


def join(answers: Sequence[Answer]) -> tuple[VerdictWord, str | None]:
    """Return the joined verdict of ``answers`` (at least one) and its reason, by the rule of this module."""
    words = {answer.verdict for answer in answers}
    notes = [f"{answer.name} {answer.reason}" for answer in answers if answer.reason and answer.verdict != "skipped"]
    notes += dict.fromkeys(answer.reason for answer in answers if answer.reason and answer.verdict == "skipped")
    reason = "; ".join(notes) or None
    if words == {"unchanged"}:
        return "unchanged", reason
    if words == {"skipped"}:
        return "skipped", reason
    if "fresh" in words:
        return "fresh", reason
    return ("unknown", reason) if "unknown" in words else ("unchanged", reason)
