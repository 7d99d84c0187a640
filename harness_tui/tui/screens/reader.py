"""A text over the session, to be read and scrolled: help, lists that need no choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical

from harness_tui.tui.lines import Line, ListRow
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.dialog import Dialog
from harness_tui.tui.screens.heading import Heading
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette


class Reader(Dialog[None]):
    """Shows lines, from their end with ``at_end``, over the whole width with ``whole``; Esc, Enter or q leaves."""

    DEFAULT_CSS = beside(__file__)

    def __init__(
        self,
        palette: Palette,
        title: str,
        lines: Callable[[int], Sequence[Line]],
        *,
        at_end: bool = False,
        whole: bool = False,
    ) -> None:
        super().__init__()
        self.set_class(whole, "-whole")
        self._at_end = at_end
        self._title = title
        self._lines = lines
        self._heading = Heading(palette)
        self._list = RowList(palette)

    def compose(self) -> ComposeResult:
        """A heading and the text."""
        with Vertical(id="box"):
            yield self._heading
            yield self._list

    def on_mount(self) -> None:
        """Fill it."""
        self._heading.show(self._title, "↑↓ PgUp PgDn · Esc leaves")
        self._list.show_rows(lambda width: [ListRow((line,)) for line in self._lines(width)])
        self._list.focus()
        if self._at_end:
            self.call_after_refresh(self._list.action_edge, 1)

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        if event.key in ("escape", "enter", "q", "question_mark", "ctrl+c"):
            event.stop()
            event.prevent_default()
            self.leave(None)
