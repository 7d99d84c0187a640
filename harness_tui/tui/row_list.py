"""A list of rows in one widget: the base of panels, pickers and the completion popup.

Rows are built for a width by a function, so that they can wrap; only what is in sight is made into strips.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar, TypeAlias

from textual import events, on
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from harness_tui.tui.lines import Line, ListRow
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

RowBuilder: TypeAlias = Callable[[int], Sequence[ListRow]]


class RowList(Widget, can_focus=True):
    """Shows rows, one of them marked. The mark stays on its key when the rows change."""

    DEFAULT_CSS = beside(__file__)
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "edge(-1)", "First", show=False),
        Binding("end", "edge(1)", "Last", show=False),
        Binding("enter", "choose", "Choose", show=False),
    ]

    class Marked(Message):
        """The mark moved to ``key``."""

        def __init__(self, source: RowList, key: Hashable | None) -> None:
            super().__init__()
            self.source, self.key = source, key

        @property
        def control(self) -> RowList:
            """The list."""
            return self.source

    class Chosen(Marked):
        """``key`` was chosen, by Enter or a click."""

    def __init__(
        self, palette: Palette, *, id: str | None = None, mark_always: bool = False, second_click: bool = False
    ) -> None:
        """With ``second_click`` the first click on a row marks it, and the next one chooses it."""
        super().__init__(id=id)
        self._second_click = second_click
        self._palette = palette
        self._mark_always = mark_always
        self._build: RowBuilder = _no_rows
        self._rows: Sequence[ListRow] = ()
        self._lines: list[tuple[int, Line]] = []
        self._marked = -1
        self._top = 0

    # --- rows ----------------------------------------------------------------------------------------

    def show_rows(self, build: RowBuilder, *, mark_first: bool = False) -> None:
        """Show what ``build(width)`` gives. The mark stays where it was, or goes to the first row."""
        self._build = build
        self._rebuild(None if mark_first else self.marked)

    @property
    def marked(self) -> Hashable | None:
        """The key of the marked row."""
        return self._rows[self._marked].key if 0 <= self._marked < len(self._rows) else None

    @property
    def line_count(self) -> int:
        """The number of lines of all rows."""
        return len(self._lines)

    def rows_in_sight(self) -> list[tuple[int, Hashable]]:
        """Return the line, from the top of the list, and the key of each row that begins in sight and can be chosen."""
        found: dict[Hashable, int] = {}
        for line, (index, _) in enumerate(self._lines[self._top : self._top + self.size.height]):
            if (key := self._rows[index].key) is not None:
                found.setdefault(key, line)
        return [(line, key) for key, line in found.items()]

    def scroll_lines(self, lines: int) -> None:
        """Scroll by ``lines``, down where they are positive; the mark stays."""
        self._scroll(lines)

    def mark_in_sight(self) -> None:
        """Move a mark that is out of sight to the first row that is in it, where one can be marked."""
        shown = [index for index, _ in self._lines[self._top : self._top + self.size.height]]
        if self._marked not in shown:
            place = next((index for index in shown if self._rows[index].key is not None), None)
            if place is not None:
                self._marked = place
                self.refresh()

    def mark(self, key: Hashable) -> None:
        """Move the mark to ``key``, where there is such a row."""
        place = next((index for index, row in enumerate(self._rows) if row.key == key), None)
        if place is not None:
            self._mark_row(place)

    def _rebuild(self, key: Hashable | None) -> None:
        old = self._marked
        group = self._rows[old].group if 0 <= old < len(self._rows) else None
        self._rows = self._build(max(1, self.size.width)) if self.size.width else ()
        self._lines = [(index, line) for index, row in enumerate(self._rows) for line in row.lines]
        places = [index for index, row in enumerate(self._rows) if row.key is not None]
        same = next((index for index in places if key is not None and self._rows[index].key == key), None)
        if same is None and key is not None and group is not None:
            same = next((index for index in places if self._rows[index].group == group), None)
        if same is None and key is not None and places:
            same = min(places, key=lambda index: abs(index - old))  # its row went away: the nearest one
        self._marked = same if same is not None else places[0] if places else -1
        self._keep_in_sight()
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines at ``width``, for ``height: auto``."""
        return sum(len(row.lines) for row in self._build(max(1, width)))

    # --- moving --------------------------------------------------------------------------------------

    def action_move(self, way: int) -> None:
        """Move the mark to the next row that can be chosen; scroll where there is none."""
        place = self._marked + way
        while 0 <= place < len(self._rows) and self._rows[place].key is None:
            place += way
        if 0 <= place < len(self._rows):
            self._mark_row(place)
        else:
            self._scroll(way)

    def action_page(self, way: int) -> None:
        """Move the mark by about a page."""
        if self._marked < 0:
            self._scroll(way * max(1, self.size.height - 1))
            return
        for _ in range(max(1, self.size.height - 1)):
            self.action_move(way)

    def action_edge(self, way: int) -> None:
        """Move the mark to the first or last row; scroll where there is none to mark."""
        places = [index for index, row in enumerate(self._rows) if row.key is not None]
        if places:
            self._mark_row(places[0] if way < 0 else places[-1])
        else:
            self._scroll(way * len(self._lines))

    def action_choose(self) -> None:
        """Choose the marked row."""
        if self.marked is not None:
            self.post_message(self.Chosen(self, self.marked))

    def _mark_row(self, place: int) -> None:
        self._marked = place
        self._keep_in_sight()
        self.refresh()
        self.post_message(self.Marked(self, self.marked))

    def _scroll(self, lines: int) -> None:
        self._top = max(0, min(len(self._lines) - self.size.height, self._top + lines))
        self.refresh()

    def _keep_in_sight(self) -> None:
        height = max(1, self.size.height)
        self._top = max(0, min(self._top, len(self._lines) - height))
        mine = [y for y, (index, _) in enumerate(self._lines) if index == self._marked]
        if mine:
            self._top = min(max(self._top, mine[-1] - height + 1), mine[0])
            if all(self._rows[index].key is None for index, _ in self._lines[: mine[0]]) and mine[-1] < height:
                self._top = 0  # headings over the first row stay in sight

    # --- events --------------------------------------------------------------------------------------

    @on(events.Resize)
    def _on_resized(self) -> None:
        self._rebuild(self.marked)

    @on(events.Focus)
    @on(events.Blur)
    def _on_focus_changed(self) -> None:
        self.refresh()

    @on(events.MouseScrollUp)
    def _on_wheel_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._scroll(-3)

    @on(events.MouseScrollDown)
    def _on_wheel_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._scroll(3)

    @on(events.Click)
    def _on_clicked(self, event: events.Click) -> None:
        line = event.y + self._top
        if line < len(self._lines) and self._rows[self._lines[line][0]].key is not None:
            fresh = self._lines[line][0] != self._marked
            self._mark_row(self._lines[line][0])
            if not (fresh and self._second_click):
                self.action_choose()

    # --- drawing -------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """Return one line; the marked row is reversed while the list has the focus (or always, where asked for)."""
        width, place = self.size.width, y + self._top
        if place >= len(self._lines):
            return self._palette.strip((), width)
        index, line = self._lines[place]
        marked = index == self._marked and (self.has_focus or self._mark_always)
        return self._palette.strip(line, width, over="selected" if marked else "")


def _no_rows(_: int) -> Sequence[ListRow]:
    return ()
