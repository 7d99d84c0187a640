"""What was sent before, to be brought back by the arrow keys; the unsent draft is never lost."""

from __future__ import annotations

from collections.abc import Sequence
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

    @property
    def entries(self) -> tuple[str, ...]:
        """What is remembered, from old to new."""
        return tuple(self._entries)

    def put_before(self, texts: Sequence[str]) -> None:
        """Take older texts, from old to new, of which the newest stand right before what is remembered."""
        known: list[str] = []
        for text in texts:
            if text.strip() and text != (known[-1] if known else None):
                known.append(text)
        room = MAX_ENTRIES - len(self._entries)
        older = known[-room:] if room > 0 else []
        self._entries[:0] = older
        self._place += len(older)

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
