"""The ``$`` forms of a template: what each looks like, and where it ends.

Live: ``$ARGUMENTS``, ``${ARGUMENTS}``, ``${ARGUMENTS:-text}``, ``$ARGUMENTS[N]`` (from 0), ``$N``, ``${N}`` and
``${N:-text}`` (from 1, up to 99), ``$name`` and its braced kinds for declared names, and braced variables of Harness.
``$0``, leading zeros, and amounts of money (``$1.50``, ``$5k``) are text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.record import record

FormKind: TypeAlias = Literal["line", "index", "number", "name"]

VARIABLES: Final = (
    "HARNESS_PROJECT_DIR",
    "CLAUDE_PROJECT_DIR",
    "HARNESS_SKILL_DIR",
    "CLAUDE_SKILL_DIR",
    "HARNESS_SESSION_ID",
    "CLAUDE_SESSION_ID",
)
"""Braced names that stand for where a template runs; in shell parts they are in the environment."""

_MONEY: Final = late_pattern(r"[.,][0-9]|[kKMB](?!\w)")
_BARE: Final = late_pattern(r"\$(?:([0-9]+)|([^\W\d]\w*))")
_BRACED: Final = late_pattern(r"\$\{(?:([0-9]+)|([^\W\d]\w*))(:-|\})")
_DIGITS: Final = late_pattern(r"\$\{?[0-9]+")
_INDEX: Final = late_pattern(r"\[(0|[1-9][0-9]?)\]")


@record
class Text:
    """Text that goes through as it is."""

    text: str


@record
class Argument:
    """A place for arguments. ``number`` counts from 1; ``source`` is how it was written, for when it is not live."""

    kind: FormKind
    number: int
    source: str
    braced: bool = False
    default: str | None = None
    fenced: bool = False


@record
class Variable:
    """One of :data:`VARIABLES`."""

    name: str
    source: str


@record
class Escaped:
    """A form kept as text by one backslash; ``weak`` if it is a number in a fence, where it may need no keeping."""

    source: str
    weak: bool


Part: TypeAlias = Text | Argument | Variable | Escaped


@record
class Form:
    """A form found in text: the part it gives, and where the text goes on."""

    part: Argument | Variable | Escaped
    end: int


class FormScanner:
    """Finds forms in one text, in a single pass from left to right."""

    def __init__(self, text: str, names: Mapping[str, int]) -> None:
        self._text = text
        self._names = names
        self._brace = -1

    def at(self, start: int, end: int, *, fenced: bool = False) -> Form | None:
        """Return the form that begins with the ``$`` at ``start`` and ends before ``end``, live or not yet known."""
        if self._text.startswith("${", start):
            return self._braced(start, end, fenced)
        match = _BARE.match(self._text, start, end)
        if match is None:
            return None
        digits, word = match.groups()
        if digits is not None:
            number = usable_number(digits)
            if number is None or _MONEY.match(self._text, match.end(), end):
                return None
            return Form(Argument("number", number, match.group(), fenced=fenced), match.end())
        if word == "ARGUMENTS":
            index = _INDEX.match(self._text, match.end(), end)
            if index is None:
                return Form(Argument("line", 0, match.group(), fenced=fenced), match.end())
            source = self._text[start : index.end()]
            return Form(Argument("index", int(index[1]) + 1, source, fenced=fenced), index.end())
        if word in self._names:
            return Form(Argument("name", self._names[word], match.group(), fenced=fenced), match.end())
        return None

    def escaped(self, start: int, end: int, *, fenced: bool = False) -> Form | None:
        """Return the text that one backslash before the ``$`` at ``start`` keeps, ``None`` if it keeps none.

        Any digit counts, also one that would be text anyway; so do ``ARGUMENTS``, declared names and variables.
        """
        form = self.at(start, end)
        match = _DIGITS.match(self._text, start, end)
        if form is None and match is None:
            return None
        close = form.end if form is not None else match.end() if match is not None else start
        return Form(Escaped("\\" + self._text[start:close], fenced and match is not None), close)

    def _braced(self, start: int, end: int, fenced: bool) -> Form | None:
        match = _BRACED.match(self._text, start, end)
        if match is None:
            return None
        digits, word, sign = match.groups()
        if sign == "}" and word in VARIABLES:
            return Form(Variable(word, match.group()), match.end())
        kind: FormKind
        if digits is not None:
            kind, number = "number", usable_number(digits)
        elif word == "ARGUMENTS":
            kind, number = "line", 0
        else:
            kind, number = "name", self._names.get(word)
        if number is None:
            return None
        close = match.end()
        default: str | None = None
        if sign == ":-":
            brace = self._next_brace(match.end())
            if brace >= end:
                return None
            default, close = self._text[match.end() : brace], brace + 1
        return Form(Argument(kind, number, self._text[start:close], True, default, fenced), close)

    def _next_brace(self, start: int) -> int:
        # Asked with growing positions only, so that unclosed forms do not make the scan quadratic.
        if self._brace < start:
            found = self._text.find("}", start)
            self._brace = found if found >= 0 else len(self._text)
        return self._brace


def usable_number(digits: str) -> int | None:
    """Return 1 to 99 for digits without a leading zero, else ``None``."""
    return int(digits) if len(digits) <= 2 and digits[0] != "0" else None
