"""Large pastes: a chip in the prompt, opened and edited there, sent whole. And paths of images, dropped there."""

from __future__ import annotations

import os
import shlex
from typing import Final
from urllib.parse import unquote

from harness_tui.core.late_pattern import late_pattern
from harness_tui.library.mentions import mention_of

CHIP_LINES: Final = 10
"""A paste with more lines than this becomes a chip,"""
CHIP_CHARS: Final = 2_000
"""and so does one with more characters than this."""
OPEN_CHARS: Final = 100_000
"""A chip of more than this is not opened in the prompt, which would be slow; the editor has it."""
KEPT_CHARS: Final = 64_000_000
"""So much of pastes is kept for messages that are brought back."""

_CHIP: Final = late_pattern(r"\[pasted [0-9,]+ (?:lines|characters) #\d+\]")
_IMAGES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")
_PATH_CHARS: Final = 4_096


class PasteShelf:
    """Keeps pasted texts by the chip that stands for them, also after they were sent: a message may come back."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._count = 0

    def shelve(self, text: str) -> str:
        """Return what to insert for a paste: the text itself, or a chip that stands for it."""
        lines = text.count("\n") + 1
        if lines <= CHIP_LINES and len(text) <= CHIP_CHARS:
            return text
        size = f"{lines} lines" if lines > CHIP_LINES else f"{len(text):,} characters"
        self._count += 1
        chip = f"[pasted {size} #{self._count}]"
        self._texts[chip] = text
        kept = sum(map(len, self._texts.values()))
        while kept > KEPT_CHARS and len(self._texts) > 1:
            kept -= len(self._texts.pop(next(iter(self._texts))))
        return chip

    def text_of(self, chip: str) -> str | None:
        """Return what a chip stands for."""
        return self._texts.get(chip)

    def chip_at(self, line: str, column: int) -> tuple[int, int, str] | None:
        """Return start, end and text of the chip in ``line`` that ``column`` is in, or at an end of."""
        for match in _CHIP.finditer(line):
            if match.start() <= column <= match.end() and match.group() in self._texts:
                return match.start(), match.end(), match.group()
        return None

    def expand(self, text: str) -> str:
        """Return ``text`` with every chip replaced by what it stands for, once and without looking into pastes."""
        return _CHIP.sub(lambda match: self._texts.get(match.group(), match.group()), text)


def dropped_images(text: str) -> str | None:
    """Return the mentions of images whose paths were pasted, as terminals write files that are dropped on them.

    ``None`` for any other text: a path to talk about stays one.
    """
    text = text.strip()
    if not text or len(text) > _PATH_CHARS or "\n" in text:
        return None
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    if not all(word.startswith(("/", "~/", "file:///")) and word.casefold().endswith(_IMAGES) for word in words):
        words = [text]  # blanks that are not escaped
        if not (text.startswith(("/", "~/")) and text.casefold().endswith(_IMAGES)):
            return None
    found: list[str] = []
    for word in words:
        path = unquote(word.removeprefix("file://")) if word.startswith("file://") else os.path.expanduser(word)
        mention = mention_of(path) if os.path.isfile(path) else None  # noqa: PTH113 - false for a name that is too long
        if mention is None:
            return None
        found.append(mention)
    return " ".join(found)
