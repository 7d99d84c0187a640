"""What all servers of one pool share: how processes start, where connections may go, who is asked, where logins are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness_tui.core.record import record
from harness_tui.core.seams import ProcessSpawner
from harness_tui.egress.egress import Egress

if TYPE_CHECKING:
    from harness_tui.mcp.people import People
    from harness_tui.mcp.token_store import TokenStore


@record
class Means:
    """``root`` is the project root, absolute."""

    spawner: ProcessSpawner
    egress: Egress
    root: Path
    people: People
    logins: TokenStore
