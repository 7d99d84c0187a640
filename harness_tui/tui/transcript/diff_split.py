"""Diffs side by side: the old text left, the new one right, for screens that are wide enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from harness_tui.tui.lines import Line, line_cells, wrap
from harness_tui.tui.transcript.diff import DiffRow, changed_runs

SPLIT_CELLS: Final = 117
"""From this width on a diff is shown side by side: a screen of more than 120 columns."""

_BETWEEN: Final[Line] = ((" │ ", "muted"),)


def split_lines(rows: Sequence[DiffRow], width: int, digits: int | None = None) -> list[Line]:
    """Draw rows in two columns within ``width`` cells; what replaces something stands beside it.

    Line numbers take ``digits``, or as many as are needed.
    """
    left = (width - 3) // 2
    right = width - 3 - left
    numbers = (number for row in rows for number in (row.old, row.new) if number is not None)
    digits = digits or max((len(str(number)) for number in numbers), default=1)
    lines: list[Line] = []
    for one, other in _pairs(rows):
        if one is not None and one.sign in "@#\\":
            lines.extend(wrap(one.styled(), width, first=((" " * (digits + 3), ""),)))
            continue
        olds, news = _side(one, left, digits, old=True), _side(other, right, digits, old=False)
        for before, after in zip_longest(olds, news, fillvalue=()):
            gap = left - line_cells(before)
            lines.append((*before, (" " * gap, ""), *_BETWEEN, *after))
    return lines


def _pairs(rows: Sequence[DiffRow]) -> Iterator[tuple[DiffRow | None, DiffRow | None]]:
    runs = changed_runs(rows)
    place = 0
    while place < len(rows):
        if rows[place].sign in "+-":
            removed, added = next(runs)
            yield from zip_longest(removed, added)
            place += len(removed) + len(added)
        else:
            yield rows[place], rows[place]
            place += 1


def _side(row: DiffRow | None, width: int, digits: int, *, old: bool) -> list[Line]:
    if row is None:
        return [()]
    number = row.old if old else row.new
    sign = row.sign if row.sign in "+-" else " "
    gutter: Line = ((f"{number or '':>{digits}} ", "muted"), (f"{sign} ", row.style))
    return wrap(row.styled(), width, first=gutter, rest=((" " * (digits + 3), ""),))
