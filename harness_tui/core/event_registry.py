"""What makes a class an event: its base, and the one registry from wire name to class."""

from __future__ import annotations

from typing import ClassVar, Final, TypeVar, dataclass_transform

from harness_tui.core.record import record


class Event:
    """The base of every event; ``type`` is its name on the wire."""

    __slots__ = ()
    type: ClassVar[str]


EVENTS: Final[dict[str, type[Event]]] = {}
"""The one registry: wire name to class."""

E = TypeVar("E", bound=Event)


@dataclass_transform(frozen_default=True)
def event(cls: type[E]) -> type[E]:
    """Make ``cls`` a frozen value and register it under its ``type``."""
    made = record(cls)
    EVENTS[made.type] = made
    return made
