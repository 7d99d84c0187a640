"""The trust dialog: what the folder brings along and would run, and whether that may be used.

It comes up while somebody may be typing. So letters go on to the prompt, nothing is taken in the first second, and the
mark stands on "Not now".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from harness_tui.core.paths import short
from harness_tui.core.text import clean_for_display
from harness_tui.tui.backend_rows import TrustItem
from harness_tui.tui.lines import ListRow, Span, wrap
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.dialog import Dialog
from harness_tui.tui.screens.heading import Heading
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

Verdict: TypeAlias = Literal["trust", "later"]
GRACE_S: Final = 1.0


class TrustDialog(Dialog[Verdict]):
    """Gives ``trust``, or ``later`` for not now."""

    DEFAULT_CSS = beside(__file__)

    class Typed(Message):
        """A character that belongs to the prompt."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    def __init__(self, palette: Palette, root: str, items: Sequence[TrustItem], *, grace: float = GRACE_S) -> None:
        super().__init__()
        self._root = clean_for_display(short(root), one_line=True)
        self._items = items
        self._grace = grace
        self._ready = grace <= 0
        self._show_files = False
        self._heading = Heading(palette)
        self._body = RowList(palette, id="trust-items")
        self._choices = RowList(palette, id="trust-choices", mark_always=True)

    def compose(self) -> ComposeResult:
        """Heading, what it is about, choices."""
        with Vertical(id="box"):
            yield self._heading
            yield self._body
            yield self._choices

    def on_mount(self) -> None:
        """Fill it and begin the grace."""
        self._update()
        self._choices.focus()
        if not self._ready:
            self.set_timer(self._grace, self._end_grace)

    def _end_grace(self) -> None:
        self._ready = True
        self._update()

    def _update(self) -> None:
        hint = "↑↓ Enter · Esc: not now" if self._ready else "… keys are taken in a moment"
        self._heading.show(f"Trust {self._root}?", hint)
        self._body.show_rows(self._item_rows)
        self._choices.show_rows(self._choice_rows)

    def _item_rows(self, width: int) -> Sequence[ListRow]:
        about = "This folder brings along what can run programs or widen rights. It is not used until you trust it:"
        return trust_rows(about, self._items, self._show_files, width)

    def _choice_rows(self, _: int) -> Sequence[ListRow]:
        files = "Hide files" if self._show_files else "Show files"
        labels = (("later", "Not now"), ("trust", "Trust this folder"), ("files", files))
        return [ListRow((((f" {label}", ""),),), key) for key, label in labels]

    @on(RowList.Chosen, "#trust-choices")
    def _on_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        if not self._ready:
            return
        match event.key:
            case "files":
                self._show_files = not self._show_files
                self._update()
            case "trust":
                self.leave("trust")
            case _:
                self.leave("later")

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        if event.key in ("escape", "ctrl+c"):
            event.stop()
            event.prevent_default()
            if self._ready:
                self.leave("later")
        elif event.is_printable and event.character:
            event.stop()
            event.prevent_default()
            self.app.post_message(self.Typed(event.character))


def trust_rows(about: str, items: Sequence[TrustItem], show_files: bool, width: int) -> list[ListRow]:
    """Draw what waits for trust, each thing with its file, which ``show_files`` names in full.

    ``kind`` says how it changed since trust was given, if it ever was.
    """
    rows = [ListRow((*wrap([(about, "")], width), ()))]
    for item in items:
        kind = clean_for_display(item.kind, one_line=True)
        text = clean_for_display(item.text, one_line=True, show_invisible=True)
        source = clean_for_display(item.source, one_line=True)
        spans: list[Span] = [*([(f"{kind}: ", "warning")] if kind else []), (text, "bold")]
        if not show_files and ", " not in source:
            spans.append((f"  {'/'.join(source.split('/')[-2:])}", "muted"))
        lines = wrap(spans, width, first=(("• ", "accent"),))
        if show_files:
            lines.extend(wrap([(source, "muted")], width, first=(("    ", ""),)))
        rows.append(ListRow(tuple(lines)))
    return rows
