"""Instruction files: ``AGENTS.md`` of the person, the project and its folders, and those that configuration names.

Where none stands, those of other tools are read: a project that was set up for one of them works here as it is.
"""

from __future__ import annotations

import glob
import html
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from harness_tui.agent.instruction_imports import ImportReader, MayRead
from harness_tui.config.places import Places
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import AGENTS_MD_BYTES
from harness_tui.core.paths import is_inside, name_in, read_regular
from harness_tui.core.record import record

NAMES: Final = ("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md")
"""File names in the order in which a folder is looked at: the first that stands there is read."""

USER_FILES: Final = (".claude/CLAUDE.md", ".config/opencode/AGENTS.md", ".codex/AGENTS.md", ".gemini/GEMINI.md")
"""Files of the person's home folder in the order in which they stand in for an ``AGENTS.md`` of their own."""

PATTERN_FILES: Final = 50
"""How many files one pattern of ``instructions`` may name."""

_IMPORTING: Final = ("CLAUDE.md", "GEMINI.md")


@record
class InstructionFile:
    """An instruction file that was read; ``problem`` says why one was not."""

    name: str
    text: str
    problem: str | None = None


def instruction_files(
    root: Path, start: Path, places: Places, patterns: Sequence[str] = (), may_read: MayRead | None = None
) -> list[InstructionFile]:
    """Read the person's file, then those from the root down to the start folder, then what ``patterns`` name.

    Each file is read once, what it imports right behind it. ``may_read`` tells what of the project may be imported;
    without it nothing is. Blocks.
    """
    found: dict[str, InstructionFile] = {}
    own = _user_file(places)
    if own is not None:
        _add(found, own, root, ImportReader(own.resolve().parent, root, None))
    reader = ImportReader(root, root, may_read) if may_read is not None else None
    folders = [folder for folder in reversed([start, *start.parents]) if is_inside(folder, root)]
    for path in (path for folder in dict.fromkeys(folders) if (path := file_in(folder)) is not None):
        _add(found, path, root, reader)
    for path in named_files(patterns):
        _add(found, path, root, None)
    return list(found.values())


def file_in(folder: Path) -> Path | None:
    """Return the instruction file of ``folder``."""
    return next((path for name in NAMES if _is_file(path := folder / name)), None)


def nested_files(path: Path, root: Path, known: Sequence[Path] = ()) -> list[Path]:
    """Return the instruction files of the folders between ``root`` and ``path``, the outermost first, without those
    of the folders in ``known``."""
    folders = [folder for folder in reversed(path.parents) if is_inside(folder, root) and folder not in known]
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


def read_with_imports(path: Path, root: Path, may_read: MayRead) -> list[InstructionFile]:
    """Read one file of the project and what it imports."""
    found: dict[str, InstructionFile] = {}
    _add(found, path, root, ImportReader(root, root, may_read))
    return list(found.values())


def read_instructions(path: Path, root: Path) -> InstructionFile:
    """Read one file; one that cannot be read says so in its ``problem``."""
    name = name_in(path, root)
    try:
        text = read_regular(path, max_bytes=AGENTS_MD_BYTES).decode("utf-8-sig", "replace")
    except HarnessError as error:
        return InstructionFile(name, "", f"{error.what}; it was left out")
    return InstructionFile(name, text)


def instructions_text(file: InstructionFile, *, trusted: bool) -> str:
    """Return a file as a model is sent it: marked where it comes from, and that its folder is not trusted."""
    text = file.text.replace("</instructions>", "<\\/instructions>").strip()
    mark = "" if trusted or file.name.startswith("/") else ' trusted="no"'
    return f'<instructions path="{html.escape(file.name)}"{mark}>\n{text}\n</instructions>'


def _add(found: dict[str, InstructionFile], path: Path, root: Path, reader: ImportReader | None) -> None:
    real = os.path.realpath(path)
    if real in found:
        return
    found[real] = file = read_instructions(path, root)
    if reader is not None and path.name in _IMPORTING and file.problem is None:
        for item in reader.follow(path, file.text):
            found.setdefault(str(item.path), InstructionFile(item.name, item.text, item.problem))


def _user_file(places: Places) -> Path | None:
    candidates = [places.config / "AGENTS.md"]
    if places.home is not None:
        candidates += [_of_home(places, name) for name in USER_FILES]
    return next((path for path in candidates if _is_file(path)), None)


def _of_home(places: Places, name: str) -> Path:
    """Return a file of another tool; what lies in ``.config`` moves with the configuration folder."""
    assert places.home is not None
    below = name.removeprefix(".config/")
    return places.home / name if below == name else places.config.parent / below


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - false, and no exception, in a folder that may not be entered
