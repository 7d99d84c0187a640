"""Where a program is looked for: one order for language servers, MCP servers, ``rg`` and everything else.

Relative entries of PATH are never used: they would let a project's folder decide what a bare name starts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from harness_tui.core.paths import is_inside


def absolute_entries(path: str) -> list[str]:
    """Return the entries of ``path`` that are absolute: others mean whatever folder a program runs in."""
    return [entry for entry in path.split(os.pathsep) if Path(entry).is_absolute()]


def find_binary(
    name: str, *, project_dirs: Sequence[Path] = (), path: str | None = None, avoid: Path | None = None
) -> Path | None:
    """Return the executable that ``name`` stands for, or ``None``.

    An absolute ``name`` (``~/`` too) is taken as it is. A bare one is looked for in ``project_dirs`` (give only those
    of a trusted project), then in the absolute folders of ``path`` (default: this process's PATH), then in the ``bin``
    folder of the running interpreter. A relative name with a ``/`` is looked for in ``project_dirs`` alone. Entries of
    ``path`` below ``avoid``, a project whose programs nobody asked for, are left out.
    Links are not resolved: a program may look at the name that it was started by.
    """
    if not name or "\x00" in name:
        return None
    if name.startswith("~/"):
        name = os.path.expanduser(name)
    if Path(name).is_absolute():
        return _executable(Path(name))
    folders = [folder for folder in project_dirs if folder.is_absolute()]
    if "/" not in name:
        entries = absolute_entries(os.environ.get("PATH", os.defpath) if path is None else path)
        folders += [Path(entry) for entry in entries if avoid is None or not _is_below(entry, avoid)]
        folders.append(Path(sys.executable).parent)
    return next((found for folder in folders if (found := _executable(folder / name)) is not None), None)


def find_shell(root: Path) -> Path:
    """Return the shell that runs commands: bash where there is one, none that lies in the project ``root``."""
    return find_binary("bash", avoid=root) or find_binary("sh", avoid=root) or Path("/bin/sh")


def _is_below(folder: str, avoid: Path) -> bool:
    return is_inside(Path(os.path.realpath(folder)), Path(os.path.realpath(avoid)))


def _executable(path: Path) -> Path | None:
    return path if path.is_file() and os.access(path, os.X_OK) else None
