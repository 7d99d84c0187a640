"""Which folder is the project."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from harness_tui.core.errors import UsageError
from harness_tui.core.record import record

_MARKS: Final = (".harness", ".git")


@record
class Project:
    """A project: its root, and the folder inside it where the person started. Both are real paths."""

    root: Path
    start: Path


def find_project(start: Path, home: Path | None = None) -> Project:
    """Return the project of ``start``.

    The root is the nearest folder at or above ``start`` that holds ``.harness`` or ``.git`` and is not the home folder
    itself, else ``start``. Raises ``UsageError`` when ``start`` is not a folder, and on Windows.
    """
    if sys.platform == "win32":
        raise UsageError("Harness does not run on Windows itself", mend="use WSL", code="windows")
    try:
        folder = start.expanduser().resolve(strict=True)
        home = (home or Path.home()).resolve()
    except (OSError, RuntimeError) as error:
        raise UsageError(f"the folder cannot be opened: {error}", where=str(start), code="no-folder") from error
    if not folder.is_dir():
        raise UsageError("not a folder", where=str(start), code="no-folder")
    for candidate in (folder, *folder.parents):
        if candidate != home and any(_exists(candidate / mark) for mark in _MARKS):
            return Project(candidate, folder)
    return Project(folder, folder)


def folders_of(project: Project) -> list[Path]:
    """Return the folders from the project root down to where the person started."""
    inside = [folder for folder in (project.start, *project.start.parents) if project.root in (folder, *folder.parents)]
    return inside[::-1] or [project.root]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a folder above that may not be entered marks nothing
        return False
