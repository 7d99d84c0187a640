"""What a shell text is made of once it is read, and what a text that cannot be read raises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from harness_tui.core.limits import KIB
from harness_tui.core.record import record

TEXT_BYTES: Final = 64 * KIB
PARTS: Final = 2_000
LEVELS: Final = 200
WORDS: Final = 4_000
PIPED: Final = 500
"""Limits of one shell text: bytes, simple commands, nesting, words, programs in one pipe. Beyond them it is asked."""


class UnreadError(Exception):
    """A shell text that is not understood, with the reason for a person."""


@record
class Word:
    """One word of a command.

    ``raw`` is what was written, ``text`` what a program is given, ``None`` when only the shell will know. ``glob``:
    file names may take its place. ``stream``: it is a process substitution and names no file. ``quoted``: a part is.
    ``whole``: all of it is in one pair of double quotes, so that it is one word, whatever it becomes.
    """

    raw: str
    text: str | None
    glob: bool = False
    stream: bool = False
    quoted: bool = False
    whole: bool = False

    @property
    def fixed(self) -> str | None:
        """The text, if the shell passes it on exactly as it is."""
        return None if self.glob else self.text


@record
class Redirect:
    """One redirection; ``target`` is ``None`` for a here-document."""

    operator: str
    target: Word | None


@record
class Simple:
    """One simple command. ``source`` is the whole of it as written.

    ``assigned`` are the variables set in front of it. ``moving``: it stands in a loop or function, so that what it does
    to the working folder reaches commands before it. ``lead`` is where its words begin after nothing but assignments.
    """

    words: tuple[Word, ...]
    assigned: tuple[str, ...]
    redirects: tuple[Redirect, ...]
    source: str
    moving: bool = False
    lead: int = 0

    @property
    def value(self) -> str:
        """The words as written, with single blanks: what patterns are matched against."""
        return " ".join(word.raw for word in self.words)


@dataclass(slots=True)
class Reading:
    """What has been read of a text and of the texts in it.

    ``starts`` are the places where a command may be said to begin, ``variables`` those set by ``for`` and the like.
    ``here``: there is a here-document, ``functions``: there is a function.
    """

    commands: list[Simple] = field(default_factory=list[Simple])
    starts: set[int] = field(default_factory=set[int])
    variables: list[str] = field(default_factory=list[str])
    words: int = 0
    level: int = 0
    here: bool = False
    functions: bool = False

    def count_word(self, count: int = 1) -> None:
        """Count ``count`` more words. Raises ``UnreadError`` over the limit."""
        self.words += count
        if self.words > WORDS:
            raise UnreadError(f"more than {WORDS:,} words")

    def add(self, command: Simple) -> None:
        """Take one more command. Raises ``UnreadError`` over the limit."""
        self.commands.append(command)
        if len(self.commands) > PARTS:
            raise UnreadError(f"more than {PARTS:,} commands")
