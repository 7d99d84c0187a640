"""The text field in which messages and notes are written.

Enter sends, and only a person's Enter does: a paste, with or without bracketed paste, never sends anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import TextArea

from harness_tui.core.text import clean_for_display
from harness_tui.tui.styles import beside

if TYPE_CHECKING:
    from harness_tui.tui.prompt.paste import PasteShelf

NEW_LINE_KEYS: Final = frozenset({"shift+enter", "ctrl+j", "alt+enter", "ctrl+enter"})
BURST_S: Final = 0.005
"""Keys closer than this were not typed by hand."""
BURST_WAIT_S: Final = 0.025
"""How long an Enter at the end of a burst waits for more of it."""
STEPS: Final = (1, 3, 6, 10)
"""The heights that the field takes, in lines: a new layout at each new line would be felt."""


class MessageEditor(TextArea):
    """A text area that submits. ``empties``: what is sent leaves the field at once; else its owner clears it.

    ``sends_empty``: Enter says something also where nothing stands in it.
    """

    empties: ClassVar[bool] = False
    sends_empty: ClassVar[bool] = False

    DEFAULT_CSS = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c,super+c", "app.interrupt", "Cancel or clear", show=False),
        Binding("ctrl+d", "app.end_of_input", "Leave when empty", show=False),
        Binding("ctrl+underscore,ctrl+minus,super+z", "undo", "Undo", show=False),  # Ctrl+Z stops the program
        Binding("pageup", "app.transcript_page(-1)", "Page up", show=False),
        Binding("pagedown", "app.transcript_page(1)", "Page down", show=False),
    ]

    class Submitted(Message):
        """``text`` is to be sent, pastes expanded; ``typed`` is how it stood in the field."""

        def __init__(self, editor: MessageEditor, text: str, typed: str) -> None:
            super().__init__()
            self.editor, self.text, self.typed = editor, text, typed

        @property
        def control(self) -> MessageEditor:
            """The field."""
            return self.editor

    def __init__(self, *, id: str | None = None, placeholder: str = "") -> None:
        super().__init__(
            id=id,
            placeholder=placeholder,
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            tab_behavior="focus",
        )
        self.cursor_blink = False
        self._pastes: PasteShelf | None = None
        self._last_key = 0.0
        self._burst_lines = 0
        self._enter_timer: Timer | None = None

    def invite(self, text: str) -> None:
        """Show ``text`` while the field is empty, as it is: a server's default is no markup."""
        self.placeholder = Content(clean_for_display(text, one_line=True))

    def render_line(self, y: int) -> Strip:
        """Return one row; a terminal of two columns leaves none for the text, and wrapping to none is an error."""
        return super().render_line(y) if self.content_size.width > 0 else Strip.blank(self.size.width)

    def _recompute_cursor_offset(self) -> None:
        # Undoing many lines takes the scrollbar away before the cursor is moved: it still stands behind the text.
        if self.cursor_location[0] < self.document.line_count:
            super()._recompute_cursor_offset()

    # --- text ----------------------------------------------------------------------------------------

    def set_text(self, text: str) -> None:
        """Replace what stands in the field, which an undo brings back, and put the cursor at its end."""
        self.history.checkpoint()
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    @property
    def expanded(self) -> str:
        """What stands in the field, pastes expanded."""
        return self._pastes.expand(self.text) if self._pastes is not None else self.text

    def take_text(self) -> str:
        """Return what stands in the field with pastes expanded, and clear it."""
        text = self.expanded
        self.load_text("")
        return text

    # --- chips of pastes -----------------------------------------------------------------------------

    @property
    def pastes(self) -> PasteShelf:
        """The pasted texts that chips stand for."""
        if self._pastes is None:
            from harness_tui.tui.prompt.paste import PasteShelf

            self._pastes = PasteShelf()
        return self._pastes

    def chip(self) -> tuple[int, int, str] | None:
        """Return start and end in its line, and the text, of the chip at the cursor."""
        if self._pastes is None:
            return None
        line, column = self.cursor_location
        return self._pastes.chip_at(self.document.get_line(line), column)

    def replace_chip(self, chip: tuple[int, int, str], text: str) -> None:
        """Put ``text`` in the place of a chip; an undo brings the chip back."""
        line, _ = self.cursor_location
        self.history.checkpoint()
        self.replace(text, (line, chip[0]), (line, chip[1]))

    def open_chip(self) -> bool:
        """Put the text of the chip at the cursor in its place; false where there is none, or where it is too long."""
        from harness_tui.tui.prompt.paste import OPEN_CHARS

        chip = self.chip()
        text = self.pastes.text_of(chip[2]) if chip is not None else None
        if chip is None or text is None or len(text) > OPEN_CHARS:
            return False
        self.replace_chip(chip, text)
        return True

    def _delete_chip(self, key: str) -> bool:
        """Delete a chip as one: half of one would stand for nothing."""
        chip = self.chip() if self.selection.is_empty else None
        column = self.cursor_location[1]
        if chip is None or column == (chip[0] if key == "backspace" else chip[1]):
            return False
        self.replace_chip(chip, "")
        return True

    def submit(self) -> None:
        """Send what stands in the field; a trailing backslash asks for a new line instead."""
        line, column = self.cursor_location
        if self.document.get_line(line)[:column].endswith("\\") and self.cursor_at_end_of_text:
            self.action_delete_left()
            self.insert("\n")
            return
        typed, text = self.text, self.expanded
        if typed.strip() or self.sends_empty:
            if self.empties:
                self.take_text()  # now: what is typed before the message is handled belongs to the next one
            self.post_message(self.Submitted(self, text, typed))

    # --- keys ----------------------------------------------------------------------------------------

    async def _on_key(self, event: events.Key) -> None:
        burst = event.time - self._last_key < BURST_S
        self._last_key = event.time
        if self._enter_timer is not None:
            self._stop_waiting()
            self._burst_lines += 1
            self.insert("\n")
        elif not burst:
            self._burst_lines = 0
        if self.handle_key_first(event):
            event.stop()
            event.prevent_default()
        elif event.key == "enter":
            event.stop()
            event.prevent_default()
            self._enter(burst)
        elif event.key in NEW_LINE_KEYS:
            event.stop()
            event.prevent_default()
            self.insert("\n")
        elif event.key in ("backspace", "delete") and self._delete_chip(event.key):
            event.stop()
            event.prevent_default()
        else:
            await super()._on_key(event)

    def handle_key_first(self, event: events.Key) -> bool:
        """Take a key before the field does; return whether it was taken. For subclasses."""
        return False

    def _enter(self, burst: bool) -> None:
        if burst:
            self._enter_timer = self.set_timer(BURST_WAIT_S, self._enter_after_burst)
        else:
            self.submit()

    def _enter_after_burst(self) -> None:
        self._stop_waiting()
        if self.app.message_queue_size or self.message_queue_size:  # keys of the burst may wait behind other work
            self._enter_timer = self.set_timer(BURST_WAIT_S, self._enter_after_burst)
        elif self._burst_lines:  # several lines came at once: a paste of a terminal that does not bracket them
            self.insert("\n")
        else:
            self.submit()

    def _stop_waiting(self) -> None:
        if self._enter_timer is not None:
            self._enter_timer.stop()
            self._enter_timer = None

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert(self.pastes.shelve(clean_for_display(event.text)))

    def action_cursor_right(self, select: bool = False) -> None:
        """Move right; a hint behind the cursor is never taken for text."""
        self.suggestion = ""
        super().action_cursor_right(select)

    # --- height --------------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _on_text_changed(self) -> None:
        self.fit_height()

    @on(events.Resize)
    def _on_resized(self) -> None:
        self.fit_height()

    def fit_height(self) -> None:
        """Take the smallest step that shows the whole text, at most a third of the screen."""
        lines = self.wrapped_document.height
        most = max(1, self.app.size.height // 3)
        rows = min(next((step for step in STEPS if step >= lines), STEPS[-1]), most)
        height = rows + self.gutter.height
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
