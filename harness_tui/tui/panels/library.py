"""The rows of commands and skills: lists that are searched by typing, what is known of one, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from harness_tui.core.paths import short
from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, ListRow, Span, cells, cut_cells, cut_cells_start, two_ends, wrap

if TYPE_CHECKING:
    from harness_tui.tui.backend_library import EntryRow, FindingRow

View: TypeAlias = Literal["skills", "commands", "problems"]
VIEWS: Final[tuple[View, ...]] = ("skills", "commands", "problems")

MAX_LISTED: Final = 300
"""More rows than anybody scrolls through: the rest is found by typing."""
MAX_TEXT_LINES: Final = 1_000
_ABOUT_CELLS: Final = 60
"""So wide that there is room for descriptions beside the names."""

_LEVELS: Final = {"info": ("i", "info"), "warning": ("!", "warning"), "error": ("✗", "error")}
_RANK: Final = {"error": 0, "warning": 1, "info": 2}
_FROM: Final = {
    "bundled": "comes with Harness",
    "user": "yours, for all projects",
    "project": "of this project",
}
_EMPTY: Final = {
    "skills": "No skills yet. Ctrl+N makes one from a template.",
    "commands": "No commands yet. Ctrl+N makes one from a template.",
    "problems": "Nothing is wrong with any command, skill or configuration file.",
}


@dataclass(frozen=True, slots=True)
class FindingKey:
    """A problem's row: the place to open."""

    path: str
    line: int
    number: int


def view_titles(counts: dict[View, int], view: View, width: int) -> Line:
    """Return the line of views with their counts, the present one reversed."""
    names = {"skills": "Skills", "commands": "Commands", "problems": "Problems"}
    spans: list[Span] = []
    for name in VIEWS:
        spans.append((f" {names[name]} {counts[name]} ", "selected bold" if name == view else ""))
    if sum(cells(text) for text, _ in spans) > width:
        spans = [
            (f" {names[name][: 99 if name == view else 1]} {counts[name]} ", style)
            for name, (_, style) in zip(VIEWS, spans, strict=True)
        ]
    return tuple(spans)


def matching_entries(entries: Sequence[EntryRow], wanted: str) -> list[EntryRow]:
    """Return the entries whose name, or else description, holds ``wanted``."""
    if not wanted:
        return list(entries)
    wanted = wanted.casefold()
    named = [entry for entry in entries if wanted in entry.name.casefold()]
    taken = {entry.path for entry in named}
    return [*named, *(e for e in entries if e.path not in taken and wanted in e.description.casefold())]


def entry_rows(entries: Sequence[EntryRow], wanted: str, width: int, kind: View = "skills") -> Sequence[ListRow]:
    """Return the entries that match what was typed, names before descriptions."""
    found = matching_entries(entries, wanted)
    if not found:
        text = f"Nothing matches {clean_for_display(wanted, one_line=True)!r}." if wanted else _EMPTY[kind]
        return [ListRow(tuple(wrap([(text, "muted")], width)))]
    widest = max(cells(clean_for_display(entry.name, one_line=True)) for entry in found[:MAX_LISTED])
    column = min(widest, width * 2 // 5 if width >= _ABOUT_CELLS else width)
    rows = [ListRow((_entry_line(entry, column, width),), entry.path) for entry in found[:MAX_LISTED]]
    if len(found) > MAX_LISTED:
        rows.append(ListRow((((f"… {len(found) - MAX_LISTED} more, type to find them", "muted"),),)))
    return rows


def _entry_line(entry: EntryRow, column: int, width: int) -> Line:
    mark, style = entry_mark(entry)
    name = cut_cells(clean_for_display(entry.name, one_line=True), max(8, column))
    note = _note(entry)
    right: Line = ((f" {note}", "warning" if note == "untrusted" else "muted"),) if width >= 20 else ()
    left: list[Span] = [(f"{mark} ", style), (name, "bold" if not entry.hidden_reason else "")]
    if width >= _ABOUT_CELLS:
        about = clean_for_display(entry.description[: 2 * width], one_line=True)
        left += [(" " * max(2, column - cells(name) + 2), ""), (about, "muted")]
    return two_ends(tuple(left), right, width)


def entry_mark(entry: EntryRow) -> Span:
    """Return the sign of an entry: broken, with findings, not in use, or fine."""
    if not entry.usable:
        return ("✗", "error")
    if any(finding.level != "info" for finding in entry.findings):
        return ("!", "warning")
    return ("○", "muted") if entry.hidden_reason or entry.shadowed_by or not entry.trusted else ("✓", "ok")


def _note(entry: EntryRow) -> str:
    if not entry.trusted:
        return "untrusted"
    if entry.shadowed_by is not None:
        return "shadowed"
    return "hidden" if entry.usable and entry.hidden_reason else clean_for_display(entry.source, one_line=True)


def entry_preview(entry: EntryRow | None, text: str, width: int) -> Sequence[ListRow]:
    """Return what is known of one entry, and its file."""
    if entry is None:
        return ()
    lines: list[Line] = []
    title = clean_for_display(entry.name, one_line=True)
    use = clean_for_display(f"/{entry.slash} {entry.argument_hint}".rstrip(), one_line=True) if entry.slash else ""
    lines.extend(wrap([(title, "bold"), (f"  {use}", "accent")] if use else [(title, "bold")], width))
    if entry.description:
        lines.extend(wrap([(clean_for_display(entry.description, one_line=True), "")], width))
    lines.append(((cut_cells_start(clean_for_display(short(entry.path), one_line=True), width), "muted"),))
    lines.extend(_facts(entry, width))
    lines.append((("─" * width, "muted"),))
    rows = clean_for_display(text).rstrip("\n").split("\n")
    for row in rows[:MAX_TEXT_LINES]:
        lines.extend(wrap([(row, "")], width))
    if len(rows) > MAX_TEXT_LINES:
        lines.append(((f"… {len(rows) - MAX_TEXT_LINES} more lines", "muted"),))
    return [ListRow((line,)) for line in lines]


def _facts(entry: EntryRow, width: int) -> list[Line]:
    """Say where it comes from, whether it is in use and if not why, and what is wrong with it."""
    scope, dot, tool = entry.source.partition(" · ")
    facts = [f"{_FROM.get(scope, scope)}{dot}{tool}"]
    facts += [f"agent {entry.agent}" if entry.agent else "", f"model {entry.model}" if entry.model else ""]
    lines = wrap([(clean_for_display(" · ".join(fact for fact in facts if fact), one_line=True), "muted")], width)
    if not entry.trusted:
        lines.extend(wrap([("This folder is not trusted: /trust", "warning")], width, first=(("○ ", "warning"),)))
    elif entry.shadowed_by is not None:
        path = clean_for_display(short(entry.shadowed_by), one_line=True)
        lines.extend(
            wrap([(f"Not used, since {path} has the same name", "warning")], width, first=(("○ ", "warning"),))
        )
    elif entry.hidden_reason is not None and entry.usable:
        where = "Not offered to the model: " if entry.kind == "skill" else "Not offered: "
        reason = clean_for_display(entry.hidden_reason, one_line=True)
        lines.extend(wrap([(f"{where}{reason}", "muted")], width, first=(("○ ", "muted"),)))
    for finding in entry.findings:
        sign, style = _LEVELS[finding.level]
        text = clean_for_display(finding.message, one_line=True)
        spans: list[Span] = [(f"line {finding.line}: ", "muted"), (text, ""), (f" [{finding.code}]", "muted")]
        lines.extend(wrap(spans, width, first=((f"{sign} ", style),)))
    if entry.usable and not any(finding.level != "info" for finding in entry.findings):
        lines.extend(wrap([("the file is fine", "muted")], width, first=(("✓ ", "ok"),)))
    return lines


def finding_rows(findings: Sequence[FindingRow], wanted: str, width: int) -> Sequence[ListRow]:
    """Return what is wrong by file, those with errors first; each can be opened at its line."""
    folded = wanted.casefold()
    shown = [item for item in findings if folded in f"{item.path} {item.code} {item.message}".casefold()]
    if not shown:
        text = f"Nothing matches {clean_for_display(wanted, one_line=True)!r}." if wanted else _EMPTY["problems"]
        return [ListRow(tuple(wrap([(text, "muted" if wanted else "ok")], width)))]
    worst: dict[str, int] = {}
    for item in shown:
        worst[item.path] = min(worst.get(item.path, 9), _RANK[item.level])
    shown.sort(key=lambda item: (worst[item.path], item.path, item.line))
    rows: list[ListRow] = []
    path = None
    for number, item in enumerate(shown[:MAX_LISTED]):
        if item.path != path:
            path = item.path
            name = cut_cells_start(clean_for_display(short(path), one_line=True), width)
            rows.append(ListRow((((name, "bold"),),)))
        sign, style = _LEVELS[item.level]
        text = clean_for_display(item.message, one_line=True)
        spans: list[Span] = [(f"{item.line} ", "muted"), (text, ""), (f" [{clean_for_display(item.code)}]", "muted")]
        lines = wrap(spans, width, first=((f"{sign} ", style),))[:4]
        rows.append(ListRow(tuple(lines), FindingKey(item.path, item.line, number)))
    if len(shown) > MAX_LISTED:
        rows.append(ListRow((((f"… {len(shown) - MAX_LISTED} more", "muted"),),)))
    return rows
