"""What all servers of one pool share: how processes start, where connections may go, who is asked and who is told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness_tui.core.record import record
from harness_tui.core.seams import ProcessSpawner
from harness_tui.egress.egress import Egress

if TYPE_CHECKING:
    from harness_tui.mcp.listing import Listing
    from harness_tui.mcp.people import People
    from harness_tui.mcp.supervisor import Supervisor
    from harness_tui.mcp.token_store import TokenStore


@record
class Means:
    """``root`` is the project root, absolute."""

    spawner: ProcessSpawner
    egress: Egress
    root: Path
    people: People
    logins: TokenStore


class SupervisorEvents(Protocol):
    """Who wants to know what a server does. Called on the loop, must be quick."""

    def state_changed(self, supervisor: Supervisor) -> None:
        """State or reason changed."""
        ...

    def listing_changed(self, supervisor: Supervisor, before: Listing | None) -> None:
        """What the server offers is known, or changed."""
        ...

    def resource_changed(self, supervisor: Supervisor, uri: str) -> None:
        """A resource that was read is another one by now; told once until it is read again."""
        ...

    def remarked(self, supervisor: Supervisor, text: str) -> None:
        """The server does something odd that a person should know of."""
        ...
