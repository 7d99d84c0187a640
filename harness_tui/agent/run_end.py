"""How a run ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from harness_tui.core.event_parts import RunError

EndReason: TypeAlias = Literal["completed", "cancelled", "failed", "refused", "step_limit"]


@dataclass(frozen=True, slots=True)
class RunEnd:
    """Why a run ended. ``output`` is the value of its answer where a schema was asked for."""

    reason: EndReason
    error: RunError | None = None
    output: Any = None
