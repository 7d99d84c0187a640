"""What a request looks like: head, body that scrolls, entries in one line each, and below them the marked one whole.

What would happen is what a person decides on, so the body gets the rows: entries beyond a few scroll before it gives
way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from textual import events, on
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from harness_tui.tui.approval.page import Entry
from harness_tui.tui.lines import Line, Span, cells, cut_cells, cut_line, line_cells, two_ends, wrap
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

_LEAST_BODY: Final = 3
_LEAST_ENTRIES: Final = 4
_SMALL: Final = 8
"""With fewer rows the head is one line, and what an entry stands for is shown over the body."""
_NARROW: Final = 40
_DETAIL_LINES: Final = 3
"""What an entry stands for is shown below the entries; where it takes more lines than this, over the body."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One request, laid out for ``width``. ``details[i]`` are lines on entry ``i``: what its own line does not hold."""

    width: int
    head: list[Line]
    body: list[Line]
    entries: list[Line]
    details: list[list[Line]]
    foot: list[Line]

    def detail_rows(self) -> int:
        """Return the rows to keep for details where there is room, so that nothing jumps when another is marked."""
        return max((len(lines) for lines in self.details if len(lines) <= _DETAIL_LINES), default=0)


_KEYS_OF_OTHERS: Final = frozenset(
    {"ctrl+c", "ctrl+q", "tab", "shift+tab", "ctrl+b", "f2", "ctrl+o", "f8", "ctrl+up", "ctrl+down"}
    | {"alt+pageup", "alt+pagedown", "ctrl+home", "ctrl+end"}
)
"""Of the app: the transcript is read while a request waits."""


class RequestView(Widget, can_focus=True):
    """Draws a sheet and tells which keys and entries were taken."""

    DEFAULT_CSS = beside(__file__)
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
        self.lines: list[tuple[Line, int | None]] = []
        self.marked = 0
        self._top = 0
        self._body_lines = 0
        self._body_rows = 0

    def show(self, sheet: Sheet, rows: int) -> int:
        """Show a sheet in at most ``rows`` rows; return how many it takes.

        Where not everything fits, there is a little of what would happen and the marked entry, then what the keys do.
        """
        detail = sheet.details[self.marked] if self.marked < len(sheet.details) else []
        small = rows < _SMALL
        head = first_lines(sheet.head, 1, sheet.width) if small else sheet.head
        body, foot = sheet.body, sheet.foot
        if len(detail) > (0 if small else _DETAIL_LINES):
            body, detail = [*detail, *body], []
        while (room := rows - len(head) - len(detail) - len(foot)) < 2 and (head or foot):
            head, foot = (head, foot[1:]) if foot else (head[1:], foot)
        spare = max(0, min(sheet.detail_rows() - len(detail), room - len(sheet.entries) - len(body)))
        room, below = room - spare, [*detail, *[()] * spare, *foot]
        least = _LEAST_ENTRIES if room >= _LEAST_BODY + _LEAST_ENTRIES else max(1, room // 2)
        count = max(1, min(len(sheet.entries), max(least, room - len(body)), room - min(1, len(body))))
        lines: list[tuple[Line, int | None]] = [(line, None) for line in head]
        lines.extend((line, None) for line in self._window(body, room - count, sheet.width))
        lines.extend(self._entries(sheet, count))
        lines.extend((line, None) for line in below)
        self.lines = lines[:rows]
        self.refresh()
        return len(self.lines)

    def _entries(self, sheet: Sheet, count: int) -> list[tuple[Line, int | None]]:
        """Return the entries around the marked one; the outer ones say how many there are beyond them."""
        total = len(sheet.entries)
        first = max(0, min(self.marked - count // 2, total - count))
        last = min(first + count, total) - 1
        shown: list[tuple[Line, int | None]] = []
        for at in range(first, last + 1):
            above = f"↑{first}" if at == first > 0 else ""
            below = f"↓{total - 1 - last}" if at == last < total - 1 else ""
            note = f"{above} {below}".strip()
            shown.append((_with_note(sheet.entries[at], note, sheet.width) if note else sheet.entries[at], at))
        return shown

    def _window(self, body: list[Line], rows: int, width: int) -> list[Line]:
        """Return the part of the body in sight; its last row says how much there is below."""
        self._body_lines, self._body_rows = len(body), min(len(body), rows)
        apart = len(body) > rows >= _LEAST_BODY
        if apart:
            self._body_rows = rows - 1
        self._top = max(0, min(self._top, len(body) - self._body_rows))
        shown = body[self._top : self._top + self._body_rows]
        hidden = len(body) - self._top - self._body_rows
        if apart:
            word = f"… {hidden} more line{'s' if hidden != 1 else ''} (PgDn)" if hidden else "the end (PgUp)"
            shown.append(((word, "warning" if hidden else "muted"),))
        elif shown and self._body_rows < len(body):
            note = f"PgDn ↓{hidden}" if hidden else f"PgUp ↑{self._top}"
            shown[-1] = _with_note(shown[-1], note if width >= _NARROW else note[5:], width)
        return shown

    def scroll_body(self, pages: int) -> None:
        """Move in the body; the caller shows the sheet again."""
        step = max(1, self._body_rows - 1)
        self._top = max(0, min(self._top + pages * step, self._body_lines - self._body_rows))

    def to_top(self) -> None:
        """Show the body from its start."""
        self._top = 0

    def render_line(self, y: int) -> Strip:
        """Return one row."""
        width = self.size.width
        if y >= len(self.lines):
            return self._palette.strip((), width)
        line, entry = self.lines[y]
        over = "selected" if entry is not None and entry == self.marked and self.has_focus else ""
        return self._palette.strip(line, width, over=over)

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        if event.key in _KEYS_OF_OTHERS:
            return
        event.stop()
        self.post_message(self.Pressed(event.key))

    @on(events.MouseScrollUp)
    @on(events.MouseScrollDown)
    def _on_wheel(self, event: events.MouseScrollUp | events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(self.Pressed("pageup" if isinstance(event, events.MouseScrollUp) else "pagedown"))

    @on(events.Click)
    def _on_clicked(self, event: events.Click) -> None:
        if event.y < len(self.lines) and (place := self.lines[event.y][1]) is not None:
            self.post_message(self.EntryClicked(place))


def first_lines(lines: list[Line], count: int, width: int) -> list[Line]:
    """Return at most ``count`` lines, the last of them marked when there were more."""
    if len(lines) <= count:
        return lines
    return [*lines[: count - 1], (*cut_line(lines[count - 1], width - 2), (" …", "muted"))]


def _with_note(line: Line, note: str, width: int) -> Line:
    return two_ends(line, ((note, "muted"),), width)


@lru_cache(4096)
def entry_line(entry: Entry, width: int) -> Line:
    """Draw an entry in one line: key, tick, label, and in short what it stands for."""
    tick = "" if entry.ticked is None else "[x] " if entry.ticked else "[ ] "
    number, label = f"{entry.key:>2}. " if entry.key else "    ", f"{tick}{entry.label}"
    room = width - cells(number)
    spans: list[Span] = [(number, "accent"), (cut_cells(label, room), "")]
    left = room - cells(label) - 2
    if entry.brief and left > 3:
        spans += [(": " if entry.ticked is None else "  ", "muted"), (cut_cells(entry.brief, left), "muted")]
    return tuple(spans)


def fits(entry: Entry, width: int) -> bool:
    """Tell whether the line of an entry holds all of it."""
    return line_cells(entry_line(entry, 1 << 16)) <= width


@lru_cache(4096)
def detail_lines(entry: Entry, width: int) -> list[Line]:
    """Return what the line of an entry leaves out: a label that was cut, and exactly what it stands for."""
    lines: list[Line] = []
    if not fits(Entry(entry.label, ticked=entry.ticked, key=entry.key), width):
        lines.extend(wrap([(entry.label, "bold")], width))
    for detail in entry.details:
        if detail != entry.brief or not fits(entry, width):
            lines.extend(wrap([(f"{entry.verb}{detail}", "muted")], width, rest=(("  ", ""),)))
    return lines
