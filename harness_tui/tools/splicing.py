"""Puts texts into the places of a file's text that somebody else has counted, and changes no other byte of it.

Places count each line end as one character. What is put in gets the line ends of the file.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness_tui.core.errors import ToolError
from harness_tui.core.seams import TextChange
from harness_tui.tools.line_ends import LineEnds
from harness_tui.tools.text_file import normal_ends, uniform_line_end, with_line_end


def splice(raw: str, changes: Sequence[TextChange], where: str) -> str:
    """Return ``raw`` with ``changes`` made; those at one place come in their order.

    Raises ``ToolError`` for places that overlap, or lie outside the text. Takes long for long texts: call it in a
    thread.
    """
    normal = normal_ends(raw)
    ordered = sorted(changes, key=lambda change: (change.start, change.end))
    _check(ordered, len(normal), where)
    if normal == raw or (end := uniform_line_end(raw)) is None:
        # Without line ends, with \n alone, or with ends of several kinds: those of the places decide.
        return _spliced(LineEnds(raw), ordered)
    text = _joined(normal, [(change.start, change.end, normal_ends(change.text)) for change in ordered])
    return with_line_end(text, end)


def _check(changes: Sequence[TextChange], length: int, where: str) -> None:
    last = 0
    for change in changes:
        if not 0 <= change.start <= change.end <= length:
            raise ToolError("a place of the change lies outside the text", where=where, code="places")
        if change.start < last:
            raise ToolError("two parts of the change overlap", where=where, code="places")
        last = change.end


def _spliced(ends: LineEnds, changes: Sequence[TextChange]) -> str:
    if ends.normal == ends.raw:
        return _joined(ends.raw, [(change.start, change.end, normal_ends(change.text)) for change in changes])
    spans = [(*ends.raw_span(change.start, change.end), _fitted(ends, change)) for change in changes]
    return _joined(ends.raw, spans)


def _fitted(ends: LineEnds, change: TextChange) -> str:
    return ends.fitted(change.start, change.end, change.text) if "\n" in normal_ends(change.text) else change.text


def _joined(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    place = 0
    for start, end, new in spans:
        parts += [text[place:start], new]
        place = end
    return "".join([*parts, text[place:]])
