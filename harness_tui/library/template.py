"""A template ready to be filled: its tokens with every form settled as live or as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from harness_tui.core.record import record
from harness_tui.library.arguments import ArgumentLine, live_numbers
from harness_tui.library.brace_lexer import brace_tokens
from harness_tui.library.dialects import Dialect
from harness_tui.library.forms import Argument, Escaped, Part, Text, Variable
from harness_tui.library.lexer import Mention, Shell, Token, lex
from harness_tui.library.shell_source import ShellSource, read_shell


@record
class ShellPart:
    """A shell part in its place; ``source`` is what runs."""

    source: ShellSource
    written: str


Filled = Text | Argument | Variable | ShellPart | Mention


@record
class Template:
    """Settled tokens. ``highest`` is the highest live number or 0; ``takes_arguments`` tells if any form is live."""

    tokens: tuple[Filled, ...]
    highest: int
    takes_arguments: bool

    @property
    def shell_parts(self) -> tuple[ShellPart, ...]:
        """The shell parts, in order."""
        return tuple(token for token in self.tokens if isinstance(token, ShellPart))


def compile_template(
    body: str, names: Mapping[str, int], *, hinted: bool, shell: bool, dialect: Dialect = "markdown"
) -> Template:
    """Read ``body`` once. ``hinted`` tells that front matter announces arguments; without ``shell`` its parts are text.

    Numbers in fences are live only where a number is live outside them, in a shell part, or announced.
    """
    tokens = list(_tokens(body, names, shell, dialect))
    outside = {part.number for part in _arguments(tokens) if part.kind == "number" and not part.fenced}
    shells = [token.source for token in tokens if isinstance(token, ShellPart)]
    in_shell = {number for source in shells for number in source.numbered}
    fences = hinted or bool(live_numbers(outside | in_shell))
    fenced = {part.number for part in _arguments(tokens) if part.kind == "number" and part.fenced} if fences else set()
    live = live_numbers(outside | in_shell | fenced)
    settled = tuple(_settled(token, live, fences) for token in tokens)
    forms = list(_arguments(settled))
    used = {number for source in shells for number in source.numbers}
    highest = max([*live, *used, *(form.number for form in forms)], default=0)
    return Template(settled, highest, bool(forms or used or any(source.takes_all for source in shells)))


def _tokens(body: str, names: Mapping[str, int], shell: bool, dialect: Dialect) -> Iterator[Token | ShellPart]:
    if dialect == "braces":
        for token in brace_tokens(body, shell=shell):
            yield ShellPart(*token) if isinstance(token, tuple) else token
        return
    for token in lex(body, names, shell=shell):
        yield _with_source(token, names)


def _with_source(token: Token, names: Mapping[str, int]) -> Token | ShellPart:
    if isinstance(token, Shell):
        return ShellPart(read_shell(token.command, names), token.source)
    return token


def _arguments(tokens: Iterable[Token | ShellPart]) -> Iterator[Argument]:
    for token in tokens:
        match token:
            case Argument():
                yield token
            case Mention(parts=parts):
                yield from (part for part in parts if isinstance(part, Argument))
            case _:
                pass


def _settled(token: Token | ShellPart, live: frozenset[int], fences: bool) -> Filled:
    match token:
        case Mention(parts=parts):
            return replace(token, parts=tuple(_settled_part(part, live, fences) for part in parts))
        case Shell(source=source):
            return Text(source)
        case ShellPart():
            return token
        case _:
            return _settled_part(token, live, fences)


def _settled_part(part: Part, live: frozenset[int], fences: bool) -> Text | Argument | Variable:
    match part:
        case Argument(kind="number", number=number, fenced=fenced, source=source):
            return part if number in live and (fences or not fenced) else Text(source)
        case Escaped(source=source, weak=weak):
            return Text(source if weak and not fences else source[1:])
        case _:
            return part


def fill(parts: Iterable[Part | Filled], line: ArgumentLine, highest: int, variables: Mapping[str, str]) -> str:
    """Return the text of parts that need nothing run or read."""
    pieces: list[str] = []
    for part in parts:
        match part:
            case Text(text=text):
                pieces.append(text)
            case Argument():
                pieces.append(line.value(part, highest))
            case Variable(name=name, source=source):
                pieces.append(variables.get(name, source))
            case _:
                pass
    return "".join(pieces)
