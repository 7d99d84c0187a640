"""Results that come after the call that asked for them is over: work that a server goes on with by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from harness_tui.core.calls import ToolContext, ToolResult
from harness_tui.core.record import record


@record
class LateWork:
    """Work that an earlier process began for the call ``call`` of ``tool``. ``state`` is its source's own."""

    call: str
    tool: str
    server: str
    state: Any = None


class LateResults(Protocol):
    """Where such work goes on."""

    def left_over(self, session_dir: Path) -> Sequence[LateWork]:
        """Return what an earlier process of a session left going on. Blocking: reads files."""
        ...

    async def result(self, work: LateWork, context: ToolContext) -> ToolResult:
        """Wait for the end of ``work`` and return its result, its failure too. A cancel leaves it going on."""
        ...

    def delivered(self, work: LateWork, session_dir: Path) -> None:
        """Forget ``work``, whose result is in the record. Blocking."""
        ...
