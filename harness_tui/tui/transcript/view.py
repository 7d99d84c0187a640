"""The one widget of the transcript: shows the rows in sight and refreshes only those that differ.

It is not a ``ScrollView``: setting a virtual size lays out the whole screen at every new line. Rows are strips of the
full width, made once per block, width and fold, and handed to the compositor as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual import events, on
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from harness_tui.tui.lines import Line, two_ends
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette
from harness_tui.tui.transcript.layout import TranscriptLayout
from harness_tui.tui.transcript.model import Block, TranscriptModel

if TYPE_CHECKING:
    from harness_tui.tui.transcript.drawing import BlockRenderer

WHEEL_LINES = 3


class TranscriptView(Widget, can_focus=True):
    """Shows a :class:`TranscriptModel`. Call :meth:`sync` after the model changed."""

    DEFAULT_CSS = beside(__file__)
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Line up", show=False),
        Binding("down", "move(1)", "Line down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("left", "mark(-1)", "Mark the call before", show=False),
        Binding("right", "mark(1)", "Mark the next call", show=False),
        Binding("enter", "fold", "Unfold or fold what is marked", show=False),
        Binding("home", "start", "First line", show=False),
        Binding("end", "end", "Last line", show=False),
    ]

    class Scrolled(Message):
        """The place of the reader changed. ``top``, ``height`` and ``total`` in lines."""

        def __init__(self, top: int, height: int, total: int) -> None:
            super().__init__()
            self.top, self.height, self.total = top, height, total

    class Typed(Message):
        """A character was typed here that belongs to the prompt."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    def __init__(self, model: TranscriptModel, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._model = model
        self._palette = palette
        self._layout: TranscriptLayout[Strip] = TranscriptLayout(self._draw_block)
        self._shown: list[Strip] = []
        self._blank = Strip.blank(0)
        self._place = (0, 0, 0)
        self._renderer: BlockRenderer | None = None
        self._marked: Block | None = None

    # --- model ---------------------------------------------------------------------------------------

    def show_model(self, model: TranscriptModel) -> None:
        """Show another model, from its end."""
        self._model = model
        model.reset_changes()
        self.sync()

    def sync(self) -> None:
        """Take over what changed in the model and refresh the rows that differ."""
        self._layout.take(self._model.blocks, self._model.take_changes())
        self._settle()

    def redraw(self) -> None:
        """Draw everything in sight anew: details, colours or a theme changed."""
        self._layout.redraw()
        self._settle()

    def set_details(self, on: bool) -> None:
        """Show every output whole, or folded."""
        self.renderer.details = on
        self.redraw()

    @property
    def renderer(self) -> BlockRenderer:
        """The renderer of blocks; made at the first block, so that an empty screen imports nothing for it."""
        if self._renderer is None:
            from harness_tui.tui.transcript.drawing import BlockRenderer

            self._renderer = BlockRenderer()
        return self._renderer

    def take_wanted_languages(self) -> set[str]:
        """Return the languages of code that was drawn plain because their colours are not loaded."""
        return self._renderer.highlighter.take_wanted() if self._renderer is not None else set()

    def _draw_block(self, block: Block, width: int) -> list[Strip]:
        return [self._strip(line, width) for line in self.renderer.draw(block, width - 1)]

    def _strip(self, line: Line, width: int) -> Strip:
        strip = self._palette.strip(line, width)
        for line_filter in self.get_line_filters():
            strip = strip.apply_filter(line_filter, self.background_colors[1])
        return strip

    # --- folding -------------------------------------------------------------------------------------

    def action_mark(self, step: int) -> None:
        """Mark the next block that folds, in the direction of ``step``; the first time the last one in sight."""
        blocks = self._model.blocks
        if (marked := self._marked_block()) is not None:
            place = marked.index + step
        else:
            seen = self._layout.block_at(max(0, len(self._shown) - 1))
            place, step = (seen[0] if seen is not None else len(blocks) - 1), -1
        while 0 <= place < len(blocks):
            if blocks[place].folds:
                self._marked = blocks[place]
                self._layout.to_block(place)
                break
            place += step
        self._settle()

    def action_fold(self) -> None:
        """Unfold the marked block, or fold it."""
        if (block := self._marked_block()) is not None:
            self._turn(block)

    def _turn(self, block: Block) -> None:
        block.folded = not block.folded
        self._layout.redraw_block(block.index)
        self._settle()

    def _marked_block(self) -> Block | None:
        """Return the marked block, unless it has left the model."""
        block, blocks = self._marked, self._model.blocks
        return block if block is not None and block.index < len(blocks) and blocks[block.index] is block else None

    def _show_mark(self, rows: list[Strip]) -> None:
        block = self._marked_block()
        if block is None or not self.has_focus:
            return
        for y in range(len(rows)):
            if self._layout.block_at(y) == (block.index, 0):
                rows[y] = rows[y].apply_style(Style(reverse=True))

    @on(events.Focus)
    @on(events.Blur)
    def _on_focus_changed(self) -> None:
        self._settle()

    # --- moving --------------------------------------------------------------------------------------

    def action_move(self, lines: int) -> None:
        """Move by lines."""
        self._layout.move(lines)
        self._settle()

    def action_page(self, way: int) -> None:
        """Move by a page, one line kept in sight."""
        self.action_move(way * max(1, self.size.height - 1))

    def action_start(self) -> None:
        """Go to the first line."""
        self._layout.to_start()
        self._settle()

    def action_end(self) -> None:
        """Go to the end and follow it."""
        self._layout.to_end()
        self._settle()

    def go_to_share(self, share: float) -> None:
        """Go to a place between 0 and 1."""
        self._layout.to_share(share)
        self._settle()

    @property
    def following(self) -> bool:
        """Whether the end is followed."""
        return self._layout.follow

    # --- events --------------------------------------------------------------------------------------

    @on(events.Resize)
    def _on_resized(self, event: events.Resize) -> None:
        self._layout.resize(event.size.width, event.size.height)
        self._blank = Strip.blank(event.size.width)
        self._shown = []
        self._settle()

    @on(events.MouseScrollUp)
    def _on_wheel_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_move(-WHEEL_LINES)

    @on(events.MouseScrollDown)
    def _on_wheel_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_move(WHEEL_LINES)

    @on(events.Click)
    def _on_clicked(self, event: events.Click) -> None:
        if self._layout.new_below and event.y == self.size.height - 1:
            self.action_end()
            return
        if (place := self._layout.block_at(event.y)) is None:
            return
        if (block := self._model.blocks[place[0]]).folds:
            self._marked = block
            self._turn(block)

    @on(events.Key)
    def _on_key_typed(self, event: events.Key) -> None:
        if event.is_printable and event.character and event.key != "space":
            event.stop()
            self.post_message(self.Typed(event.character))

    # --- drawing -------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Bring the rows in sight up to date and refresh those that differ."""
        if not self.size:
            return
        rows = self._layout.visible()
        self._show_mark(rows)
        if (new := self._layout.new_below) and rows:
            badge: Line = ((f" ↓ {new} new below (Ctrl+End) ", "selected"),)
            rows[-1] = self._strip(two_ends((), badge, self.size.width), self.size.width)
        old, self._shown = self._shown, rows
        first, last = _difference(old, rows)
        if first < last:
            self.refresh(Region(0, first, self.size.width, last - first))
        place = (self._layout.top, self.size.height, self._layout.total)
        if place != self._place:
            self._place = place
            self.post_message(self.Scrolled(*place))

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the rows as they are; nothing is computed while painting."""
        shown, blank = self._shown, self._blank
        rows = [shown[y] if y < len(shown) else blank for y in crop.line_range]
        if crop.column_span != (0, self.size.width):
            rows = [row.crop(*crop.column_span) for row in rows]
        return rows


def _difference(old: list[Strip], new: list[Strip]) -> tuple[int, int]:
    """Return the range of rows that differ."""
    length = max(len(old), len(new))
    short = min(len(old), len(new))
    first = next((y for y in range(short) if old[y] is not new[y] and old[y] != new[y]), short)
    if first == length:
        return 0, 0
    last = length
    if len(old) == len(new):
        while last > first and (old[last - 1] is new[last - 1] or old[last - 1] == new[last - 1]):
            last -= 1
    return first, last
