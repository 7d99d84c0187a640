"""Unified diffs as styled lines: line numbers, signs that stand without colour, words that changed underlined."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final

from harness_tui.tui.lines import Line, Span, wrap

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")
_HEADINGS: Final = ("diff ", "moved from ")
"""Lines between the diffs of several files; a line of a file begins with a sign or a blank."""
_MAX_WORD_DIFF: Final = 400


def diff_lines(text: str, width: int) -> list[Line]:
    """Draw a unified diff within ``width`` cells.

    File headers are left out: the title names the file, and of several each has its line ``diff PATH`` before it.
    """
    rows = _rows(text)
    digits = max((len(number) for number, _, _, _ in rows), default=1)
    lines: list[Line] = []
    for number, sign, spans, style in rows:
        gutter: Line = ((f"{number:>{digits}} ", "muted"), (f"{sign} ", style))
        lines.extend(wrap(spans, width, first=gutter, rest=((" " * (digits + 3), ""),)))
    return lines


def count_changes(text: str) -> tuple[int, int]:
    """Return how many lines a unified diff adds and removes."""
    rows = _rows(text)
    return sum(sign == "+" for _, sign, _, _ in rows), sum(sign == "-" for _, sign, _, _ in rows)


_Row = tuple[str, str, list[Span], str]


def _rows(text: str) -> list[_Row]:
    """Return ``(line number, sign, spans, style)`` for every line of the diff but its file headers."""
    rows: list[_Row] = []
    old = new = 0
    in_hunk = False
    for line in text.split("\n"):
        if match := _HUNK.match(line):
            old, new, in_hunk = int(match[1]), int(match[2]), True
            rows.append(("", " ", [(f"⋯{match[3]}", "hunk")], "hunk"))
        elif line.startswith(_HEADINGS):
            rows.append(("", " ", [(line.removeprefix("diff "), "bold")], "bold"))
            in_hunk = False
        elif not in_hunk:
            continue
        elif line.startswith("+"):
            rows.append((str(new), "+", [(line[1:], "added")], "added"))
            new += 1
        elif line.startswith("-"):
            rows.append((str(old), "-", [(line[1:], "removed")], "removed"))
            old += 1
        elif line.startswith("\\"):
            rows.append(("", " ", [(line[2:], "muted")], "muted"))
        elif line or old:
            rows.append((str(new), " ", [(line[1:], "")], ""))
            old, new = old + 1, new + 1
    while rows and rows[-1][1] == " " and not rows[-1][2][0][0]:
        rows.pop()
    _mark_words(rows)
    return rows


def _mark_words(rows: list[_Row]) -> None:
    """Underline what differs in a removed line that is followed by exactly its replacement."""
    for place in range(len(rows) - 1):
        before, after = rows[place], rows[place + 1]
        alone = (place == 0 or rows[place - 1][1] != "-") and (place + 2 >= len(rows) or rows[place + 2][1] != "+")
        if before[1] != "-" or after[1] != "+" or not alone:
            continue
        old, new = before[2][0][0], after[2][0][0]
        if max(len(old), len(new)) > _MAX_WORD_DIFF:
            continue
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        if matcher.quick_ratio() < 0.5:
            continue
        marked_old: list[Span] = []
        marked_new: list[Span] = []
        for tag, a, b, c, d in matcher.get_opcodes():
            mark = "" if tag == "equal" else " underline"
            if a < b:
                marked_old.append((old[a:b], f"removed{mark}"))
            if c < d:
                marked_new.append((new[c:d], f"added{mark}"))
        before[2][:], after[2][:] = marked_old, marked_new
