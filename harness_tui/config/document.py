"""A parsed file: plain values, and the line of every key. Needs no YAML, so that a warm start imports none."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Any, TypeAlias

from harness_tui.config.problems import Problem
from harness_tui.core.record import record

KeyPath: TypeAlias = tuple[str | int, ...]


@record
class Document:
    """Values of a file as JSON data, with the line (from 1) of every key and list item.

    ``broken`` is true when the file, or a part of it, could not be read: ``values`` are then only what could be saved,
    good for restrictions and for nothing else.
    """

    path: Path
    values: Any
    lines: dict[KeyPath, int] = field(default_factory=dict[KeyPath, int])
    problems: tuple[Problem, ...] = ()
    broken: bool = False

    def line(self, keys: KeyPath = ()) -> int:
        """Return the line of ``keys``, or of the nearest key above it."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return self.lines.get(keys, 1)

    def where(self, keys: KeyPath = ()) -> str:
        """Return ``file:line`` of ``keys``."""
        return f"{self.path}:{self.line(keys)}"


def broken_document(path: Path, code: str, message: str, mend: str | None = None, *, line: int = 1) -> Document:
    """Return the document of a file that could not be read at all."""
    return Document(path, {}, {}, (Problem(f"{path}:{line}", code, message, mend),), broken=True)


def split_front_matter(text: str) -> tuple[str | None, str]:
    """Return the front matter of ``text`` without its ``---`` lines, and the rest.

    Without an opening line in line 1 or without a closing one there is no front matter (``None``). Line ends become
    ``\\n``; only blanks and tabs may follow the dashes, so that nobody reads other bounds than the loader of commands.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    lines = text.split("\n")
    if lines[0].rstrip(" \t") != "---":
        return None, text
    for index, line in enumerate(lines[1:], start=1):
        if line.rstrip(" \t") == "---":
            return "\n".join(lines[1:index]), "\n".join(lines[index + 1 :])
    return None, text
