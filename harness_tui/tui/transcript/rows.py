"""The rows of the transcript: shows those in sight and refreshes only the ones that differ.

It is not a ``ScrollView``: setting a virtual size lays out the whole screen at every new line. Rows are strips of the
full width, made once per block, width and fold, and handed to the compositor as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from harness_tui.tui.lines import Line, two_ends
from harness_tui.tui.theme import Palette
from harness_tui.tui.transcript.layout import TranscriptLayout
from harness_tui.tui.transcript.model import Block, Changes, TranscriptModel

if TYPE_CHECKING:
    from harness_tui.tui.transcript.drawing import BlockRenderer

_IDLE_S: Final = 1.0
"""So long after a resize what is out of sight is wrapped anew."""
_WRAPPED_AT_ONCE: Final = 4
_BETWEEN_SLICES_S: Final = 0.03
_CLOCK_S: Final = 1.0


class TranscriptRows(Widget):
    """Shows a :class:`TranscriptModel`. Call :meth:`sync` after the model changed."""

    ALLOW_SELECT = False

    class Scrolled(Message):
        """The place of the reader changed. ``top``, ``height`` and ``total`` in lines."""

        def __init__(self, top: int, height: int, total: int) -> None:
            super().__init__()
            self.top, self.height, self.total = top, height, total

    def __init__(self, model: TranscriptModel, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._model = model
        self._palette = palette
        self._layout: TranscriptLayout[Strip] = TranscriptLayout(self._draw_block)
        self._shown: list[Strip] = []
        self._blank = palette.strip((), 0)
        self._place = (0, 0, 0)
        self._renderer: BlockRenderer | None = None
        self._idle: Timer | None = None
        self._clock: Timer | None = None

    # --- model ---------------------------------------------------------------------------------------

    def show_model(self, model: TranscriptModel) -> None:
        """Show another model, from its end."""
        self._model = model
        model.reset_changes()
        self.sync()

    def sync(self) -> None:
        """Take over what changed in the model and refresh the rows that differ."""
        changes = self._model.take_changes()
        self._layout.take(self._model.blocks, changes)
        self.took(changes)
        self._settle()

    def took(self, changes: Changes) -> None:
        """Look at what changed. For subclasses."""

    def overlay(self, rows: list[Strip]) -> None:
        """Put something over the rows in sight. For subclasses."""

    def redraw(self) -> None:
        """Draw everything in sight anew: details, colours or a theme changed."""
        self._blank = self._palette.strip((), self.size.width)  # of the theme's background
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

    @on(events.Resize)
    def _on_resized(self, event: events.Resize) -> None:
        self._layout.resize(event.size.width, event.size.height)
        self._blank = self._palette.strip((), event.size.width)
        self._shown = []
        self._settle()
        self._wait_for_rest()

    # --- drawing -------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Bring the rows in sight up to date and refresh those that differ."""
        if not self.size:
            return
        rows = self._layout.visible()
        self.overlay(rows)
        if self._layout.grown_below and rows:
            new = self._layout.new_below
            badge: Line = ((f" ↓ {f'{new} new' if new else 'more'} below (Ctrl+End) ", "selected"),)
            rows[-1] = self._strip(two_ends((), badge, self.size.width), self.size.width)
        old, self._shown = self._shown, rows
        first, last = _difference(old, rows)
        if first < last:
            self.refresh(Region(0, first, self.size.width, last - first))
        place = (self._layout.top, self.size.height, self._layout.total)
        if place != self._place:
            self._place = place
            self.post_message(self.Scrolled(*place))
        self._watch_running()

    def _calls_that_run(self) -> list[Block]:
        """Return the calls in sight that run: how long they do is shown."""
        blocks = (self._model.blocks[index] for index in self._layout.in_sight())
        return [block for block in blocks if getattr(block, "state", "") == "running"]

    def _watch_running(self) -> None:
        if self._clock is None and self._calls_that_run():
            self._clock = self.set_timer(_CLOCK_S, self._show_time)

    def _show_time(self) -> None:
        self._clock = None
        for block in self._calls_that_run():
            self._layout.redraw_block(block.index)
        self._settle()

    def _wait_for_rest(self) -> None:
        if self._idle is not None:
            self._idle.stop()
        self._idle = self.set_timer(_IDLE_S, self._wrap_rest)

    def _wrap_rest(self) -> None:
        """Wrap some more of what was seen at another width, then wait again: a key comes first."""
        self._idle = None
        if self._layout.wrap_more(_WRAPPED_AT_ONCE):
            self._idle = self.set_timer(_BETWEEN_SLICES_S, self._wrap_rest)
        else:
            self._settle()

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
