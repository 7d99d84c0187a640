"""Marks of other tools in a command: a hint where one means nothing here, and the named arguments of Codex prompts.

A mark that is not understood stays in the text: guessing what its author's tool would have put there helps nobody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from harness_tui.core.late_pattern import late_pattern
from harness_tui.library.arguments import ArgumentLine, Word, read_line
from harness_tui.library.diagnostics import Findings

Dialect: TypeAlias = Literal["markdown", "braces", "keyed"]
"""How a template is read: our own forms, those of Gemini CLI, or our own with ``$NAME`` filled from ``NAME=value``."""

_TOLD: Final = 20
"""Of how many marks a file is told: after so many it is plain whose file it is."""

_FENCED: Final = late_pattern(r"^[ \t]*(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_MARKS: Final = late_pattern(
    r"\{\{\s*(?:args|arguments|ARGUMENTS|input)\s*\}\}|\{ARGS\}|\{SCRIPT\}|\$\{input:[^}\n]{0,200}\}"
    r"|\$\{(?:selection|selectedText|file|fileBasename|workspaceFolder)\}|(?<![\w$])[!@]\{[^}\n]{1,300}\}"
)
_MARKS_HERE: Final = late_pattern(r"\$ARGUMENTS\b|\$\{ARGUMENTS\}|(?<![\w$])!`[^`\n]{1,300}`")
_KEYED: Final = late_pattern(r"(?<![\\$\w])\$([A-Z][A-Z0-9_]*)\b")
_KEY: Final = late_pattern(r"([A-Z][A-Z0-9_]*)=(.*)", re.DOTALL)
_ANNOUNCED: Final = late_pattern(r"\b([A-Z][A-Z0-9_]*)=")


def note_marks(body: str, first_line: int, findings: Findings, dialect: Dialect = "markdown") -> None:
    """Report each mark of another tool once; ``first_line`` is the line of the file on which ``body`` begins."""
    if dialect != "braces" and "{" not in body:
        return  # every mark has one
    told: set[str] = set()
    searched = _MARKS_HERE if dialect == "braces" else _MARKS
    shown = body if dialect == "braces" else _FENCED.sub(lambda match: "\n" * match.group().count("\n"), body)
    for match in searched.finditer(shown):
        mark = match.group()
        if mark in told:
            continue
        if len(told) == _TOLD:
            return
        told.add(mark)
        line = first_line + shown.count("\n", 0, match.start())
        findings.info(line, "dialect", f"{mark} is a mark of another tool and stays as it is; {_mend(mark, dialect)}")


def _mend(mark: str, dialect: Dialect) -> str:
    if dialect == "braces":
        return "write !{command}" if mark.startswith("!") else "write {{args}}"
    if mark.startswith(("!{", "@{")):
        return "write !`command`" if mark.startswith("!") else "write @path"
    if mark.startswith("${") and not mark.startswith("${input"):
        return "name the file, or write $ARGUMENTS"
    return "write $ARGUMENTS or $1"


def keyed_names(body: str) -> tuple[str, ...]:
    """Return the names that ``$NAME`` in ``body`` may stand for, in order: capitals, digits and underscores."""
    found = (name for name in _KEYED.findall(body) if name != "ARGUMENTS")
    return tuple(dict.fromkeys(found))


def keyed_line(text: str, body: str, hint: str) -> tuple[ArgumentLine, Mapping[str, int], tuple[str, ...]]:
    """Take an argument line with ``NAME=value`` words apart.

    Return the line, whose last words are the named values, the place of each given name from 1, and the names that
    the argument hint announces as ``NAME=`` and that were not given. Names that are not given stay as text.
    """
    line = read_line(text)
    names = keyed_names(body)
    given: dict[str, Word] = {}
    others: list[Word] = []
    for word in line.words:
        key = _KEY.fullmatch(word.value)
        if key is not None and key[1] in names:
            given[key[1]] = Word(key[2], word.start, word.end)
        else:
            others.append(word)
    announced = _ANNOUNCED.findall(hint)
    missing = tuple(name for name in names if name in announced and name not in given)
    places = {name: number for number, name in enumerate(given, len(others) + 1)}
    return ArgumentLine(line.text, (*others, *given.values())), places, missing
