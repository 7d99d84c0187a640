"""A change of files as a person goes through it: part by part, each taken or not, or with a text of their own.

No Textual here. A part is a run of lines that differ; a text is put together from what is there and the parts taken.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from harness_tui.core.event_parts import FileEdit
from harness_tui.core.text import clean_for_display
from harness_tui.tui.transcript.diff import DiffRow, mark_words

if TYPE_CHECKING:
    from harness_tui.core.seams import ProposedFile

CONTEXT: Final = 3
_MATCHED_LINES: Final = 4_000
"""With more changed lines on a side nothing is matched within the change: that takes the square of it."""


@dataclass(frozen=True, slots=True)
class Part:
    """Lines ``old[a:b]`` that become ``new[c:d]``."""

    a: int
    b: int
    c: int
    d: int


class FileReview:
    """One file of a change. ``text`` is what is proposed now: by the model, or by the person who edited it."""

    def __init__(self, file: ProposedFile) -> None:
        self.path = file.path
        self.new = file.before is None
        self._before = file.before or ""
        self._proposed = file.after
        self.old_lines = _lines(self._before)
        self._take_text(file.after)

    def _take_text(self, text: str) -> None:
        self.text = text
        self._lines = _lines(text)
        self.parts = _parts(self.old_lines, self._lines)
        self.left_out: set[int] = set()

    # --- what is decided -----------------------------------------------------------------------------

    @property
    def edited(self) -> bool:
        """Whether the text is the person's own."""
        return self.text != self._proposed

    @property
    def taken(self) -> int:
        """How many parts are taken."""
        return len(self.parts) - len(self.left_out)

    def tick(self, part: int) -> None:
        """Leave a part out, or take it again."""
        self.left_out ^= {part}

    def tick_all(self) -> None:
        """Leave every part out; where some are out already, take all."""
        self.left_out = set() if self.left_out else set(range(len(self.parts)))

    def edit(self, text: str) -> None:
        """Put a person's text in the place of what is proposed; all of its parts are taken."""
        self._take_text(text)

    def reset(self) -> None:
        """Go back to what was proposed, all of it."""
        self._take_text(self._proposed)

    def result(self) -> str | None:
        """Return the text that would be written, ``None`` where the file stays as it is."""
        if not self.left_out:
            return self.text if self.new or self.parts else None
        if not self.taken:
            return None
        lines: list[str] = []
        place = 0
        for number, part in enumerate(self.parts):
            lines += self.old_lines[place : part.a]
            lines += self.old_lines[part.a : part.b] if number in self.left_out else self._lines[part.c : part.d]
            place = part.b
        return "".join([*lines, *self.old_lines[place:]])

    def present(self) -> str:
        """Return the text as the parts that are taken make it: what an editor begins with."""
        result = self.result()
        return "".join(self.old_lines) if result is None else result

    def edits(self) -> tuple[FileEdit, ...]:
        """Return what differs from the proposal, as an answer tells it."""
        result = self.result()
        return () if result == self._proposed else (FileEdit(self.path, result),)

    # --- what is shown -------------------------------------------------------------------------------

    def size(self, part: int) -> int:
        """Return how many lines a part takes away and adds."""
        one = self.parts[part]
        return one.b - one.a + one.d - one.c

    def rows(self, part: int, most: int = 1_000_000) -> list[DiffRow]:
        """Return the lines of a part, those that go first, and at most ``most``; what changed within one is marked."""
        one = self.parts[part]
        gone = min(one.b - one.a, max(0, most))
        new = min(one.d - one.c, max(0, most - gone))
        removed = [self._row("-", self.old_lines[at], old=at + 1) for at in range(one.a, one.a + gone)]
        added = [self._row("+", self._lines[at], new=at + 1) for at in range(one.c, one.c + new)]
        mark_words(removed, added)
        if any(not row.text.endswith("\n") for row in (*removed, *added)):
            added.append(DiffRow("\\", "no line end at the end of the file", path=self.path))
        for row in (*removed, *added):
            row.text = row.text.removesuffix("\n")
        return [*removed, *added]

    def context(self, part: int) -> tuple[list[DiffRow], bool, list[DiffRow]]:
        """Return the unchanged lines above a part, whether more lie above them, and those below the last one.

        Lines between two parts that are close stand once, above the second.
        """
        one, count = self.parts[part], len(self.parts)
        over = one.a - (self.parts[part - 1].b if part else 0)
        under = (self.parts[part + 1].a if part + 1 < count else len(self.old_lines)) - one.b
        close = part > 0 and over <= 2 * CONTEXT
        above = self._same(one.a - (over if close else min(over, CONTEXT)), one.a, one.c - one.a)
        last = part + 1 == count
        shown = min(under, CONTEXT) if last or under > 2 * CONTEXT else 0
        return above, over > len(above), self._same(one.b, one.b + shown, one.d - one.b)

    def _same(self, start: int, end: int, shift: int) -> list[DiffRow]:
        rows = [self._row(" ", self.old_lines[at], at + 1, at + 1 + shift) for at in range(start, end)]
        for row in rows:
            row.text = row.text.removesuffix("\n")
        return rows

    def _row(self, sign: str, text: str, old: int | None = None, new: int | None = None) -> DiffRow:
        shown = clean_for_display(text, show_invisible=True)
        return DiffRow(sign, shown, old, new, self.path)  # type: ignore[arg-type]

    @property
    def digits(self) -> int:
        """How many digits line numbers take."""
        return len(str(max(len(self.old_lines), len(self._lines), 1)))


class Review:
    """A whole change, file by file."""

    def __init__(self, files: Sequence[ProposedFile]) -> None:
        self.files = [FileReview(file) for file in files]

    def edits(self) -> tuple[FileEdit, ...]:
        """Return what differs from the proposal."""
        return tuple(edit for file in self.files for edit in file.edits())

    @property
    def empty(self) -> bool:
        """Whether nothing of the change is left."""
        return all(file.result() is None for file in self.files)

    def summary(self) -> str:
        """Say in short what would be done, empty where it is what was proposed."""
        if not self.edits():
            return ""
        parts = sum(len(file.parts) for file in self.files)
        taken = sum(file.taken for file in self.files)
        edited = sum(file.edited for file in self.files)
        words = [f"{taken} of {parts} parts"] if taken != parts else []
        words += [f"{edited} file{'' if edited == 1 else 's'} edited"] if edited else []
        return ", ".join(words)

    def diff_text(self) -> str:
        """Return what would be done as a unified diff."""
        found: list[str] = []
        for file in self.files:
            result = file.result()
            if result is None:
                continue
            name = clean_for_display(file.path, one_line=True)
            lines = difflib.unified_diff(
                [] if file.new else file.old_lines,
                _lines(result),
                "/dev/null" if file.new else name,
                name,
                n=CONTEXT,
            )
            body = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
            found.append(f"diff {name}\n{body}" if len(self.files) > 1 else body)
        return "".join(found)


def _lines(text: str) -> list[str]:
    """Return the lines of a text, each with its end; only ``\\n`` ends one."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _parts(old: list[str], new: list[str]) -> list[Part]:
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    mine, theirs = old[head : len(old) - tail], new[head : len(new) - tail]
    if not mine and not theirs:
        return []
    if max(len(mine), len(theirs)) > _MATCHED_LINES:
        return [Part(head, len(old) - tail, head, len(new) - tail)]
    matcher = difflib.SequenceMatcher(None, mine, theirs, autojunk=False)
    return [Part(head + a, head + b, head + c, head + d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]
