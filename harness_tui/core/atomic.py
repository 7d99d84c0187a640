"""Files that appear whole or not at all, and leave nothing beside them, a ``kill -9`` included.

The new bytes are written to a file without a name where the system has such files (``O_TMPFILE``), so that what is
killed while it writes leaves nothing. It gets one of a few known names only for the moment before the rename. A process
that is killed in that very moment, or on a system without nameless files, leaves one such name; the next write in the
folder knows that nobody holds it any more, and removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final

from harness_tui.core.nofollow import open_folder

PREFIX: Final = ".harness-write-"
"""How the names begin that new bytes have before they are renamed."""

_SLOTS: Final = 64
_LOOKED_AT: Final = 4
"""Beyond the first free name this many are looked at for what a killed process left."""


class Staged:
    """New bytes of ``path``, on the disk and not yet visible. Nothing is left of them unless they are put in place."""

    def __init__(self, path: Path, descriptor: int, folder: int, name: str | None) -> None:
        self._path = path
        self._descriptor = descriptor
        self._folder = folder
        self._name = name

    @property
    def descriptor(self) -> int:
        """The file that holds the bytes, for those who give it an owner or attributes."""
        return self._descriptor

    def replace(self) -> None:
        """Put the bytes in the place of what is at the path, or of nothing. Raises ``OSError``."""
        name = self._named()
        os.replace(name, self._path.name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self._name = None

    def create(self) -> None:
        """Put the bytes at the path where nothing is. Raises ``FileExistsError``, or another ``OSError``."""
        if self._name is None:
            _link_nameless(self._descriptor, self._path.name, self._folder)
            return
        try:
            os.link(self._name, self._path.name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links: the name is claimed, then replaced
            os.close(os.open(self._path.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, dir_fd=self._folder))
            self.replace()

    def discard(self) -> None:
        """Forget the bytes if they were not put in place."""
        if self._name is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._name, dir_fd=self._folder)
            self._name = None

    def _named(self) -> str:
        if self._name is None:

            def link(name: str) -> None:
                _link_nameless(self._descriptor, name, self._folder)

            self._name = _take_name(self._folder, link)
        return self._name


@contextlib.contextmanager
def staged(path: Path, data: bytes, *, mode: int | None = None, follow: bool = True) -> Generator[Staged]:
    """Write ``data`` beside ``path``, to be put in place within the block. Raises ``OSError``.

    ``mode`` is that of the new file; without it the file has what a new file has here. Without ``follow`` the path must
    be absolute and resolved, and a link that is on its way now raises ``MovedError``.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    folder = os.open(path.parent, flags) if follow else open_folder(path.parent)
    try:
        descriptor, name = _open(folder, 0o666 if mode is None else 0o600)
        made = Staged(path, descriptor, folder, name)
        try:
            try_lock(descriptor)
            _write_all(descriptor, data)
            if mode is not None:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
            yield made
        finally:
            made.discard()
            os.close(descriptor)
    finally:
        os.close(folder)


def write_atomic(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write ``data`` to ``path``, whole or not at all.

    ``mode`` is that of the new file; without it an existing file keeps its own. Raises ``OSError``.
    """
    if mode is None:
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(path.stat().st_mode)
    with staged(path, data, mode=mode) as new:
        new.replace()


def try_lock(descriptor: int) -> bool:
    """Lock an open file against other openings of it, without waiting; true where it could be locked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _open(folder: int, mode: int) -> tuple[int, str | None]:
    """Open a file for the new bytes: without a name, else with one of the known ones."""
    nameless = getattr(os, "O_TMPFILE", 0)
    if nameless and os.path.isdir("/proc/self/fd"):  # noqa: PTH112 - no object for every write
        with contextlib.suppress(OSError):  # not on this file system
            return os.open(".", nameless | os.O_RDWR | os.O_CLOEXEC, mode, dir_fd=folder), None
    opened: list[int] = []

    def create(name: str) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        opened.append(os.open(name, flags, mode, dir_fd=folder))

    name = _take_name(folder, create)
    return opened[0], name


def _link_nameless(descriptor: int, name: str, folder: int) -> None:
    # With a folder given the link is followed, which plain ``os.link`` does not do.
    os.link(f"/proc/self/fd/{descriptor}", name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)


def _take_name(folder: int, take: Callable[[str], None]) -> str:
    """Call ``take`` with the first known name that nobody holds, and remove what killed processes left. Returns it."""
    taken: str | None = None
    free = 0
    for slot in range(_SLOTS):
        name = f"{PREFIX}{slot}"
        held = _remove_abandoned(folder, name)
        if taken is None and not held:
            try:
                take(name)
            except FileExistsError:  # another was quicker
                continue
            taken = name
        elif taken is not None:
            free += 1
        if free == _LOOKED_AT:
            break
    if taken is None:
        raise FileExistsError(0, f"{_SLOTS} files are being written in this folder")
    return taken


def _remove_abandoned(folder: int, name: str) -> bool:
    """Remove a file of a known name unless a living process holds it; true when one does."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # not one of ours
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or not try_lock(descriptor):
            return True
        # Only who holds the lock of what has the name removes it: nobody removes the next one's.
        if os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino == os.fstat(descriptor).st_ino:
            os.unlink(name, dir_fd=folder)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
