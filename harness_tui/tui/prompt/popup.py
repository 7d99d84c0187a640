"""The list of completions above the prompt; it floats over the transcript, so that opening it lays out nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual import on
from textual.message import Message

from harness_tui.tui.lines import ListRow
from harness_tui.tui.prompt.completion import Candidate, candidate_line
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
        self.display = False

    @property
    def is_open(self) -> bool:
        """Whether it is shown."""
        return self.display

    @property
    def chosen(self) -> Candidate | None:
        """The marked candidate."""
        key = self.marked
        first = self._candidates[0] if self._candidates else None  # Enter may come before the list is laid out
        return next((candidate for candidate in self._candidates if candidate.name == key), first)

    def offer(self, candidates: Sequence[Candidate], room: int) -> None:
        """Show ``candidates`` in at most ``room`` rows, the best marked; nothing to show closes it."""
        rows = min(len(candidates), MAX_ROWS, room)
        if rows <= 0:
            self.close()
            return
        self._candidates = candidates
        self.display = True
        self.border_subtitle = f"{len(candidates)} in all, ↑↓" if len(candidates) > rows else ""
        height = rows + self.gutter.height
        self.styles.height = height
        self.styles.offset = (0, -height)
        self.show_rows(self._rows_at, mark_first=True)

    def close(self) -> None:
        """Hide it."""
        self.display = False

    @on(RowList.Chosen)
    def _on_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self.post_message(self.Taken())

    def _rows_at(self, width: int) -> Sequence[ListRow]:
        names = [len(item.name) + (len(item.hint) + 1 if item.hint else 0) + 2 for item in self._candidates]
        name_width = min(max(names, default=0), max(20, width // 4), width // 2)
        return [ListRow((candidate_line(item, width, name_width),), item.name) for item in self._candidates]
