"""The numbered stream of one session, and its subscriptions.

:class:`EventStream` numbers events and hands them on. A raw subscription sees every event; a merged one
sees deltas of the same kind and run joined. Subscriptions are bounded: a raw reader that falls behind is
switched to merged and told by nothing but ``first_seq``; one that falls behind even so is closed with
:class:`LaggedError`, and reads on from the record. Publishing never waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from harness_tui.core.clock import SystemClock, rfc3339
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import DELTAS, Event, ReasoningDelta, TextDelta
from harness_tui.core.limits import MERGED_SUBSCRIPTION_EVENTS, RAW_SUBSCRIPTION_EVENTS
from harness_tui.core.seams import Clock

Listener: TypeAlias = Callable[[Envelope], None]


class LaggedError(HarnessError):
    """A reader was too slow even for the merged stream. ``after_seq`` is the last event that it was given."""

    def __init__(self, after_seq: int) -> None:
        super().__init__(
            "this reader fell too far behind", mend=f"read the record after seq {after_seq}", code="lagged"
        )
        self.after_seq = after_seq


def merge(first: Envelope, second: Envelope) -> Envelope | None:
    """Join two deltas of the same kind, session and run; ``None`` when they do not join."""
    if first.session != second.session or first.run != second.run:
        return None
    match first.event, second.event:
        case TextDelta(text=head), TextDelta(text=tail):
            event: Event = TextDelta(head + tail)
        case ReasoningDelta(text=head), ReasoningDelta(text=tail):
            event = ReasoningDelta(head + tail)
        case _:
            return None
    return replace(second, event=event, first_seq=first.first_seq or first.seq)


class Subscription:
    """One reader: an asynchronous iterator of envelopes, closed by :meth:`close` or by the end of the stream."""

    def __init__(self, owner: EventStream, *, merged: bool, limit: int, merged_limit: int) -> None:
        self._owner = owner
        self._queue: deque[Envelope] = deque()
        self._ready = asyncio.Event()
        self._merged = merged
        self._limit = limit
        self._merged_limit = merged_limit
        self._closed = False
        self._lagged = False
        self._last_seq = 0

    @property
    def merged(self) -> bool:
        """Whether deltas are joined, by choice or because the reader was slow."""
        return self._merged

    def offer(self, envelope: Envelope) -> None:
        """Take an event; called by the stream only."""
        if self._closed:
            return
        if not self._merged and len(self._queue) >= self._limit:
            self._join_all()
        joined = merge(self._queue[-1], envelope) if self._merged and self._queue else None
        if joined is not None:
            self._queue[-1] = joined
        elif len(self._queue) >= self._merged_limit:
            self._lagged = True
            self.close()
        else:
            self._queue.append(envelope)
        self._ready.set()

    def _join_all(self) -> None:
        self._merged = True
        joined: deque[Envelope] = deque()
        for envelope in self._queue:
            both = merge(joined[-1], envelope) if joined else None
            if both is None:
                joined.append(envelope)
            else:
                joined[-1] = both
        self._queue = joined

    def close(self) -> None:
        """Take no more events; those already taken can still be read."""
        self._closed = True
        self._owner.drop(self)
        self._ready.set()

    def take(self) -> list[Envelope]:
        """Return everything that waits, without waiting."""
        taken = list(self._queue)
        self._queue.clear()
        if taken:
            self._last_seq = taken[-1].seq
        if not self._closed:
            self._ready.clear()
        return taken

    async def wait(self) -> None:
        """Wait until there is something to take, or the subscription is closed."""
        await self._ready.wait()

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Envelope:
        while not self._queue:
            if self._lagged:
                raise LaggedError(self._last_seq)
            if self._closed:
                raise StopAsyncIteration
            self._ready.clear()
            await self._ready.wait()
        envelope = self._queue.popleft()
        self._last_seq = envelope.seq
        return envelope


class EventStream:
    """Numbers the events of one session, starting after ``last_seq``.

    Listeners are called in line and must be quick; they are for the record. Readers subscribe.
    """

    def __init__(self, session: str, *, clock: Clock | None = None, last_seq: int = 0) -> None:
        self.session = session
        self._clock = clock or SystemClock()
        self._seq = last_seq
        self._listeners: list[Listener] = []
        self._subscriptions: list[Subscription] = []
        self._closed = False

    @property
    def last_seq(self) -> int:
        """The number of the latest event."""
        return self._seq

    def publish(self, event: Event, *, run: str | None = None) -> Envelope:
        """Number ``event`` and hand it on. Never waits."""
        self._seq += 1
        envelope = Envelope(self._seq, rfc3339(self._clock.now()), self.session, event, run)
        for listener in self._listeners:
            listener(envelope)
        self._hand_on(envelope)
        return envelope

    def forward(self, envelope: Envelope) -> None:
        """Hand on an event of a subagent's session as it is: readers see it, this session's record does not."""
        self._hand_on(envelope)

    def _hand_on(self, envelope: Envelope) -> None:
        for subscription in tuple(self._subscriptions):
            subscription.offer(envelope)

    def listen(self, listener: Listener) -> None:
        """Call ``listener`` for every event of this session."""
        self._listeners.append(listener)

    def subscribe(
        self,
        *,
        merged: bool = False,
        limit: int = RAW_SUBSCRIPTION_EVENTS,
        merged_limit: int = MERGED_SUBSCRIPTION_EVENTS,
    ) -> Subscription:
        """Return a reader of everything published from now on."""
        subscription = Subscription(self, merged=merged, limit=limit, merged_limit=merged_limit)
        if self._closed:
            subscription.close()
        else:
            self._subscriptions.append(subscription)
        return subscription

    def drop(self, subscription: Subscription) -> None:
        """Forget a reader; called by the reader only."""
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    def close(self) -> None:
        """End every subscription."""
        self._closed = True
        for subscription in tuple(self._subscriptions):
            subscription.close()


__all__ = ["DELTAS", "EventStream", "LaggedError", "Listener", "Subscription", "merge"]
