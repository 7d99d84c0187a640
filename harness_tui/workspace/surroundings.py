"""Events that belong to the workspace, not to a run: states of servers, notices, late diagnostics.

Each is published to every open top-level session, under that session's own number. What happens before the first
session exists is held and follows its start; a later session is first told the present state of every server.
"""

from __future__ import annotations

from collections.abc import Callable

from harness_tui.core.events import Event, ServerChanged

_HELD = 1_000


class Surroundings:
    """The workspace's :class:`~harness_tui.core.seams.EventSink`. Used on the event loop's thread only."""

    def __init__(self) -> None:
        self._sessions: dict[str, Callable[[Event], None]] = {}
        self._held: list[Event] | None = []
        self._servers: dict[tuple[str, str], ServerChanged] = {}

    def emit(self, event: Event) -> None:
        """Publish ``event`` to every open session, or hold it for the first one."""
        if isinstance(event, ServerChanged):
            self._servers[event.kind, event.name] = event
        if self._held is not None and not self._sessions:
            if len(self._held) < _HELD:
                self._held.append(event)
            return
        for publish in tuple(self._sessions.values()):
            publish(event)

    def join(self, session: str, publish: Callable[[Event], None]) -> None:
        """Publish to ``session`` from now on, after what it has to know first."""
        self._sessions[session] = publish
        held, self._held = self._held, None
        for event in held if held is not None else self._servers.values():
            publish(event)

    def leave(self, session: str) -> None:
        """Publish to ``session`` no more."""
        self._sessions.pop(session, None)

    def forget_servers(self) -> None:
        """Drop the states of servers that no longer exist."""
        self._servers.clear()
