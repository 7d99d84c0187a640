"""Instruction files: ``AGENTS.md`` of the person, the project and its folders, and those that configuration names."""

from __future__ import annotations

import glob
import html
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import AGENTS_MD_BYTES
from harness_tui.core.paths import is_inside, name_in, read_regular
from harness_tui.core.record import record

NAMES: Final = ("AGENTS.md",)
"""File names in the order in which a folder is looked at: the first that stands there is read."""

PATTERN_FILES: Final = 50
"""How many files one pattern of ``instructions`` may name."""


@record
class InstructionFile:
    """An instruction file that was read; ``problem`` says why one was not."""

    name: str
    text: str
    problem: str | None = None


def instruction_files(
    root: Path, start: Path, user_folder: Path, patterns: Sequence[str] = ()
) -> list[InstructionFile]:
    """Read ``AGENTS.md`` of the user, then from the root down to the start folder, then what ``patterns`` name.

    Each file is read once. Blocks.
    """
    folders = [user_folder, *reversed([start, *start.parents])]
    below_root = [folder for folder in folders if folder == user_folder or is_inside(folder, root)]
    paths = [path for folder in dict.fromkeys(below_root) if (path := file_in(folder)) is not None]
    found: dict[str, InstructionFile] = {}
    for path in (*paths, *named_files(patterns)):
        found.setdefault(os.path.realpath(path), read_instructions(path, root))
    return list(found.values())


def file_in(folder: Path) -> Path | None:
    """Return the instruction file of ``folder``."""
    return next((path for name in NAMES if (path := folder / name).is_file()), None)


def nested_files(path: Path, root: Path) -> list[Path]:
    """Return the instruction files of the folders between ``root`` and ``path``, the outermost first."""
    folders = [folder for folder in reversed(path.parents) if is_inside(folder, root)]
    return [found for folder in folders if (found := file_in(folder)) is not None]


def named_files(patterns: Sequence[str]) -> Iterator[Path]:
    """Yield the files that absolute paths and patterns name, each pattern's in the order of their names."""
    for pattern in patterns:
        if not glob.has_magic(pattern):
            yield Path(pattern)
            continue
        anchor = Path(pattern).anchor
        found = (path for path in Path(anchor).glob(pattern.removeprefix(anchor)) if path.is_file())
        yield from sorted(islice(found, PATTERN_FILES))


def read_instructions(path: Path, root: Path) -> InstructionFile:
    """Read one file; one that cannot be read says so in its ``problem``."""
    name = name_in(path, root)
    try:
        text = read_regular(path, max_bytes=AGENTS_MD_BYTES).decode("utf-8", "replace")
    except HarnessError as error:
        return InstructionFile(name, "", f"{error.what}; it was left out")
    return InstructionFile(name, text)


def instructions_text(file: InstructionFile, *, trusted: bool) -> str:
    """Return a file as a model is sent it: marked where it comes from, and that its folder is not trusted."""
    text = file.text.replace("</instructions>", "<\\/instructions>").strip()
    mark = "" if trusted or file.name.startswith("/") else ' trusted="no"'
    return f'<instructions path="{html.escape(file.name)}"{mark}>\n{text}\n</instructions>'
