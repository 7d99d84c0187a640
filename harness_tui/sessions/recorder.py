"""Writes one live session's stream: quick to listen, durable when asked.

The listener only puts events into memory and joins deltas. They go to the disk every 250 ms at most, in a thread, and
at once for :meth:`Recorder.commit`, which the agent awaits before the first tool of a step starts.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Protocol

from harness_tui.core.bus import merge
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import RunStarted
from harness_tui.core.limits import EVENT_MERGE_S


class Appends(Protocol):
    """The part of the store that a recorder writes to."""

    def append(self, session: str, envelopes: Sequence[Envelope]) -> None:
        """Write events in one transaction; durable on return. Raises ``HarnessError``."""
        ...


class Recorder:
    """Records the session ``session``. ``on_error`` is told at once of a write that failed in the background.

    Attach it with ``stream.listen(recorder.listener)``. What could not be written stays in memory and is tried again at
    the next write. A failure is raised by one ``commit`` of a run only, so that a run that ends because of it can end
    in peace; the next ``run_started`` arms it again.
    """

    def __init__(
        self,
        store: Appends,
        session: str,
        *,
        interval: float = EVENT_MERGE_S,
        on_error: Callable[[HarnessError], None] | None = None,
    ) -> None:
        self._store = store
        self._session = session
        self._interval = interval
        self._on_error = on_error
        self._pending: list[Envelope] = []
        self._turn = asyncio.Lock()
        self._writing: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._error: HarnessError | None = None
        self._raised = False
        self._closed = False

    @property
    def failure(self) -> HarnessError | None:
        """Why the record is behind, ``None`` while everything can be written."""
        return self._error

    def listener(self, envelope: Envelope) -> None:
        """Take an event of the stream. Never waits, never raises."""
        if isinstance(envelope.event, RunStarted):
            self._raised = False
        joined = merge(self._pending[-1], envelope) if self._pending else None
        if joined is not None:
            self._pending[-1] = joined
        else:
            self._pending.append(envelope)
        self._arm()

    async def commit(self) -> None:
        """Write everything that was listened to so far; durable on return. Raises ``HarnessError`` once per run.

        When the awaiting task is cancelled the write goes on by itself.
        """
        async with self._turn:
            if self._writing is not None and not self._writing.done():
                await asyncio.shield(self._writing)
            if self._pending:
                await asyncio.shield(self._start())
        if self._error is not None and not self._raised:
            self._raised = True
            raise self._error

    async def close(self) -> None:
        """Write what is left and stop. Raises ``HarnessError`` when it cannot be written and no commit said so."""
        self._closed = True
        self._disarm()
        await self.commit()

    def _arm(self) -> None:
        if self._timer is None and not self._closed:
            with contextlib.suppress(RuntimeError):  # without a running loop the next commit writes
                self._timer = asyncio.get_running_loop().call_later(self._interval, self._flush)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _flush(self) -> None:
        self._timer = None
        if self._writing is not None and not self._writing.done():
            self._arm()
        elif self._pending:
            self._start()

    def _start(self) -> asyncio.Task[None]:
        self._disarm()
        batch, self._pending = self._pending, []
        self._writing = asyncio.get_running_loop().create_task(self._write(batch), name=f"record {self._session}")
        return self._writing

    async def _write(self, batch: list[Envelope]) -> None:
        try:
            await asyncio.to_thread(self._store.append, self._session, batch)
        except HarnessError as error:
            first, self._error = self._error is None, error
            self._pending = batch + self._pending
            if first and self._on_error is not None:
                self._on_error(error)
        else:
            self._error = None
