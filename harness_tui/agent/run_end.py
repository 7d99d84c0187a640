"""How a run ends."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from harness_tui.core.event_parts import RunError
from harness_tui.core.record import record

EndReason: TypeAlias = Literal["completed", "cancelled", "failed", "refused", "step_limit"]


@record
class RunEnd:
    """Why a run ended. ``output`` is the value of its answer where a schema was asked for."""

    reason: EndReason
    error: RunError | None = None
    output: Any = None
