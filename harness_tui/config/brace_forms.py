"""Commands that are TOML files, as Gemini CLI keeps them: what the file says, and the forms with braces in its prompt.

Trust and the loader of commands read them with the same code: what runs is what was trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from harness_tui.core.record import record

_AT_LINE: Final = re.compile(r"\(at line (\d+), column \d+\)")
_KEY: Final = re.compile(r"^[ \t]*(?:prompt|\"prompt\"|'prompt')[ \t]*=[ \t]*(\"{3}\n|'{3}\n)?", re.MULTILINE)
_BRACE: Final = re.compile(r"[{}]")


class TomlFault(Exception):
    """A TOML command that cannot be used: ``message``, ``line`` from 1, and a stable ``code``."""

    def __init__(self, message: str, line: int, code: str) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.code = code


@record
class TomlPrompt:
    """A command: its ``prompt``, the ``line`` of the file on which that begins, and its ``description``.

    ``odd`` is the line of a description that is no text, 0 without one.
    """

    prompt: str
    line: int
    description: str = ""
    odd: int = 0


@record
class BraceForm:
    """``!{...}`` or ``@{...}`` in a prompt: ``sign``, what is inside, and where it starts and ends."""

    sign: str
    inner: str
    start: int
    end: int


def read_toml_prompt(text: str) -> TomlPrompt:
    """Read a command file in TOML, whose line ends are ``\\n``. Raises :class:`TomlFault`."""
    import tomllib  # few people have such files, and every run imports this module

    try:
        values: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        reason = _AT_LINE.sub("", str(error)).strip()
        hint = "; front matter belongs to Markdown files" if text.startswith("---") else ""
        raise TomlFault(f"not valid TOML: {reason}{hint}", line, "toml") from error
    except RecursionError as error:
        raise TomlFault("not valid TOML: nested too deeply", 1, "toml") from error
    prompt = values.get("prompt")
    place = _KEY.search(text)
    line = text.count("\n", 0, place.start()) + 1 if place else 1
    if not isinstance(prompt, str):
        what = "'prompt' is missing" if prompt is None else "'prompt' is no text"
        raise TomlFault(f"{what}: write prompt = '''...'''", line, "no-prompt")
    description = values.get("description", "")
    odd = 0 if isinstance(description, str) else _line_of(text, "description")
    return TomlPrompt(prompt, line + bool(place and place[1]), "" if odd else description, odd)


def brace_forms(prompt: str) -> Iterator[BraceForm]:
    """Yield ``!{...}`` and ``@{...}`` of ``prompt`` in order, outermost ones only; braces inside must pair."""
    open_at: list[int] = []
    closes: dict[int, int] = {}
    for match in _BRACE.finditer(prompt):
        if match.group() == "{":
            open_at.append(match.start())
        elif open_at:
            closes[open_at.pop()] = match.start()
    end = 0
    for start, close in sorted(closes.items()):
        if start > end and prompt[start - 1] in "!@" and prompt[start + 1 : close].strip():
            yield BraceForm(prompt[start - 1], prompt[start + 1 : close].strip(), start - 1, close + 1)
            end = close + 1


def unpaired(prompt: str) -> int | None:
    """Return where the first ``!{`` or ``@{`` stands whose brace is never closed, ``None`` when all are."""
    open_at: list[int] = []
    for match in _BRACE.finditer(prompt):
        if match.group() == "{":
            open_at.append(match.start())
        elif open_at:
            open_at.pop()
    return next((at - 1 for at in open_at if at and prompt[at - 1] in "!@"), None)


def _line_of(text: str, key: str) -> int:
    found = re.search(rf"^[ \t]*{key}[ \t]*=", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 1
