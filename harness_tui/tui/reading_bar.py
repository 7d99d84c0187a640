"""The row over the prompt while somebody reads: what is marked, what is looked for, and what the keys do."""

from __future__ import annotations

from textual import events, on
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, Span, cells, cut_cells_start, cut_line
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

_LEAST_TEXT = 12


class ReadingBar(Widget, can_focus=True):
    """One row, hidden while nobody reads. With the focus it takes the text that is looked for."""

    DEFAULT_CSS = beside(__file__)
    ALLOW_SELECT = False

    class Typed(Message):
        """``text`` is to be looked for."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Stepped(Message):
        """The next place is wanted, or the one before."""

        def __init__(self, way: int) -> None:
            super().__init__()
            self.way = way

    class Accepted(Message):
        """The person stays at what was found."""

    class Left(Message):
        """The person goes back to where they were."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="reading")
        self._palette = palette
        self._text = ""
        self._typing = False
        self._state = ""
        self._hint = ""
        self.display = False

    @property
    def is_typing(self) -> bool:
        """Whether text is typed here."""
        return self._typing

    def ask(self, text: str = "") -> None:
        """Take a text that is looked for."""
        self._text, self._typing, self.display = text, True, True
        self.focus()
        self.refresh()

    def show_state(self, state: str, hint: str) -> None:
        """Show where the reader is and what the keys do."""
        if (state, hint) != (self._state, self._hint) or not self.display:
            self._state, self._hint, self.display = state, hint, True
            self.refresh()

    def leave(self) -> None:
        """Disappear."""
        self._typing, self.display, self._text = False, False, ""

    def stop_typing(self) -> None:
        """Take no more text."""
        self._typing = False
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the row."""
        width = self.size.width
        head: list[Span] = [(" ", "")]
        if self._typing:
            room = max(_LEAST_TEXT, width - cells(self._state) - 12)
            head += [("Find ", "bold"), (cut_cells_start(clean_for_display(self._text, one_line=True), room), "")]
            head += [("▏ ", "accent")]
        line: Line = (*head, (self._state, "accent"), ("   ", ""), (self._hint, "muted"))
        return self._palette.strip(cut_line(line, width), width)

    # --- keys ----------------------------------------------------------------------------------------

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        if not self._typing:
            return
        match event.key:
            case "escape" | "ctrl+c":
                self.post_message(self.Left())
            case "enter":
                self.post_message(self.Accepted())
            case "up" | "ctrl+p" | "shift+tab":
                self.post_message(self.Stepped(-1))
            case "down" | "ctrl+n" | "tab" | "ctrl+f":
                self.post_message(self.Stepped(1))
            case _ if not self._edit(event):
                return
            case _:
                pass
        event.stop()
        event.prevent_default()

    def _edit(self, event: events.Key) -> bool:
        match event.key:
            case "backspace":
                text = self._text[:-1]
            case "ctrl+u":
                text = ""
            case "ctrl+w":
                text = self._text.rstrip().rpartition(" ")[0]
            case _ if event.is_printable and event.character:
                text = self._text + event.character
            case _:
                return False
        self._look_for(text)
        return True

    @on(events.Paste)
    def _on_pasted(self, event: events.Paste) -> None:
        event.stop()
        self._look_for(self._text + " ".join(event.text.split()))

    def _look_for(self, text: str) -> None:
        self._text = text
        self.refresh()
        self.post_message(self.Typed(text))
