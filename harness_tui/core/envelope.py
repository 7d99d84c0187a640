"""The number of an event: what makes it one of a stream, and its form on the wire."""

from __future__ import annotations

from typing import Any

from harness_tui.core.codec import CodecError, decode, encode
from harness_tui.core.events import EVENTS, Event
from harness_tui.core.record import record


@record
class Envelope:
    """An event with its number. ``first_seq`` is set on merged deltas: ``seq`` is that of the last part."""

    seq: int
    time: str
    session: str
    event: Event
    run: str | None = None
    first_seq: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the wire object."""
        head: dict[str, Any] = {"type": self.event.type, "seq": self.seq, "time": self.time, "session": self.session}
        if self.run is not None:
            head["run"] = self.run
        if self.first_seq is not None:
            head["first_seq"] = self.first_seq
        return head | encode(self.event)


def envelope_from_json(data: dict[str, Any]) -> Envelope | None:
    """Read a wire object; ``None`` for a type that this version does not know. Raises ``CodecError``."""
    name = data.get("type")
    if not isinstance(name, str):
        raise CodecError("type is missing", where="event")
    cls = EVENTS.get(name)
    if cls is None:
        return None
    head = decode(_Head, data, name)
    return Envelope(head.seq, head.time, head.session, decode(cls, data, name), head.run, head.first_seq)


@record
class _Head:
    seq: int
    time: str
    session: str
    run: str | None = None
    first_seq: int | None = None
