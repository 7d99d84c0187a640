"""Jump mode: a letter on everything that can be reached, and one key goes there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.widgets import Static

from harness_tui.tui.screens.dialog import Dialog
from harness_tui.tui.styles import beside

LETTERS: Final = "asdfghjklqwertyuiopzxcvbnm"


@dataclass(frozen=True, slots=True)
class Target:
    """A place on the screen, in cells, and what going there means."""

    x: int
    y: int
    go: Callable[[], object]


class JumpScreen(Dialog[None]):
    """Shows a letter at each target over the screen below; any other key leaves."""

    DEFAULT_CSS = beside(__file__)

    def __init__(self, targets: Sequence[Target]) -> None:
        super().__init__()
        self._targets = dict(zip(LETTERS, targets, strict=False))

    def compose(self) -> ComposeResult:
        """One label for each target."""
        for letter, target in self._targets.items():
            label = Static(f" {letter} ", markup=False)
            label.styles.offset = (target.x, target.y)
            yield label

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        target = self._targets.get(event.character or "")
        self.leave(None)
        if target is not None:
            self.app.call_later(target.go)

    @on(events.Click)
    def _on_clicked(self) -> None:
        self.leave(None)
