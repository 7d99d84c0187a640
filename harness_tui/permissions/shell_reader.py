"""Reads a shell text into its simple commands.

How commands hang together (lists, pipes, conditions) does not matter here, only which there are: each may run. What is
accepted is a part of bash's grammar; whatever is outside of it is not understood. :mod:`shell_tree` reads the text a
second time and independently.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from harness_tui.permissions.shell_commands import RESERVED, CommandReader
from harness_tui.permissions.shell_values import PIPED, UnreadError
from harness_tui.permissions.shell_words import META

_KEYWORD: Final = re.compile(r"(?:[a-z]+|\[\[|[{}!])(?=[ \t\n;&|<>()]|\Z)")
_SEPARATOR: Final = re.compile(r";;&|;;|;&|&&|\|\||\|&|[;&|]")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?=[ \t\n;]|\Z)")
_TEST_OPERATOR: Final = re.compile(r"&&|\|\||[()]|[<>](?!\()")
_CASE_ENDS: Final = frozenset({";;", ";&", ";;&", "esac"})
_ARITHMETIC_TESTS: Final = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R", "-o", "-a"})
_NEVER_EMPTY: Final = frozenset({"then", "do", "done", "fi", "}"})
"""Words that end a list of at least one command."""
_END: Final = frozenset({""})


class ShellReader(CommandReader):
    """Reads ``text`` whole. See :class:`harness_tui.permissions.shell_words.WordReader` for the arguments."""

    def read(self) -> None:
        """Read everything. Raises ``UnreadError`` for what is not understood."""
        self._block(_END)

    def inner_block(self) -> None:
        """Read commands up to the ``)`` that ends a substitution."""
        waiting, self._waiting = self._waiting, []
        start = self.pos
        self._block(frozenset({")"}))
        if self._waiting or (waiting and "\n" in self.text[start : self.pos]):
            raise UnreadError("a here-document around a substitution")
        self._waiting = waiting

    def inner_text(self, text: str, base: int) -> None:
        """Read the whole of ``text`` as commands."""
        self.part(text, base)._block(_END)

    def part(self, text: str, base: int) -> ShellReader:
        """Return a reader of ``text`` that tells the same reading."""
        reader = ShellReader(text, self.reading, base=base, home=self.home, posix=self.posix)
        reader._moving = self._moving
        return reader

    # --- lists -----------------------------------------------------------------------------------

    def _block(self, stops: frozenset[str]) -> str:
        """Read commands up to one of ``stops``, and return it; ``""`` is the end of the text."""
        self.deeper()
        ended, missing, piped, empty = False, False, 0, bool(stops & _NEVER_EMPTY)
        while True:
            self._blanks()
            char = self.text[self.pos : self.pos + 1]
            if char == "\n":
                self._newline()
                ended = False
                continue
            separator = None if self.text.startswith("&>", self.pos) else _SEPARATOR.match(self.text, self.pos)
            if separator is not None and separator[0] not in _CASE_ENDS:
                if not ended:
                    raise UnreadError(f"no command before {separator[0]}")
                missing = separator[0] not in ";&"
                piped = self._piped(piped, separator[0])
                self.pos, ended = separator.end(), False
                continue
            stop = self._stop(separator[0] if separator is not None else char, stops, ended)
            if stop is not None:
                if empty or (missing and not ended):
                    raise UnreadError("a command is missing")
                self.reading.level -= 1
                return stop
            missing = empty = False
            separated = self.plain_commands()
            if separated is not None:
                ended, missing, piped = separated == "", separated not in ("", ";"), self._piped(piped, separated)
                continue
            keyword = _KEYWORD.match(self.text, self.pos)
            if keyword is not None and keyword[0] in ("!", "time"):
                self._prefix(keyword[0])
                continue
            if not self._compound(keyword[0] if keyword is not None else ""):
                self._simple()
            ended = True

    def _piped(self, count: int, separator: str) -> int:
        """Return how many programs are in the pipe after ``separator``. Raises ``UnreadError`` over the limit."""
        if separator == "|&":
            self.only_bash("|&")
        if separator not in ("|", "|&"):
            return count if separator == "" else 0
        if count >= PIPED:
            raise UnreadError(f"more than {PIPED} programs in one pipe")
        return count + 1

    def _stop(self, found: str, stops: frozenset[str], ended: bool) -> str | None:
        if found in ("", ")") or found in _CASE_ENDS:
            if found not in stops:
                raise UnreadError(f"{found} where no command ends" if found else "the text ends too early")
            if found == "" and self._waiting:
                raise UnreadError("a here-document without its end")
            self.pos += len(found)
            return found
        keyword = _KEYWORD.match(self.text, self.pos)
        if keyword is not None and keyword[0] in stops:
            self.pos = keyword.end()
            return keyword[0]
        if ended:
            raise UnreadError("two commands without anything between them")
        return None

    def _prefix(self, keyword: str) -> None:
        self.reading.count_word()
        self.reading.starts.add(self.base + self.pos)
        self.pos += len(keyword)
        if keyword == "time":
            self.only_bash("time")
            self._blanks()
            if self.text.startswith("-p ", self.pos):
                self.pos += 3
            self._blanks()
            if self.text[self.pos : self.pos + 1] in ("-", "", "\n", ";", "&", "|", ")", "<", ">"):
                raise UnreadError("time with options, or without a command")

    # --- compound commands -----------------------------------------------------------------------

    def _compound(self, keyword: str) -> bool:
        if self.text.startswith("(", self.pos):
            if self.text.startswith("((", self.pos):
                raise UnreadError("arithmetic, or two brackets without a blank between them")
            self.pos += 1
            self._block(frozenset({")"}))
            self._redirects()
            return True
        if keyword not in RESERVED:
            return False
        self.reading.starts.add(self.base + self.pos)
        self.pos += len(keyword)
        if keyword == "{":
            self._block(frozenset({"}"}))
            self._redirects()
            return True
        readers: dict[str, Callable[[], object]] = {
            "if": self._if,
            "while": self._while,
            "until": self._while,
            "for": self._for,
            "select": self._for,
            "case": self._case,
            "[[": self._test,
            "function": self._function,
        }
        reader = readers.get(keyword)
        if reader is None:
            raise UnreadError(f"{keyword} where a command is expected")
        if keyword in ("select", "[[", "function"):
            self.only_bash(keyword)
        reader()
        self._redirects()
        return True

    def _until(self, *stops: str) -> str:
        return self._block(frozenset(stops))

    def _if(self) -> None:
        self._until("then")
        while (stop := self._until("elif", "else", "fi")) != "fi":
            self._until("then" if stop == "elif" else "fi")
            if stop == "else":
                return

    def _while(self) -> None:
        self._moving += 1
        self._until("do")
        self._until("done")
        self._moving -= 1

    def _for(self) -> None:
        self._blanks()
        name = _VARIABLE.match(self.text, self.pos)
        if name is None:
            raise UnreadError("a loop without a plain variable")
        self.reading.variables.append(name[0])
        self.pos = name.end()
        self._gap()
        keyword = _KEYWORD.match(self.text, self.pos)
        if keyword is not None and keyword[0] == "in":
            self.pos = keyword.end()
            self._blanks()
            while self.text[self.pos : self.pos + 1] not in ("", "\n", ";"):
                self._word()
                self._blanks()
        if self.text.startswith(";", self.pos):
            self.pos += 1
        self._gap()
        keyword = _KEYWORD.match(self.text, self.pos)
        if keyword is None or keyword[0] != "do":
            raise UnreadError("a loop without do")
        self.pos = keyword.end()
        self._moving += 1
        self._until("done")
        self._moving -= 1

    def _case(self) -> None:
        self._blanks()
        self._word()
        self._gap()
        keyword = _KEYWORD.match(self.text, self.pos)
        if keyword is None or keyword[0] != "in":
            raise UnreadError("case without in")
        self.pos = keyword.end()
        while True:
            self._gap()
            keyword = _KEYWORD.match(self.text, self.pos)
            if keyword is not None and keyword[0] == "esac":
                self.pos = keyword.end()
                return
            self._patterns()
            if self._block(_CASE_ENDS) == "esac":
                return

    def _patterns(self) -> None:
        if self.text.startswith("(", self.pos):
            self.pos += 1
        while True:
            self._blanks()
            self._word()
            self._blanks()
            char = self.text[self.pos : self.pos + 1]
            self.pos += 1
            if char == ")":
                return
            if char != "|":
                raise UnreadError("a case without its )")

    def _test(self) -> None:
        while True:
            self._gap()
            if self.text.startswith("]]", self.pos) and self.text[self.pos + 2 : self.pos + 3] in META | {""}:
                self.pos += 2
                return
            found = _TEST_OPERATOR.match(self.text, self.pos)
            if found is not None:
                self.pos = found.end()
                continue
            word = self._word()
            if word.raw in _ARITHMETIC_TESTS:
                raise UnreadError(f"{word.raw} inside [[ can compute")

    def _function(self) -> None:
        self._blanks()
        self._word()
        self._blanks()
        if self.text.startswith("()", self.pos):
            self.pos += 2
        self.function_body()

    def function_body(self) -> None:
        """Read the body of a function."""
        self.reading.functions = True
        self._gap()
        self._moving += 1
        keyword = _KEYWORD.match(self.text, self.pos)
        if keyword is not None and keyword[0] == "function":
            raise UnreadError("a function without a body")
        if not self._compound(keyword[0] if keyword is not None else ""):
            raise UnreadError("a function without a body")
        self._moving -= 1
