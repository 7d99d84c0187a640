"""How a run ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from harness_tui.core.event_parts import RunError

EndReason: TypeAlias = Literal["completed", "cancelled", "failed", "refused", "step_limit"]


@dataclass(frozen=True, slots=True)
class RunEnd:
    """Why a run ended."""

    reason: EndReason
    error: RunError | None = None
