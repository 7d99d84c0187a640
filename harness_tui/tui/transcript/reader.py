"""What a person does in the transcript besides scrolling: a mark on blocks, a search, a selection.

The mark is a cursor on blocks. While it is on (:attr:`TranscriptReader.on`), letters are keys; otherwise they belong to
the prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.style import Style
from textual.strip import Strip

from harness_tui.tui.transcript.blocks import UserBlock
from harness_tui.tui.transcript.layout import TranscriptLayout
from harness_tui.tui.transcript.model import Block
from harness_tui.tui.transcript.search import Search, marked_ranges, span_of_cells
from harness_tui.tui.transcript.selection import Point, Selection

_MARK: Final = Style(reverse=True)
_ABOVE: Final = 3
"""Lines that stay in sight over a match."""


class TranscriptReader:
    """The reader of one layout. ``blocks`` is the model's list, which others change."""

    def __init__(self, layout: TranscriptLayout[Strip], blocks: Sequence[Block]) -> None:
        self.on = False
        self.search: Search | None = None
        self.selection: Selection | None = None
        self._layout = layout
        self._blocks = blocks
        self._marked: Block | None = None
        self._before: tuple[Block | None, int, bool] | None = None
        self._unfolded: list[Block] = []

    def use(self, blocks: Sequence[Block]) -> None:
        """Read another model."""
        self._blocks = blocks
        self.on, self.search, self.selection, self._marked, self._before = False, None, None, None, None
        self._unfolded.clear()

    def take(self, first_new: int) -> None:
        """The blocks from ``first_new`` on are new."""
        if self.search is not None:
            self.search.look_again(first_new)
        if (chosen := self.selection) is not None and not all(
            self._is_there(point.block) for point in (chosen.anchor, chosen.head)
        ):
            self.selection = None

    def _is_there(self, block: Block) -> bool:
        return block.index < len(self._blocks) and self._blocks[block.index] is block

    # --- the mark ------------------------------------------------------------------------------------

    @property
    def marked(self) -> Block | None:
        """The marked block, unless it has left the model."""
        return self._marked if self._marked is not None and self._is_there(self._marked) else None

    def mark(self, block: Block) -> None:
        """Put the mark on a block."""
        self._marked = block

    def begin(self) -> None:
        """Put the mark on the last block in sight, where there is none."""
        self.on = True
        if self.marked is None or not self._layout.shows(self.marked.index, 0):
            places = (self._layout.block_at(row) for row in reversed(range(self._layout.height)))
            if (last := next((place for place in places if place is not None), None)) is not None:
                self._go_to(last[0])

    def step(self, way: int) -> None:
        """Go to the next block in the direction of ``way``; the first time to the last one in sight."""
        if not self.on or self.marked is None:
            self.begin()
        elif 0 <= (index := self.marked.index + way) < len(self._blocks):
            self._go_to(index)

    def step_turn(self, way: int) -> None:
        """Go to the message of the person before or after the place of the reader; after the last one to the end."""
        top = self._layout.block_at(0)
        if top is None:
            return
        here = top[0] if top[1] or way > 0 else top[0] - 1
        if self.on and self.marked is not None:
            here = self.marked.index + (way if way > 0 else -1)
        elif way > 0:
            here += 1
        while 0 <= here < len(self._blocks):
            block = self._blocks[here]
            if isinstance(block, UserBlock) and block.origin == "prompt":
                self._marked = block
                self._layout.to_line(here, 0)
                return
            here += way
        if way > 0:
            self._layout.to_end()

    def _go_to(self, index: int) -> None:
        self._marked = self._blocks[index]
        self._layout.to_block(index)

    # --- search --------------------------------------------------------------------------------------

    def find(self, text: str) -> None:
        """Look for ``text``; nothing for an empty one. The reader's place is kept for :meth:`leave_search`."""
        if self._before is None:
            top = self._layout.block_at(0)
            block = self._blocks[top[0]] if top is not None else None
            self._before = (block, top[1] if top is not None else 0, self._layout.follow)
        self._fold_again()
        self.search = Search(text) if text else None

    def advance(self) -> bool:
        """Search for a moment; return whether there is more to do. The first time that all is known, go to a match."""
        if self.search is None:
            return False
        if not self.search.advance(self._blocks):
            return True
        if self.search.current is None and self.search.matches:
            below = self._layout.block_at(self._layout.height - 1)
            self.search.begin(below[0] if below is not None else len(self._blocks))
            self.show_match()
        return False

    def step_match(self, way: int) -> None:
        """Go to the next match."""
        if self.search is not None:
            self.search.step(way)
            self.show_match()

    def show_match(self) -> None:
        """Bring the present match into sight; a block that hides it is unfolded."""
        match = self.search.present if self.search is not None else None
        if self.search is None or match is None:
            return
        block = self._marked = match.block
        row = self._row_of(block, match.nth)
        shown = sum(len(self.search.pattern.findall(strip.text)) for strip in self._layout.rows_of(block.index))
        if block.folds and block.folded and (row is None or shown <= match.nth):
            block.folded = False
            self._unfolded.append(block)
            self._layout.redraw_block(block.index)
            row = self._row_of(block, match.nth)
        if not self._layout.shows(block.index, row or 0):
            self._layout.to_line(block.index, row or 0, above=_ABOVE)

    def _row_of(self, block: Block, nth: int) -> int | None:
        return self.search.row_of(self._layout.rows_of(block.index), nth) if self.search is not None else None

    def keep_place(self) -> None:
        """The person has found what they looked for: what was unfolded for it stays so, and so does the place."""
        self._before = None
        self._unfolded.clear()
        self.on = True

    def leave_search(self) -> None:
        """End the search; unless the place was kept, go back to where it began."""
        self.search = None
        before, self._before = self._before, None
        if before is None:
            return
        self._fold_again()
        block, line, follow = before
        if follow or block is None or not self._is_there(block):
            self._layout.to_end()
        else:
            self._layout.to_line(block.index, line)

    def _fold_again(self) -> None:
        for block in self._unfolded:
            block.folded = True
            if self._is_there(block):
                self._layout.redraw_block(block.index)
        self._unfolded.clear()

    # --- selection -----------------------------------------------------------------------------------

    def point_at(self, x: int, y: int) -> Point | None:
        """Return the point at a cell of the screen."""
        place = self._layout.block_at(y)
        return Point(self._blocks[place[0]], place[1], max(0, x)) if place is not None else None

    def select(self, anchor: Point, head: Point) -> None:
        """Select from one point to another."""
        self.selection = Selection(anchor, head)

    def select_lines(self) -> None:
        """Begin to select whole rows, with the first one of the marked block."""
        block = self.marked
        if block is None:
            return
        rows = len(self._layout.rows_of(block.index))
        self.selection = Selection(Point(block, 0), Point(block, max(0, rows - 1)), lines=True)

    def extend(self, lines: int) -> None:
        """Move the end of the selection by rows."""
        if self.selection is None:
            return
        index, line = self.selection.head.block.index, self.selection.head.line + lines
        while line < 0 and index > 0:
            index -= 1
            line += len(self._layout.rows_of(index))
        while line >= (size := len(self._layout.rows_of(index))) and index + 1 < len(self._blocks):
            index, line = index + 1, line - size
        line = max(0, min(line, size - 1))
        self.selection = Selection(self.selection.anchor, Point(self._blocks[index], line), lines=True)
        if not self._layout.shows(index, line):
            self._layout.move(lines)

    def selected_text(self) -> str:
        """Return what is selected."""
        return self.selection.text(self._layout.rows_of) if self.selection is not None else ""

    # --- drawing -------------------------------------------------------------------------------------

    def overlay(self, rows: list[Strip], *, focused: bool) -> None:
        """Show the mark, what was found and what is selected on the rows in sight."""
        marked = self.marked if focused and self.selection is None else None
        if marked is None and self.search is None and self.selection is None:
            return
        present = self.search.present if self.search is not None else None
        head = self._layout.rows_of(marked.index) if marked is not None else ()
        first = 0 if not head or head[0].text.strip() else 1  # what follows a call begins with an empty row
        for y, row in enumerate(rows):
            place = self._layout.block_at(y)
            if place is None:
                break
            if self.selection is not None and (columns := self.selection.columns(*place, row.cell_length)) is not None:
                rows[y] = marked_ranges(row, [span_of_cells(row.text, *columns)])
            elif self.search is not None:
                current = present is not None and present.block.index == place[0]
                rows[y] = self.search.show(row, current=current)
            elif marked is not None and place == (marked.index, first):
                rows[y] = row.apply_style(_MARK)
