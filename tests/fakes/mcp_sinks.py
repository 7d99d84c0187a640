"""Sinks that keep what they are given."""

from __future__ import annotations

from typing import Any, TypeVar

from harness_tui.core.events import Event, Notice, ServerChanged

E = TypeVar("E", bound=Event)


class FakeSink:
    """An ``EventSink`` that keeps events."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def states(self, server: str) -> list[str]:
        return [event.state for event in self.of(ServerChanged) if event.name == server]

    def notices(self, level: str) -> list[str]:
        return [event.text for event in self.of(Notice) if event.level == level]


class FakeAudit:
    """An ``AuditSink`` that keeps records."""

    def __init__(self) -> None:
        self.records: list[tuple[str, dict[str, Any]]] = []

    def record(self, kind: str, **fields: Any) -> None:
        self.records.append((kind, fields))
