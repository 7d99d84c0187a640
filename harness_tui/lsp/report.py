"""A verdict as text for the model: one line that always says the verdict word, then the diagnostics.

Messages come from foreign programs and may quote any text of a file: each becomes one line, of limited length and
without anything that a terminal would obey.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.core.values import DiagnosticItem, Verdict

MESSAGE_CHARS: Final = 300
ITEMS_PER_FILE: Final = 50
_PLURALS: Final = {"error": "errors", "warning": "warnings", "info": "infos", "hint": "hints"}


def one_line(text: str, limit: int = MESSAGE_CHARS) -> str:
    """Return ``text`` as one clean line of at most ``limit`` characters."""
    return cut_end(clean_for_display(text, one_line=True), limit)


def count_text(items: Iterable[DiagnosticItem]) -> str:
    """Return how many there are of each severity, ``clean`` for none."""
    counts = Counter(item.severity for item in items)
    parts = [f"{counts[word]} {word if counts[word] == 1 else many}" for word, many in _PLURALS.items() if counts[word]]
    return ", ".join(parts) or "clean"


def headline(verdict: Verdict) -> str:
    """Return ``path: word: counts (servers)`` with the reason; unknown and skipped are never called clean."""
    known = verdict.verdict in ("fresh", "unchanged")
    text = f"{one_line(verdict.path, 1000)}: {verdict.verdict}"
    if known or verdict.items:
        text += f": {count_text(verdict.items)}"
    if known and verdict.servers:
        text += f" ({', '.join(server.name for server in verdict.servers)})"
    return text + (f": {one_line(verdict.reason, 1000)}" if verdict.reason else "")


def item_line(item: DiagnosticItem) -> str:
    """Return ``path:line:column severity: message [code] (source)``."""
    code = f" [{one_line(item.code, 80)}]" if item.code else ""
    source = f" ({one_line(item.source, 40)})" if item.source else ""
    place = f"{one_line(item.path, 1000)}:{item.line}:{item.column}"
    return f"{place} {item.severity}: {one_line(item.message)}{code}{source}"


def verdict_text(verdict: Verdict) -> str:
    """Return the headline and up to ``ITEMS_PER_FILE`` diagnostics, errors first; says how many are left out."""
    order = ("error", "warning", "info", "hint")
    items = sorted(verdict.items, key=lambda item: order.index(item.severity))
    lines = [headline(verdict), *(item_line(item) for item in items[:ITEMS_PER_FILE])]
    if len(items) > ITEMS_PER_FILE:
        lines.append(f"... and {len(items) - ITEMS_PER_FILE} more")
    return "\n".join(lines)
