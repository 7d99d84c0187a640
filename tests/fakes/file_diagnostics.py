"""A double of the language servers, as the file tools see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from harness_tui.core.errors import HarnessError
from harness_tui.core.values import Verdict


@dataclass
class FakeDiagnostics:
    """Answers every question with ``verdict``, or raises ``error``; notes what it was told, in order."""

    verdict: Verdict = field(default_factory=lambda: Verdict("a.py", "skipped", 0, reason="no server"))
    error: HarnessError | None = None
    told: list[tuple[str, str]] = field(default_factory=list)
    late: list[Verdict] = field(default_factory=list)

    async def touch(self, path: Path) -> None:
        """Note it."""
        self.told.append(("touch", path.name))
        if self.error is not None:
            raise self.error

    async def diagnostics(self, path: Path, wait: float | None) -> Verdict:
        """Note it and answer."""
        self.told.append((f"wait {wait}", path.name))
        return self.verdict

    def take_late(self) -> list[Verdict]:
        """Return ``late`` once."""
        late, self.late = self.late, []
        return late
