"""The documents that one server was shown, and the look at the disk before each question.

What a server knows must be what is on disk: files are also written by commands, formatters and other people. So before
a verdict every open document is looked at again, and what changed is sent first.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness_tui.core.record import record
from harness_tui.lsp.text import FileStamp, NotADocumentError, Snapshot, read_snapshot, split_lines, stamp_of
from harness_tui.lsp.uris import same_path

OPEN_DOCUMENTS: Final = 64
_ALIASES: Final = 4_096


@dataclass(slots=True)
class Document:
    """An open document. ``version`` counts from 1, ``since`` is the first version with the present text, and ``sent``
    is the connection's counter when it was last written.

    ``busy`` and ``idle`` are the counter when the server last said that it works on it, or has finished with it, and
    ``idle_at`` is the monotonic second of the latter; only few servers say so.
    ``beside``: other files changed together with it, or since it was sent before.
    """

    path: Path
    uri: str
    language: str
    snapshot: Snapshot
    version: int = 1
    since: int = 1
    sent: int = 0
    busy: int = 0
    idle: int = 0
    idle_at: float = 0.0
    beside: bool = False
    _lines: list[str] | None = field(default=None, repr=False)

    def replace_text(self, snapshot: Snapshot) -> None:
        """Take the next version of the text; it may be the same text, sent again."""
        self.version += 1
        if snapshot.digest != self.snapshot.digest:
            self.since = self.version
        self.snapshot = snapshot
        self._lines = None

    def take_status(self, idle: bool, counter: int, now: float) -> None:
        """Take what the server says of its work on this document."""
        if idle:
            self.idle, self.idle_at = counter, now
        else:
            self.busy = counter

    @property
    def lines(self) -> list[str]:
        """The lines of the present version."""
        if self._lines is None:
            self._lines = split_lines(self.snapshot.text)
        return self._lines


@record
class Look:
    """What a look at the disk found: the text asked for or why there is none, and what else changed or is gone."""

    target: Snapshot | NotADocumentError | None
    changed: dict[Path, Snapshot]
    gone: tuple[Path, ...]


def look(target: Path | None, known: Iterable[tuple[Path, FileStamp]]) -> Look:
    """Read ``target``, and those of ``known`` whose stamp is another now. Runs in a thread."""
    changed: dict[Path, Snapshot] = {}
    gone: list[Path] = []
    for path, stamp in known:
        if path == target or stamp_of(path) == stamp:
            continue
        try:
            changed[path] = read_snapshot(path)
        except NotADocumentError:
            gone.append(path)  # vanished, or no longer a text that a server can be shown
    if target is None:
        return Look(None, changed, tuple(gone))
    try:
        return Look(read_snapshot(target), changed, tuple(gone))
    except NotADocumentError as error:
        return Look(error, changed, tuple(gone))


class Documents:
    """The open documents of one server process, least recently used first."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, Document] = OrderedDict()
        self._aliases: dict[Path, Path | None] = {}
        self._kept: list[frozenset[Path]] = []

    def get(self, path: Path) -> Document | None:
        """Return the open document at exactly ``path``."""
        return self._open.get(path)

    def find(self, path: Path) -> Document | None:
        """Return the open document that a server means by ``path``, however it spells it."""
        document = self._open.get(path)
        if document is not None:
            return document
        if path not in self._aliases:
            if len(self._aliases) >= _ALIASES:
                self._aliases.clear()
            self._aliases[path] = same_path(path, self._open)
        meant = self._aliases[path]
        return None if meant is None else self._open.get(meant)

    def add(self, document: Document) -> None:
        """Take an opened document."""
        self._open[document.path] = document
        self._aliases.clear()

    def use(self, path: Path) -> None:
        """Mark ``path`` as used just now."""
        self._open.move_to_end(path)

    def remove(self, path: Path) -> Document | None:
        """Forget ``path`` and return what was open there."""
        self._aliases.clear()
        return self._open.pop(path, None)

    def surplus(self, keep: Iterable[Path], limit: int = OPEN_DOCUMENTS) -> list[Path]:
        """Return the longest unused documents above ``limit``, never one of ``keep``."""
        kept = set(keep).union(*self._kept)
        return [path for path in self._open if path not in kept][: max(0, len(self._open) - limit)]

    def changed_by(self, snapshots: Mapping[Path, Snapshot]) -> dict[Path, Snapshot]:
        """Return those of ``snapshots`` that are another text than the open document's."""
        changed: dict[Path, Snapshot] = {}
        for path, snapshot in snapshots.items():
            document = self._open.get(path)
            if document is None:
                continue
            if document.snapshot.digest == snapshot.digest:
                document.snapshot = snapshot  # written again with the same bytes: only its stamp is new
            else:
                changed[path] = snapshot
        return changed

    @contextlib.contextmanager
    def keeping(self, paths: Iterable[Path]) -> Generator[None]:
        """Let ``paths`` stay open meanwhile, however many they are."""
        kept = frozenset(paths)
        self._kept.append(kept)
        try:
            yield
        finally:
            self._kept.remove(kept)

    def stamps(self) -> list[tuple[Path, FileStamp]]:
        """Return path and stamp of every open document."""
        return [(path, document.snapshot.stamp) for path, document in self._open.items()]

    def paths(self) -> list[Path]:
        """Return the open paths, least recently used first."""
        return list(self._open)
