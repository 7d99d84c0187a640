"""What a line would send, drawn: who gets it, what would run and whether it may, what is attached, then the text."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from harness_tui.core.paths import short
from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, Span, cut_cells_start, wrap

if TYPE_CHECKING:
    from harness_tui.tui.backend_library import AttachmentPreviewRow, PreviewRow, ShellPreviewRow

_DECISIONS: Final = {
    "allow": ("allowed", "ok"),
    "ask": ("asks first", "warning"),
    "deny": ("denied", "error"),
}
_MAX_ATTACHMENTS: Final = 50
MAX_TEXT_LINES: Final = 2_000


def preview_title(row: PreviewRow, typed: str) -> str:
    """Return what it is a preview of (by the name that was ``typed``), with what is special about its run."""
    name = row.name or typed
    facts = [f"/{name}" if name else "message"]
    facts += [f"agent {row.agent}" if row.agent else "", f"model {row.model}" if row.model else ""]
    facts.append("in a run of its own" if row.subtask else "")
    return clean_for_display(" · ".join(fact for fact in facts if fact), one_line=True)


def preview_lines(row: PreviewRow, width: int, *, rows: int = MAX_TEXT_LINES) -> list[Line]:
    """Return at most about ``rows`` lines; what is left out of the text is counted."""
    lines = list(_facts(row, width))
    if row.error is not None:
        return lines
    if lines and row.message:
        lines.append((("─" * width, "muted"),))
    texts = clean_for_display(row.message).split("\n") if row.message else []
    for number, text in enumerate(texts):
        if len(lines) >= rows:
            lines.extend(wrap([(f"… {len(texts) - number} more lines", "muted")], width))
            break
        lines.extend(wrap([(text, "")], width))
    return lines


def _facts(row: PreviewRow, width: int) -> Iterator[Line]:
    if row.error is not None:
        text = clean_for_display(row.error_text or row.error)
        yield from wrap([(text, "error")], width, first=(("✗ ", "error"),))
    for warning in row.warnings:
        yield from wrap([(clean_for_display(warning, one_line=True), "warning")], width, first=(("! ", "warning"),))
    for part in row.shell:
        yield from _shell(part, width)
    if row.shell and row.words:
        words = " ".join(shlex.quote(word) for word in row.words)
        shown = clean_for_display(words, one_line=True, show_invisible=True)
        yield from wrap([("with the arguments ", "muted"), (shown, "")], width, first=(("  ", ""),))
    for item in row.attachments[:_MAX_ATTACHMENTS]:
        yield from _attachment(item, width)
    if len(row.attachments) > _MAX_ATTACHMENTS:
        yield from wrap([(f"+ … {len(row.attachments) - _MAX_ATTACHMENTS} more", "muted")], width)


def _shell(part: ShellPreviewRow, width: int) -> Iterator[Line]:
    word, style = _DECISIONS[part.decision]
    command = clean_for_display(part.command.strip(), show_invisible=True)
    spans: list[Span] = [(command, "bold"), (f"  {word}", style)]
    if part.decision == "deny" and part.reason:
        spans.append((f" by {clean_for_display(part.reason.removesuffix(' deny'), one_line=True)}", "muted"))
    yield from wrap(spans, width, first=(("$ ", "accent"),))


def _attachment(item: AttachmentPreviewRow, width: int) -> Iterator[Line]:
    name = clean_for_display(short(item.name) if item.name.startswith("/") else item.name, one_line=True)
    facts = [item.kind, _size(item.bytes) if item.bytes else "", item.note]
    note = ", ".join(fact for fact in facts if fact)
    room = max(8, width - len(note) - 4)
    style = "warning" if item.note else "muted"
    yield from wrap([(cut_cells_start(name, room), "bold"), (f"  {note}", style)], width, first=(("+ ", "accent"),))


def _size(size: int) -> str:
    return (
        f"{size} B" if size < 1_000 else f"{size / 1_000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
    )
