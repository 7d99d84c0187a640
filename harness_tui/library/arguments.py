"""Argument lines: words with prose-aware quotes, and the value of every form.

An apostrophe inside a word, an unpaired quote and a Windows path survive: a quote groups only where it opens a word (or
follows ``=``) and closes one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

from harness_tui.core.record import record
from harness_tui.library.forms import Argument

_SPACE: Final = re.compile(r"\s+")
_ESCAPED: Final = re.compile(r'\\(["\\])')


@record
class Word:
    """One word: its value without group quotes, and where it stands in the line."""

    value: str
    start: int
    end: int


@record
class ArgumentLine:
    """A line of arguments as typed, outer blanks removed, with its words."""

    text: str
    words: tuple[Word, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The words' values, in order."""
        return tuple(word.value for word in self.words)

    def word(self, number: int) -> str:
        """Return word ``number``, counted from 1; empty when there is none."""
        return self.words[number - 1].value if 1 <= number <= len(self.words) else ""

    def rest(self, number: int) -> str:
        """Return word ``number`` and all later ones with the blanks between them, group quotes removed."""
        pieces: list[str] = []
        for before, word in zip((None, *self.words[number - 1 :]), self.words[number - 1 :], strict=False):
            if before is not None:
                pieces.append(self.text[before.end : word.start])
            pieces.append(word.value)
        return "".join(pieces)

    def value(self, form: Argument, highest: int) -> str:
        """Return what takes the place of a live form; ``highest`` is the highest live number of the template."""
        match form:
            case Argument(kind="line"):
                value = self.text
            case Argument(kind="number", braced=False, number=number) if number == highest:
                value = self.rest(number)
            case Argument(number=number):
                value = self.word(number)
        return form.default if form.default is not None and not value else value


def read_line(text: str) -> ArgumentLine:
    """Take an argument line apart. Any text is fine; NUL characters, which no program can be given, are removed."""
    text = text.replace("\x00", "").strip()
    closers = _closers(text)
    words: list[Word] = []
    position = 0
    while position < len(text):
        space = _SPACE.match(text, position)
        if space is not None:
            position = space.end()
            continue
        word = _word(text, position, closers)
        words.append(word)
        position = word.end
    return ArgumentLine(text, tuple(words))


def _closers(text: str) -> dict[str, list[int]]:
    """Return where each kind of quote stands directly before a blank or the end, and is not escaped."""
    found: dict[str, list[int]] = {'"': [], "'": []}
    backslashes = 0
    for index, character in enumerate(text):
        ends = character in found and (index + 1 == len(text) or text[index + 1].isspace())
        if ends and (character == "'" or backslashes % 2 == 0):
            found[character].append(index)
        backslashes = backslashes + 1 if character == "\\" else 0
    return found


def _word(text: str, start: int, closers: dict[str, list[int]]) -> Word:
    """Read the word at ``start``; a group always ends its word."""
    index = start
    while index < len(text) and not text[index].isspace():
        character = text[index]
        if character in closers and (index == start or text[index - 1] == "="):
            later = closers[character]
            found = bisect_right(later, index)
            if found < len(later):
                close = later[found]
                inner = text[index + 1 : close]
                if character == '"':
                    inner = _ESCAPED.sub(r"\1", inner)
                return Word(text[start:index] + inner, start, close + 1)
        index += 1
    return Word(text[start:index], start, index)


def live_numbers(candidates: Iterable[int]) -> frozenset[int]:
    """Return which numbers are live: those under 10, and from 10 on those with all smaller ones present."""
    present = set(candidates)
    live = {number for number in present if number < 10}
    for number in range(10, 100):
        if number in present and len(live) == number - 1:
            live.add(number)
    return frozenset(live)
