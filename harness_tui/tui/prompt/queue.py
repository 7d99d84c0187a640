"""The messages that wait, above the prompt; hidden while none do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.strip import Strip
from textual.widget import Widget

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, two_ends
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

if TYPE_CHECKING:
    from harness_tui.core.event_parts import QueueItem

MAX_ROWS: Final = 3


class QueueView(Widget):
    """Up to three waiting messages and how many more there are."""

    DEFAULT_CSS = beside(__file__)
    ALLOW_SELECT = False

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._items: Sequence[QueueItem] = ()
        self.display = False

    def show_items(self, items: Sequence[QueueItem]) -> None:
        """Show ``items``."""
        if items == self._items:
            return
        self._items = items
        self.display = bool(items)
        self.styles.height = min(len(items), MAX_ROWS)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one row."""
        width = self.size.width
        if y >= len(self._items):
            return self._palette.strip((), width)
        item = self._items[y]
        word = "next step: " if item.mode == "steer" else "queued: "
        left: Line = ((f"  {word}", "accent"), (clean_for_display(item.text, one_line=True), "muted"))
        hidden = len(self._items) - MAX_ROWS
        last = y == min(len(self._items), MAX_ROWS) - 1
        note = (f"{hidden} more · " if hidden > 0 else "") + "Alt+↑ edits " if last else ""
        return self._palette.strip(two_ends(left, ((note, "muted"),), width), width)
