"""Who uses a server now, and for how long nobody did: one that nobody uses any more need not run.

A server is one process for all sessions and subagents of a project. Each request holds it while it is under way; when
the last one is done a clock runs, and at its end the server may be ended. Its tools stay known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Use:
    """Counts those who hold the server. ``unused`` is called when nobody did for ``seconds``; 0 is never."""

    def __init__(self, seconds: float, unused: Callable[[], None]) -> None:
        self._seconds = seconds
        self._unused = unused
        self._clock: asyncio.TimerHandle | None = None
        self.holders = 0

    @contextmanager
    def hold(self) -> Generator[None]:
        """Hold the server for the block."""
        self.holders += 1
        self.close()
        try:
            yield
        finally:
            self.holders -= 1
            self.wait()

    def wait(self) -> None:
        """Begin to wait for the next holder, where nobody is."""
        self.close()
        if self._seconds and not self.holders:
            self._clock = asyncio.get_running_loop().call_later(self._seconds, self._unused)

    def close(self) -> None:
        """Wait no longer."""
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None
