"""The request bar: takes the place of the prompt while something waits for the person.

For a moment after it appears it takes no keys, and says so: whoever is in the middle of a word must not approve
anything with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from harness_tui.tui.approval.page import ApprovalPage, Entry, QuestionPage
from harness_tui.tui.lines import Line, Span, cells, line_cells, wrap
from harness_tui.tui.prompt.editor import MessageEditor
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

if TYPE_CHECKING:
    from harness_tui.core.intents import Answer

GRACE_S: Final = 1.0
_LEAST_BODY: Final = 3


class RequestView(Widget, can_focus=True):
    """Draws the page: head, body (scrolls), entries, a hint."""

    ALLOW_SELECT = False

    class Pressed(Message):
        """A key that the bar handles."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class EntryClicked(Message):
        """An entry was clicked."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._lines: list[tuple[Line, int | None]] = []
        self.marked = 0
        self._top = 0
        self._body: list[Line] = []
        self._body_rows = 0

    def show(self, head: list[Line], body: list[Line], foot: list[tuple[Line, int | None]], rows: int) -> int:
        """Show a page in at most ``rows`` rows; return how many it takes.

        The body gives way first; where that is not enough, the rows around the marked entry are shown.
        """
        room = max(_LEAST_BODY, rows - len(head) - len(foot))
        self._body = body
        self._body_rows = min(len(body), room)
        self._top = max(0, min(self._top, len(body) - self._body_rows))
        window = body[self._top : self._top + self._body_rows]
        lines = [*((line, None) for line in head), *((line, None) for line in window), *foot]
        if len(lines) > rows:
            last = max((y for y, (_, entry) in enumerate(lines) if entry == self.marked), default=rows - 1)
            start = max(0, min(last + 1 - rows, len(lines) - rows))
            lines = lines[start : start + rows]
        self._lines = lines
        self.refresh()
        return len(lines)

    @property
    def hidden_below(self) -> int:
        """Lines of the body below what is in sight."""
        return max(0, len(self._body) - self._top - self._body_rows)

    def scroll_body(self, pages: int) -> None:
        """Move in the body; the caller shows the page again."""
        step = max(1, self._body_rows - 1)
        self._top = max(0, min(self._top + pages * step, len(self._body) - self._body_rows))

    def to_top(self) -> None:
        """Show the body from its start."""
        self._top = 0

    def render_line(self, y: int) -> Strip:
        """Return one row."""
        width = self.size.width
        if y >= len(self._lines):
            return Strip.blank(width)
        line, entry = self._lines[y]
        over = "selected" if entry is not None and entry == self.marked and self.has_focus else ""
        return self._palette.strip(line, width, over=over)

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        if event.key in ("ctrl+c", "ctrl+q", "tab", "shift+tab", "ctrl+b", "f2", "ctrl+o"):
            return
        event.stop()
        self.post_message(self.Pressed(event.key))

    @on(events.Click)
    def _on_clicked(self, event: events.Click) -> None:
        if event.y < len(self._lines) and (place := self._lines[event.y][1]) is not None:
            self.post_message(self.EntryClicked(place))


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
        self._editor = MessageEditor(id="note")
        self._page: ApprovalPage | QuestionPage | None = None
        self._waiting = 0
        self._grace = grace
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

    def ask(self, page: ApprovalPage | QuestionPage, waiting: int) -> None:
        """Ask ``page``; ``waiting`` more requests come after it."""
        self._page, self._waiting = page, waiting
        self.display = True
        self._view.marked = 0
        self._view.to_top()
        self._start_grace()
        self._draw()
        self._view.focus()

    def take_focus(self) -> None:
        """Take the focus back."""
        (self._editor if self._editor.display else self._view).focus()

    def update_waiting(self, waiting: int) -> None:
        """Another number of requests waits behind this one."""
        if waiting != self._waiting:
            self._waiting = waiting
            self._draw()

    def leave(self) -> None:
        """Nothing waits any more."""
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
        if self._page is None or self.in_grace:
            return
        entries = self._page.entries()
        match event.key:
            case "up" | "down":
                step = -1 if event.key == "up" else 1
                self._view.marked = max(0, min(len(entries) - 1, self._view.marked + step))
            case "pageup" | "pagedown":
                self._view.scroll_body(-1 if event.key == "pageup" else 1)
            case "enter" | "space" if entries:
                self._take(self._page.choose(self._view.marked))
            case "escape":
                self._take(self._page.escape())
            case key if key.isdigit() and 1 <= int(key) <= len(entries):
                self._view.marked = int(key) - 1
                self._take(self._page.choose(int(key) - 1))
            case _:
                pass
        self._draw()

    @on(RequestView.EntryClicked)
    def _on_entry_clicked(self, event: RequestView.EntryClicked) -> None:
        event.stop()
        if self._page is not None and not self.in_grace:
            self._view.marked = event.place
            self._take(self._page.choose(event.place))
            self._draw()

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
    def _on_resized(self) -> None:
        self._draw()

    def _draw(self) -> None:
        page = self._page
        if page is None or not self.is_mounted:
            return
        width = max(8, (self.size.width or self.app.size.width - 2))
        prompt = page.text_prompt if not self.in_grace else None
        self._show_editor(prompt, page.entries())
        head = wrap([(page.head, "bold")], width, first=(("? ", "warning bold"),))
        body = page.body(width)
        screen = self.app.size.height
        rows = max(screen * 6 // 10, min(screen - 8, 16)) - (self._editor.outer_size.height if prompt else 0)
        rows = max(1, min(rows, screen - 1))
        foot = self._foot(page, width)
        height = self._view.show(head, body, foot, rows)
        if self._view.hidden_below:
            foot = [((), None), *foot]  # a row for what is said below
            self._view.show(head, body, foot, rows)
            hidden = self._view.hidden_below
            foot[0] = (((f"… {hidden} more line{'s' if hidden != 1 else ''} (PgDn)", "warning"),), None)
            height = self._view.show(head, body, foot, rows)
        self._view.styles.height = height

    def _show_editor(self, prompt: str | None, entries: list[Entry]) -> None:
        show = prompt is not None
        if show and not self._editor.display:
            self._editor.display = True
            if not entries or isinstance(self._page, ApprovalPage):
                self._editor.focus()
        elif not show and self._editor.display:
            self._editor.display = False
            self._view.focus()
        self._editor.placeholder = prompt or ""

    def _foot(self, page: ApprovalPage | QuestionPage, width: int) -> list[tuple[Line, int | None]]:
        foot: list[tuple[Line, int | None]] = []
        for place, entry in enumerate(page.entries()):
            tick = "" if entry.ticked is None else "[x] " if entry.ticked else "[ ] "
            number: Line = ((f" {place + 1}. ", "accent"),)
            label: list[Span] = [(f"{tick}{entry.label}", "")]
            details = " · ".join(entry.details)
            if details and line_cells((*number, *label)) + cells(details) + 2 <= width:
                label.append((f": {details}", "muted"))
                details = ""
            foot.extend((line, place) for line in wrap(label, width, first=number))
            if details:
                foot.extend((line, place) for line in wrap([(details, "muted")], width, first=(("      ", ""),)))
        if page.error:
            foot.extend((line, None) for line in wrap([(page.error, "error")], width, first=(("✗ ", "error"),)))
        foot.extend((line, None) for line in wrap([(self._hint(page), "muted")], width))
        return foot

    def _hint(self, page: ApprovalPage | QuestionPage) -> str:
        more = f" · {self._waiting} more wait" if self._waiting else ""
        if self.in_grace:
            return f"… keys are taken in a moment{more}"
        if page.text_prompt is not None:
            return f"Enter sends · Esc goes back{more}"
        last = "says no" if isinstance(page, ApprovalPage) else "goes back"
        return f"1-{len(page.entries())} or ↑↓ Enter · Esc {last}{more}"
