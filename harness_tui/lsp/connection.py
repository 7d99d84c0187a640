"""One life of one server: from its start to its end, with the documents that it was shown.

Results of one life never count in the next one: whatever is kept beyond a life is kept by the client. Everything that
is sent about documents goes through :meth:`Connection.sync`, one at a time and in the order that servers rely on: file
events, then the change, then the save.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, cast

from harness_tui.core.seams import Clock, ProcessSpawner
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.lsp.diagnostics import PUSHED, DiagnosticStore, Slot
from harness_tui.lsp.documents import Document, Documents, Look, look
from harness_tui.lsp.process import ServerProcess, start_process
from harness_tui.lsp.progress import Progress
from harness_tui.lsp.protocol import WATCHED_FILES, Abilities, configuration, initialize_params, read_abilities
from harness_tui.lsp.protocol import workspace_folder as folder_of
from harness_tui.lsp.rpc import Peer, PeerClosedError, UnknownMethodError
from harness_tui.lsp.seen_files import NOTHING, News, SeenFiles
from harness_tui.lsp.spec import ServerSpec
from harness_tui.lsp.text import NotADocumentError, Snapshot, changed_range, stamp_of
from harness_tui.lsp.trace import Trace
from harness_tui.lsp.uris import from_uri, to_uri
from harness_tui.lsp.watching import CHANGED, CREATED, DELETED, EVERYTHING, Watcher

_LARGE_TEXT: Final = 200_000
"""Of a text of more characters only the lines that changed are sent, where the server takes that."""


class Listener(Protocol):
    """Who owns a connection and hears of it. Called in the reader: must be quick."""

    def on_end(self, connection: Connection, reason: str) -> None:
        """The process or its stream ended, asked for or not."""
        ...

    def on_set(self, connection: Connection, path: Path) -> None:
        """A set for an open document came without being asked for."""
        ...

    def on_fault(self, text: str) -> None:
        """The server sent something that was left out."""
        ...


class Connection:
    """A running server. Make one with :meth:`start`.

    ``key`` names server and root in ``store``. ``stopping`` is set once its end is wanted.
    """

    def __init__(
        self,
        spec: ServerSpec,
        root: Path,
        key: str,
        *,
        store: DiagnosticStore,
        listener: Listener,
        clock: Clock,
        trace: Trace | None = None,
    ) -> None:
        self.spec = spec
        self.root = root
        self.key = key
        self.store = store
        self.documents = Documents()
        self.abilities = Abilities()
        self.stopping = False
        self.clock = clock
        self._listener = listener
        self._trace = trace or Trace()
        self._process: ServerProcess | None = None
        self._counter = 0
        self._news = News()
        self._lock = asyncio.Lock()
        self._sleepers: set[asyncio.Future[None]] = set()
        self._end_reason: str | None = None
        self._seen = SeenFiles(root)
        self._progress = Progress()
        self._highest: dict[Path, int] = {}
        self._odd_versions = False

    # --- life ------------------------------------------------------------------------------------

    async def start(self, spawner: ProcessSpawner, argv: Sequence[str]) -> None:
        """Start the process and shake hands.

        Raises ``HarnessError`` (also its kinds ``RpcError`` and ``PeerClosedError``) or ``TimeoutError``; the caller
        then calls :meth:`stop`.
        """
        self._process = await start_process(
            spawner,
            self.spec,
            argv,
            self.root,
            on_request=self._on_request,
            on_notification=self._on_notification,
            on_end=self._on_end,
            on_fault=self._listener.on_fault,
            trace=self._trace,
        )
        result = await self.peer.request(
            "initialize", initialize_params(self.spec, self.root), timeout=self.spec.start_timeout
        )
        abilities = read_abilities(result)
        abilities.pulls.update(self.abilities.pulls)  # registered before it answered: not allowed, but seen
        abilities.watchers.update(self.abilities.watchers)
        abilities.providers |= self.abilities.providers
        abilities.across_files |= self.abilities.across_files
        abilities.prepares_rename |= self.abilities.prepares_rename
        abilities.resolves_actions |= self.abilities.resolves_actions
        self.abilities = abilities
        self.peer.notify("initialized", {})
        # Some servers report nothing before they were sent a configuration, even an empty one.
        self.peer.notify("workspace/didChangeConfiguration", {"settings": self.spec.settings})

    async def stop(self) -> None:
        """End the process and all that it started."""
        self.stopping = True
        if self._process is not None:
            await self._process.stop()

    @property
    def peer(self) -> Peer:
        """The peer. Raises :class:`PeerClosedError` before the start and after the end."""
        if self._process is None or self._end_reason is not None:
            raise PeerClosedError(self._end_reason or "was not started", code="closed")
        return self._process.peer

    @property
    def pid(self) -> int | None:
        """The process id once it was started."""
        return self._process.pid if self._process is not None else None

    @property
    def exited(self) -> bool:
        """Whether the process itself is gone."""
        return self._process is not None and self._process.exited

    async def exit_reason(self) -> str | None:
        """Say how the process ended, ``None`` when it was not started or runs on."""
        return await self._process.exit_reason() if self._process is not None else None

    def complaint(self) -> str:
        """Return what the server said last."""
        return self._process.complaint() if self._process is not None else ""

    async def memory(self) -> int:
        """Return the resident bytes of the server with what it started; 0 when it does not run."""
        return await self._process.memory() if self._process is not None and self._end_reason is None else 0

    async def woken(self, timeout: float | None) -> None:
        """Wait for a set, a registration or ``timeout`` seconds. Raises :class:`PeerClosedError` at the end."""
        if self._end_reason is not None:
            raise PeerClosedError(self._end_reason, code="closed")
        sleeper: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.add(sleeper)
        try:
            await asyncio.wait({sleeper}, timeout=timeout)
            if sleeper.done():
                sleeper.result()
        finally:
            self._sleepers.discard(sleeper)

    async def rested(self, seconds: float) -> str | None:
        """Wait until the server says that it has finished its own work, such as reading the project.

        Returns what it still does after ``seconds``. Raises :class:`PeerClosedError`.
        """
        end = self.clock.monotonic() + seconds
        while (title := self._progress.title) is not None and (left := end - self.clock.monotonic()) > 0:
            await self.woken(left)
        return title

    # --- documents -------------------------------------------------------------------------------

    async def sync(self, path: Path, *, busy: Iterable[Path] = ()) -> Document:
        """Show the server what is on disk: ``path``, and every open document that changed meanwhile.

        Returns the open document. Raises :class:`NotADocumentError` when ``path`` cannot be shown, and
        :class:`PeerClosedError`. ``busy`` are paths that must stay open.
        """
        async with self._lock:
            found = await asyncio.to_thread(look, path, self.documents.stamps())
            return self._show(path, found, {*busy, path})

    def announce(self, path: Path) -> None:
        """Report a change of ``path``, which this server does not serve, if it registered for such files."""
        kind = self._seen.change_of(path, stamp_of(path))
        if kind != NOTHING:
            self._send_events({path: kind}, self.abilities.all_watchers)

    def _show(self, path: Path, found: Look, keep: set[Path]) -> Document:
        target = found.target
        document = self.documents.get(path)
        gone = [*found.gone] if isinstance(target, Snapshot) or document is None else [*found.gone, path]
        changed = self.documents.changed_by(found.changed | ({path: target} if isinstance(target, Snapshot) else {}))
        self._send_file_events(path, target, changed, gone)
        for other in gone:
            self._close(other)
        for other, snapshot in changed.items():
            self._change(other, snapshot)
        if not isinstance(target, Snapshot):
            raise target or NotADocumentError("nothing to show", where=str(path))
        if document is None:
            document = self._open(path, target)
        elif self._news.beside(path) > document.sent and self._only_pushes(path):
            # Other files changed since. A server that only pushes says nothing of this one unless it changes too.
            self._change(path, target)
        self.documents.use(path)
        for other in self.documents.surplus(keep):
            self._close(other)
        return document

    def _send_file_events(
        self, path: Path, target: Snapshot | NotADocumentError | None, changed: Iterable[Path], gone: Iterable[Path]
    ) -> None:
        kinds = dict.fromkeys(changed, CHANGED)
        for other in gone:
            stamp = stamp_of(other)
            kinds[other] = DELETED if stamp is None else CHANGED
            self._seen.mark(other, stamp)  # when it comes again it is a new one
        if isinstance(target, Snapshot):
            kind = self._seen.change_of(path, target.stamp)
            if kind == CREATED or (kind == CHANGED and path not in kinds and not self.documents.get(path)):
                kinds[path] = kind  # new, or changed while it was closed
        # A server that has registered for nothing is told everything of the files that it was shown.
        self._send_events(kinds, self.abilities.all_watchers or EVERYTHING)

    def _send_events(self, kinds: dict[Path, int], watchers: Sequence[Watcher]) -> None:
        if changes := self._seen.events(kinds, watchers):
            self.peer.notify(WATCHED_FILES, {"changes": changes})
            for path in kinds:
                self._news.note(path, self._next())

    def _open(self, path: Path, snapshot: Snapshot) -> Document:
        language = self.spec.language(path)
        # Versions go on after a close: a late publish for the old text must not fit the new one.
        version = self._highest.get(path, 0) + 1
        document = Document(path, to_uri(path), language, snapshot, version=version, since=version)
        item = {"uri": document.uri, "languageId": language, "version": version, "text": snapshot.text}
        self.peer.notify("textDocument/didOpen", {"textDocument": item})
        document.sent = self._next()
        self.documents.add(document)
        if self._seen.is_younger(snapshot.stamp):
            self._save(document)  # written while the server ran: some check only what was saved
        return document

    def _change(self, path: Path, snapshot: Snapshot) -> None:
        document = self.documents.get(path)
        if document is None:
            return
        before, after = document.snapshot.text, snapshot.text
        in_parts = self.abilities.takes_ranges and len(after) > _LARGE_TEXT
        change = changed_range(before, after, self.abilities.encoding) if in_parts else None
        document.replace_text(snapshot)
        self._seen.mark(path, snapshot.stamp)
        identifier, changes = {"uri": document.uri, "version": document.version}, [change or {"text": after}]
        self.peer.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes})
        document.beside = self._news.beside(path) > document.sent
        document.sent = self._next()
        if before != after:  # the same text again is no news to other files
            self._news.note(path, document.sent)
        self._save(document)

    def _save(self, document: Document) -> None:
        if self.abilities.saves:
            self.peer.notify("textDocument/didSave", {"textDocument": {"uri": document.uri}})

    def _close(self, path: Path) -> None:
        document = self.documents.remove(path)
        if document is None:
            return
        self._highest[path] = document.version
        self.store.drop(self.key, path)
        self.peer.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})

    def _only_pushes(self, path: Path) -> bool:
        return not self.abilities.asks and self.store.slot(self.key, path, PUSHED) is not None

    def _next(self) -> int:
        self._counter += 1
        return self._counter

    # --- sets ------------------------------------------------------------------------------------

    def is_current(self, source: str, slot: Slot, document: Document) -> bool:
        """Tell whether ``slot`` belongs to the present version of ``document``, and not to an older one."""
        if source == PUSHED and self.abilities.has_sync_command:
            return False  # it is asked directly; what it pushes has no version and may be for an older text
        if source == PUSHED and (slot.version is None or self._odd_versions):
            return slot.received > document.sent
        return slot.version is not None and slot.version >= document.version

    def take_set(self, source: str, document: Document, slot_of: Callable[[int, float], Slot]) -> Slot:
        """Store a set of ``source`` for ``document``; ``slot_of`` makes it from counter and time."""
        slot = slot_of(self._next(), self.clock.monotonic())
        self.store.put(self.key, document.path, source, slot)
        return slot

    def take_unasked(self, source: str, path: Path, slot_of: Callable[[int, float], Slot]) -> None:
        """Store a set that was not asked for, wake who waits, and tell the owner."""
        document = self.documents.find(path)
        if document is None:
            return  # closed meanwhile, or a file that nobody asked about
        self.take_set(source, document, slot_of)
        self._wake()
        self._listener.on_set(self, document.path)

    def _published(self, params: Any) -> None:
        fields: dict[str, Any] = cast(dict[str, Any], params) if isinstance(params, dict) else {}
        uri, raw, version = fields.get("uri"), fields.get("diagnostics"), fields.get("version")
        path = from_uri(uri) if isinstance(uri, str) else None
        if path is None:
            return  # a scheme that names no file
        if not isinstance(raw, list):
            self._listener.on_fault("published diagnostics that are no list")
            return
        document = self.documents.find(path)
        number = version if isinstance(version, int) and not isinstance(version, bool) else None
        if document is not None and number is not None:
            if number > document.version:
                self._odd_versions = True  # a version that it was never sent: its numbers mean nothing
            elif number < self._oldest_wanted(document) and not self._odd_versions:
                return  # for an older text; it may even come after the set for this one
        items = cast(list[Any], raw)
        self.take_unasked(PUSHED, path, lambda received, at: Slot(items, number, received, at))

    def _oldest_wanted(self, document: Document) -> int:
        # clangd stamps what it found in a changed header with the version before the same text was sent again.
        return document.since if self.abilities.tells_idle else document.version

    def _take_status(self, params: Any) -> None:
        fields: dict[str, Any] = cast(dict[str, Any], params) if isinstance(params, dict) else {}
        path = from_uri(uri) if isinstance(uri := fields.get("uri"), str) else None
        document = self.documents.find(path) if path is not None else None
        if document is None:
            return
        self.abilities.tells_idle = True
        document.take_status(fields.get("state") == "idle", self._next(), self.clock.monotonic())
        self._wake()

    # --- what the server sends -------------------------------------------------------------------

    def _on_request(self, method: str, params: Any) -> Any:
        match method:
            case "workspace/configuration":
                return configuration(self.spec.settings, params)
            case "workspace/workspaceFolders":
                return [folder_of(self.root)]
            case "client/registerCapability":
                self.abilities.register(params)
                self._wake()
            case "client/unregisterCapability":
                self.abilities.unregister(params)
            case "workspace/applyEdit":
                return {"applied": False, "failureReason": "edits by a server are not supported"}
            case "window/showDocument":
                return {"success": False}
            case "window/workDoneProgress/create" | "window/showMessageRequest" | "workspace/diagnostic/refresh":
                return None  # sets are pulled again for each question anyway
            case _:
                raise UnknownMethodError(method)
        return None

    def _on_notification(self, method: str, params: Any) -> None:
        match method:
            case "textDocument/publishDiagnostics":
                self._published(params)
            case "textDocument/clangd.fileStatus":
                self._take_status(params)
            case "window/showMessage" if isinstance(params, dict) and params.get("type") == 1:
                text = cut_end(clean_for_display(str(params.get("message", "")), one_line=True), 300)
                self._listener.on_fault(f"says: {text}")
            case "$/progress":
                if self._progress.take(params):
                    self._wake()
            case _:
                return  # logs, telemetry and extensions: nothing that a verdict rests on

    def _on_end(self, reason: str) -> None:
        self._end_reason = reason
        for sleeper in self._sleepers:
            if not sleeper.done():
                sleeper.set_exception(PeerClosedError(reason, code="closed"))
        self._listener.on_end(self, reason)

    def _wake(self) -> None:
        for sleeper in self._sleepers:
            if not sleeper.done():
                sleeper.set_result(None)
