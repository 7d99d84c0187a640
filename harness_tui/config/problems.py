"""Faults found in files: what is wrong, where, and how to mend it. One is never a reason to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from harness_tui.core.record import record

if TYPE_CHECKING:
    from harness_tui.core.events import Notice

Level: TypeAlias = Literal["info", "warning", "error"]


@record
class Problem:
    """One fault. ``where`` is ``file:line`` (or a file, or a variable), ``code`` a stable word for programs."""

    where: str
    code: str
    message: str
    mend: str | None = None
    level: Level = "error"

    def to_notice(self) -> Notice:
        """Return the event that shows this fault in a session."""
        from harness_tui.core.events import Notice

        return Notice(level=self.level, source="config", text=f"{self.where}: {self.message}", hint=self.mend)

    def to_json(self) -> dict[str, Any]:
        """Return ``{level, code, where, message, mend}``."""
        return {
            "level": self.level,
            "code": self.code,
            "where": self.where,
            "message": self.message,
            "mend": self.mend,
        }

    def __str__(self) -> str:
        text = f"{self.where}: {self.level}: {self.message}"
        return f"{text} ({self.mend})" if self.mend else text
