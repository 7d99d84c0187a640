"""Large pastes: shown as a chip in the prompt, sent whole."""

from __future__ import annotations

from typing import Final

CHIP_LINES: Final = 10
"""A paste with more lines than this becomes a chip,"""
CHIP_CHARS: Final = 2_000
"""and so does one with more characters than this."""


class PasteShelf:
    """Keeps pasted texts by the chip that stands for them."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def shelve(self, text: str) -> str:
        """Return what to insert for a paste: the text itself, or a chip that stands for it."""
        lines = text.count("\n") + 1
        if lines <= CHIP_LINES and len(text) <= CHIP_CHARS:
            return text
        size = f"{lines} lines" if lines > CHIP_LINES else f"{len(text):,} characters"
        chip = f"[pasted {size} #{len(self._texts) + 1}]"
        self._texts[chip] = text
        return chip

    def expand(self, text: str) -> str:
        """Return ``text`` with every chip replaced by what it stands for, once and without looking into pastes."""
        parts: list[str] = []
        while text:
            found = min(((text.find(chip), chip) for chip in self._texts if chip in text), default=None)
            if found is None:
                break
            place, chip = found
            parts += [text[:place], self._texts[chip]]
            text = text[place + len(chip) :]
        return "".join([*parts, text])
