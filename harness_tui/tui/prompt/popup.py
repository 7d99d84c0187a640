"""The list of completions above the prompt; it floats over the transcript, so that opening it lays out nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual import on
from textual.message import Message

from harness_tui.library.slash_completion import Candidate
from harness_tui.tui.lines import ListRow, cells
from harness_tui.tui.prompt.completion import candidate_line
from harness_tui.tui.row_list import RowList
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

MAX_ROWS: Final = 10


class CompletionPopup(RowList, can_focus=False):
    """Shows candidates; the keys are the prompt's."""

    DEFAULT_CSS = beside(__file__)

    class Taken(Message):
        """A candidate was clicked."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette, id="completion", mark_always=True)
        self._candidates: Sequence[Candidate] = ()
        self._column = 0
        self.display = False

    @property
    def is_open(self) -> bool:
        """Whether it is shown."""
        return self.display

    @property
    def is_marked(self) -> bool:
        """Whether Enter takes the marked one: always for names, for values once somebody has moved there."""
        return self._mark_always

    @property
    def chosen(self) -> Candidate | None:
        """The marked candidate."""
        key = self.marked
        first = self._candidates[0] if self._candidates else None  # Enter may come before the list is laid out
        return next((candidate for candidate in self._candidates if _key(candidate) == key), first)

    def offer(self, candidates: Sequence[Candidate], room: int, *, marked: bool = True) -> None:
        """Show ``candidates`` in at most ``room`` rows; nothing to show closes it.

        Without ``marked`` none of them is taken by Enter until somebody moves to it.
        """
        rows = min(len(candidates), MAX_ROWS, room)
        if rows <= 0:
            self.close()
            return
        self._candidates = candidates
        self._mark_always = marked
        self.display = True
        self.border_subtitle = f"{len(candidates)} in all, ↑↓" if len(candidates) > rows else ""
        height = rows + self.gutter.height
        self.styles.height = height
        self.styles.offset = (0, -height)
        self.show_rows(self._rows_at, mark_first=True)

    def move(self, way: int) -> None:
        """Move the mark; where none is shown yet, show it."""
        if self._mark_always:
            self.action_move(way)
            return
        self._mark_always = True
        self.action_edge(way * -1)
        self.refresh()

    def close(self) -> None:
        """Hide it."""
        self._column = 0
        self.display = False

    @on(RowList.Chosen)
    def _on_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self.post_message(self.Taken())

    def _rows_at(self, width: int) -> Sequence[ListRow]:
        names = [
            cells(item.sign + item.name) - 1 + (cells(item.hint) + 1 if item.hint else 0) + 2
            for item in self._candidates
        ]
        self._column = max(self._column, *names, 0)  # it stays where it is while fewer and fewer names are left
        column = min(self._column, max(20, width * 2 // 5))
        return [ListRow((candidate_line(item, width, column),), _key(item)) for item in self._candidates]


def _key(candidate: Candidate) -> str:
    return candidate.insert or candidate.name
