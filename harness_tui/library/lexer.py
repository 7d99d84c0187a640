"""One pass over a template's body: text, arguments, shell parts and mentions.

Nothing that is put in later is ever read again, so values and outputs cannot become commands, mentions or placeholders.
Fences, code spans and comments are told apart here, in linear time for any input.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Final, TypeAlias

from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.record import record
from harness_tui.library.forms import FormScanner, Part, Text

_FENCE: Final = late_pattern(r"[ \t]*(`{3,}|~{3,})([^\n]*)(?:\n|\Z)")
_POINT: Final = late_pattern(r"[$`!@<]|\n(?=[ \t]*(?:```|~~~))")
_PLAIN_POINT: Final = late_pattern(r"[`@<]|\n(?=[ \t]*(?:```|~~~))")
_TICKS: Final = late_pattern(r"`+")
_PARAGRAPH_END: Final = late_pattern(r"\n[ \t]*(?:\n|```|~~~)")
_SHELL: Final = late_pattern(r"!`([^`\n]+)`")
_BEFORE_SHELL: Final = frozenset("([{\"':>")
_PATH: Final = late_pattern(r"[^\s\"'`<>|*?,;$]+")
_QUOTED: Final = late_pattern(r'@"([^"\n]+)"')
_BEFORE_NO_MENTION: Final = frozenset("_./@`")


@record
class Shell:
    """A command to run; its output takes the place of ``source``."""

    command: str
    source: str


@record
class Mention:
    """A file named by ``@path``. ``parts`` make the path; ``quoted`` is the form with ``"``."""

    parts: tuple[Part, ...]
    quoted: bool = False


Token: TypeAlias = Part | Shell | Mention


def lex(body: str, names: Mapping[str, int], *, shell: bool = True) -> list[Token]:
    """Return the tokens of a template. ``names`` maps declared names to positions from 1.

    Without ``shell`` its parts stay text (they may not run). Every numbered form is a candidate: which are live is
    known only when all are.
    """
    return _Lexer(body, names, plain=False, shell=shell).tokens()


def find_mentions(text: str) -> list[str]:
    """Return the paths that a person's own message mentions, in order; nothing in it is a placeholder."""
    found: list[str] = []
    for token in _Lexer(text, {}, plain=True, shell=False).tokens():
        if isinstance(token, Mention):
            found.append("".join(part.text for part in token.parts if isinstance(part, Text)))
    return found


class _Lexer:
    def __init__(self, text: str, names: Mapping[str, int], *, plain: bool, shell: bool) -> None:
        self._text = text
        self._forms = FormScanner(text, names)
        self._plain = plain
        self._shell = shell
        self._tokens: list[Token] = []
        self._done = 0
        self._ticks: dict[int, list[int]] | None = None
        self._paragraph = -1
        self._comments = True

    def tokens(self) -> list[Token]:
        """Read the whole text."""
        text, size = self._text, len(self._text)
        points = _PLAIN_POINT if self._plain else _POINT
        position = self._fence(0)
        while position < size:
            match = points.search(text, position)
            if match is None:
                break
            position = self._point(match.start(), match.group())
        self._flush(size)
        return self._tokens

    def _point(self, start: int, sign: str) -> int:
        match sign:
            case "\n":
                return self._fence(start + 1)
            case "$":
                return self._dollar(start, len(self._text), self._tokens)
            case "`":
                return self._code_span(start)
            case "!":
                return self._shell_part(start)
            case "@":
                return self._mention(start)
            case _:
                return self._comment(start)

    # --- text that was passed over -------------------------------------------------------------

    def _flush(self, end: int, tokens: list[Token] | None = None) -> None:
        if end > self._done:
            (self._tokens if tokens is None else tokens).append(Text(self._text[self._done : end]))
        self._done = end

    def _backslashes(self, start: int) -> int:
        # No further back than what is already taken: those belong to an earlier token.
        index = start
        while index > self._done and self._text[index - 1] == "\\":
            index -= 1
        return start - index

    # --- arguments -----------------------------------------------------------------------------

    def _dollar(self, start: int, end: int, tokens: list[Token], *, fenced: bool = False) -> int:
        """Take the form at ``start``, if it is one, and return where to go on."""
        form, begin = None, start
        if self._backslashes(start) == 1:
            form, begin = self._forms.escaped(start, end, fenced=fenced), start - 1
        if form is None:
            form, begin = self._forms.at(start, end, fenced=fenced), start
        if form is None:
            return start + 1
        self._flush(begin, tokens)
        tokens.append(form.part)
        self._done = form.end
        return form.end

    def _region(self, start: int, end: int, *, fenced: bool) -> int:
        """Read a stretch in which only argument forms mean something."""
        if self._plain:
            return end
        position = self._text.find("$", start, end)
        while position >= 0:
            position = self._text.find("$", self._dollar(position, end, self._tokens, fenced=fenced), end)
        return end

    # --- fences, code spans, comments ----------------------------------------------------------

    def _fence(self, start: int) -> int:
        """Take the fence whose opening line begins at ``start``, if there is one."""
        match = _FENCE.match(self._text, start)
        if match is None or (match[1][0] == "`" and "`" in match[2]):
            return start
        mark = match[1]
        closing = re.compile(rf"^[ \t]*{mark[0]}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
        close = closing.search(self._text, match.end())
        content_end, end = (close.start(), close.end()) if close is not None else (len(self._text),) * 2
        command = self._text[match.end() : content_end].removesuffix("\n")
        if self._shell and match[2].strip() == "!" and command.strip():
            self._flush(start)
            self._tokens.append(Shell(command, self._text[start:end]))
            self._done = end
            return end
        return self._region(start, end, fenced=True)

    def _code_span(self, start: int) -> int:
        run = _TICKS.match(self._text, start)
        assert run is not None
        close = self._closing_ticks(run.end(), len(run.group()))
        return run.end() if close is None else self._region(run.end(), close, fenced=False)

    def _closing_ticks(self, start: int, size: int) -> int | None:
        """Return the end of the next run of ``size`` backticks in the same paragraph."""
        if self._ticks is None:
            self._ticks = {}
            for match in _TICKS.finditer(self._text):
                self._ticks.setdefault(len(match.group()), []).append(match.start())
        if self._paragraph < start:
            end = _PARAGRAPH_END.search(self._text, start)
            self._paragraph = end.start() if end is not None else len(self._text)
        starts = self._ticks.get(size, [])
        index = bisect_left(starts, start)
        if index < len(starts) and starts[index] < self._paragraph:
            return starts[index] + size
        return None

    def _comment(self, start: int) -> int:
        if not self._comments or not self._text.startswith("<!--", start):
            return start + 1
        end = self._text.find("-->", start + 2)
        if end < 0:
            self._comments = False
            return start + 4
        return end + 3

    # --- shell parts and mentions --------------------------------------------------------------

    def _may_start_shell(self, start: int) -> bool:
        return start == 0 or self._text[start - 1].isspace() or self._text[start - 1] in _BEFORE_SHELL

    def _shell_part(self, start: int) -> int:
        match = _SHELL.match(self._text, start) if self._shell else None
        if match is None or not match[1].strip():
            return start + 1
        if self._may_start_shell(start):
            self._flush(start)
            self._tokens.append(Shell(match[1], match.group()))
            self._done = match.end()
            return match.end()
        if self._backslashes(start) == 1 and self._may_start_shell(start - 1):
            self._flush(start - 1)
            self._done = start
            return start + 1
        return start + 1

    def _mention(self, start: int) -> int:
        before = self._text[start - 1] if start else " "
        if before.isalnum() or before in _BEFORE_NO_MENTION:
            return start + 1
        quoted = _QUOTED.match(self._text, start)
        if quoted is not None:
            self._flush(start)
            self._done = start + 2
            parts: list[Token] = []
            self._path(start + 2, quoted.end() - 1, parts, quoted=True)
            return self._take_mention(parts, quoted.end() - 1, quoted.end(), quoted=True)
        if not self._begins_path(start + 1):
            return start + 1
        self._flush(start)
        self._done = start + 1
        parts = []
        end = self._path(start + 1, len(self._text), parts, quoted=False)
        return self._take_mention(parts, end, end, quoted=False)

    def _begins_path(self, start: int) -> bool:
        # A second sign is none: of ``@@ -1 +1 @@`` nothing is meant.
        sign = self._text[start : start + 1]
        return sign == "$" or (sign != "@" and _PATH.match(self._text, start) is not None)

    def _path(self, position: int, end: int, parts: list[Token], *, quoted: bool) -> int:
        """Read a path up to ``end``, or up to what cannot be in one, and return where it stops."""
        while position < end:
            run = _PATH.match(self._text, position, end)
            if run is not None:
                position = run.end()
            elif self._text[position] == "$" and not self._plain:
                position = self._dollar(position, end, parts)
            elif quoted or self._text[position] == "$":
                position += 1
            else:
                break
        return position

    def _take_mention(self, parts: list[Token], path_end: int, end: int, *, quoted: bool) -> int:
        self._flush(path_end, parts)
        self._done = end
        self._tokens.append(Mention(tuple(part for part in parts if not isinstance(part, Shell | Mention)), quoted))
        return end
