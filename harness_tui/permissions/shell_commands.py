"""Reads the simple commands of a shell text: words, assignments, redirections, here-documents."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Final

from harness_tui.core.record import record
from harness_tui.permissions.shell_values import Reading, Redirect, Simple, UnreadError, Word
from harness_tui.permissions.shell_words import META, WordReader, plain_word

_BLANKS: Final = re.compile(r"[ \t]*")
_EMPTY: Final = re.compile(r"(?:[ \t]*\n)*")
_REDIRECT: Final = re.compile(r"([0-9]*)(<<<|<<-|<<|<&|<>|<|>>|>&|>\||>|&>>|&>)")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
RESERVED: Final = frozenset(
    "if then elif else fi while until for select do done case esac function time coproc [[ { } !".split()  # noqa: SIM905
)
"""Words that are no programs where a command begins."""

_PLAIN_COMMAND: Final = re.compile(
    rf"(?!(?:{'|'.join(word for word in RESERVED if word.isalpha())})(?:[ \t\n;&|<>()]|\Z))"
    r"(?P<words>[A-Za-z0-9_./][A-Za-z0-9_./:,@%+-]*+(?:[ \t]+[A-Za-z0-9_./:,@%+=-]+)*+)"
    r"[ \t]*(?:(?P<separator>;(?![;&])|&&|\|\||\|(?!&))[ \t]*|(?=[;\n|)]|&(?!>)|\Z))"
)
_ELEMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_HERE_END: Final = frozenset("\n~$`")
_DESCRIPTOR_VARIABLE: Final = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}[<>]")


@record
class _HereDocument:
    end: str
    quoted: bool
    tabs: bool
    level: int


class CommandReader(WordReader):
    """A reader that knows simple commands; lists and compound commands are known by the one that extends it."""

    def __init__(
        self, text: str, reading: Reading, *, base: int = 0, home: str | None = None, posix: bool = False
    ) -> None:
        super().__init__(text, reading, base=base, home=home, posix=posix)
        self._waiting: list[_HereDocument] = []
        self._moving = 0

    @abstractmethod
    def function_body(self) -> None:
        """Read the body of a function, whose name and brackets have been read."""

    # --- blanks and line ends --------------------------------------------------------------------

    def _blanks(self) -> None:
        text = self.text
        while True:
            blanks = _BLANKS.match(text, self.pos)
            self.pos = blanks.end() if blanks is not None else self.pos
            # A line goes on after a blank only: elsewhere it could cut a word in two. (Nothing is in every text.)
            if not text.startswith("\\\n", self.pos) or text[self.pos - 1 : self.pos] not in " \t":
                break
            self.pos += 2
        if text.startswith("#", self.pos):
            end = text.find("\n", self.pos)
            self.pos = len(text) if end < 0 else end

    def _gap(self) -> None:
        """Read blanks, comments and line ends."""
        self._blanks()
        while self.text[self.pos : self.pos + 1] == "\n":
            self._newline()
            self._blanks()

    def _newline(self) -> None:
        self.pos += 1
        if not self._waiting:
            empty = _EMPTY.match(self.text, self.pos)
            self.pos = empty.end() if empty is not None else self.pos
            return
        waiting, self._waiting = self._waiting, []
        for here in waiting:
            if here.level != self.reading.level:
                raise UnreadError("a here-document around a group of commands")
            self._body(here)

    # --- simple commands -------------------------------------------------------------------------

    def plain_commands(self) -> str | None:
        """Read the commands from here that are nothing but plain words, which most are, up to the first ``|``.

        Return the separator after the last of them, ``""`` if it was not read; ``None`` if there is no such command.
        """
        separator: str | None = None
        reading, moving = self.reading, self._moving > 0
        while separator in (None, ";", "&&"):
            found = _PLAIN_COMMAND.match(self.text, self.pos)
            if found is None:
                break
            words = tuple(map(plain_word, found["words"].split()))
            reading.count_word(len(words))
            reading.starts.add(self.base + self.pos)
            reading.add(Simple(words, (), (), found["words"], moving))
            self.pos, separator = found.end(), found["separator"] or ""
        return separator

    def _simple(self) -> None:
        start = self.pos
        words: list[Word] = []
        assigned: list[str] = []
        redirects: list[Redirect] = []
        end, lead = start, 0
        while True:
            self._blanks()
            text, at = self.text, self.pos
            char = text[at : at + 1]
            if char in ("", "\n", ";", "|", ")") or (char == "&" and not text.startswith("&>", at)):
                break
            if char == "(":
                self._function_definition(words, assigned, redirects)
                return
            if not words:
                self.reading.starts.add(self.base + at)
            if self._redirect(redirects):
                pass
            elif not words and (name := _ASSIGNMENT.match(text, at)) is not None:
                self._assignment(name, assigned)
            elif not words and _ELEMENT.match(text, at):
                raise UnreadError("an element of an array is set")
            else:
                lead = at - start if not words and not redirects else lead
                words.append(self._word())
            end = self.pos
        if end == start:
            raise UnreadError(f"{self.text[start : start + 1]} where a command is expected")
        source = self.text[start:end]
        self.reading.add(Simple(tuple(words), tuple(assigned), tuple(redirects), source, self._moving > 0, lead))

    def _word(self) -> Word:
        start = self.pos
        word = self.word()
        if self._waiting and "\n" in self.text[start : self.pos]:
            raise UnreadError("a here-document before a word of several lines")
        return word

    def _assignment(self, name: re.Match[str], assigned: list[str]) -> None:
        assigned.append(name[1])
        if name[0].endswith("+="):
            self.only_bash("+=")
        self.pos = name.end()
        char = self.text[self.pos : self.pos + 1]
        if char == "(":
            self._array()
        elif char and char not in META:
            self._word()

    def _array(self) -> None:
        self.only_bash("an array")
        self.pos += 1
        while True:
            self._gap()
            if self.text.startswith(")", self.pos):
                self.pos += 1
                return
            if self._word().raw.startswith("["):
                raise UnreadError("an element of an array is set")

    def _function_definition(self, words: list[Word], assigned: list[str], redirects: list[Redirect]) -> None:
        if len(words) != 1 or assigned or redirects or words[0].fixed is None or words[0].quoted:
            raise UnreadError("a bracket in the middle of a command")
        self.pos += 1
        self._blanks()
        if not self.text.startswith(")", self.pos):
            raise UnreadError("a bracket in the middle of a command")
        self.pos += 1
        self.function_body()

    # --- redirections ----------------------------------------------------------------------------

    def _redirects(self) -> None:
        """Read the redirections after a compound command; they become a command without words."""
        start, end = self.pos, self.pos
        redirects: list[Redirect] = []
        self._blanks()
        while self._redirect(redirects):
            end = self.pos
            self._blanks()
        if redirects:
            self.reading.add(Simple((), (), tuple(redirects), self.text[start:end].strip(), self._moving > 0))

    def _redirect(self, redirects: list[Redirect]) -> bool:
        if _DESCRIPTOR_VARIABLE.match(self.text, self.pos):
            raise UnreadError("a redirection that sets a variable")
        found = _REDIRECT.match(self.text, self.pos)
        if found is None:
            return False
        digits, operator = found[1], found[2]
        if operator in "<>" and self.text[found.end() : found.end() + 1] == "(":
            if digits:
                raise UnreadError("a number before a process substitution")
            return False
        if operator in ("<<<", "&>", "&>>"):
            self.only_bash(operator)
        self.pos = found.end()
        self._blanks()
        word = self._word()
        if operator in ("<<", "<<-"):
            self._here(word, operator == "<<-")
            redirects.append(Redirect(operator, None))
        else:
            redirects.append(Redirect(operator, word))
        return True

    def _here(self, word: Word, tabs: bool) -> None:
        # Nothing is expanded in it: ~ and $HOME are these very characters.
        if word.fixed is None or not word.fixed or not _HERE_END.isdisjoint(word.raw):
            raise UnreadError("a here-document whose end is not plain")
        if self._waiting:
            raise UnreadError("two here-documents in one line")
        self.reading.here = True
        self._waiting.append(_HereDocument(word.fixed, word.quoted, tabs, self.reading.level))

    def _body(self, here: _HereDocument) -> None:
        start = self.pos
        while self.pos < len(self.text):
            end = self.text.find("\n", self.pos)
            end = len(self.text) if end < 0 else end
            line, begin, self.pos = self.text[self.pos : end], self.pos, min(end + 1, len(self.text))
            if (line.lstrip("\t") if here.tabs else line) == here.end:
                if not here.quoted:
                    self._expand(self.text[start:begin], self.base + start)
                # The line end after the last line is one of the text again.
                self.pos = end
                return
            if not here.quoted and line.endswith("\\"):
                raise UnreadError("a line of a here-document that goes on in the next")
        raise UnreadError("a here-document without its end")

    def _expand(self, body: str, base: int) -> None:
        self.part(body, base).expansions()
