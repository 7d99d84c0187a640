"""What is shown where the terminal has too little room for anything else: so few cells would only mislead."""

from __future__ import annotations

from typing import Final

from textual.strip import Strip
from textual.widget import Widget

from harness_tui.tui.lines import Line, wrap
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

COLUMNS: Final = 20
ROWS: Final = 5
"""From this size on there is room for the shell."""


def is_too_small(columns: int, rows: int) -> bool:
    """Tell whether a terminal of this size has too little room."""
    return columns < COLUMNS or rows < ROWS


class TooSmall(Widget):
    """Covers the screen while the terminal is too small; the app has the class ``-tiny`` then."""

    DEFAULT_CSS = beside(__file__)
    ALLOW_SELECT = False

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="too-small")
        self._palette = palette

    def render_line(self, y: int) -> Strip:
        """Return one row."""
        width = self.size.width
        text = f"too small: {COLUMNS}x{ROWS} at least; it goes on"
        lines: list[Line] = wrap([(text, "warning")], max(1, width))
        return self._palette.strip(lines[y], width) if y < len(lines) else self._palette.strip((), width)
