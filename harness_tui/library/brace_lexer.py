"""Templates of Gemini CLI as our tokens: ``{{args}}``, ``!{command}`` and ``@{path}``; everything else is text.

Inside a command the arguments are a variable of the shell, never program text, whatever quotes stand around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from harness_tui.config.brace_forms import BraceForm, brace_forms
from harness_tui.library.forms import Argument, Part, Text
from harness_tui.library.lexer import Mention
from harness_tui.library.shell_source import ShellSource

ARGS: Final = "{{args}}"
_SIGN: Final = re.compile(r"\\.|\$\(|\$\{|[\"'`()}]|\{\{args\}\}", re.DOTALL)


def brace_tokens(prompt: str, *, shell: bool) -> Iterator[Part | Mention | tuple[ShellSource, str]]:
    """Yield the tokens of ``prompt``; of a shell part what runs and how it was written, without ``shell`` as text."""
    done = 0
    for form in brace_forms(prompt):
        written = prompt[form.start : form.end]
        if form.sign == "!" and not shell:
            continue
        yield from _texts(prompt[done : form.start])
        yield (read_brace_command(form.inner), written) if form.sign == "!" else _mention(form)
        done = form.end
    yield from _texts(prompt[done:])


def read_brace_command(command: str) -> ShellSource:
    """Return ``command`` as it is run: each ``{{args}}`` is ``$ARGUMENTS`` as one word, also inside quotes."""
    pieces: list[str] = []
    done = 0
    # What is open: double quotes, and substitutions inside which quoting begins anew.
    nested: list[str] = []
    position = 0
    while (match := _SIGN.search(command, position)) is not None:
        sign, position = match.group(), match.end()
        quoted = bool(nested) and nested[-1] == '"'
        match sign:
            case "{{args}}":
                pieces += (command[done : match.start()], "${ARGUMENTS}" if quoted else '"${ARGUMENTS}"')
                done = position
            case '"':
                nested.pop() if quoted else nested.append('"')
            case "'" if not quoted:
                close = command.find("'", position)
                end = close if close >= 0 else len(command)
                inner = command[position:end]
                if ARGS in inner:
                    pieces += (command[done:position], inner.replace(ARGS, "'\"${ARGUMENTS}\"'"))
                    done = end
                position = end + 1
            case "$(" | "(" if sign == "$(" or not quoted:
                nested.append(")")
            case "${":
                nested.append("}")
            case ")" | "}" if nested and nested[-1] == sign:
                nested.pop()
            case _:
                pass
    text = "".join((*pieces, command[done:]))
    return ShellSource(text, text, frozenset(), takes_all=ARGS in command)


def _texts(text: str) -> Iterator[Part]:
    pieces = text.split(ARGS)
    for index, piece in enumerate(pieces):
        if index:
            yield Argument("line", 0, ARGS)
        if piece:
            yield Text(piece)


def _mention(form: BraceForm) -> Mention:
    return Mention(tuple(_texts(form.inner)), quoted=any(character.isspace() for character in form.inner))
