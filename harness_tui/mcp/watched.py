"""Which resources of one server are watched. It outlives a connection: the next one is told of them again."""

from __future__ import annotations

import asyncio
from typing import Final

MAX_WATCHED: Final = 50
"""How many resources of one server are watched, the latest."""


class Watched:
    """The addresses, and which of them changed since they were read; a change is told once until it is read again."""

    def __init__(self) -> None:
        self.version = 0
        self._uris: dict[str, bool] = {}
        self._more = asyncio.Event()

    @property
    def active(self) -> bool:
        """Whether anything is watched."""
        return bool(self._uris)

    def read(self, uri: str) -> None:
        """Note that ``uri`` was read: it is watched from now on, and its next change is told."""
        fresh = uri not in self._uris
        self._uris.pop(uri, None)
        self._uris[uri] = False
        if len(self._uris) > MAX_WATCHED:
            del self._uris[next(iter(self._uris))]
        if fresh:
            self.version += 1
            more, self._more = self._more, asyncio.Event()
            more.set()

    def change(self, uri: str) -> bool:
        """Note that ``uri``, or something below it, changed; tell whether that is news."""
        mine = next((one for one in self._uris if uri == one or uri.startswith(f"{one.rstrip('/')}/")), None)
        if mine is None or self._uris[mine]:
            return False
        self._uris[mine] = True
        return True

    async def any(self) -> tuple[list[str], int]:
        """Wait until something is watched; return all of it, and the version of that list."""
        while not self._uris:
            await self._more.wait()
        return list(self._uris), self.version

    async def changed(self, version: int) -> None:
        """Wait until the list is another one than that of ``version``."""
        while self.version == version:
            await self._more.wait()
