"""The tabs over the side panel: their names with counts, on up to two rows; what does not fit is behind an arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual import events, on
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from harness_tui.tui.lines import Span, cells
from harness_tui.tui.panels.context import context_share
from harness_tui.tui.panels.state import PanelState
from harness_tui.tui.panels.todos import todo_share
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

NAMES: Final = {
    "diagnostics": ("Diagnostics", "Diag"),
    "servers": ("Servers", "Serv"),
    "skills": ("Skills", "Skills"),
    "changes": ("Changes", "Chgs"),
    "todos": ("Todos", "Todos"),
    "context": ("Context", "Ctx"),
    "processes": ("Processes", "Proc"),
}
"""What a tab is called, and what it is called where there is little room."""
TABS: Final = tuple(NAMES)
BEFORE: Final = "‹"
AFTER: Final = "›"


def tab_counts(state: PanelState) -> dict[str, str]:
    """Return what stands behind each tab's name."""
    failed = sum(state.servers_up(kind)[1] for kind in ("mcp", "lsp"))
    up = sum(state.servers_up(kind)[0] for kind in ("mcp", "lsp"))
    return {
        "diagnostics": _counts(state.count("error"), state.count("warning")) or "0",
        "servers": f"{up} {_counts(failed, state.problems())}".strip(),
        "skills": str(len(state.skills)),
        "changes": str(len(state.changes.files())),
        "todos": todo_share(state),
        "context": context_share(state.context),
        "processes": str(len(state.tasks) + len(state.processes or ()))
        if state.tasks or state.processes is not None
        else "",
    }


def tab_rows(counts: dict[str, str], tab: str, width: int, most: int = 2) -> list[list[tuple[str, str]]]:
    """Return rows of ``(tab, text)`` in ``width`` cells, at most ``most``; the present tab has its whole name.

    The others have theirs where all fit, else the short one. Where these do not fit either, there are those around
    the present one, and an arrow, for no tab (``""``), on the side where there are more.
    """
    for place in (0, 1):
        titles = [(name, _title(name, 0 if name == tab else place, counts)) for name in TABS]
        rows = _fill(titles, width)
        if len(rows) <= most:
            return rows
    first = last = TABS.index(tab)
    while True:  # one more, in turn after and before it, as long as there is room
        grown = [(first, last + 1), (first - 1, last)]
        fits = [pair for pair in grown if _window(titles, *pair, width, most) is not None]
        if not fits:
            return _window(titles, first, last, width, most) or [[(tab, _title(tab, 0, counts))]]
        first, last = min(fits, key=lambda pair: abs((pair[0] + pair[1]) / 2 - TABS.index(tab)))


def _window(
    titles: Sequence[tuple[str, str]], first: int, last: int, width: int, most: int
) -> list[list[tuple[str, str]]] | None:
    if first < 0 or last >= len(titles):
        return None
    shown = list(titles[first : last + 1])
    before = [("", BEFORE)] if first else []
    after = [("", AFTER)] if last < len(titles) - 1 else []
    rows = _fill([*before, *shown, *after], width)
    return rows if len(rows) <= most else None


def _fill(titles: Sequence[tuple[str, str]], width: int) -> list[list[tuple[str, str]]]:
    rows: list[list[tuple[str, str]]] = [[]]
    used = 0
    for name, title in titles:
        size = _size(name, title)
        if used and used + size > width:
            rows.append([])
            used = 0
        rows[-1].append((name, title))
        used += size
    return rows


def _size(name: str, title: str) -> int:
    return cells(title) + (2 if name else 0)


def _title(name: str, place: int, counts: dict[str, str]) -> str:
    return f"{NAMES[name][place]} {counts[name]}".rstrip()


def _counts(errors: int, warnings: int) -> str:
    return " ".join(word for word in (f"✗{errors}" if errors else "", f"!{warnings}" if warnings else "") if word)


class PanelTabs(Widget):
    """The rows of tabs, and below them a line on what keys do."""

    DEFAULT_CSS = beside(__file__)
    ALLOW_SELECT = False

    class Clicked(Message):
        """A tab was clicked."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._counts: dict[str, str] = {}
        self._rows: list[list[tuple[str, str]]] = [[]]
        self._tab = TABS[0]
        self._hint = ""

    def show(self, counts: dict[str, str], tab: str, hint: str) -> None:
        """Show the tabs."""
        self._counts, self._tab, self._hint = counts, tab, hint
        self._lay_out()

    @on(events.Resize)
    def _lay_out(self) -> None:
        if self._counts and self.size.width:
            most = 1 if self.screen.has_class("-short") else 2
            self._rows = tab_rows(self._counts, self._tab, self.size.width, most)
            self.styles.height = len(self._rows) + 1
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one row."""
        if y >= len(self._rows):
            return self._palette.strip(((self._hint, "muted"),), self.size.width)
        spans: list[Span] = []
        for name, title in self._rows[y]:
            shown = f" {title} " if name else title
            spans.append((shown, "selected bold" if name == self._tab else "" if name else "muted"))
        return self._palette.strip(tuple(spans), self.size.width)

    @on(events.Click)
    def _on_clicked(self, event: events.Click) -> None:
        x = 0
        for name, title in self._rows[event.y] if event.y < len(self._rows) else ():
            x += _size(name, title)
            if event.x < x:
                self.post_message(self.Clicked(name or self._beyond(title)))
                return

    def _beyond(self, arrow: str) -> str:
        """Return the tab that an arrow leads to: the one next to those in sight."""
        shown = [TABS.index(name) for row in self._rows for name, _ in row if name]
        return TABS[shown[0] - 1] if arrow == BEFORE else TABS[shown[-1] + 1]
