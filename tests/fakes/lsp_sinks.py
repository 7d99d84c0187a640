"""Doubles around language servers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from harness_tui.core.events import Event

E = TypeVar("E", bound=Event)


class FakeEventSink:
    """Keeps every event, and lets a test wait for one."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._new = asyncio.Event()

    def emit(self, event: Event) -> None:
        """Keep ``event``."""
        self.events.append(event)
        self._new.set()

    def of(self, kind: type[E]) -> list[E]:
        """Return the events of one kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    async def wait_for(self, kind: type[E], fits: Callable[[E], bool] = lambda _: True, timeout: float = 10.0) -> E:
        """Return the first event of ``kind`` that fits, waiting for it."""
        async with asyncio.timeout(timeout):
            while True:
                for event in self.of(kind):
                    if fits(event):
                        return event
                self._new.clear()
                await self._new.wait()
