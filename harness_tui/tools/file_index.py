"""The files of a project for completion: listed by ripgrep with the ignore rules of searches, kept fresh, found by key.

Paths outside what is listed (ignored ones, the home folder, the whole system) are completed from their folder.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import expand
from harness_tui.core.record import record
from harness_tui.core.seams import ProcessSpawner
from harness_tui.tools.file_ranking import FileNames, Superseded, with_folders
from harness_tui.tools.ripgrep import run_ripgrep

MAX_FILES: Final = 300_000
FRESH_S: Final = 3.0
"""A list is taken as it is for so long; an older one answers still, and is made anew meanwhile."""

_LISTED: Final = 20_000
_ELSEWHERE: Final = ("/", "~/", "./", "../")


@record
class FoundFiles:
    """Paths as a mention names them, folders with ``/`` at their end. ``note`` says why there may be more."""

    paths: tuple[str, ...]
    note: str | None = None


class FileIndex:
    """The files below ``root``, a resolved path."""

    def __init__(self, spawner: ProcessSpawner, root: Path, *, now: Callable[[], float] = time.monotonic) -> None:
        self._spawner = spawner
        self._root = root
        self._now = now
        self._names = FileNames(())
        self._note: str | None = None
        self._made_at: float | None = None
        self._making: asyncio.Task[None] | None = None
        self._one_search = threading.Lock()
        self._latest = 0

    async def find(self, wanted: str, limit: int) -> FoundFiles:
        """Return what fits ``wanted``, best first. A later call ends one that still searches: that finds nothing."""
        self._latest += 1
        turn = self._latest
        if wanted.startswith(_ELSEWHERE):
            return FoundFiles(tuple(await asyncio.to_thread(self._in_folder, wanted, limit)))
        if self._made_at is None:
            await self.refreshed()
        names, note = self._names, self._note
        paths = await asyncio.to_thread(self._search, names, wanted, limit, turn)
        if not paths and "/" in wanted:
            paths = await asyncio.to_thread(self._in_folder, wanted, limit)
        return FoundFiles(tuple(paths), note)

    async def refreshed(self) -> bool:
        """Make the list anew where it is older than :data:`FRESH_S`; return whether that was done.

        Whoever waits here may be cancelled; the list is made nevertheless.
        """
        if self._making is None:
            if self._made_at is not None and self._now() - self._made_at < FRESH_S:
                return False
            self._making = asyncio.ensure_future(self._make())
            self._making.add_done_callback(self._made)
        await asyncio.shield(self._making)
        return True

    async def close(self) -> None:
        """End what still lists."""
        if self._making is not None:
            self._making.cancel()
            await asyncio.wait([self._making])

    def _made(self, task: asyncio.Task[None]) -> None:
        self._making = None
        if not task.cancelled():
            task.exception()  # told by whoever waits

    async def _make(self) -> None:
        try:
            found = await run_ripgrep(
                self._spawner,
                "files",
                ["--files", "--null"],
                root=self._root,
                cwd=self._root,
                separator=b"\0",
                max_records=MAX_FILES,
            )
        except HarnessError as problem:
            self._names, self._note = FileNames(()), problem.what
        else:
            self._names = await asyncio.to_thread(_names_of, found.records)
            self._note = found.more
        self._made_at = self._now()

    def _search(self, names: FileNames, wanted: str, limit: int, turn: int) -> list[str]:
        with self._one_search:
            try:
                return names.best(wanted, limit, lambda: turn == self._latest)
            except Superseded:
                return []

    def _in_folder(self, wanted: str, limit: int) -> list[str]:
        head, slash, start = wanted.rpartition("/")
        start = start.casefold()
        found: list[tuple[bool, bool, str]] = []
        try:
            with os.scandir(expand(head + slash, self._root)) as entries:
                for number, entry in enumerate(entries):
                    if number == _LISTED:
                        break
                    name = entry.name.casefold()
                    if start in name and (start.startswith(".") or not name.startswith(".")):
                        folder = entry.is_dir()
                        path = f"{head}{slash}{entry.name}{'/' if folder else ''}"
                        found.append((not name.startswith(start), not folder, path))
        except (OSError, ValueError, HarnessError):
            return []  # no such folder yet: somebody still types
        return [path for _, _, path in sorted(found)[:limit]]


def _names_of(records: Sequence[bytes]) -> FileNames:
    # A name that is not UTF-8 cannot be written in a message.
    texts = (record.decode("utf-8", "replace").removeprefix("./") for record in records)
    return FileNames(with_folders(text for text in texts if "\ufffd" not in text))
