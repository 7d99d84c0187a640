"""What a shell part says about arguments, without running it.

Arguments reach a shell as its parameters, never as program text. Only two forms are rewritten, into fixed text:
``$ARGUMENTS[N]`` to ``${N+1}`` and declared names to ``${k}``. What stands in single quotes, in a comment or in a
quoted here-document is the command's own, so ``awk '{print $1}'`` takes no argument.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.record import record

_POINT: Final = late_pattern(r"['\"\\$#`()\n]|<<")
_TEXT_POINT: Final = late_pattern(r"[\\$]")
_INDEX: Final = late_pattern(r"\$ARGUMENTS\[(0|[1-9][0-9]?)\]")
_NAME: Final = late_pattern(r"\$(\{?)([^\W\d]\w*)")
_NUMBER: Final = late_pattern(r"\$(?:([1-9])|\{([1-9][0-9]?)(?![0-9]))")
_ALL: Final = late_pattern(r"\$\{?[@*]")
_ANSI_QUOTED: Final = late_pattern(r"\$'(?:[^'\\]|\\.)*'?", re.DOTALL)
_HEREDOC: Final = late_pattern(r"<<(-?)[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|(\\?)([\w.-]+))")
_HERE_STRING: Final = late_pattern(r"<<<")
_BEFORE_COMMENT: Final = frozenset(" \t\n;|&()")


@record
class ShellSource:
    """A command as written and as it is run. ``numbers`` are the parameters that it uses, ``numbered`` those that it
    names by number, ``takes_all`` tells that it uses the whole line."""

    written: str
    command: str
    numbers: frozenset[int]
    takes_all: bool
    numbered: frozenset[int] = frozenset()


@record
class _Heredoc:
    """A here-document whose body begins with the next line."""

    end: str
    strip_tabs: bool
    quoted: bool


def read_shell(command: str, names: Mapping[str, int]) -> ShellSource:
    """Read ``command`` once; ``names`` maps declared names to positions from 1."""
    return _Reader(command, names).read()


class _Reader:
    def __init__(self, command: str, names: Mapping[str, int]) -> None:
        self._command = command
        self._names = names
        self._pieces: list[str] = []
        self._done = 0
        self._numbers: set[int] = set()
        self._numbered: set[int] = set()
        self._takes_all = False
        self._open: list[str] = []  # what is open: double quotes, and substitutions in which quoting begins anew
        self._heredocs: list[_Heredoc] = []

    def read(self) -> ShellSource:
        """Read the whole command."""
        position = 0
        while (match := _POINT.search(self._command, position)) is not None:
            position = self._point(match.start(), match.group())
        self._pieces.append(self._command[self._done :])
        return ShellSource(
            self._command,
            "".join(self._pieces),
            frozenset(self._numbers),
            self._takes_all,
            frozenset(self._numbered),
        )

    @property
    def _quoted(self) -> bool:
        return bool(self._open) and self._open[-1] == '"'

    def _point(self, start: int, sign: str) -> int:
        """Take what begins at ``start`` and return where to go on."""
        match sign:
            case "\\":
                return start + 2
            case "$":
                return self._dollar(start)
            case '"' | "`":
                self._toggle(sign)
            case ")" if self._open and self._open[-1] == ")":
                self._open.pop()
            case "(" if not self._quoted:
                self._open.append(")")
            case "'" if not self._quoted:
                close = self._command.find("'", start + 1)
                return close + 1 if close >= 0 else len(self._command)
            case "#" if not self._quoted and (start == 0 or self._command[start - 1] in _BEFORE_COMMENT):
                end = self._command.find("\n", start)
                return end if end >= 0 else len(self._command)
            case "<<" if not self._quoted:
                return self._announce(start)
            case "\n" if self._heredocs:
                return self._bodies(start + 1)
            case _:
                pass
        return start + len(sign)

    def _toggle(self, sign: str) -> None:
        if self._open and self._open[-1] == sign:
            self._open.pop()
        else:
            self._open.append(sign)

    # --- forms ---------------------------------------------------------------------------------

    def _dollar(self, start: int, *, text: bool = False) -> int:
        """Take the form at ``start``; in ``text`` (a here-document) quotes are characters."""
        if not text and not self._quoted and (quoted := _ANSI_QUOTED.match(self._command, start)):
            return quoted.end()
        if not text and self._command.startswith("$(", start):
            self._open.append(")")
            return start + 2
        if index := _INDEX.match(self._command, start):
            number = int(index[1]) + 1
            return self._replace(start, index.end(), number, f"${{{number}}}")
        if found := _NUMBER.match(self._command, start):
            self._numbered.add(int(found[1] or found[2]))
            self._numbers.add(int(found[1] or found[2]))
        elif _ALL.match(self._command, start):
            self._takes_all = True
        elif name := _NAME.match(self._command, start):
            if name[2] == "ARGUMENTS":
                self._takes_all = True
            elif name[2] in self._names:
                number = self._names[name[2]]
                return self._replace(start, name.end(), number, f"${{{number}" if name[1] else f"${{{number}}}")
        return start + 1

    def _replace(self, start: int, end: int, number: int, text: str) -> int:
        self._numbers.add(number)
        self._pieces += (self._command[self._done : start], text)
        self._done = end
        return end

    # --- here-documents ------------------------------------------------------------------------

    def _announce(self, start: int) -> int:
        if here_string := _HERE_STRING.match(self._command, start):
            return here_string.end()
        match = _HEREDOC.match(self._command, start)
        if match is None:
            return start + 2
        dash, single, double, backslash, word = match.groups()
        end = next(text for text in (single, double, word) if text is not None)
        self._heredocs.append(_Heredoc(end, bool(dash), word is None or bool(backslash)))
        return match.end()

    def _bodies(self, position: int) -> int:
        """Read the here-documents that were announced, and return where the command goes on."""
        for heredoc in self._heredocs:
            position = self._body(heredoc, position)
        self._heredocs.clear()
        return position

    def _body(self, heredoc: _Heredoc, start: int) -> int:
        tabs = r"\t*" if heredoc.strip_tabs else ""
        closing = re.compile(rf"^{tabs}{re.escape(heredoc.end)}$", re.MULTILINE).search(self._command, start)
        end = closing.start() if closing is not None else len(self._command)
        position = end if heredoc.quoted else start
        while (match := _TEXT_POINT.search(self._command, position, end)) is not None:
            begin = match.start()
            position = begin + 2 if match.group() == "\\" else self._dollar(begin, text=True)
        return closing.end() if closing is not None else end
