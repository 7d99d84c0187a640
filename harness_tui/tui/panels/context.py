"""The rows of the tab Context: what the next request is made of, part by part, each with its tokens and its switch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, ListRow, two_ends, wrap
from harness_tui.tui.panels.state import PanelState

if TYPE_CHECKING:
    from harness_tui.core.event_parts import ContextPart
    from harness_tui.core.events import ContextReported


@dataclass(frozen=True, slots=True)
class ContextKey:
    """A row's part of requests; ``name`` is what its switch is called."""

    name: str


def context_rows(state: PanelState, width: int) -> Sequence[ListRow]:
    """Return how full the context would be, then the parts, the largest first, those that are off last."""
    report = state.context
    if report is None:
        return [ListRow(tuple(wrap([("Counting …", "muted")], width)))]
    parts = sorted(report.parts, key=lambda part: (part.off, -part.tokens))
    head = ListRow(tuple(wrap([(_head(report), "heading")], width)))
    return [head, *(ListRow((_line(part, report.total, width),), _key(part)) for part in parts)]


def context_share(report: ContextReported | None) -> str:
    """Return how full the context would be in per cent, empty where that is not known."""
    if report is None or not report.limit:
        return ""
    return f"{100 * report.total // report.limit}%"


def _head(report: ContextReported) -> str:
    of = f" of {report.limit:,}" if report.limit else ""
    counted = f", {report.used:,} counted last" if report.used is not None else ""
    return f"Next request: about {report.total:,}{of} tokens{counted}"


def _key(part: ContextPart) -> ContextKey | None:
    return ContextKey(part.name) if part.switch else None


def _line(part: ContextPart, total: int, width: int) -> Line:
    sign = ("○ ", "muted") if part.off else ("● ", "ok") if part.switch else ("  ", "")
    kind = part.name.partition(":")[0]
    title = clean_for_display(part.title, one_line=True)
    name = f"{kind} {title}" if ":" in part.name else title
    return two_ends((sign, (name, "muted" if part.off else "")), ((f" {_right(part, total)}", "muted"),), width)


def _right(part: ContextPart, total: int) -> str:
    if part.off:
        return f"off, {part.tokens:,} tokens saved"
    share = f" {100 * part.tokens // total}%" if total else ""
    items = f"{part.items} · " if part.items > 1 else ""
    if part.deferred:
        items = f"{part.deferred} of {part.items} searched for · "
    return f"{items}~{part.tokens:,}{share}"
