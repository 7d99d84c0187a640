"""The request bar: takes the place of the prompt while something waits for the person.

For a moment after it appears it takes no keys, and says so: whoever is in the middle of a word must not approve
anything with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer

from harness_tui.tui.approval.page import ApprovalPage, Entry, QuestionPage
from harness_tui.tui.approval.view import RequestView, Sheet, detail_lines, entry_line, first_lines, fits
from harness_tui.tui.lines import Line, cut_line, wrap
from harness_tui.tui.prompt.editor import MessageEditor
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

if TYPE_CHECKING:
    from harness_tui.core.intents import Answer

GRACE_S: Final = 1.0
_HEAD_LINES: Final = 2
_AROUND: Final = 5
"""Rows that are not the bar's: its border, the status line, a little of the transcript."""
_AROUND_SHORT: Final = 2
_AROUND_TINY: Final = 1
_TINY: Final = 8


class AnswerEditor(MessageEditor):
    """Where an answer is written; an empty one takes what counts where nothing is said."""

    sends_empty = True


class Reviews(Protocol):
    """Who opens reviews of changes."""

    def open(self, page: ApprovalPage, redraw: Callable[[], None]) -> None:
        """Review what ``page`` asks about; ``redraw`` shows the page again afterwards."""
        ...

    def request_changed(self, request: str | None) -> None:
        """Another request is asked now, or none."""
        ...


class RequestBar(Vertical):
    """Asks one request at a time; hidden while nothing waits."""

    DEFAULT_CSS = beside(__file__)

    class Answered(Message):
        """The person decided."""

        def __init__(self, answer: Answer) -> None:
            super().__init__()
            self.answer = answer

    def __init__(self, palette: Palette, *, grace: float = GRACE_S) -> None:
        super().__init__(id="requests")
        self._view = RequestView(palette)
        self._editor = AnswerEditor(id="note")
        self._page: ApprovalPage | QuestionPage | None = None
        self._waiting: tuple[str, ...] = ()
        self._height = 0
        self._drawn_width = 0
        self._grace = grace
        self._reviews: Reviews | None = None
        self._grace_timer: Timer | None = None
        self.display = False

    def compose(self) -> ComposeResult:
        """The page and, at times, a text field."""
        self._editor.display = False
        yield self._view
        yield self._editor

    @property
    def request(self) -> str | None:
        """The request that is asked now."""
        return self._page.request if self._page is not None else None

    @property
    def in_grace(self) -> bool:
        """Whether keys are ignored yet."""
        return self._grace_timer is not None

    def serve(self, reviews: Reviews) -> None:
        """Let ``reviews`` open the review of a change."""
        self._reviews = reviews

    def ask(self, page: ApprovalPage | QuestionPage, waiting: Sequence[str] = ()) -> None:
        """Ask ``page``; those called ``waiting`` come after it."""
        if self._reviews is not None:
            self._reviews.request_changed(page.request)
        self._page, self._waiting, self._height = page, tuple(waiting), 0
        self.display = True
        self._view.marked = page.first
        self._view.to_top()
        self._start_grace()
        self._draw()
        if page.entries() or not self._editor.display:  # else what is asked for is written
            self._view.focus()

    def take_focus(self, *, typed: bool = False) -> None:
        """Take the focus back; where somebody has ``typed`` it is as fresh as a new request."""
        if typed:
            self._start_grace()
            self._draw()
        (self._editor if self._editor.display else self._view).focus()

    def update_waiting(self, waiting: Sequence[str]) -> None:
        """Other requests wait behind this one."""
        if tuple(waiting) != self._waiting:
            self._waiting = tuple(waiting)
            self._draw()

    def leave(self) -> None:
        """Nothing waits any more."""
        if self._reviews is not None:
            self._reviews.request_changed(None)
        self._page = None
        self._stop_grace()
        self._editor.take_text()
        self._editor.display = False
        self.display = False

    # --- grace ---------------------------------------------------------------------------------------

    def _start_grace(self) -> None:
        self._stop_grace()
        if self._grace > 0:
            self._grace_timer = self.set_timer(self._grace, self._end_grace)

    def _end_grace(self) -> None:
        self._stop_grace()
        self._draw()

    def _stop_grace(self) -> None:
        if self._grace_timer is not None:
            self._grace_timer.stop()
            self._grace_timer = None

    # --- keys ----------------------------------------------------------------------------------------

    @on(RequestView.Pressed)
    def _on_pressed(self, event: RequestView.Pressed) -> None:
        event.stop()
        if self._page is None or self.app.has_class("-tiny"):
            return  # nobody sees what they would answer
        if self.in_grace:
            if event.key in ("space", "backspace") or (len(event.key) == 1 and event.key.isalpha()):
                self._start_grace()  # somebody is in the middle of a word
            return
        entries = self._page.entries()
        match event.key:
            case "up" | "down":
                step = -1 if event.key == "up" else 1
                self._mark(max(0, min(len(entries) - 1, self._view.marked + step)))
            case "pageup" | "pagedown":
                self._view.scroll_body(-1 if event.key == "pageup" else 1)
            case "enter" | "space" if entries:
                self._take(self._page.choose(self._view.marked))
            case "escape":
                self._take(self._page.escape())
            case "home" | "end":
                self._view.scroll_body(-(10**6) if event.key == "home" else 10**6)
            case key:
                self._take_letter(key, self._page)
        self._draw()

    def _take_letter(self, key: str, page: ApprovalPage | QuestionPage) -> None:
        """Take the key of an entry, or one that shows more of what an approval is about."""
        entries = page.entries()
        place = next((place for place, entry in enumerate(entries) if entry.key == key), None)
        if place is not None:
            self._take_number(place, entries[place])
        elif isinstance(page, ApprovalPage) and key == "w":
            page.toggle_why()
            self._view.to_top()
        elif isinstance(page, ApprovalPage) and key == "v" and page.can_review and self._reviews is not None:
            self._reviews.open(page, self._draw)
        elif len(key) == 1 and key.isalpha() and self._editor.display:
            self._editor.focus()  # an answer of one's own, beside those that are offered
            self._editor.insert(key)

    @on(RequestView.EntryClicked)
    def _on_entry_clicked(self, event: RequestView.EntryClicked) -> None:
        event.stop()
        if self._page is not None and not self.in_grace:
            self._take_number(event.place, self._page.entries()[event.place])
            self._draw()

    def _take_number(self, place: int, entry: Entry) -> None:
        """Take an entry; one whose rules its line does not hold is marked first, so that they were shown."""
        seen = place == self._view.marked or fits(entry, self._width) or not entry.verb
        self._mark(place)
        if seen and self._page is not None:
            self._take(self._page.choose(place))

    def _mark(self, place: int) -> None:
        if place != self._view.marked:
            self._view.marked = place
            self._view.to_top()

    @on(MessageEditor.Submitted)
    def _on_text(self, event: MessageEditor.Submitted) -> None:
        event.stop()
        if self._page is not None:
            answer = self._page.submit_text(event.text)
            if not self._page.error:
                self._editor.take_text()
            self._take(answer)
            self._draw()

    def key_escape(self) -> None:
        """Escape in the text field."""
        if self._page is not None and not self.in_grace:
            self._take(self._page.escape())
            self._draw()

    def _take(self, answer: Answer | None) -> None:
        if answer is not None:
            self.post_message(self.Answered(answer))
        elif self._page is not None:
            self._view.to_top()

    # --- drawing -------------------------------------------------------------------------------------

    @on(events.Resize)
    def _on_resized(self, event: events.Resize) -> None:
        if self._drawn_width != event.size.width:
            self._drawn_width, self._height = event.size.width, 0
        self._draw()

    def _draw(self) -> None:
        page = self._page
        if page is None or not self.is_mounted:
            return
        prompt = page.text_prompt if not self.in_grace else None
        self._show_editor(prompt, page.entries())
        screen = self.app.size.height
        around = _AROUND_TINY if screen < _TINY else _AROUND_SHORT if self.screen.has_class("-short") else _AROUND
        rows = max(1, screen - around - (self._editor.outer_size.height if prompt else 0))
        # Nothing moves under the mouse when a tick takes choices away.
        self._height = min(rows, max(self._height, self._view.show(self._sheet(page), rows)))
        self._view.styles.height = self._height

    @property
    def _width(self) -> int:
        return max(8, (self._view.size.width or self.app.size.width - 4))

    def _sheet(self, page: ApprovalPage | QuestionPage) -> Sheet:
        width, entries = self._width, page.entries()
        foot = wrap([(page.error, "error")], width, first=(("✗ ", "error"),)) if page.error else []
        return Sheet(
            width=width,
            head=self._head(page, width),
            body=page.body(width),
            entries=[entry_line(entry, width) for entry in entries],
            details=[detail_lines(entry, width) for entry in entries],
            foot=[*foot, cut_line(((self._hint(page), "muted"),), width)],
        )

    def _head(self, page: ApprovalPage | QuestionPage, width: int) -> list[Line]:
        """Draw the question. What an approval is about stands whole in its body, so its head is never long."""
        lines = wrap([(page.head, "bold")], width, first=(("? ", "warning bold"),))
        return first_lines(lines, _HEAD_LINES, width) if isinstance(page, ApprovalPage) else lines

    def _show_editor(self, prompt: str | None, entries: list[Entry]) -> None:
        show = prompt is not None
        if show and not self._editor.display:
            self._editor.display = True
            if not entries or isinstance(self._page, ApprovalPage):
                self._editor.focus()
        elif not show and self._editor.display:
            self._editor.display = False
            self._view.focus()
        self._editor.invite(prompt or "")

    def _hint(self, page: ApprovalPage | QuestionPage) -> str:
        more = f" · then: {self._waiting[0]}" if self._waiting else ""
        if len(self._waiting) > 1:
            more = f" · {len(self._waiting)} more, next: {self._waiting[0]}"
        if self.in_grace:
            return f"… keys are taken in a moment{more}"
        if page.text_prompt is not None:
            return f"Enter sends · Esc goes back{more}"
        return f"{page.hint}{more}"
