"""The context ledger as rows to choose from: a part, its tokens, whether it is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness_tui.core.text import clean_for_display

if TYPE_CHECKING:
    from harness_tui.core.event_parts import ContextPart
    from harness_tui.core.events import ContextReported


def context_title(report: ContextReported) -> str:
    """Return the heading: how full the context would be."""
    of = f" of {report.limit:,}" if report.limit else ""
    counted = f", {report.used:,} counted last" if report.used is not None else ""
    return f"Next request: about {report.total:,}{of} tokens{counted}"


def context_rows(report: ContextReported) -> list[tuple[str, str, str]]:
    """Return the parts as ``(key, left, right)``, the largest first, those that are off last."""
    parts = sorted(report.parts, key=lambda part: (part.off, -part.tokens))
    return [(part.name, _left(part), _right(part, report.total)) for part in parts]


def _left(part: ContextPart) -> str:
    mark = "○" if part.off else "●" if part.switch else " "
    kind = part.name.partition(":")[0]
    title = clean_for_display(part.title, one_line=True)
    return f"{mark} {kind} {title}" if ":" in part.name else f"{mark} {title}"


def _right(part: ContextPart, total: int) -> str:
    if part.off:
        return f"off, {part.tokens:,} tokens saved"
    share = f" {100 * part.tokens // total}%" if total else ""
    items = f"{part.items} · " if part.items > 1 else ""
    return f"{items}~{part.tokens:,}{share}"
