"""A list to choose from over the session: recorded sessions, models, agents. Typing filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import ListRow, plain
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.dialog import Dialog
from harness_tui.tui.screens.heading import Heading
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

RowsAt: TypeAlias = Callable[[int], Sequence[ListRow]]


class Picker(Dialog[str | None]):
    """Shows rows with text keys; gives the chosen key, or ``None``."""

    DEFAULT_CSS = beside(__file__)

    def __init__(self, palette: Palette, title: str, rows: RowsAt, *, empty: str) -> None:
        super().__init__()
        self._rows = rows
        self._title = title
        self._empty = empty
        self._hint = "type to filter · Enter chooses · Esc leaves"
        self._filter = ""
        self._heading = Heading(palette)
        self._list = RowList(palette, mark_always=True)

    def compose(self) -> ComposeResult:
        """A heading and the list."""
        with Vertical(id="box"):
            yield self._heading
            yield self._list

    def on_mount(self) -> None:
        """Fill it."""
        self._update()
        self._list.focus()

    def _update(self) -> None:
        shown = clean_for_display(self._filter, one_line=True)
        self._heading.show(self._title, f"filter: {shown}▏" if self._filter else self._hint)
        self._list.show_rows(self._rows_at, mark_first=bool(self._filter))

    def _rows_at(self, width: int) -> Sequence[ListRow]:
        wanted = self._filter.casefold()
        rows = [row for row in self._rows(width) if wanted in " ".join(plain(line) for line in row.lines).casefold()]
        return rows or [ListRow((((self._empty if not wanted else "Nothing matches.", "muted"),),))]

    @on(RowList.Chosen)
    def _on_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self.leave(str(event.key))

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        match event.key:
            case "escape" | "ctrl+c":
                self.leave(None)
            case "backspace":
                self._filter = self._filter[:-1]
            case _ if event.is_printable and event.character:
                self._filter += event.character
            case _:
                return
        event.stop()
        event.prevent_default()
        if self.is_active:
            self._update()
