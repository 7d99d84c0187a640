"""Which line of which block is where: heights, the place of the reader, following the end. No Textual here.

Blocks are drawn when they come into sight; until then their height is an estimate. The reader's place is a block and a
line in it, so that nothing that changes above moves what is being read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final, Generic, TypeVar

from harness_tui.tui.transcript.model import Block, Changes

Row = TypeVar("Row")

_LEAST_WIDTH: Final = 8


class TranscriptLayout(Generic[Row]):
    """Lays blocks out as rows. ``draw(block, width)`` gives a block's rows, at least one."""

    def __init__(self, draw: Callable[[Block, int], list[Row]]) -> None:
        self._draw = draw
        self._blocks: Sequence[Block] = ()
        self._rows: list[list[Row] | None] = []
        self._heights: list[int] = []
        self._starts: list[int] = [0]
        self._clean_to = 0
        self.width = 80
        self.height = 24
        self.follow = True
        self._reading: Block | None = None
        self._place = 0
        self._offset = 0
        self._seen = 0
        self._grown = False
        self._stale: set[int] = set()

    # --- changes -------------------------------------------------------------------------------------

    def take(self, blocks: Sequence[Block], changes: Changes) -> None:
        """Take what changed in the model."""
        if changes.reset:
            self._rows, self._heights, self.follow = [], [], True
            self._anchor = self._offset = 0
            self._reading, self._stale = None, set()
        self._blocks = blocks
        first = min(changes.first_new, len(self._rows))
        if changes.reset:
            first = 0
        del self._rows[first:], self._heights[first:]
        for index in range(first, len(blocks)):
            self._rows.append(None)
            self._heights.append(self._estimate(blocks[index]))
        for block in changes.touched:
            self._rows[block.index] = None
        self._dirty(first)
        if self.follow:
            self._seen, self._grown = len(blocks), False
        else:
            self._grown = self._grown or first < len(blocks) or bool(changes.touched)
            self._stay()
        self._anchor = min(self._anchor, max(0, len(blocks) - 1))

    def _stay(self) -> None:
        """Keep the reader's place where blocks before it came or went, or the one that is read became several."""
        if (block := self._reading) is None:
            return
        if block.index < len(self._blocks) and self._blocks[block.index] is block:
            self._anchor = block.index
            return
        self._anchor = min(self._anchor, max(0, len(self._blocks) - 1))
        while self._anchor + 1 < len(self._rows) and self._offset >= self._measure(self._anchor):
            self._offset -= self._measure(self._anchor)
            self._anchor += 1

    def resize(self, width: int, height: int) -> None:
        """Take a new size; at a new width every block must be drawn again."""
        self.height = max(1, height)
        width = max(_LEAST_WIDTH, width)
        if width != self.width:
            old, self.width = self.width, width
            self._heights = [max(1, size * old // width) for size in self._heights]
            self._offset = self._offset * old // width
            self._stale |= {index for index, rows in enumerate(self._rows) if rows is not None}
            self.redraw()

    def redraw(self) -> None:
        """Forget what was drawn: styles, colours or folds changed."""
        self._rows = [None] * len(self._rows)
        self._dirty(0)

    def wrap_more(self, count: int) -> bool:
        """Draw a few of the blocks that had been drawn at an earlier width, the nearest first; return whether any is
        left. For idle moments: heights are known again then, so that nothing moves when the reader gets there."""
        self._stale = {index for index in self._stale if index < len(self._rows) and self._rows[index] is None}
        for index in sorted(self._stale, key=lambda index: abs(index - self._anchor))[:count]:
            self._stale.discard(index)
            self._measure(index)
        return bool(self._stale)

    def redraw_block(self, index: int) -> None:
        """Forget what was drawn of one block."""
        self._rows[index] = None

    # --- moving --------------------------------------------------------------------------------------

    def move(self, lines: int) -> None:
        """Move the reader by ``lines``; reaching the end means following it again."""
        if not self._rows:
            return
        if self.follow:
            if lines >= 0:
                return
            self._leave_end()
        self._offset += lines
        while self._offset < 0 and self._anchor > 0:
            self._anchor -= 1
            self._offset += self._measure(self._anchor)
        self._offset = max(0, self._offset)
        while self._offset >= self._measure(self._anchor) and self._anchor + 1 < len(self._rows):
            self._offset -= self._measure(self._anchor)
            self._anchor += 1
        if self._lines_below(self.height) <= self.height:
            self.to_end()

    def to_end(self) -> None:
        """Follow the end."""
        self.follow, self._seen, self._grown = True, len(self._blocks), False

    def to_start(self) -> None:
        """Go to the first line."""
        if self.total > self.height:
            self._leave_end()
            self._anchor = self._offset = 0

    def to_block(self, index: int) -> None:
        """Bring a block into sight; where its first line is seen already, nothing moves."""
        if self.shows(index, 0):
            return
        self.to_line(index, 0)

    def to_line(self, index: int, line: int, *, above: int = 0) -> None:
        """Put a line of a block at the top, or ``above`` lines under it where there are as many before it."""
        self._leave_end()
        self._anchor, self._offset = index, line
        if above:
            self.move(-above)
        if self._lines_below(self.height) <= self.height:
            self.to_end()

    def shows(self, index: int, line: int) -> bool:
        """Tell whether a line of a block is in sight."""
        return any(self.block_at(row) == (index, line) for row in range(self.height))

    def rows_of(self, index: int) -> Sequence[Row]:
        """Return all rows of a block, drawn now where they are not."""
        self._measure(index)
        return self._rows[index] or ()

    def to_share(self, share: float) -> None:
        """Go to a place between 0 (start) and 1 (end)."""
        line = int(share * max(0, self.total - self.height))
        if share >= 1:
            self.to_end()
            return
        self._leave_end()
        starts = self._all_starts()
        self._anchor = max(0, min(len(self._rows) - 1, bisect_right(starts, line) - 1))
        self._offset = line - starts[self._anchor]

    # --- what is in sight ----------------------------------------------------------------------------

    @property
    def total(self) -> int:
        """The number of lines, some of them estimated."""
        return self._all_starts()[-1]

    @property
    def top(self) -> int:
        """The number of the first line in sight."""
        return self._all_starts()[self._anchor] + self._offset if self._rows else 0

    @property
    def new_below(self) -> int:
        """How many blocks came since the reader left the end."""
        return 0 if self.follow else max(0, len(self._blocks) - self._seen)

    @property
    def grown_below(self) -> bool:
        """Whether anything came or changed since the reader left the end."""
        return not self.follow and self._grown

    def visible(self) -> list[Row]:
        """Return the rows in sight, at most ``height``; fewer only when the whole transcript is shorter."""
        if not self._rows:
            return []
        if self.follow:
            self._place_at_end()
        else:
            self._offset = min(self._offset, self._measure(self._anchor) - 1)
        rows: list[Row] = []
        index, skip = self._anchor, self._offset
        while index < len(self._rows) and len(rows) < self.height:
            self._measure(index)
            rows.extend((self._rows[index] or [])[skip : skip + self.height - len(rows)])
            index, skip = index + 1, 0
        return rows

    def in_sight(self) -> range:
        """Return the places of the blocks of which a row is in sight."""
        index, rows = self._anchor, -self._offset
        while index < len(self._rows) and rows < self.height:
            rows += self._measure(index)
            index += 1
        return range(self._anchor, index)

    def block_at(self, row: int) -> tuple[int, int] | None:
        """Return the block and its line at a row in sight."""
        index, line = self._anchor, self._offset + row
        while index < len(self._rows):
            size = self._measure(index)
            if line < size:
                return index, line
            index, line = index + 1, line - size
        return None

    @property
    def _anchor(self) -> int:
        """The block at the top; it is remembered itself, for its place may change."""
        return self._place

    @_anchor.setter
    def _anchor(self, index: int) -> None:
        self._place = index
        self._reading = self._blocks[index] if index < len(self._blocks) else None

    # --- inside --------------------------------------------------------------------------------------

    def _leave_end(self) -> None:
        if self.follow:
            self._place_at_end()
            self.follow, self._seen, self._grown = False, len(self._blocks), False

    def _place_at_end(self) -> None:
        need, index = self.height, len(self._rows)
        while index > 0 and need > 0:
            index -= 1
            need -= self._measure(index)
        self._anchor, self._offset = index, max(0, -need)

    def _lines_below(self, enough: int) -> int:
        """Return the lines from the reader's place to the end, counted up to a little over ``enough``."""
        found = -self._offset
        for index in range(self._anchor, len(self._rows)):
            found += self._measure(index)
            if found > enough:
                break
        return found

    def _measure(self, index: int) -> int:
        """Draw a block where needed and return its height."""
        rows = self._rows[index]
        if rows is None:
            rows = self._rows[index] = self._draw(self._blocks[index], self.width)
            if len(rows) != self._heights[index]:
                self._heights[index] = len(rows)
                self._dirty(index)
        return len(rows)

    def _estimate(self, block: Block) -> int:
        return 2 + block.size // self.width

    def _dirty(self, index: int) -> None:
        self._clean_to = min(self._clean_to, index)

    def _all_starts(self) -> list[int]:
        if self._clean_to < len(self._heights) or len(self._starts) != len(self._heights) + 1:
            keep = min(self._clean_to, len(self._starts) - 1)
            tail = accumulate(self._heights[keep:], initial=self._starts[keep])
            self._starts[keep:] = tail
            self._clean_to = len(self._heights)
        return self._starts
