"""Asks for the key of a model provider without showing it, so that nobody has to leave the shell for it."""

from __future__ import annotations

from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from harness_tui.core.text import clean_for_display
from harness_tui.tui.screens.dialog import Dialog
from harness_tui.tui.screens.heading import Heading
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

_HINT: Final = "Enter keeps it, in the keyring or a file of yours alone · Esc leaves"


class KeyEntry(Dialog[str | None]):
    """Gives what was typed, or ``None``."""

    DEFAULT_CSS = beside(__file__)

    def __init__(self, palette: Palette, provider: str) -> None:
        super().__init__()
        self._title = f"Key of {clean_for_display(provider, one_line=True)}"
        self._heading = Heading(palette)
        self._field = Input(password=True, compact=True, select_on_focus=False)

    def compose(self) -> ComposeResult:
        """What it is about, and one line."""
        with Vertical(id="box"):
            yield self._heading
            yield self._field

    def on_mount(self) -> None:
        """Take keys."""
        self._heading.show(self._title, _HINT)
        self._field.focus()

    @on(Input.Submitted)
    def _on_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.leave(event.value.strip() or None)

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        if event.key in ("escape", "ctrl+c"):
            event.stop()
            event.prevent_default()
            self.leave(None)
