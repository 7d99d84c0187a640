"""The command palette: one list of everything that can be done, found by typing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from textual import work

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import ListRow, Span, two_ends
from harness_tui.tui.palette_entries import Entry, rank
from harness_tui.tui.screens.picker import Picker

if TYPE_CHECKING:
    from harness_tui.tui.theme import Palette


class CommandPalette(Picker):
    """Gives the place of the chosen entry in :attr:`entries` as text, or ``None``. ``more`` adds to them."""

    def __init__(self, palette: Palette, entries: Sequence[Entry], more: Callable[[], Awaitable[list[Entry]]]) -> None:
        super().__init__(palette, "Everything that can be done", self._rows_at, empty="Nothing.")
        self.entries = list(entries)
        self._more = more

    def on_mount(self) -> None:
        """Show what is known, and look for the rest."""
        super().on_mount()
        self._look()

    @work(exit_on_error=False)
    async def _look(self) -> None:
        self.entries += await self._more()
        if self.is_attached:
            self._update()

    def _rows_at(self, width: int) -> Sequence[ListRow]:
        places = {id(entry): place for place, entry in enumerate(self.entries)}
        rows = [ListRow((_line(entry, width),), str(places[id(entry)])) for entry in rank(self._filter, self.entries)]
        return rows or [ListRow(((("Nothing is called so.", "muted"),),))]


def _line(entry: Entry, width: int) -> tuple[Span, ...]:
    name = clean_for_display(entry.name, one_line=True)
    text = clean_for_display(entry.text, one_line=True) if entry.kind != "action" else ""
    left: list[Span] = [(f" {name}", "bold"), (f"  {text}" if text else "", "muted")]
    return two_ends(tuple(left), ((f"{entry.keys} ", "accent"),) if entry.keys else (), width)
