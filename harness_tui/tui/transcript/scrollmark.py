"""The column that shows where in the transcript the reader is; a click or a drag goes there."""

from __future__ import annotations

from textual import events, on
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from harness_tui.tui.lines import Line
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette


class ScrollMark(Widget):
    """One column. It repaints only the cells that change."""

    DEFAULT_CSS = beside(__file__)
    ALLOW_SELECT = False

    class Moved(Message):
        """The person wants to be at ``share``, 0 for the start and 1 for the end."""

        def __init__(self, share: float) -> None:
            super().__init__()
            self.share = share

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._span = (0, 0)

    def show_place(self, top: int, height: int, total: int) -> None:
        """Show that ``height`` lines from ``top`` of ``total`` are in sight; nothing when all are."""
        old, self._span = self._span, mark_span(top, height, total, self.size.height)
        for y in {*range(*old)} ^ {*range(*self._span)}:
            self.refresh(Region(0, y, 1, 1))

    def render_line(self, y: int) -> Strip:
        """Return one cell."""
        line: Line = (("┃", "muted"),) if self._span[0] <= y < self._span[1] else ()
        return self._palette.strip(line, 1)

    @on(events.MouseDown)
    def _on_pressed(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._go(event.y)

    @on(events.MouseUp)
    def _on_released(self) -> None:
        self.release_mouse()

    @on(events.MouseMove)
    def _on_dragged(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._go(event.y)

    def _go(self, y: int) -> None:
        self.post_message(self.Moved(min(1.0, max(0.0, y / max(1, self.size.height - 1)))))


def mark_span(top: int, height: int, total: int, cells: int) -> tuple[int, int]:
    """Return the first cell of the mark and the one after its last, of ``cells``."""
    if total <= height or cells <= 0:
        return (0, 0)
    size = max(1, cells * height // total)
    first = round((cells - size) * top / max(1, total - height))
    return (min(first, cells - size), min(first, cells - size) + size)
