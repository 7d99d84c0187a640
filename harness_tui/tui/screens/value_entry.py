"""Asks for one line of text under a title: a value of a setting, a template, a name."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from harness_tui.core.text import clean_for_display
from harness_tui.tui.screens.dialog import Dialog
from harness_tui.tui.screens.heading import Heading
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette


class ValueEntry(Dialog[str | None]):
    """Gives what was typed, or ``None``."""

    DEFAULT_CSS = beside(__file__)

    def __init__(self, palette: Palette, title: str, present: str) -> None:
        super().__init__()
        self._title = clean_for_display(title, one_line=True)
        self._heading = Heading(palette)
        self._field = Input(clean_for_display(present, one_line=True), compact=True, select_on_focus=True)

    def compose(self) -> ComposeResult:
        """What it is about, and one line."""
        with Vertical(id="box"):
            yield self._heading
            yield self._field

    def on_mount(self) -> None:
        """Take keys."""
        self._heading.show(self._title, "Enter writes it · Esc leaves")
        self._field.focus()

    @on(Input.Submitted)
    def _on_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.leave(event.value)

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        if event.key in ("escape", "ctrl+c"):
            event.stop()
            event.prevent_default()
            self.leave(None)
