"""The box above the prompt: what a ``/command`` would send, while it is typed. It floats over the transcript."""

from __future__ import annotations

from typing import Final

from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from harness_tui.tui.lines import Line, cut_cells
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

MAX_ROWS: Final = 12
MIN_ROWS: Final = 3


class PreviewBox(Widget):
    """Shows the first lines of a preview. It grows while one command is typed and never shrinks, so nothing jumps."""

    DEFAULT_CSS = beside(__file__)
    ALLOW_SELECT = False

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="preview")
        self._palette = palette
        self._lines: list[Line] = []
        self._rows = 0
        self.display = False

    @property
    def rows(self) -> int:
        """How many lines there can be at most on this screen; 0 where there is no room for any."""
        room = self.app.size.height * 2 // 5
        return 0 if room < MIN_ROWS else min(MAX_ROWS, room)

    @property
    def columns(self) -> int:
        """The width for lines."""
        return max(1, self.app.size.width - self.gutter.width)

    def show_lines(self, title: str, lines: list[Line]) -> None:
        """Show ``lines``, as many as there is room for; ``title`` is cleaned."""
        most = self.rows
        if not most or not lines:
            self.close()
            return
        self._rows = min(most, max(self._rows, len(lines)))
        self._lines = lines[: self._rows]
        self.border_title = Content(cut_cells(title, max(1, self.app.size.width - 6)))
        self.border_subtitle = "F3 shows all" if len(lines) > self._rows else "F3 opens · Esc closes"
        height = self._rows + self.gutter.height
        self.styles.height = height
        self.styles.offset = (0, -height)
        self.remove_class("-waiting")
        self.display = True
        self.refresh()

    def wait(self) -> None:
        """What is shown is not of what stands in the prompt any more, and the next is on its way."""
        self.add_class("-waiting")

    def close(self) -> None:
        """Hide it."""
        self.display = False
        self._rows = 0

    def render_line(self, y: int) -> Strip:
        """Return one row; while the next preview is on its way the text is dim."""
        line = self._lines[y] if y < len(self._lines) else ()
        if self.has_class("-waiting"):
            line = tuple((text, "muted") for text, _ in line)
        return self._palette.strip(line, self.size.width)
