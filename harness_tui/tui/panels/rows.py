"""The rows of the side panel, drawn from plain data at a width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, ListRow, Span, cells, cut_cells_start, cut_line, wrap
from harness_tui.tui.panels.state import PanelState

if TYPE_CHECKING:
    from harness_tui.core.events import DiagnosticsReported, Notice, ServerChanged
    from harness_tui.core.values import DiagnosticItem

TABS: Final = ("diagnostics", "servers", "skills", "processes")
_NAMES: Final = (
    ("Diagnostics", "Servers", "Skills", "Processes"),
    ("Diag", "Serv", "Skills", "Proc"),
    ("D", "S", "K", "P"),
)
_SEVERITIES: Final = {
    "error": ("✗", "error"),
    "warning": ("!", "warning"),
    "info": ("i", "info"),
    "hint": ("·", "muted"),
}
_RANK: Final = {"error": 0, "warning": 1, "info": 2, "hint": 3}
_STATES: Final = {
    "ready": ("✓", "ok"),
    "busy": ("✓", "ok"),
    "idle": ("○", "muted"),
    "starting": ("…", "accent"),
    "warming": ("…", "accent"),
    "needs_auth": ("!", "warning"),
    "degraded": ("!", "warning"),
    "failed": ("✗", "error"),
    "crashed": ("✗", "error"),
}
_LEVELS: Final = {"info": ("i", "info"), "warning": ("!", "warning"), "error": ("✗", "error")}
STDERR_LINES: Final = 4
MAX_ITEMS: Final = 500


@dataclass(frozen=True, slots=True)
class ServerKey:
    """A server's row."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class DiagnosticKey:
    """A diagnostic's row; ``text`` is what goes into the prompt."""

    text: str
    place: int


def tab_titles(state: PanelState, width: int, tab: str = "") -> list[tuple[str, str]]:
    """Return each tab with its title and count; where ``width`` cells are too few, ``tab`` has the longest name."""
    failed = sum(state.servers_up(kind)[1] for kind in ("mcp", "lsp"))
    counts = (
        _counts(state.count("error"), state.count("warning")) or "0",
        f"{sum(state.servers_up(kind)[0] for kind in ('mcp', 'lsp'))} {_counts(failed, state.problems())}".strip(),
        str(len(state.skills)),
        str(len(state.processes)) if state.processes is not None else "",
    )
    titles: list[str] = []
    for own, others in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)):
        titles = [
            f"{_NAMES[own if name == tab else others][place]} {counts[place]}".rstrip()
            for place, name in enumerate(TABS)
        ]
        if sum(cells(title) + 2 for title in titles) <= width:
            break
    return list(zip(TABS, titles, strict=True))


def _counts(errors: int, warnings: int) -> str:
    return " ".join(word for word in (f"✗{errors}" if errors else "", f"!{warnings}" if warnings else "") if word)


def diagnostic_rows(state: PanelState, width: int) -> Sequence[ListRow]:
    """Return files with their items, those with errors first."""
    reports = sorted(state.diagnostics.values(), key=lambda report: (_worst(report), report.path))
    rows: list[ListRow] = []
    count = 0
    for report in reports:
        rows.append(ListRow((_file_line(report, width),)))
        for item in sorted(report.items, key=lambda item: (_RANK[item.severity], item.line, item.column)):
            count += 1
            if count <= MAX_ITEMS:
                rows.append(_diagnostic_row(item, count, width))
    if count > MAX_ITEMS:
        rows.append(ListRow((((f"… {count - MAX_ITEMS} more", "muted"),),)))
    if not rows:
        text = "No diagnostics yet. Files that the agent reads or edits are checked by their language server."
        rows.append(ListRow(tuple(wrap([(text, "muted")], width))))
    return rows


def _worst(report: DiagnosticsReported) -> int:
    return min((_RANK[item.severity] for item in report.items), default=9)


def _file_line(report: DiagnosticsReported, width: int) -> Line:
    path = clean_for_display(report.path, one_line=True)
    notes = {
        "fresh": "" if report.items else "clean",
        "unchanged": "as before",
        "unknown": "not known",
        "skipped": "no server",
    }
    note = notes[report.verdict]
    if report.verdict in ("unknown", "skipped") and report.reason:
        note = clean_for_display(report.reason, one_line=True)
    room = width if not note else max(12, width - min(len(note) + 2, width // 2))
    line: Line = ((cut_cells_start(path, room), "bold"),)
    return cut_line((*line, (f"  {note}", "muted")), width) if note else line


def _diagnostic_row(item: DiagnosticItem, place: int, width: int) -> ListRow:
    sign, style = _SEVERITIES[item.severity]
    message = clean_for_display(item.message, one_line=True)
    code = f" [{clean_for_display(item.code, one_line=True)}]" if item.code else ""
    spans: list[Span] = [(f"{item.line}:{item.column} ", "muted"), (message, ""), (code, "muted")]
    lines = wrap(spans, width, first=((f"{sign} ", style),))[:3]
    path = clean_for_display(item.path, one_line=True)
    return ListRow(tuple(lines), DiagnosticKey(f"{path}:{item.line} {message}", place))


def server_rows(state: PanelState, width: int) -> Sequence[ListRow]:
    """Return servers with their state and reason, then notices, the latest first."""
    rows: list[ListRow] = []
    for kind, title in (("mcp", "MCP servers"), ("lsp", "Language servers")):
        servers = sorted((s for (k, _), s in state.servers.items() if k == kind), key=lambda server: server.name)
        rows.append(ListRow((cut_line(((title, "heading"),), width),)))
        rows.extend(ListRow(tuple(_server_lines(server, width)), ServerKey(kind, server.name)) for server in servers)
        if not servers:
            rows.append(ListRow(((("  none", "muted"),),)))
    rows.append(ListRow(((), (("Notices", "heading"),))))
    rows.extend(ListRow(tuple(_notice_lines(notice, width))) for notice in reversed(state.notices))
    if not state.notices:
        rows.append(ListRow(((("  none", "muted"),),)))
    return rows


def _server_lines(server: ServerChanged, width: int) -> list[Line]:
    sign, style = _STATES.get(server.state, ("○", "muted"))
    facts: list[str] = [server.state.replace("_", " ")]
    if server.detail.tools is not None:
        facts.append(f"{server.detail.tools} tool{'s' if server.detail.tools != 1 else ''}")
    if server.detail.restarts:
        facts.append(f"{server.detail.restarts} restart{'s' if server.detail.restarts != 1 else ''}")
    name = clean_for_display(server.name, one_line=True)
    spans: list[Span] = [(name, "bold"), (f"  {', '.join(facts)}", "muted")]
    lines = wrap(spans, width, first=((f"{sign} ", style),))
    if server.reason:
        reason = clean_for_display(server.reason)
        lines.extend(wrap([(reason, "warning" if style == "error" else "muted")], width, first=(("  ", ""),)))
    if style == "error" and server.detail.stderr_tail:
        tail = clean_for_display(server.detail.stderr_tail).rstrip("\n").split("\n")[-STDERR_LINES:]
        for row in tail:
            lines.extend(wrap([(row, "muted")], width, first=(("  │ ", "muted"),), rest=(("  │ ", "muted"),))[:2])
    return lines


def _notice_lines(notice: Notice, width: int) -> list[Line]:
    sign, style = _LEVELS[notice.level]
    source = clean_for_display(notice.source, one_line=True)
    spans: list[Span] = [(f"{source}: ", "muted"), (clean_for_display(notice.text), "")]
    lines = wrap(spans, width, first=((f"{sign} ", style),))
    if notice.hint:
        lines.extend(wrap([(clean_for_display(notice.hint), "muted")], width, first=(("  → ", "muted"),)))
    return lines
