"""The text that a unified diff makes of another one: editors want both texts of a change, a preview has the diff."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def apply_patch(old: str, patch: str) -> str | None:
    """Return ``old`` with ``patch`` applied; ``None`` when it does not fit, or was cut.

    Line ends are not compared, as in the diffs that people are shown: lines that stay keep theirs.
    """
    lines, made, place = old.splitlines(keepends=True), list[str](), 0
    hunks = list(_hunks(patch))
    for start, removed, added, rows in hunks:
        first = start - (1 if removed else 0)
        if first < place or first > len(lines):
            return None
        kept = sum(row[:1] == " " for row in rows)
        if kept + sum(row[:1] == "-" for row in rows) != removed or kept + sum(row[:1] == "+" for row in rows) != added:
            return None
        made += lines[place:first]
        place = first
        before = ""
        for row in rows:
            if row.startswith("\\"):  # "No newline at end of file": of the line before
                if made and not before.startswith("-"):
                    made[-1] = made[-1].rstrip("\n")
                continue
            before = row
            if row.startswith("+"):
                made.append(row[1:])
                continue
            if place >= len(lines) or lines[place].rstrip("\r\n") != row[1:].rstrip("\r\n"):
                return None
            if row.startswith(" "):
                made.append(lines[place])
            place += 1
    return "".join([*made, *lines[place:]]) if hunks else None


def _hunks(patch: str) -> Iterator[tuple[int, int, int, list[str]]]:
    """Yield each hunk: where it starts in the old text, how many lines of the old and the new one it has, its rows."""
    rows = patch.splitlines(keepends=True)
    index = 0
    while index < len(rows):
        head = _HUNK.match(rows[index])
        index += 1
        if head is None:
            continue
        removed, added = (1 if head[group] is None else int(head[group]) for group in (2, 3))
        taken: list[str] = []
        old, new = removed, added
        while index < len(rows) and (old > 0 or new > 0 or rows[index].startswith("\\")):
            row = rows[index]
            if row[:1] not in (" ", "-", "+", "\\"):
                break
            old -= row[:1] in (" ", "-")
            new -= row[:1] in (" ", "+")
            taken.append(row)
            index += 1
        yield int(head[1]), removed, added, taken
