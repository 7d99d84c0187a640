"""Two lines over a list: a title, and what the keys do."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from harness_tui.tui.lines import Line
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette


class Heading(Widget):
    """A bold title and a muted hint."""

    DEFAULT_CSS = beside(__file__)
    ALLOW_SELECT = False

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._lines: tuple[Line, ...] = ()

    def show(self, title: str, hint: str) -> None:
        """Show both; the caller has cleaned them."""
        self.show_line(((title, "bold"),), hint)

    def show_line(self, title: Line, hint: str) -> None:
        """Show a title of several styles, and the hint."""
        self._lines = (title, ((hint, "muted"),))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one row."""
        return self._palette.strip(self._lines[y] if y < len(self._lines) else (), self.size.width)
