"""What the app does with its transcript: moving in it from anywhere, and what its keys ask for.

The base of the app, so that the app itself only wires. Nothing of it is imported late: it is there at the first frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import App
from textual.binding import Binding, BindingType

from harness_tui.tui.theme import Palette
from harness_tui.tui.transcript.model import TranscriptModel
from harness_tui.tui.transcript.scrollmark import ScrollMark
from harness_tui.tui.transcript.view import TranscriptView

if TYPE_CHECKING:
    from harness_tui.tui.prompt.field import PromptField


class ReadingApp(App[None]):
    """An app with a transcript and a prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "transcript_page(-1)", "Transcript: page up", show=False),
        Binding("pagedown", "transcript_page(1)", "Transcript: page down", show=False),
        Binding("ctrl+home", "transcript_start", "Transcript: start", show=False),
        Binding("ctrl+end", "transcript_end", "Transcript: end", show=False),
        Binding("ctrl+o", "toggle_details", "Show all output, or fold it", show=False),
    ]

    prompt: PromptField

    def __init__(self) -> None:
        super().__init__()
        self.palette = Palette()
        self.transcript = TranscriptView(TranscriptModel(), self.palette, id="transcript")
        self.scroll_mark = ScrollMark(self.palette)
        self._details = False

    # --- events --------------------------------------------------------------------------------------

    @on(events.Key)
    def _on_key_without_focus(self, event: events.Key) -> None:
        if self.focused is None and event.is_printable and event.character and self.prompt.display:
            self.prompt.focus()
            self.prompt.insert(event.character)

    @on(TranscriptView.Typed)
    def _on_typed_away(self, event: TranscriptView.Typed) -> None:
        self.prompt.focus()
        self.prompt.insert(event.character)

    @on(TranscriptView.Scrolled)
    def _on_scrolled(self, event: TranscriptView.Scrolled) -> None:
        self.scroll_mark.show_place(event.top, event.height, event.total)

    @on(ScrollMark.Moved)
    def _on_mark_moved(self, event: ScrollMark.Moved) -> None:
        self.transcript.go_to_share(event.share)

    # --- actions -------------------------------------------------------------------------------------

    def action_toggle_details(self) -> None:
        """Show every output whole, or folded."""
        self._details = not self._details
        self.transcript.set_details(self._details)

    def action_transcript_page(self, way: int) -> None:
        """Move the transcript by a page."""
        self.transcript.action_page(way)

    def action_transcript_start(self) -> None:
        """Go to the first line."""
        self.transcript.action_start()

    def action_transcript_end(self) -> None:
        """Go to the end."""
        self.transcript.action_end()
