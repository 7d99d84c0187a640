"""The status line: project, agent, model, mode, context, what goes on, servers, problems. One row, no layout."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, Span, cells, cut_cells, cut_cells_start, line_cells, two_ends
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

if TYPE_CHECKING:
    from harness_tui.tui.panels.state import PanelState
    from harness_tui.tui.state import SessionState

TICK_S: Final = 1.0
MODEL_CELLS: Final = 32
SILENT_S: Final = 20.0
"""After so long without any event a running session says so."""


class StatusLine(Widget):
    """One row at the bottom."""

    DEFAULT_CSS = beside(__file__)
    ALLOW_SELECT = False

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._shown: tuple[SessionState, PanelState] | None = None
        self._message = "starting"
        self._timer: Timer | None = None
        self._drawn: Line = ()

    def on_mount(self) -> None:
        """Start paused: an idle session ticks nothing."""
        self._timer = self.set_interval(TICK_S, self.refresh, pause=True)

    def show_state(self, state: SessionState, panels: PanelState) -> None:
        """Show a session; called after each flush."""
        self._shown, self._message = (state, panels), ""
        if self._timer is not None:
            (self._timer.resume if state.running else self._timer.pause)()
        if self._line() != self._drawn:
            self.refresh()

    def say(self, message: str) -> None:
        """Show ``message`` in the place of the activity until the session is there."""
        self._message = clean_for_display(message, one_line=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the row."""
        self._drawn = self._line()
        return self._palette.strip(self._drawn, self.size.width)

    def _line(self) -> Line:
        if self._shown is None or self._message:
            return ((" … ", "accent"), (self._message, "muted"))
        return status_line(*self._shown, self.size.width, time.monotonic())


def status_line(state: SessionState, panels: PanelState, width: int, now: float) -> Line:
    """Lay the row out: activity first, as much of the rest as there is room for, the least important left out."""
    left = _activity(state, now)
    room = width - line_cells(left) - 2
    kept: list[tuple[int, Line]] = []
    for place, part in _parts(state, panels):
        size = line_cells(part) + (3 if kept else 0)
        if part and size <= room:
            kept.append((place, part))
            room -= size
    right: list[Span] = []
    for _, part in sorted(kept, key=lambda item: item[0]):
        right += [(" · ", "muted"), *part] if right else part
    if room > 12 and state.root:
        from harness_tui.core.paths import short

        path = cut_cells_start(clean_for_display(short(state.root), one_line=True), min(room - 3, 40))
        left = (*left, ("  ", ""), (path, "muted"))
    return two_ends(left, tuple(right), width)


def _activity(state: SessionState, now: float) -> Line:
    if state.requests:
        count = len(state.requests)
        return ((" ? ", "warning bold"), ("waiting for you" if count == 1 else f"{count} wait for you", "warning"))
    if not state.running:
        return ((" ● ", "ok"), ("idle", "muted"))
    elapsed = max(0, int(now - state.run_started))
    line: Line = ((" ◐ ", "accent"), (f"{elapsed // 60}:{elapsed % 60:02d} ", "bold"), (state.activity, ""))
    silent = now - state.last_event
    if silent >= SILENT_S:
        line = (*line, (f", nothing for {silent:.0f} s", "warning"))
    return (*line, ("  Esc cancels", "muted"))


def _parts(state: SessionState, panels: PanelState) -> list[tuple[int, Line]]:
    """Return the parts of the right side with their place in it, the most important first."""
    model = model_name(clean_for_display(state.model, one_line=True))
    return [
        (7, _problems(panels)),
        (8, _library(panels)),
        (2, _span(state.mode, "warning" if state.mode == "accept-edits" else "accent")),
        (3, _context(state)),
        (1, _span(model, "")),
        (0, _span(clean_for_display(state.agent, one_line=True), "bold")),
        (4, _span(cost_text(state.cost), "muted")),
        (5, _servers(panels, "mcp")),
        (6, _servers(panels, "lsp")),
    ]


def model_name(name: str, width: int = MODEL_CELLS) -> str:
    """Return a model's name within ``width`` cells: of a script only the file, of others provider and end."""
    provider, colon, path = name.partition(":")
    if colon and "/" in path and "/" not in provider:
        name = f"{provider}:{path.rstrip('/').rsplit('/', 1)[-1]}"
    if cells(name) <= width:
        return name
    head = cut_cells(name, width // 2)
    return head.removesuffix("…") + cut_cells_start(name, width - cells(head) + 1)


def _span(text: str, style: str) -> Line:
    return ((text, style),) if text else ()


def _context(state: SessionState) -> Line:
    if not state.context_used:
        return ()
    used = _thousands(state.context_used)
    if not state.context_limit:
        return _span(used, "muted")
    share = 100 * state.context_used // state.context_limit
    return _span(f"{used}/{_thousands(state.context_limit)} {share}%", "warning" if share >= 80 else "muted")


def cost_text(cost: float) -> str:
    """Return US dollars in a few characters, nothing for nothing."""
    if cost <= 0:
        return ""
    return "<$0.01" if cost < 0.01 else f"${cost:.2f}"


def _thousands(number: int) -> str:
    return f"{number / 1000:.0f}k" if number >= 10_000 else f"{number / 1000:.1f}k" if number >= 1000 else str(number)


def _servers(panels: PanelState, kind: str) -> Line:
    up, bad, count = panels.servers_up(kind)
    if not count:
        return ()
    text = f"{kind} {up}/{count}"
    return _span(f"{text} ✗{bad}" if bad else text, "error" if bad else "muted")


def _library(panels: PanelState) -> Line:
    """Say that files of commands, skills or the configuration are not as they should be: ``/doctor`` lists them."""
    errors, warnings = panels.count_findings("error"), panels.count_findings("warning")
    words = [f"✗{errors}" if errors else "", f"!{warnings}" if warnings else ""]
    text = " ".join(word for word in words if word)
    return _span(f"files {text}", "error" if errors else "warning") if text else ()


def _problems(panels: PanelState) -> Line:
    errors, warnings = panels.count("error"), panels.count("warning")
    if not errors and not warnings:
        return ()
    words = [f"✗{errors}" if errors else "", f"!{warnings}" if warnings else ""]
    return _span(" ".join(word for word in words if word), "error" if errors else "warning")
