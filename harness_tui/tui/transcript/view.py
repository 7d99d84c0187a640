"""The transcript as a widget that is read in: a mark on blocks, search, selection, by keys and with the mouse.

What only a reader needs is imported when somebody begins to read; the rows themselves are those of the base.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette
from harness_tui.tui.transcript.model import Block, Changes, TranscriptModel
from harness_tui.tui.transcript.rows import TranscriptRows

if TYPE_CHECKING:
    from harness_tui.tui.transcript.reader import TranscriptReader
    from harness_tui.tui.transcript.selection import Point

WHEEL_LINES: Final = 3

_BETWEEN_SLICES_S: Final = 0.03
_LETTERS: Final = frozenset(
    ["c", "a", "k", "x", "o", "w", "v", "n", "N", "left_square_bracket", "right_square_bracket"]
)


class TranscriptView(TranscriptRows, can_focus=True):
    """Shows a :class:`TranscriptModel`, and lets a person mark, search and select in it."""

    DEFAULT_CSS = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Line up", show=False),
        Binding("down", "move(1)", "Line down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("left", "mark(-1)", "Mark the block before; while one is marked, letters are keys", show=False),
        Binding("right", "mark(1)", "Mark the next block", show=False),
        Binding("left_square_bracket", "turn(-1)", "Marked: to the message before", show=False),
        Binding("right_square_bracket", "turn(1)", "Marked: to the next message", show=False),
        Binding("enter", "fold", "Unfold or fold what is marked; copy what is selected", show=False),
        Binding("c", "want('copy')", "Marked: copy it, or what is selected", show=False),
        Binding("a", "want('answer')", "Marked: copy the whole answer", show=False),
        Binding("k", "want('code')", "Marked: copy a code block", show=False),
        Binding("x", "want('command')", "Marked: copy the command", show=False),
        Binding("o", "want('open')", "Marked: open a file that it names in your editor, copy a link", show=False),
        Binding("w", "want('whole')", "Marked: read it whole, cut output too", show=False),
        Binding("v", "select", "Marked: select rows; ↑ ↓ change how many", show=False),
        Binding("n", "match(1)", "Search: next place", show=False),
        Binding("N", "match(-1)", "Search: place before", show=False),
        Binding("escape", "back", "Back: end the selection, the search, the mark", show=False),
        Binding("home", "start", "First line", show=False),
        Binding("end", "end", "Last line", show=False),
    ]

    class Typed(Message):
        """A character was typed here that belongs to the prompt."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    class Wanted(Message):
        """A key asks for something about ``block``: ``what`` is the word of the key."""

        def __init__(self, what: str, block: Block) -> None:
            super().__init__()
            self.what, self.block = what, block

    class Selected(Message):
        """``text`` was selected and is to be copied."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class ReadingChanged(Message):
        """The mark, the search or the selection changed."""

    class Left(Message):
        """The person is done here."""

    def __init__(self, model: TranscriptModel, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(model, palette, id=id)
        self._reader: TranscriptReader | None = None
        self._pressed: Point | None = None
        self._dragged = False

    @property
    def reader(self) -> TranscriptReader:
        """What the person does here besides scrolling; made at the first use."""
        if self._reader is None:
            from harness_tui.tui.transcript.reader import TranscriptReader

            self._reader = TranscriptReader(self._layout, self._model.blocks)
        return self._reader

    @property
    def is_read(self) -> bool:
        """Whether letters are keys: a block is marked."""
        return self._reader is not None and self._reader.on

    @property
    def is_searched(self) -> bool:
        """Whether something is looked for."""
        return self._reader is not None and self._reader.search is not None

    def show_model(self, model: TranscriptModel) -> None:
        """Show another model, from its end."""
        if self._reader is not None:
            self._reader.use(model.blocks)
            self.post_message(self.ReadingChanged())
        super().show_model(model)

    def took(self, changes: Changes) -> None:
        """Look in what is new as well."""
        if self._reader is not None:
            self._reader.take(changes.first_new)
            self.look_for_more()

    def overlay(self, rows: list[Strip]) -> None:
        """Show the mark, what was found and what is selected."""
        if self._reader is not None:
            self._reader.overlay(rows, focused=self.has_focus)

    # --- reading -------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Letters are keys while a block is marked; else they are typed, and go to the prompt."""
        match action:
            case "want" | "select" | "turn" | "back":
                return self.is_read
            case "match":
                return self.is_searched
            case _:
                return True

    def blocks_in_sight(self) -> list[tuple[int, Block]]:
        """Return the blocks that begin in sight, each with its row."""
        places = ((row, self._layout.block_at(row)) for row in range(self._layout.height))
        return [(row, self._model.blocks[place[0]]) for row, place in places if place is not None and place[1] == 0]

    def mark_block(self, block: Block) -> None:
        """Mark a block, as a person does who goes there."""
        self.focus()
        self.reader.begin()
        self.reader.mark(block)
        self._read_on()

    def action_mark(self, step: int) -> None:
        """Mark the next block in the direction of ``step``; the first time the last one in sight."""
        self.reader.step(step)
        self._read_on()

    def action_turn(self, way: int) -> None:
        """Go to the next message of the person."""
        self.reader.step_turn(way)
        self._read_on()

    def action_fold(self) -> None:
        """Unfold the marked block, or fold it; copy what is selected."""
        if self.reader.selection is not None:
            self.action_want("copy")
        elif (block := self.reader.marked) is not None and block.folds:
            self._turn(block)

    def action_want(self, what: str) -> None:
        """Ask for something about the marked block."""
        if what == "copy" and self.reader.selection is not None:
            self.post_message(self.Selected(self.reader.selected_text()))
            self.reader.selection = None
        elif (block := self.reader.marked) is not None:
            self.post_message(self.Wanted(what, block))
        self._read_on()

    def action_select(self) -> None:
        """Begin to select rows."""
        self.reader.select_lines()
        self._read_on()

    def action_match(self, way: int) -> None:
        """Go to the next match."""
        self.reader.step_match(way)
        self._read_on()

    def action_back(self) -> None:
        """End the selection, else the search, else the mark."""
        reader = self.reader
        if reader.selection is not None:
            reader.selection = None
        elif reader.search is not None:
            reader.leave_search()
        else:
            self.stop_reading()
            self.post_message(self.Left())
        self._read_on()

    def stop_reading(self) -> None:
        """End mark and selection; letters are typed again."""
        if self._reader is not None:
            self._reader.on, self._reader.selection = False, None
            self._read_on()

    def find(self, text: str) -> None:
        """Look for ``text`` in everything."""
        self.reader.find(text)
        self.look_for_more()
        self._read_on()

    def keep_found(self) -> None:
        """Stay at what was found, with the mark on it."""
        self.reader.keep_place()
        self.focus()
        self._read_on()

    def leave_search(self) -> None:
        """End the search and go back to where it began."""
        self.reader.leave_search()
        self._read_on()

    def look_for_more(self) -> None:
        """Search for a moment, and go on soon where that was not all."""
        search = self._reader.search if self._reader is not None else None
        if search is None or search.done(self._model.blocks):
            return
        if self.reader.advance():
            self.set_timer(_BETWEEN_SLICES_S, self.look_for_more)
        self._read_on()

    def _read_on(self) -> None:
        self._settle()
        self.post_message(self.ReadingChanged())

    def _turn(self, block: Block) -> None:
        block.folded = not block.folded
        self._layout.redraw_block(block.index)
        self._settle()

    @on(events.Focus)
    def _on_focused(self) -> None:
        self._read_on()

    @on(events.Blur)
    def _on_blurred(self) -> None:
        """Somebody went on elsewhere: the mark ends, unless it is a list or a text over the session."""
        if self._reader is not None and self.app.screen is self.screen:
            self._reader.on, self._reader.selection = False, None
        self._read_on()

    def to_turn(self, way: int) -> None:
        """Show the message of the person before or after what is in sight."""
        self.reader.step_turn(way)
        self._settle()

    def action_move(self, lines: int) -> None:
        """Move by lines; the end of a selection where there is one."""
        if self._reader is not None and self._reader.selection is not None and self._reader.selection.lines:
            self._reader.extend(lines)
            self._read_on()
        else:
            super().action_move(lines)

    # --- events --------------------------------------------------------------------------------------

    @on(events.MouseScrollUp)
    def _on_wheel_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_move(-WHEEL_LINES)

    @on(events.MouseScrollDown)
    def _on_wheel_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_move(WHEEL_LINES)

    @on(events.MouseDown)
    def _on_pressed(self, event: events.MouseDown) -> None:
        self.reader.selection, self._dragged = None, False
        self._pressed = self.reader.point_at(event.x, event.y) if event.button == 1 else None
        self._settle()

    @on(events.MouseMove)
    def _on_dragged(self, event: events.MouseMove) -> None:
        if self._pressed is None or event.button != 1:
            return
        if self.app.mouse_captured is not self:
            self.capture_mouse()
        if not 0 <= event.y < self.size.height:
            self._layout.move(-1 if event.y < 0 else 1)
        head = self.reader.point_at(event.x, max(0, min(event.y, self.size.height - 1)))
        if head is not None and head.place != self._pressed.place:
            self.reader.select(self._pressed, head)
        self._settle()

    @on(events.MouseUp)
    def _on_released(self) -> None:
        self.release_mouse()
        pressed, self._pressed = self._pressed, None
        self._dragged = pressed is not None and self.reader.selection is not None
        if self._dragged:
            self.post_message(self.Selected(self.reader.selected_text()))
            self._read_on()

    @on(events.Click)
    def _on_clicked(self, event: events.Click) -> None:
        if self._dragged:
            return  # it was the end of a selection
        if self._layout.grown_below and event.y == self.size.height - 1:
            self.action_end()
            return
        if (place := self._layout.block_at(event.y)) is None:
            return
        self.reader.mark(block := self._model.blocks[place[0]])
        if block.folds:
            self._turn(block)

    @on(events.Key)
    def _on_key_typed(self, event: events.Key) -> None:
        if self.is_read and event.key in _LETTERS:
            return
        if event.is_printable and event.character and event.key != "space":
            event.stop()
            self.post_message(self.Typed(event.character))
