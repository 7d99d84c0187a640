"""The messages that wait: read whole, moved, deleted, taken back into the prompt, sent at the next step instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import ListRow, two_ends
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.dialog import Dialog
from harness_tui.tui.screens.heading import Heading
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

if TYPE_CHECKING:
    from harness_tui.core.event_parts import QueueItem

QUEUE_KEYS: Final = (
    ("Enter", "Take it into the prompt, to be edited and sent again"),
    ("s", "Send it at the run's next step, or after the run"),
    ("Shift+↑, Shift+↓, K, J", "Move it"),
    ("d, Del", "Delete it"),
    ("Esc", "Leave"),
)
"""The keys of the list, for the help."""


class QueueScreen(Dialog["str | None"]):
    """Shows what waits. ``change`` is given the new list at once; gives the item that is to be edited, or ``None``."""

    DEFAULT_CSS = beside(__file__)

    def __init__(
        self,
        palette: Palette,
        items: Callable[[], Sequence[QueueItem]],
        change: Callable[[Sequence[QueueItem]], None],
    ) -> None:
        super().__init__()
        self._present = items
        self._items: Sequence[QueueItem] = items()
        self._before: Sequence[QueueItem] | None = None
        self._change = change
        self._heading = Heading(palette)
        self._list = RowList(palette, mark_always=True)

    def compose(self) -> ComposeResult:
        """A heading and the list."""
        with Vertical(id="box"):
            yield self._heading
            yield self._list

    def on_mount(self) -> None:
        """Fill it, and follow what is sent meanwhile."""
        self._update()
        self._list.focus()
        self.set_interval(0.25, self._follow)

    def _update(self) -> None:
        self._heading.show("Waiting messages", "Enter edits · s when · Shift+↑↓ moves · d deletes · Esc leaves")
        self._list.show_rows(self._rows_at)

    def _follow(self) -> None:
        """Show what waits now; what was changed here is shown at once, and stays until the session tells of it."""
        present = self._present()
        if present not in (self._items, self._before):
            self._items, self._before = present, None
            self._update()

    def _rows_at(self, width: int) -> Sequence[ListRow]:
        rows = [ListRow((_line(item, width),), item.id) for item in self._items]
        return rows or [ListRow(((("Nothing waits.", "muted"),),))]

    @on(RowList.Chosen)
    def _on_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self.leave(str(event.key))

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        match event.key:
            case "escape" | "ctrl+c" | "q" | "alt+q" | "f7":
                self.leave(None)
            case "d" | "delete":
                self._put([item for item in self._items if item.id != self._list.marked])
            case "s":
                self._put([_switched(item) if item.id == self._list.marked else item for item in self._items])
            case "shift+up" | "upper_k":
                self._move(-1)
            case "shift+down" | "upper_j":
                self._move(1)
            case _:
                return
        event.stop()
        event.prevent_default()

    def _move(self, way: int) -> None:
        items = list(self._items)
        place = next((index for index, item in enumerate(items) if item.id == self._list.marked), None)
        if place is not None and 0 <= place + way < len(items):
            items[place], items[place + way] = items[place + way], items[place]
            self._put(items)

    def _put(self, items: Sequence[QueueItem]) -> None:
        if self.is_active:
            self._before, self._items = self._present(), tuple(items)
            self._change(items)
            self._update()


def _switched(item: QueueItem) -> QueueItem:
    return replace(item, mode="queue" if item.mode == "steer" else "steer")


def _line(item: QueueItem, width: int) -> tuple[tuple[str, str], ...]:
    when = "next step" if item.mode == "steer" else "after the run"
    facts = [f"{len(item.attachments)} attached" if item.attachments else "", "with data" if item.piped else "", when]
    text = clean_for_display(item.text, one_line=True)
    return two_ends(((f" {text}", ""),), ((f"{' · '.join(fact for fact in facts if fact)} ", "muted"),), width)
