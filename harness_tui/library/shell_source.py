"""What a shell part says about arguments, without running it.

Arguments reach a shell as its parameters, never as program text. Only two forms are rewritten, into fixed text:
``$ARGUMENTS[N]`` to ``${N+1}`` and declared names to ``${k}``. What stands in single quotes is the command's own, so
``awk '{print $1}'`` takes no argument.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from harness_tui.core.record import record

_POINT: Final = re.compile(r"['\"\\$]")
_INDEX: Final = re.compile(r"\$ARGUMENTS\[(0|[1-9][0-9]?)\]")
_NAME: Final = re.compile(r"\$(\{?)([^\W\d]\w*)")
_NUMBER: Final = re.compile(r"\$(?:([1-9])|\{([1-9][0-9]?)(?![0-9]))")
_ALL: Final = re.compile(r"\$\{?[@*]")
_ANSI_QUOTED: Final = re.compile(r"\$'(?:[^'\\]|\\.)*'?", re.DOTALL)


@record
class ShellSource:
    """A command as written and as it is run. ``numbers`` are the parameters that it names, ``takes_all`` tells that it
    uses the whole line."""

    written: str
    command: str
    numbers: frozenset[int]
    takes_all: bool


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
        self._takes_all = False
        self._in_double = False

    def read(self) -> ShellSource:
        """Read the whole command."""
        position = 0
        while (match := _POINT.search(self._command, position)) is not None:
            position = self._point(match.start(), match.group())
        self._pieces.append(self._command[self._done :])
        return ShellSource(self._command, "".join(self._pieces), frozenset(self._numbers), self._takes_all)

    def _point(self, start: int, sign: str) -> int:
        """Take what begins at ``start`` and return where to go on."""
        if sign == "\\":
            return start + 2
        if sign == '"':
            self._in_double = not self._in_double
        elif sign == "$":
            return self._dollar(start)
        elif not self._in_double:
            close = self._command.find("'", start + 1)
            return close + 1 if close >= 0 else len(self._command)
        return start + 1

    def _dollar(self, start: int) -> int:
        if not self._in_double and (quoted := _ANSI_QUOTED.match(self._command, start)):
            return quoted.end()
        if index := _INDEX.match(self._command, start):
            number = int(index[1]) + 1
            return self._replace(start, index.end(), number, f"${{{number}}}")
        if found := _NUMBER.match(self._command, start):
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
