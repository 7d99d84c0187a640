"""Finds the text that an edit names: exactly and once, or else once with other indentation or trailing blanks.

A model often gets leading and trailing blanks wrong and everything else right. The tolerant match allows that and
nothing more: the same number of lines, the same text in each, one consistent change of indentation, one place.
"""

from __future__ import annotations

import difflib
from itertools import pairwise
from typing import Final

from harness_tui.core.errors import ToolError
from harness_tui.core.record import record
from harness_tui.core.text import cut_end
from harness_tui.tools.line_ends import LineEnds
from harness_tui.tools.text_file import normal_ends

_SHOWN_MATCHES: Final = 20
_COUNTED: Final = 1_000
_NEAR_LINES: Final = 5_000
_NEAR_CHARS: Final = 200


@record
class Edit:
    """One replacement. ``where`` names it in errors: the file, and ``edits[2]`` where there are several."""

    old: str
    new: str
    replace_all: bool
    where: str


@record
class Applied:
    """A text after an edit: how many places changed, and the line of the first when the match was a tolerant one."""

    text: str
    count: int
    tolerant_line: int | None = None


def apply_edit(raw: str, edit: Edit) -> Applied:
    """Return ``raw`` with ``edit`` done. The replacement is literal. Raises ``ToolError`` that says what was found."""
    old, new = normal_ends(edit.old), normal_ends(edit.new)
    if not old and not raw and new:
        return Applied(edit.new, 1)
    if not old:
        raise ToolError(
            "old is empty, and the file is not",
            where=edit.where,
            mend="name the text to replace, or use write",
            code="no-match",
        )
    if old == new:
        raise ToolError("old and new are the same", where=edit.where, code="no-change")
    ends = LineEnds(raw)
    if edit.replace_all and old in ends.normal and (done := ends.replace_all(old, new)) is not None:
        return Applied(*done)
    places = _places_apart(ends.normal, old) if edit.replace_all else _places(ends.normal, old)
    if len(places) > 1 and not edit.replace_all:
        lines = sorted({ends.line_of(place) for place in places})
        raise _ambiguous(edit, "old was found more than once", lines)
    if places:
        return _replace_exact(ends, old, new, places)
    return _replace_tolerant(ends, old, new, edit)


def _places(text: str, old: str) -> list[int]:
    # Overlapping places count: "aa" is found twice in "aaa", and either could be meant.
    found: list[int] = []
    place = text.find(old)
    while place >= 0 and len(found) < _COUNTED:
        found.append(place)
        place = text.find(old, place + 1)
    return found


def _places_apart(text: str, old: str) -> list[int]:
    found: list[int] = []
    place = text.find(old)
    while place >= 0:
        found.append(place)
        place = text.find(old, place + len(old))
    return found


def _replace_exact(ends: LineEnds, old: str, new: str, places: list[int]) -> Applied:
    pieces: list[str] = []
    behind = 0
    for place in places:
        start, stop = ends.raw_span(place, place + len(old))
        pieces += (ends.raw[behind:start], ends.fitted(place, place + len(old), new))
        behind = stop
    return Applied("".join(pieces) + ends.raw[behind:], len(places))


def _replace_tolerant(ends: LineEnds, old: str, new: str, edit: Edit) -> Applied:
    wanted = old.split("\n")
    if not all(line.strip() in ends.normal for line in wanted):  # so no place can be it: the file may be long
        raise _not_found(edit, ends.normal.split("\n", _NEAR_LINES), wanted)
    lines = ends.normal.split("\n")
    closed = len(wanted) > 1 and wanted[-1] == ""  # old ends with a line end: it is replaced as well
    if closed:
        wanted.pop()
    indents = _tolerant_places(lines, wanted)
    if not indents:
        raise _not_found(edit, lines, wanted)
    if len(indents) > 1:
        raise _ambiguous(edit, "old was found, but for blanks, more than once", [index + 1 for index in indents])
    ((first, mapping),) = indents.items()
    start = sum(len(line) + 1 for line in lines[:first])
    end = start + sum(len(line) + 1 for line in lines[first : first + len(wanted)]) - 1
    if closed:
        if end >= len(ends.normal):  # the file's last line has no end to replace
            new = new.removesuffix("\n")
        else:
            end += 1
    return Applied(ends.replace(start, end, _indented(new, mapping)), 1, first + 1)


def _tolerant_places(lines: list[str], wanted: list[str]) -> dict[int, dict[str, str]]:
    bare = [line.strip() for line in wanted]
    if not any(bare):
        return {}
    stripped = [line.strip() for line in lines]
    found: dict[int, dict[str, str]] = {}
    for index in range(len(lines) - len(wanted) + 1):
        if stripped[index] == bare[0] and stripped[index : index + len(bare)] == bare:
            mapping = _indent_mapping(wanted, lines[index : index + len(bare)])
            if mapping is not None:
                found[index] = mapping
    return found


def _indent_mapping(wanted: list[str], actual: list[str]) -> dict[str, str] | None:
    """Return which indentation of ``wanted`` stands for which of ``actual``; ``None`` when that is not consistent."""
    mapping: dict[str, str] = {}
    for mine, theirs in zip(wanted, actual, strict=True):
        if mine.strip() and mapping.setdefault(_indent(mine), _indent(theirs)) != _indent(theirs):
            return None
    levels = [len(theirs) for _, theirs in sorted(mapping.items(), key=lambda pair: len(pair[0]))]
    # Two levels of old that are one in the file, or the other way round, would be another structure.
    return mapping if all(upper < lower for upper, lower in pairwise(levels)) else None


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _indented(new: str, mapping: dict[str, str]) -> str:
    return "\n".join(_indent_line(line, mapping) if line.strip() else line for line in new.split("\n"))


def _indent_line(line: str, mapping: dict[str, str]) -> str:
    indent = _indent(line)
    known = max((mine for mine in mapping if indent.startswith(mine)), key=len, default=None)
    if known is not None:
        return mapping[known] + indent[len(known) :] + line[len(indent) :]
    # Less indented than all of old: what old had too much is taken off here as well, as far as it is there.
    mine, theirs = min(mapping.items(), key=lambda pair: len(pair[0]))
    surplus = len(mine) - len(theirs) if mine.startswith(theirs) else 0
    return line[min(surplus, len(indent)) :]


def _ambiguous(edit: Edit, what: str, lines: list[int]) -> ToolError:
    shown = ", ".join(map(str, lines[:_SHOWN_MATCHES])) + (", ..." if len(lines) > _SHOWN_MATCHES else "")
    return ToolError(
        f"{what}: line{'s' if len(lines) > 1 else ''} {shown}",
        where=edit.where,
        mend="give more of the surrounding text, or set replace_all",
        code="ambiguous",
    )


def _not_found(edit: Edit, lines: list[str], wanted: list[str]) -> ToolError:
    first = next((line for line in wanted if line.strip()), "")
    near = difflib.get_close_matches(
        first[:_NEAR_CHARS], [line[:_NEAR_CHARS] for line in lines[:_NEAR_LINES]], n=1, cutoff=0.6
    )
    what = "old was not found"
    if near:
        number = next(index for index, line in enumerate(lines, 1) if line[:_NEAR_CHARS] == near[0])
        what += f"; the nearest to its first line is line {number}: {cut_end(near[0].strip(), 120)}"
    return ToolError(what, where=edit.where, mend="read the file again and copy the text", code="no-match")
