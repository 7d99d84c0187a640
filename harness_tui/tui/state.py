"""What the status line and the request bar show of a session, as plain data that the presenter keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness_tui.core.event_parts import QueueItem
    from harness_tui.core.events import PermissionRequested, QuestionAsked


@dataclass(slots=True)
class SessionState:
    """One session at a glance. ``requests`` wait for the person, oldest first.

    ``run_started`` and ``last_event`` are monotonic seconds of this process; ``activity`` is a word or two on what goes
    on. ``context_used`` and ``context_limit`` are tokens.
    """

    session: str = ""
    root: str = ""
    title: str | None = None
    agent: str = ""
    model: str = ""
    mode: str = ""
    run: str | None = None
    running: bool = False
    run_started: float = 0.0
    last_event: float = 0.0
    activity: str = ""
    context_used: int = 0
    context_limit: int | None = None
    cost: float = 0.0
    queue: tuple[QueueItem, ...] = ()
    requests: list[PermissionRequested | QuestionAsked] = field(
        default_factory=list["PermissionRequested | QuestionAsked"]
    )
    titles: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """Session and call to title, for approvals: two subagents may give two calls the same id."""
    _asking: dict[str, str] = field(default_factory=dict[str, str])

    def add_request(self, request: PermissionRequested | QuestionAsked, session: str) -> None:
        """Take a request of ``session``; one about the same call takes the place of the earlier one."""
        if (call := _call_of(request)) is not None:
            self.drop_request(call=(session, call))
        self.requests.append(request)
        self._asking[request.request] = session

    def drop_request(self, request: str | None = None, call: tuple[str, str] | None = None) -> None:
        """Forget a request by its id, or all of a session's call."""
        self.requests = [
            item for item in self.requests if item.request != request and (call is None or self._key_of(item) != call)
        ]

    def title_of(self, request: PermissionRequested | QuestionAsked) -> str:
        """Return the title of the call that a request is about, empty where it is about none."""
        key = self._key_of(request)
        return self.titles.get(key, "") if key is not None else ""

    def _key_of(self, item: PermissionRequested | QuestionAsked) -> tuple[str, str] | None:
        call = _call_of(item)
        return (self._asking.get(item.request, ""), call) if call is not None else None


def _call_of(item: PermissionRequested | QuestionAsked) -> str | None:
    return getattr(item, "call", None)
