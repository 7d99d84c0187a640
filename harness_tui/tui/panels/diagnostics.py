"""The rows of the tab Diagnostics: files, those with errors first, with their items down to a severity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, ListRow, Span, cut_cells_start, cut_line, wrap
from harness_tui.tui.panels.state import PanelState

if TYPE_CHECKING:
    from harness_tui.core.events import DiagnosticsReported
    from harness_tui.core.values import DiagnosticItem

LEVELS: Final = ("hint", "warning", "error")
"""What is shown, one after the other: everything, errors and warnings, errors."""
MAX_ITEMS: Final = 500

_NAMES: Final = {"hint": "", "warning": "errors and warnings", "error": "errors only"}
_RANK: Final = {"error": 0, "warning": 1, "info": 2, "hint": 3}
_SIGNS: Final = {
    "error": ("✗", "error"),
    "warning": ("!", "warning"),
    "info": ("i", "info"),
    "hint": ("·", "muted"),
}


@dataclass(frozen=True, slots=True)
class DiagnosticKey:
    """A row's place. ``text`` is what goes into the prompt; ``place`` tells apart what says the same."""

    text: str
    place: int
    path: str
    line: int


def diagnostic_rows(state: PanelState, width: int, level: str = "hint") -> Sequence[ListRow]:
    """Return files with their items of severity ``level`` or worse. What may have passed by now is dimmed."""
    reports = sorted(state.diagnostics.values(), key=lambda report: (_worst(report), report.path))
    rows: list[ListRow] = []
    count = left_out = 0
    for report in reports:
        items = [item for item in report.items if _RANK[item.severity] <= _RANK[level]]
        left_out += len(report.items) - len(items)
        if level != "hint" and not items:
            continue
        path = clean_for_display(report.path, one_line=True)
        rows.append(ListRow((_file_line(report, width),), DiagnosticKey(path, 0, report.path, 1)))
        for item in sorted(items, key=lambda item: (_RANK[item.severity], item.line, item.column)):
            count += 1
            if count <= MAX_ITEMS:
                rows.append(_item_row(item, count, width, old=_is_old(report)))
    if count > MAX_ITEMS:
        rows.append(ListRow((((f"… {count - MAX_ITEMS} more", "muted"),),)))
    if not state.diagnostics:
        text = "No diagnostics yet. Files that the agent reads or edits are checked by their language server."
        rows.append(ListRow(tuple(wrap([(text, "muted")], width))))
    elif level != "hint":
        text = f"{_NAMES[level]}: {left_out} of lesser severity not shown" if left_out else _NAMES[level]
        rows.append(ListRow(tuple(wrap([(text, "muted")], width))))
    return rows


def _worst(report: DiagnosticsReported) -> int:
    return min((_RANK[item.severity] for item in report.items), default=9)


def _is_old(report: DiagnosticsReported) -> bool:
    """Whether the items belong to an older text, or nobody can say."""
    return report.verdict in ("unknown", "skipped")


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
    if _is_old(report) and report.items:
        note = f"old: {note}"
    elif report.late:
        note = f"{note}, late" if note else "late"
    room = width if not note else max(12, width - min(len(note) + 2, width // 2))
    line: Line = ((cut_cells_start(path, room), "bold"),)
    return cut_line((*line, (f"  {note}", "muted")), width) if note else line


def _item_row(item: DiagnosticItem, place: int, width: int, *, old: bool) -> ListRow:
    sign, style = _SIGNS[item.severity]
    message = clean_for_display(item.message, one_line=True)
    about = " ".join(
        clean_for_display(part, one_line=True)
        for part in (f"[{item.code}]" if item.code else "", f"({item.source})" if item.source else "")
        if part
    )
    plain, mark = ("muted", "muted") if old else ("", style)
    end = f" {about}" if about else ""
    spans: list[Span] = [(f"{item.line}:{item.column} ", "muted"), (message, plain), (end, "muted")]
    lines = wrap(spans, width, first=((f"{sign} ", mark),), rest=(("  ", ""),))[:3]
    path = clean_for_display(item.path, one_line=True)
    return ListRow(tuple(lines), DiagnosticKey(f"{path}:{item.line} {message}", place, item.path, item.line))
