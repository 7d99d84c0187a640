"""What one server knows of files on disk, open or not, and which change of one it has not heard of yet."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harness_tui.lsp.text import FileStamp
from harness_tui.lsp.uris import to_uri
from harness_tui.lsp.watching import CHANGED, CREATED, DELETED, Watcher, wanted

NOTHING: Final = 0
"""No change that is to be reported."""
_CLOCK_STEP_NS: Final = 50_000_000
"""File systems stamp with a coarser clock than ours: a file written right after the start may look older."""


class News:
    """When the server was last told of a change, by the connection's counter: one file asks about the others."""

    def __init__(self) -> None:
        self._last: tuple[Path | None, int] = (None, 0)
        self._of_another = 0

    def note(self, path: Path, counter: int) -> None:
        """Take a change of ``path``."""
        if self._last[0] != path:
            self._of_another = self._last[1]
        self._last = (path, counter)

    def beside(self, path: Path) -> int:
        """Return when another file than ``path`` changed last, 0 when none did."""
        return self._last[1] if self._last[0] != path else self._of_another


class SeenFiles:
    """The stamps of files as a server at ``root`` was told of them. A file as old as the server needs no telling."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._born_ns = time.time_ns() - _CLOCK_STEP_NS
        self._stamps: dict[Path, FileStamp] = {}

    def is_younger(self, stamp: FileStamp) -> bool:
        """Tell whether a file was written, or got its name, after the server had started."""
        return max(stamp.modified_ns, stamp.moved_ns) >= self._born_ns

    def mark(self, path: Path, stamp: FileStamp | None) -> None:
        """Note what the server is told of ``path``; ``None`` when it is gone."""
        if stamp is None:
            self._stamps.pop(path, None)
        else:
            self._stamps[path] = stamp

    def change_of(self, path: Path, stamp: FileStamp | None) -> int:
        """Return the kind of the change that ``stamp`` shows, :data:`NOTHING` without one; the server knows it then."""
        known = self._stamps.get(path)
        if stamp == known:
            return NOTHING
        self.mark(path, stamp)
        if stamp is None:
            return DELETED
        if known is not None:
            return CHANGED
        return CREATED if self.is_younger(stamp) else NOTHING

    def events(self, kinds: Mapping[Path, int], watchers: Sequence[Watcher]) -> list[dict[str, Any]]:
        """Return those changes as events of the protocol that one of ``watchers`` wants."""
        return [
            {"uri": to_uri(path), "type": kind}
            for path, kind in kinds.items()
            if wanted(watchers, path, kind, self._root)
        ]
