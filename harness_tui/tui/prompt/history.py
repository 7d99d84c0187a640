"""What was sent before, to be brought back by the arrow keys; the unsent draft is never lost."""

from __future__ import annotations

from typing import Final

MAX_ENTRIES: Final = 500


class PromptHistory:
    """Entries from old to new, and the place in them; past the newest is the draft."""

    def __init__(self) -> None:
        self._entries: list[str] = []
        self._place = 0
        self._draft = ""

    def add(self, text: str) -> None:
        """Remember a sent text; the same one twice in a row is kept once."""
        if text.strip() and (not self._entries or self._entries[-1] != text):
            self._entries.append(text)
            del self._entries[:-MAX_ENTRIES]
        self._place = len(self._entries)
        self._draft = ""

    def older(self, present: str) -> str | None:
        """Return the entry before the present one, ``None`` at the oldest. ``present`` is kept as the draft."""
        if self._place == 0:
            return None
        if self._place == len(self._entries):
            self._draft = present
        self._place -= 1
        return self._entries[self._place]

    def newer(self) -> str | None:
        """Return the entry after the present one, at last the draft; ``None`` when that is shown already."""
        if self._place >= len(self._entries):
            return None
        self._place += 1
        return self._draft if self._place == len(self._entries) else self._entries[self._place]
