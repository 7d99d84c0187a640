"""Unified diffs read into rows, and drawn one under the other: line numbers, signs that stand without colour, what
changed within a line underlined, the colours of the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final, Literal, TypeAlias

from harness_tui.tui.lines import Line, Span, wrap
from harness_tui.tui.transcript.highlight import Highlighter

Sign: TypeAlias = Literal["+", "-", " ", "@", "#", "\\"]

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")
_HEADINGS: Final = ("diff ", "moved from ")
"""Lines between the diffs of several files; a line of a file begins with a sign or a blank."""
_MAX_WORD_DIFF: Final = 400
_MAX_PAIRS: Final = 40
_STYLES: Final[dict[str, str]] = {"+": "added", "-": "removed", "@": "hunk", "#": "bold", "\\": "muted", " ": ""}


@dataclass(slots=True)
class DiffRow:
    """One row: ``sign`` is that of the diff, ``@`` for the head of a hunk, ``#`` for a file, ``\\`` for a remark.

    ``old`` and ``new`` are line numbers from 1. ``marks`` are ranges of ``text`` that differ from the row that it
    replaces, or is replaced by. ``spans`` are the text in the colours of its language, where there are any.
    """

    sign: Sign
    text: str
    old: int | None = None
    new: int | None = None
    path: str = ""
    marks: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    spans: list[Span] | None = None

    @property
    def style(self) -> str:
        """The words of style for its sign."""
        return _STYLES[self.sign]

    def styled(self) -> list[Span]:
        """Return the text as spans; what is marked is underlined."""
        spans = self.spans if self.spans is not None else [(self.text, "")]
        return _underlined([(text, f"{self.style} {self._syntax(words)}".strip()) for text, words in spans], self.marks)

    def _syntax(self, words: str) -> str:
        """Of a changed line strings stay in its own colour: green and red mean something else there."""
        return "" if self.sign in "+-" and words == "string" else words


def parse_diff(text: str) -> list[DiffRow]:
    """Return the rows of a unified diff; file headers are left out, of several files each has a row with its name."""
    reader = _Reader()
    for line in text.split("\n"):
        reader.take(line)
    rows = reader.rows
    while rows and rows[-1].sign == " " and not rows[-1].text:
        rows.pop()
    for removed, added in changed_runs(rows):
        mark_words(removed, added)
    return rows


def mark_words(removed: Sequence[DiffRow], added: Sequence[DiffRow]) -> None:
    """Mark what differs within lines that take the place of as many others."""
    if len(removed) == len(added) <= _MAX_PAIRS:
        for before, after in zip(removed, added, strict=True):
            _mark_words(before, after)


class _Reader:
    """Reads a diff line by line; a line that looks like a header is one only outside of a hunk."""

    def __init__(self) -> None:
        self.rows: list[DiffRow] = []
        self._old = self._new = 0
        self._in_hunk = False
        self._path = ""

    def take(self, line: str) -> None:
        if match := _HUNK.match(line):
            self._old, self._new, self._in_hunk = int(match[1]), int(match[2]), True
            self._add("@", f"⋯{match[3]}")
        elif line.startswith(_HEADINGS):
            self._path, self._in_hunk = line.removeprefix("diff "), False
            self._add("#", self._path)
        elif self._in_hunk:
            self._take_row(line)
        elif line.startswith(("--- ", "+++ ")) and not line.endswith("/dev/null"):
            self._path = line[4:]

    def _take_row(self, line: str) -> None:
        match line[:1]:
            case "+":
                self._add("+", line[1:], new=self._new)
                self._new += 1
            case "-":
                self._add("-", line[1:], old=self._old)
                self._old += 1
            case "\\":
                self._add("\\", line[2:])
            case _ if line or self._old:
                self._add(" ", line[1:], self._old, self._new)
                self._old, self._new = self._old + 1, self._new + 1
            case _:
                pass

    def _add(self, sign: Sign, text: str, old: int | None = None, new: int | None = None) -> None:
        self.rows.append(DiffRow(sign, text, old, new, self._path))


def changed_runs(rows: Sequence[DiffRow]) -> Iterator[tuple[list[DiffRow], list[DiffRow]]]:
    """Yield removed rows with the added ones right behind them."""
    place = 0
    while place < len(rows):
        removed: list[DiffRow] = []
        added: list[DiffRow] = []
        for sign, found in (("-", removed), ("+", added)):
            while place < len(rows) and rows[place].sign == sign:
                found.append(rows[place])
                place += 1
        if removed or added:
            yield removed, added
        else:
            place += 1


def colour(rows: Sequence[DiffRow], highlighter: Highlighter) -> None:
    """Give the rows the colours of their files' languages; those whose colours are not loaded stay as they are."""
    begin = 0
    for place in range(len(rows) + 1):
        if place == len(rows) or rows[place].sign in "@#":
            hunk = rows[begin:place]
            for other in "-+":  # the old side, then the new one, as a whole: a string may go over several lines
                _colour_side([row for row in hunk if row.sign in (other, " ")], highlighter)
            begin = place + 1


def _colour_side(rows: list[DiffRow], highlighter: Highlighter) -> None:
    name = PurePosixPath(rows[0].path).name if rows else ""
    if not name:
        return
    lines = highlighter.lines("\n".join(row.text for row in rows), highlighter.language_of(name))
    if lines is not None and len(lines) == len(rows):
        for row, spans in zip(rows, lines, strict=True):
            row.spans = spans


def unified_lines(rows: Sequence[DiffRow], width: int, digits: int | None = None) -> list[Line]:
    """Draw rows one under the other, within ``width`` cells; line numbers take ``digits``, or as many as are needed."""
    digits = digits or max((len(str(_number(row))) for row in rows), default=1)
    lines: list[Line] = []
    for row in rows:
        number = _number(row)
        sign = row.sign if row.sign in "+-" else " "
        gutter: Line = ((f"{number:>{digits}} ", "muted"), (f"{sign} ", row.style))
        lines.extend(wrap(row.styled(), width, first=gutter, rest=((" " * (digits + 3), ""),)))
    return lines


def diff_lines(text: str, width: int, highlighter: Highlighter | None = None) -> list[Line]:
    """Draw a unified diff within ``width`` cells, one line under the other."""
    rows = parse_diff(text)
    if highlighter is not None:
        colour(rows, highlighter)
    return unified_lines(rows, width)


def count_changes(text: str) -> tuple[int, int]:
    """Return how many lines a unified diff adds and removes."""
    rows = parse_diff(text)
    return sum(row.sign == "+" for row in rows), sum(row.sign == "-" for row in rows)


def _number(row: DiffRow) -> int | str:
    number = row.old if row.sign == "-" else row.new
    return "" if number is None else number


def _mark_words(before: DiffRow, after: DiffRow) -> None:
    """Mark what differs in a removed line and its replacement, where they have much in common."""
    if max(len(before.text), len(after.text)) > _MAX_WORD_DIFF:
        return
    matcher = SequenceMatcher(None, before.text, after.text, autojunk=False)
    if matcher.quick_ratio() < 0.5:
        return
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        if a < b:
            before.marks.append((a, b))
        if c < d:
            after.marks.append((c, d))


def _underlined(spans: list[Span], marks: Sequence[tuple[int, int]]) -> list[Span]:
    if not marks:
        return spans
    edges = sorted({place for mark in marks for place in mark})
    found: list[Span] = []
    start = 0
    for text, style in spans:
        end = start + len(text)
        cuts = [start, *(edge for edge in edges if start < edge < end), end]
        for a, b in pairwise(cuts):
            marked = any(first <= a < last for first, last in marks)
            found.append((text[a - start : b - start], f"{style} underline".strip() if marked else style))
        start = end
    return found
