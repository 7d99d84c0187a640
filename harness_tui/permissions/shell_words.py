"""Reads the words of a shell text the way bash does, and stops at whatever it does not know.

Everything that bash would run while it makes a word is read too: command and process substitutions, here-documents.
Nothing is guessed: arithmetic with names, indirect and computed expansions can run commands and are not understood.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Final

from harness_tui.permissions.shell_values import LEVELS, Reading, UnreadError, Word

META: Final = frozenset(" \t\n;&|<>()")
PLAIN: Final = re.compile(r"[A-Za-z0-9_./:,@%+=-]+")
_RUN: Final = re.compile(r"[^ \t\n;&|<>()'\"\\$`~{}]+")
_WILD: Final = frozenset("*?[")
_INNER: Final = re.compile(r"[^\"$`\\]+")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL: Final = frozenset("@*#?-$!0123456789")
_NUMBERS: Final = re.compile(r"\$\(\([0-9 +*/%<>=!&|^~?:-]*\)\)")
_SAFE: Final = r"(?:[A-Za-z0-9_./ :*?,@%+=-]|\$[A-Za-z_][A-Za-z0-9_]*|\$[0-9@*#?])*"
_BRACED: Final = re.compile(
    r"\$\{(?:#?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:\[[@*0-9]+\])?|[0-9]+|[@*#?$!-])"
    rf"(?:(?P<plain>)|:?[-+?]{_SAFE}|%%?{_SAFE}|##?{_SAFE}|:[0-9]+(?::[0-9]+)?|\^\^?|,,?"
    rf"|//?[A-Za-z0-9_. -]+(?:/{_SAFE})?)\}}"
)


@lru_cache(maxsize=1024)
def plain_word(text: str) -> Word:
    """Return the word ``text``, in which every character stands for itself."""
    return Word(text, text)


class Pieces:
    """A word while it is read."""

    __slots__ = ("double_end", "found", "glob", "known", "quoted", "stream_end", "streams")

    def __init__(self) -> None:
        self.found: list[str] = []
        self.known = True
        self.glob = False
        self.quoted = False
        self.streams = 0
        self.stream_end = -1
        self.double_end = -1

    def text(self) -> str | None:
        """Return what a program is given, ``None`` when only the shell will know."""
        return "".join(self.found) if self.known else None


class WordReader(ABC):
    """A place in ``text``, moving on. ``base`` is where ``text`` begins in the whole; ``home`` the home folder.

    ``posix``: another shell than bash will run it, so that what only bash knows is not understood.
    """

    def __init__(self, text: str, reading: Reading, *, base: int = 0, home: str | None = None, posix: bool = False):
        self.text = text
        self.pos = 0
        self.reading = reading
        self.base = base
        self.home = home
        self.posix = posix

    @abstractmethod
    def inner_block(self) -> None:
        """Read commands up to the ``)`` that ends a substitution."""

    @abstractmethod
    def inner_text(self, text: str, base: int) -> None:
        """Read the whole of ``text`` as commands."""

    @abstractmethod
    def part(self, text: str, base: int) -> WordReader:
        """Return a reader of ``text`` that tells the same reading."""

    def only_bash(self, what: str) -> None:
        """Refuse ``what`` in a text for another shell."""
        if self.posix:
            raise UnreadError(f"{what} in a text for another shell than bash")

    def word(self) -> Word:
        """Read the word that begins here."""
        text, start = self.text, self.pos
        self.reading.count_word()
        plain = PLAIN.match(text, start)
        if plain is not None:
            end = plain.end()
            if end == len(text) or text[end] in META:
                self.pos = end
                if end == len(text) or text[end] not in "<>" or text[end + 1 : end + 2] != "(":
                    return plain_word(plain[0])
                self.pos = start
        pieces = Pieces()
        while self.pos < len(text):
            char = text[self.pos]
            if char in META and not self._process(char, pieces):
                break
            if char not in META:
                self._piece(char, pieces, start)
        raw = text[start : self.pos]
        if not raw:
            raise UnreadError("a word is missing")
        stream = pieces.streams == 1 and raw[0] in "<>" and pieces.stream_end == self.pos
        # "$@" is as many words as there are arguments.
        whole = pieces.double_end == self.pos and "@" not in raw
        return Word(raw, pieces.text(), pieces.glob and raw != "[", stream, pieces.quoted, whole)

    def _process(self, char: str, pieces: Pieces) -> bool:
        if char not in "<>" or self.text[self.pos + 1 : self.pos + 2] != "(":
            return False
        self.only_bash("a process substitution")
        self.reading.count_word()
        self.pos += 2
        self.inner_block()
        pieces.known = False
        pieces.streams += 1
        pieces.stream_end = self.pos
        return True

    def _piece(self, char: str, pieces: Pieces, start: int) -> None:
        text = self.text
        if char in "'\"$`{}~":
            self.reading.count_word()
        match char:
            case "'":
                end = text.find("'", self.pos + 1)
                if end < 0:
                    raise UnreadError("a quote is not closed")
                pieces.found.append(text[self.pos + 1 : end])
                pieces.quoted, self.pos = True, end + 1
            case '"':
                first = self.pos == start
                self._double(pieces)
                pieces.double_end = self.pos if first else pieces.double_end
            case "\\":
                following = text[self.pos + 1 : self.pos + 2]
                if following in ("", "\n"):
                    raise UnreadError("a line goes on in the middle of a word")
                pieces.found.append(following)
                pieces.quoted, self.pos = True, self.pos + 2
            case "$":
                self.dollar(pieces, quoted=False)
            case "`":
                self.backtick(pieces)
            case "~" if self.pos == start:
                self._tilde(pieces)
            case "~" if text[self.pos - 1] in "=:":
                # Shells differ in which words look enough like assignments.
                pieces.known = False
                self.pos += 1
            case "{" | "}":
                self._brace(pieces)
            case _:
                self._run(pieces)

    def _run(self, pieces: Pieces) -> None:
        run = _RUN.match(self.text, self.pos)
        found = run[0] if run is not None else self.text[self.pos]
        pieces.glob |= not _WILD.isdisjoint(found)
        pieces.found.append(found)
        self.pos += len(found)

    def _tilde(self, pieces: Pieces) -> None:
        self.pos += 1
        following = self.text[self.pos : self.pos + 1]
        if (following == "" or following == "/" or following in META or following == ":") and self.home is not None:
            pieces.found.append(self.home)
        else:
            pieces.known = False

    def _brace(self, pieces: Pieces) -> None:
        # The shell makes several words of {a,b} and {1..3}; {} alone is text.
        if self.text.startswith("{}", self.pos):
            pieces.found.append("{}")
            self.pos += 2
            return
        pieces.known = False
        self.pos += 1

    def _double(self, pieces: Pieces) -> None:
        text = self.text
        pieces.quoted = True
        self.pos += 1
        while self.pos < len(text):
            plain = _INNER.match(text, self.pos)
            if plain is not None:
                pieces.found.append(plain[0])
                self.pos = plain.end()
                continue
            match text[self.pos]:
                case '"':
                    self.pos += 1
                    return
                case "\\":
                    self._escape(pieces)
                case "$":
                    self.dollar(pieces, quoted=True)
                case _:
                    self.backtick(pieces)
        raise UnreadError("a quote is not closed")

    def _escape(self, pieces: Pieces) -> None:
        following = self.text[self.pos + 1 : self.pos + 2]
        if following == "\n" and self.text[self.pos - 1] in "$`\\":
            raise UnreadError("a line goes on in the middle of an expansion")
        if following in '$`"\\' and following:
            pieces.found.append(following)
        elif following != "\n":
            pieces.found.append("\\" + following)
        self.pos += 2

    def dollar(self, pieces: Pieces, *, quoted: bool) -> None:
        """Read what begins with ``$`` here."""
        text, start = self.text, self.pos
        following = text[start + 1 : start + 2]
        match following:
            case "(" if text.startswith("((", start + 1):
                numbers = _NUMBERS.match(text, start)
                if numbers is None:
                    raise UnreadError("arithmetic with anything but numbers")
                self.pos = numbers.end()
            case "(":
                self.pos += 2
                self.inner_block()
            case "{":
                self._parameter(pieces)
                return
            case "[":
                raise UnreadError("arithmetic of the form $[...]")
            case "'" if not quoted:
                self._ansi()
                pieces.quoted = True
            case '"' if not quoted:
                self.only_bash('$"..."')
                self.pos += 1
                self._double(pieces)
            case "\\" if text.startswith("\\\n", start + 1):
                raise UnreadError("a line goes on in the middle of an expansion")
            case _:
                self._variable(pieces, following)
                return
        pieces.known = False

    def _variable(self, pieces: Pieces, following: str) -> None:
        name = _NAME.match(self.text, self.pos + 1)
        if name is not None:
            self.pos = name.end()
            self._value(pieces, name[0])
        elif following and following in _SPECIAL:
            self.pos += 2
            pieces.known = False
        else:
            pieces.found.append("$")
            self.pos += 1

    def _value(self, pieces: Pieces, name: str) -> None:
        if name == "HOME" and self.home is not None:
            pieces.found.append(self.home)
        else:
            pieces.known = False

    def _parameter(self, pieces: Pieces) -> None:
        found = _BRACED.match(self.text, self.pos)
        if found is None:
            raise UnreadError("an expansion ${...} of a form that can do more than give a value")
        self.pos = found.end()
        simple = found["plain"] is not None and found[0] == f"${{{found['name']}}}"
        self._value(pieces, found["name"] if simple else "")

    def _ansi(self) -> None:
        self.only_bash("$'...'")
        at = self.pos + 2
        while at < len(self.text) and self.text[at] != "'":
            at += 2 if self.text[at] == "\\" else 1
        if at >= len(self.text):
            raise UnreadError("a quote is not closed")
        self.pos = at + 1

    def backtick(self, pieces: Pieces) -> None:
        """Read a command substitution between backticks."""
        start = self.pos + 1
        end = self.text.find("`", start)
        if end < 0:
            raise UnreadError("a backtick is not closed")
        inner = self.text[start:end]
        if "\\" in inner:
            raise UnreadError("a backslash between backticks")
        self.inner_text(inner, self.base + start)
        pieces.known = False
        self.pos = end + 1

    def expansions(self) -> None:
        """Read the whole text as that of a here-document: all is text but what begins with ``$`` or a backtick."""
        pieces = Pieces()
        while self.pos < len(self.text):
            match self.text[self.pos]:
                case "\\":
                    self.pos += 2
                case "$" if self.text[self.pos + 1 : self.pos + 2] != '"':
                    self.dollar(pieces, quoted=True)
                case "`":
                    self.backtick(pieces)
                case _:
                    self.pos += 1

    def deeper(self) -> None:
        """Enter one more level. Raises ``UnreadError`` over the limit."""
        self.reading.level += 1
        if self.reading.level > LEVELS:
            raise UnreadError(f"more than {LEVELS} levels")
