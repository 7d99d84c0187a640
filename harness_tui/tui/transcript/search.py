"""Search over everything that a transcript holds, folded or not, a slice of time after the other."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rich.cells import split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from harness_tui.tui.transcript.blocks import MarkdownBlock
from harness_tui.tui.transcript.model import Block
from harness_tui.tui.transcript.texts import searched_text

SLICE_S: Final = 0.004
"""So long one slice takes: a key waits no longer for it."""

MOST_MATCHES: Final = 20_000
"""A search for less than a word stops there, and says so: nobody goes through more, and each takes memory."""

_MARKUP: Final = re.compile(r"[*_`~]")
_FOUND: Final = Style(reverse=True)
_CURRENT: Final = Style(reverse=True, bold=True, underline=True)


@dataclass(frozen=True, slots=True)
class Match:
    """The ``nth`` place (from 0) in ``block`` where the text stands."""

    block: Block
    nth: int


class Search:
    """One text that is looked for. Letters of either case fit, unless the text has a capital.

    ``matches`` are in the order of the blocks; :meth:`advance` finds more of them until :attr:`done`.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        flags = re.IGNORECASE if text == text.lower() else re.NOFLAG
        self.pattern = re.compile(re.escape(text), flags)
        self.matches: list[Match] = []
        self.current: int | None = None
        self._next = 0
        self._plain = not _MARKUP.search(text)

    def advance(self, blocks: Sequence[Block], budget: float = SLICE_S) -> bool:
        """Look on for ``budget`` seconds; return whether everything has been looked at."""
        end = time.monotonic() + budget
        while not self.done(blocks):
            block = blocks[self._next]
            self.matches += (Match(block, nth) for nth in range(self._count(block)))
            self._next += 1
            if time.monotonic() >= end:
                break
        return self.done(blocks)

    def look_again(self, first: int) -> None:
        """Forget what was found from the block ``first`` on: those blocks are new."""
        if first < self._next:
            present = self.present
            self._next = first
            self.matches = [match for match in self.matches if match.block.index < first]
            kept = present is not None and present in self.matches
            self.current = self.matches.index(present) if kept and present else None

    def done(self, blocks: Sequence[Block]) -> bool:
        """Whether everything has been looked at, or enough was found."""
        return self.is_full or self._next >= len(blocks)

    @property
    def is_full(self) -> bool:
        """Whether it stopped because there is too much."""
        return len(self.matches) >= MOST_MATCHES

    @property
    def present(self) -> Match | None:
        """The match that the reader is at."""
        return self.matches[self.current] if self.current is not None and self.current < len(self.matches) else None

    def begin(self, index: int) -> None:
        """Go to the last match in or before the block at ``index``; where there is none, to the first."""
        if self.matches:
            before = sum(match.block.index <= index for match in self.matches)
            self.current = max(0, before - 1)

    def step(self, way: int) -> None:
        """Go to the next match, round the ends."""
        if self.matches:
            self.current = 0 if self.current is None else (self.current + way) % len(self.matches)

    def _count(self, block: Block) -> int:
        text = searched_text(block)
        found = len(self.pattern.findall(text))
        if not found and self._plain and isinstance(block, MarkdownBlock):
            found = len(self.pattern.findall(_MARKUP.sub("", text)))  # the marks stand within what is read
        return found

    def row_of(self, rows: Sequence[Strip], nth: int) -> int | None:
        """Return the row of a block in which its ``nth`` match stands, the last one where fewer are in sight."""
        places = [y for y, row in enumerate(rows) for _ in self.pattern.finditer(row.text)]
        return places[min(nth, len(places) - 1)] if places else None

    def show(self, row: Strip, *, current: bool) -> Strip:
        """Return a row with its matches highlighted."""
        return marked_ranges(row, [match.span() for match in self.pattern.finditer(row.text)], current=current)


def marked_ranges(row: Strip, ranges: Sequence[tuple[int, int]], *, current: bool = False) -> Strip:
    """Return a row with ranges of its characters, in rising order, reversed.

    By characters, not by cells: cut at a cell, a character that takes none is lost or counted twice.
    """
    if not ranges:
        return row
    style = _CURRENT if current else _FOUND
    edges = [edge for span in ranges for edge in span]
    segments: list[Segment] = []
    start = 0
    for text, under, _ in row:
        end = start + len(text)
        for a, b in pairwise([start, *(edge for edge in edges if start < edge < end), end]):
            found = any(first <= a < last for first, last in ranges)
            segments.append(Segment(text[a - start : b - start], (under or Style.null()) + style if found else under))
        start = end
    return Strip(segments, row.cell_length)


def span_of_cells(text: str, first: int, last: int) -> tuple[int, int]:
    """Return the characters that stand in the cells from ``first`` up to ``last``; clusters stay whole."""
    if text.isascii():
        return min(first, len(text)), min(last, len(text))
    begin, end, cell = len(text), len(text), 0
    for start, _, size in split_graphemes(text)[0]:
        if begin == len(text) and cell + size > first:
            begin = start
        if cell >= last:
            end = start
            break
        cell += size
    return begin, max(begin, end)
