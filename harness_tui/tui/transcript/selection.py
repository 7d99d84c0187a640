"""A part of the transcript that the person marks, with the mouse or by keys, and its text without what frames it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from textual.strip import Strip

from harness_tui.tui.transcript.model import Block
from harness_tui.tui.transcript.search import span_of_cells

MOST_ROWS: Final = 20_000

_FRAME: Final = re.compile(r"(?:[●❯»✚⚑] |! (?=\S)|  )?(?:[│▌] ?)*")
_GOES_ON: Final = "↪"


@dataclass(frozen=True, slots=True)
class Point:
    """A cell of a row of a block; columns count from 0."""

    block: Block
    line: int
    column: int = 0

    @property
    def place(self) -> tuple[int, int, int]:
        """What points are ordered by."""
        return self.block.index, self.line, self.column


@dataclass(frozen=True, slots=True)
class Selection:
    """From ``anchor`` to ``head``, both included; with ``lines`` whole rows."""

    anchor: Point
    head: Point
    lines: bool = False

    @property
    def ends(self) -> tuple[Point, Point]:
        """Both points, the upper one first."""
        first, last = sorted((self.anchor, self.head), key=lambda point: point.place)
        return first, last

    def columns(self, index: int, line: int, width: int) -> tuple[int, int] | None:
        """Return the cells of a row that belong to it: the first, and the one after the last."""
        first, last = self.ends
        if not first.place[:2] <= (index, line) <= last.place[:2]:
            return None
        begin = first.column if (index, line) == first.place[:2] and not self.lines else 0
        end = last.column + 1 if (index, line) == last.place[:2] and not self.lines else width
        return (begin, min(end, width)) if begin < end else None

    def text(self, rows_of: Callable[[int], Sequence[Strip]]) -> str:
        """Return the text without the marks at its left; code that was wrapped is put together again."""
        first, last = self.ends
        found: list[str] = []
        for index in range(first.block.index, last.block.index + 1):
            for line, row in enumerate(rows_of(index)):
                columns = self.columns(index, line, row.cell_length)
                if columns is not None and len(found) < MOST_ROWS:
                    begin, end = span_of_cells(row.text, *columns)
                    _add(found, row.text[begin:end], whole=columns[0] == 0)
        return "\n".join(found).strip("\n")


def _add(found: list[str], text: str, *, whole: bool) -> None:
    text = text.rstrip()
    frame = _FRAME.match(text) if whole else None
    text = text[frame.end() :] if frame is not None else text
    if text.startswith(_GOES_ON) and found:
        found[-1] += text[len(_GOES_ON) :]
    else:
        found.append(text)
