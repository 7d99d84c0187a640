"""What the app does with its transcript: moving in it from anywhere, and what its keys ask for.

The base of the app, so that the app itself only wires. Nothing of it is imported late: it is there at the first frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import App
from textual.binding import Binding, BindingType

from harness_tui.tui.appearance import Appearance
from harness_tui.tui.theme import Palette
from harness_tui.tui.transcript.model import TranscriptModel
from harness_tui.tui.transcript.scrollmark import ScrollMark
from harness_tui.tui.transcript.view import TranscriptView

if TYPE_CHECKING:
    from harness_tui.tui.prompt.field import PromptField
    from harness_tui.tui.reading_bar import ReadingBar
    from harness_tui.tui.reading_runner import ReadingRunner


class ReadingApp(App[None]):
    """An app with a transcript and a prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "transcript_page(-1)", "Transcript: page up", show=False),
        Binding("pagedown", "transcript_page(1)", "Transcript: page down", show=False),
        Binding("ctrl+home", "transcript_start", "Transcript: start", show=False),
        Binding("ctrl+end", "transcript_end", "Transcript: end", show=False),
        Binding("ctrl+up,alt+pageup", "transcript_turn(-1)", "Transcript: the message of yours before", show=False),
        Binding("ctrl+down,alt+pagedown", "transcript_turn(1)", "Transcript: the next message of yours", show=False),
        Binding("ctrl+f,f4", "find", "Search the whole session", show=False, priority=True),
        Binding("f8", "read", "Mark blocks of the transcript: copy, open, fold", show=False),
        Binding("ctrl+o", "toggle_details", "Show all output, or fold it", show=False),
    ]

    prompt: PromptField
    reading: ReadingRunner | None = None

    def __init__(self) -> None:
        super().__init__()
        self.palette = Palette()
        self.appearance = Appearance(self)
        self.transcript = TranscriptView(TranscriptModel(), self.palette, id="transcript")
        self.scroll_mark = ScrollMark(self.palette)
        self._details = False
        self.covered = {"find", "open"}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave keys that go before those of a widget to the screen over the session, while there is one."""
        return len(self.screen_stack) == 1 or action not in self.covered

    # --- events --------------------------------------------------------------------------------------

    @on(events.Key)
    def _on_key_without_focus(self, event: events.Key) -> None:
        if self.focused is None and event.is_printable and event.character and self.prompt.display:
            self.prompt.focus()
            self.prompt.insert(event.character)

    @on(TranscriptView.Typed)
    def _on_typed_away(self, event: TranscriptView.Typed) -> None:
        if not self.prompt.display:  # a request stands in its place: what is typed must not go where nobody sees it
            self.focus_request()
            return
        self.prompt.focus()
        self.prompt.insert(event.character)

    def focus_request(self) -> None:
        """Go to the request that stands in the prompt's place."""
        raise NotImplementedError

    @on(TranscriptView.Scrolled)
    def _on_scrolled(self, event: TranscriptView.Scrolled) -> None:
        self.scroll_mark.show_place(event.top, event.height, event.total)

    @on(ScrollMark.Moved)
    def _on_mark_moved(self, event: ScrollMark.Moved) -> None:
        self.transcript.go_to_share(event.share)

    @on(TranscriptView.ReadingChanged)
    def _on_reading_changed(self) -> None:
        if self.reading is not None:
            self.reading.changed()

    @on(TranscriptView.Wanted)
    def _on_wanted_by_reader(self, event: TranscriptView.Wanted) -> None:
        if self.reading is not None:
            self.reading.want(event.what, event.block)

    @on(TranscriptView.Selected)
    def _on_selected(self, event: TranscriptView.Selected) -> None:
        if self.reading is not None:
            self.reading.copy(event.text)

    @on(TranscriptView.Left)
    def _on_left_transcript(self) -> None:
        self.focus_input()

    def on_reading_bar_typed(self, event: ReadingBar.Typed) -> None:
        """A text to look for was changed."""
        self.transcript.find(event.text)

    def on_reading_bar_stepped(self, event: ReadingBar.Stepped) -> None:
        """The next place is wanted."""
        self.transcript.action_match(event.way)

    def on_reading_bar_accepted(self) -> None:
        """The person stays at what was found."""
        if self.reading is not None:
            self.reading.accept()

    def on_reading_bar_left(self) -> None:
        """The person goes back to where they were."""
        if self.reading is not None:
            self.reading.leave_search()

    def focus_input(self) -> None:
        """Go where text is written: to the prompt, or to what stands in its place."""
        if self.prompt.display:
            self.prompt.focus()
        else:
            self.focus_request()

    def write_terminal(self, sequence: str) -> None:
        """Write a sequence that the person asked for to the terminal."""
        if self._driver is not None:
            self._driver.write(sequence)

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

    def action_transcript_turn(self, way: int) -> None:
        """Go to the message of the person before what is in sight, or to the next one."""
        self.transcript.to_turn(way)

    def action_find(self) -> None:
        """Search the whole session."""
        if self.reading is not None and len(self.screen_stack) == 1:
            self.reading.find()

    def action_read(self) -> None:
        """Mark a block, so that keys copy, open and fold it."""
        self.transcript.focus()
        self.transcript.action_mark(0)
