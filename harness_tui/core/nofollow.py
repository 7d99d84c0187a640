"""Opens a path whose links have been resolved, and refuses it when a link is on the way now.

Between the decision on a path and its opening another process can put a link in the place of a file or folder. So the
folders are opened one below the other, each without following links: what is opened is what was decided on.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import Final

from harness_tui.core.errors import StalePreviewError

_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""A folder that can be entered need not be readable, where the system has such an opening."""


class MovedError(StalePreviewError):
    """A link is where none was when the path was resolved."""


def open_folder(path: Path) -> int:
    """Open the folder at an absolute, resolved ``path``, to be used as ``dir_fd``; the caller closes it.

    Raises ``MovedError`` for a link on the way, else ``OSError``.
    """
    descriptor = os.open("/", _FOLDER)
    for part in path.parts[1:]:
        try:
            inner = _enter(part, descriptor, path)
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def make_folders(path: Path) -> tuple[Path, ...]:
    """Create the folder at an absolute, resolved ``path`` and those above it; return the new ones, outermost first.

    Raises as ``open_folder``.
    """
    made: list[Path] = []
    descriptor = os.open("/", _FOLDER)
    try:
        for number, part in enumerate(path.parts[1:], 2):
            try:
                inner = _enter(part, descriptor, path)
            except FileNotFoundError:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
                    made.append(Path(*path.parts[:number]))
                inner = _enter(part, descriptor, path)
            os.close(descriptor)
            descriptor = inner
    finally:
        os.close(descriptor)
    return tuple(made)


def remove_file(path: Path) -> None:
    """Remove the file at an absolute, resolved ``path``. Raises as ``open_folder``."""
    folder = open_folder(path.parent)
    try:
        os.unlink(path.name, dir_fd=folder)
    finally:
        os.close(folder)


def remove_folder(path: Path) -> None:
    """Remove the empty folder at an absolute, resolved ``path``. Raises as ``open_folder``."""
    folder = open_folder(path.parent)
    try:
        os.rmdir(path.name, dir_fd=folder)
    finally:
        os.close(folder)


def open_file(path: Path, flags: int) -> int:
    """Open what an absolute, resolved ``path`` names; ``flags`` are those of ``os.open``. Raises as ``open_folder``."""
    folder = open_folder(path.parent)
    try:
        return os.open(path.name or ".", flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _moved(path) from error
        raise
    finally:
        os.close(folder)


def stat_file(path: Path) -> os.stat_result:
    """Return the status of what an absolute, resolved ``path`` names. Raises as ``open_folder``."""
    folder = open_folder(path.parent)
    try:
        return os.stat(path.name or ".", dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)


def _enter(part: str, folder: int, path: Path) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=folder)
    except OSError as error:
        if _is_link(part, folder):
            raise _moved(path) from error
        raise


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _moved(path: Path) -> MovedError:
    return MovedError(
        "the path leads to another place now", where=str(path), mend="ask for it again, as it is now", code="moved"
    )
