"""Styled lines without Textual: what every drawing function returns, and the one word wrap.

A span is ``(text, style)``; ``style`` holds words that ``theme.Palette`` knows (``"error bold"``). A line is a tuple of
spans and holds no line end. Widths are terminal cells, never characters.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rich.cells import cell_len, split_graphemes

Span: TypeAlias = tuple[str, str]
Line: TypeAlias = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class ListRow:
    """One row of a list, of one or more lines. A row without ``key`` cannot be chosen.

    Where a marked row goes away, one of the same ``group`` has its mark.
    """

    lines: tuple[Line, ...]
    key: Hashable | None = None
    group: Hashable | None = None


_CHUNKS: Final = re.compile(r" +|[^ ]+")
_TAB: Final = "    "


def cells(text: str) -> int:
    """Return the width of ``text`` in cells."""
    return len(text) if text.isascii() else cell_len(text)


def line_cells(line: Iterable[Span]) -> int:
    """Return the width of a line in cells."""
    return sum(cells(text) for text, _ in line)


def plain(line: Iterable[Span]) -> str:
    """Return the text of a line."""
    return "".join(text for text, _ in line)


def cut_cells(text: str, width: int, *, mark: str = "…") -> str:
    """Return ``text`` within ``width`` cells, the last of them ``mark`` when it was cut; wide characters stay whole."""
    if cells(text) <= width:
        return text
    if width <= 0:
        return ""
    return text[: _fit(text, 0, width - cells(mark))] + mark


def cut_cells_start(text: str, width: int, *, mark: str = "…") -> str:
    """Like :func:`cut_cells`, keeping the end: for paths."""
    if cells(text) <= width:
        return text
    if width <= 0:
        return ""
    start, room = len(text), width - cells(mark)
    for begin, _, size in reversed(split_graphemes(text)[0]):
        room -= size
        if room < 0:
            break
        start = begin
    return mark + text[start:]


def cut_line(line: Line, width: int) -> Line:
    """Return ``line`` within ``width`` cells."""
    room, kept = width, list[Span]()
    for text, style in line:
        size = cells(text)
        if size > room:
            kept.append((cut_cells(text, room), style))
            break
        kept.append((text, style))
        room -= size
    return tuple(kept)


def two_ends(left: Line, right: Line, width: int) -> Line:
    """Put ``left`` and ``right`` at the ends of ``width`` cells; ``left`` is cut first, then ``right``."""
    right = cut_line(right, width)
    room = width - line_cells(right)
    left = cut_line(left, max(0, room - 1))
    gap = width - line_cells(left) - line_cells(right)
    return (*left, (" " * gap, ""), *right) if gap > 0 else (*left, *right)


def wrap(spans: Sequence[Span], width: int, *, first: Line = (), rest: Line | None = None) -> list[Line]:
    """Wrap ``spans`` to ``width`` cells; line ends in the text are kept.

    ``first`` is put before the first line, ``rest`` (by default as many blanks) before the others. A word longer than a
    line, and a run of wide characters, is cut at the edge. At least one line is returned.
    """
    rest = ((" " * line_cells(first), ""),) if rest is None and first else rest or ()
    room = max(1, width - max(line_cells(first), line_cells(rest)))
    text = "".join(text for text, _ in spans)
    if "\t" in text:
        spans = [(text.replace("\t", _TAB), style) for text, style in spans]
        text = "".join(text for text, _ in spans)
    lines: list[Line] = []
    cursor = _Cursor(spans)
    start = 0
    for paragraph in text.split("\n"):
        for begin, end in _breaks(paragraph, room):
            prefix = rest if lines else first
            lines.append((*prefix, *cursor.slice(start + begin, start + end)))
        start += len(paragraph) + 1
    return lines


def _breaks(text: str, width: int) -> list[tuple[int, int]]:
    """Return the ranges of ``text`` that make its lines."""
    if cells(text) <= width:
        return [(0, len(text))]
    found: list[tuple[int, int]] = []
    begin = end = used = 0  # the open line: text[begin:end], and its cells with the blanks that follow
    for match in _CHUNKS.finditer(text):
        chunk = match.group()
        size = cells(chunk)
        if chunk[0] == " ":
            used += size  # shown once a word follows: blanks at a break are not
        elif used + size <= width:
            end, used = match.end(), used + size
        else:
            if begin < end and (chunk.isascii() or used >= width):  # wide text goes on in the open line
                found.append((begin, end))
                begin, end, used = match.start(), match.start(), 0
            begin, end, used = _break_word(text, match.span(), (begin, end, used), width, found)
    if end > begin or not found:
        found.append((begin, end))
    return found


def _break_word(
    text: str, word: tuple[int, int], line: tuple[int, int, int], width: int, found: list[tuple[int, int]]
) -> tuple[int, int, int]:
    """Lay a word that does not fit over as many lines as it takes; return the open line."""
    begin, end, used = line
    position, word_end = word
    while position < word_end:
        stop = _fit(text, position, width - used, word_end)
        if stop == word_end:
            return begin, stop, used + cells(text[position:stop])
        if stop == position and used == 0:  # a cluster that is wider than the whole line
            stop = position + split_graphemes(text[position:word_end])[0][0][1]
        end = max(end, stop)
        if end > begin:
            found.append((begin, end))
        begin = end = position = stop
        used = 0
    return begin, end, used


def _fit(text: str, start: int, width: int, stop: int | None = None) -> int:
    """Return the end of the longest part of ``text`` from ``start`` that fits ``width`` cells, clusters kept whole."""
    part = text[start:stop]
    if part.isascii():
        return start + min(len(part), max(0, width))
    used = 0
    for begin, _, size in split_graphemes(part)[0]:
        used += size
        if used > width:
            return start + begin
    return start + len(part)


class _Cursor:
    """Cuts ranges out of spans, in rising order."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._index = 0
        self._offset = 0

    def slice(self, begin: int, end: int) -> list[Span]:
        found: list[Span] = []
        while self._index < len(self._spans):
            text, style = self._spans[self._index]
            last = self._offset + len(text)
            if last > begin and self._offset < end:
                part = text[max(0, begin - self._offset) : end - self._offset]
                if part:
                    found.append((part, style))
            if last > end:
                break
            if last == end and self._index + 1 < len(self._spans):
                self._offset, self._index = last, self._index + 1
                break
            if last == end:
                break
            self._offset, self._index = last, self._index + 1
        return found
