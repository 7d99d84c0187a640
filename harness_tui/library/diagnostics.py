"""What is wrong with a command or skill file: one value and one wording for lists, checks and notices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from harness_tui.core.events import Notice
from harness_tui.core.record import record

Level: TypeAlias = Literal["error", "warning", "info"]

TOLD: Final = 20
"""As many warnings and remarks of one file are told."""


@record
class Diagnostic:
    """One finding. ``line`` counts from 1; ``code`` is a stable word; an ``error`` makes the file unusable."""

    path: str
    line: int
    code: str
    message: str
    level: Level = "warning"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.code}: {self.message}"

    def to_notice(self) -> Notice:
        """Return the event that shows this finding in a session."""
        return Notice(self.level, "library", f"{self.path}:{self.line}: {self.message}")


@dataclass(slots=True)
class Findings:
    """Collects the diagnostics of one file."""

    path: str
    items: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def warn(self, line: int, code: str, message: str) -> None:
        """Add a warning: the file can be used, a part of it was not taken as written."""
        self.items.append(Diagnostic(self.path, line, code, message))

    def error(self, line: int, code: str, message: str) -> None:
        """Add an error: the file cannot be used."""
        self.items.append(Diagnostic(self.path, line, code, message, "error"))

    def info(self, line: int, code: str, message: str) -> None:
        """Add a remark."""
        self.items.append(Diagnostic(self.path, line, code, message, "info"))

    def extend(self, items: Iterable[Diagnostic]) -> None:
        """Add diagnostics made elsewhere."""
        self.items.extend(items)

    def told(self) -> tuple[Diagnostic, ...]:
        """Return what is told: every error, the first :data:`TOLD` of the rest, and how many were left out."""
        errors = [item for item in self.items if item.level == "error"]
        others = [item for item in self.items if item.level != "error"]
        left = others[TOLD:]
        if not left:
            return tuple(self.items)
        more = Diagnostic(self.path, left[0].line, "more", f"{len(left)} more findings in this file are not told")
        return (*errors, *others[:TOLD], more)
