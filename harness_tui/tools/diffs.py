"""The unified diff that a person approves and a transcript shows, with the count of lines added and removed."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Final

from harness_tui.core.limits import TOOL_OUTPUT_BYTES, TOOL_OUTPUT_LINES
from harness_tui.core.record import record
from harness_tui.core.text import clean_for_display, cut_ends, cut_middle
from harness_tui.tools.text_file import normal_ends, split_lines

_CONTEXT: Final = 3
_SPLIT_CHARS: Final = 1024 * 1024
"""Longer changes are not split into lines: a few would be shown, and all of them would take many times their size."""
_PART_CHARS: Final = 2 * TOOL_OUTPUT_BYTES
"""So much of a part of a long change is at hand at each end: more than is shown of all of it."""
_MATCHED_LINES: Final = 4_000
"""Above this many changed lines on one side nothing is matched inside the change: that takes the square of it."""


@record
class Diff:
    """A unified diff within the limits of a tool's output; ``text`` is empty when no line differs."""

    text: str
    added: int
    removed: int


def make_diff(before: str, after: str, name: str, *, created: bool = False) -> Diff:
    """Compare two texts line by line; line ends are not compared. Takes long for long texts: call it in a thread."""
    changed = _changed(normal_ends(before), normal_ends(after))
    name = clean_for_display(name, one_line=True)  # a line end in it would read as a line of the diff
    head = [f"--- {'/dev/null' if created else name}", f"+++ {name}"]
    if len(changed.before) + len(changed.after) > _SPLIT_CHARS:
        return _long(changed, head)
    body, added, removed = _hunks(split_lines(changed.before), split_lines(changed.after), changed.lines_above)
    if not body:
        return Diff("", 0, 0)
    lines = [*head, *body]
    cut = cut_middle("\n".join(lines) + "\n", max_bytes=TOOL_OUTPUT_BYTES, max_lines=TOOL_OUTPUT_LINES)
    return Diff(cut.text, added, removed)


@record
class _Changed:
    """The lines that differ, of two texts, with the lines of context around them."""

    before: str
    after: str
    lines_above: int


def _changed(old: str, new: str) -> _Changed:
    """Leave out what two texts have in common at both ends; a file may have millions of lines."""
    most = min(len(old), len(new))
    start = _longest(most, lambda size: old[:size] == new[:size])
    start = _lines_back(old, old.rfind("\n", 0, start) + 1)
    tail = _longest(most - start, lambda size: old[len(old) - size :] == new[len(new) - size :])
    end = _lines_on(old, len(old) - tail)
    return _Changed(old[start:end], new[start : len(new) - (len(old) - end)], old.count("\n", 0, start))


def _longest(most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest size up to ``most`` that fits, where all smaller ones do too."""
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        low, most = (middle, most) if fits(middle) else (low, middle - 1)
    return low


def _lines_back(text: str, place: int) -> int:
    for _ in range(_CONTEXT):
        if place == 0:
            break
        place = text.rfind("\n", 0, place - 1) + 1
    return place


def _lines_on(text: str, place: int) -> int:
    for _ in range(_CONTEXT + 1):
        place = text.find("\n", place) + 1
        if place == 0:
            return len(text)
    return place


def _common(old: list[str], new: list[str]) -> int:
    count = 0
    for mine, theirs in zip(old, new, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _hunks(old: list[str], new: list[str], offset: int) -> tuple[list[str], int, int]:
    if max(len(old), len(new)) > _MATCHED_LINES:
        groups = [_whole(old, new)]
    else:
        groups = list(difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT))
    lines: list[str] = []
    added = removed = 0
    for group in groups:
        lines.append(f"@@ -{_range(group[0][1], group[-1][2], offset)} +{_range(group[0][3], group[-1][4], offset)} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[i1:i2]]
                continue
            lines += [f"-{line}" for line in old[i1:i2]]
            lines += [f"+{line}" for line in new[j1:j2]]
            removed += i2 - i1
            added += j2 - j1
    return lines, added, removed


def _long(changed: _Changed, head: list[str]) -> Diff:
    """Compare texts of which only the beginning and the end are shown; their lines are counted, not made."""
    old, new = _closed(changed.before), _closed(changed.after)
    most = min(len(old), len(new))
    start = old.rfind("\n", 0, _longest(most, lambda size: old[:size] == new[:size])) + 1
    tail = _longest(most - start, lambda size: old[len(old) - size :] == new[len(new) - size :])
    if not (_begins_line(old, len(old) - tail) and _begins_line(new, len(new) - tail)):
        tail = len(old) - (old.find("\n", len(old) - tail) + 1 or len(old))
    taken, put = old[start : len(old) - tail], new[start : len(new) - tail]
    removed, added = taken.count("\n"), put.count("\n")
    if not removed and not added:
        return Diff("", 0, 0)
    around = old.count("\n", 0, start) + old.count("\n", len(old) - tail)
    ranges = [_range(0, around + lines, changed.lines_above) for lines in (removed, added)]
    parts = [("", "\n".join([*head, f"@@ -{ranges[0]} +{ranges[1]} @@", ""])), (" ", old[:start])]
    parts += [("-", taken), ("+", put), (" ", old[len(old) - tail :])]
    size = sum(len(text.encode("utf-8", "surrogatepass")) + len(mark) * text.count("\n") for mark, text in parts)
    first = "".join(_marked(mark, text[:_PART_CHARS]) for mark, text in parts)
    last = "".join(_marked(mark, text[-_PART_CHARS:]) for mark, text in parts)
    cut = cut_ends(first, last, size, max_bytes=TOOL_OUTPUT_BYTES, max_lines=TOOL_OUTPUT_LINES)
    return Diff(cut.text, added, removed)


def _begins_line(text: str, place: int) -> bool:
    return place == 0 or text[place - 1] == "\n"


def _closed(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _marked(mark: str, text: str) -> str:
    """Return ``text``, which ends with a line end if it has any, with ``mark`` before each of its lines."""
    return mark + text[:-1].replace("\n", f"\n{mark}") + text[-1] if text else ""


def _whole(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    low, high = len(old) - tail, len(new) - tail
    return [
        ("equal", 0, head, 0, head),
        ("replace", head, low, head, high),
        ("equal", low, len(old), high, len(new)),
    ]


def _range(start: int, end: int, offset: int) -> str:
    length = end - start
    first = start + offset + (1 if length else 0)
    return str(first) if length == 1 else f"{first},{length}"
