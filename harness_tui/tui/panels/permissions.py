"""The rows of the permissions: approvals, then the rules of each layer with their source; and explanations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from harness_tui.core.paths import short
from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, ListRow, Span, cells, line_cells, two_ends, wrap

if TYPE_CHECKING:
    from harness_tui.core.values import Scope
    from harness_tui.tui.backend_rows import ApprovalRow, PermissionRows, RuleRow

_STYLES: Final = {"allow": "ok", "ask": "warning", "deny": "error"}
_LAYERS: Final = {
    "bundled": "Bundled rules",
    "user": "Your rules",
    "project": "Rules of this project",
    "agent": "Rules of the agent",
    "mode": "The mode",
}
_SCOPES: Final = {"session": "this session", "project": "this project", "user": "everywhere"}
_PATHS: Final = frozenset({"read", "edit", "external_directory"})
_ABOUT: Final = (
    "A deny of any layer denies. Else the last layer with a rule that fits decides, in it the last such rule. Where"
    " that asks, approvals are looked at, and only then you are asked."
)


@dataclass(frozen=True, slots=True)
class ApprovalKey:
    """An approval's row."""

    scope: Scope
    permission: str
    pattern: str


@dataclass(frozen=True, slots=True)
class RuleKey:
    """A rule's row."""

    place: int


def permission_rows(state: PermissionRows, wanted: str, width: int) -> Sequence[ListRow]:
    """Return approvals and rules that hold ``wanted``, and what is wrong with the approvals' file."""
    rows: list[ListRow] = []
    for problem in state.problems:
        text = clean_for_display(problem, one_line=True)
        rows.append(ListRow(tuple(wrap([(text, "error")], width, first=(("✗ ", "error"),)))))
    approvals = [one for one in state.approvals if _holds(one.permission, one.pattern, one.scope, wanted)]
    rows.append(_heading("Approvals", width))
    rows += [
        ListRow(_approval_lines(one, width), ApprovalKey(one.scope, one.permission, one.pattern)) for one in approvals
    ]
    if not approvals:
        rows.append(ListRow(((("  none", "muted"),),)))
    layer = ""
    for place, rule in enumerate(state.rules):
        if not _holds(rule.permission, rule.pattern, f"{rule.layer} {rule.source} {rule.action}", wanted):
            continue
        if rule.layer != layer:
            layer = rule.layer
            name = {"agent": f" {state.agent}", "mode": f" {state.mode}"}.get(layer, "")
            rows.append(_heading(clean_for_display(f"{_LAYERS.get(layer, layer)}{name}", one_line=True), width))
        rows.append(ListRow(_rule_lines(rule, width), RuleKey(place)))
    if not wanted:
        rows.append(ListRow(((), *wrap([(_ABOUT, "muted")], width))))
    return rows


def _holds(permission: str, pattern: str, rest: str, wanted: str) -> bool:
    return wanted.casefold() in f"{permission} {pattern} {rest}".casefold()


def _heading(text: str, width: int) -> ListRow:
    return ListRow(((), *wrap([(text, "heading")], width)))


def _approval_lines(one: ApprovalRow, width: int) -> tuple[Line, ...]:
    when = clean_for_display(one.added[:16].replace("T", " "), one_line=True)
    note = f"{_SCOPES.get(one.scope, one.scope)}, {when}"
    if one.bound:
        note += ", while the tool stays as it is"
    return _lines("allow", one.permission, one.pattern, note, width)


def _rule_lines(rule: RuleRow, width: int) -> tuple[Line, ...]:
    source = "" if rule.source == rule.layer else clean_for_display(short(rule.source), one_line=True)
    return _lines(rule.action, rule.permission, rule.pattern, source, width)


def _lines(action: str, permission: str, pattern: str, note: str, width: int) -> tuple[Line, ...]:
    """Draw a rule with its note at the right end, or below it where they do not fit in one line."""
    spans: list[Span] = [
        (f"  {action:<5} ", _STYLES[action]),
        (clean_for_display(permission, one_line=True), "bold"),
        (f" {clean_for_display(_shown(permission, pattern), one_line=True, show_invisible=True)}", ""),
    ]
    if line_cells(spans) + cells(note) + 2 <= width:
        return (two_ends(tuple(spans), ((note, "muted"),), width),)
    lines = wrap(spans, width, rest=(("        ", ""),))
    if note:
        lines += wrap([(note, "muted")], width, first=(("        ", ""),))
    return tuple(lines)


def _shown(permission: str, pattern: str) -> str:
    """Return a pattern with ``~`` for the home folder, which means the same in a pattern of paths."""
    return short(pattern) if permission in _PATHS and pattern.startswith("/") else pattern


def explanation_rows(text: str, lines: Sequence[str], width: int) -> Sequence[ListRow]:
    """Draw why the call ``text`` is decided as it is: the decision, then each part with a line for each layer."""
    rows = [ListRow((*wrap([(clean_for_display(text, show_invisible=True), "bold")], width), ()))]
    for place, line in enumerate(lines):
        shown = clean_for_display(line, one_line=True, show_invisible=True)
        word = line.split(":")[0].strip()
        style = _STYLES.get(word, "") if place == 0 else "muted" if line.startswith("  ") else ""
        indent: Line = (("  ", ""),) if line.startswith("  ") else ()
        rows.append(ListRow(tuple(wrap([(shown.strip(), style)], width, first=indent, rest=(*indent, ("  ", ""))))))
    return rows
