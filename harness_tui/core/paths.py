"""The one path module: containment by components, names, reading what is a regular file and nothing else."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import Final

from harness_tui.core.atomic import write_atomic as write_atomic
from harness_tui.core.errors import HarnessError
from harness_tui.core.nofollow import open_file

_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link"),
)


def expand(text: str, base: Path) -> Path:
    """Return the absolute path that ``text`` names: ``~`` and ``file://`` are understood, relative to ``base``.

    Links are not resolved. Raises ``HarnessError`` for an empty path or one with a NUL.
    """
    if not text or "\x00" in text:
        raise HarnessError("the path is empty or holds a NUL byte", where=repr(text))
    if text.startswith("file://"):
        text = text.removeprefix("file://").removeprefix("localhost")
    if text == "~" or text.startswith("~/"):
        text = os.path.expanduser(text)
    return Path(os.path.normpath(base / text)) if ".." not in Path(text).parts else base / text


def resolve(text: str | Path, base: Path) -> Path:
    """Return the real path that ``text`` names, links resolved; it need not exist.

    A loop of links, and what no path can hold (NUL, a lone surrogate), raise ``HarnessError``.
    """
    try:
        return expand(str(text), base).resolve(strict=False)
    except (OSError, RuntimeError, ValueError) as error:
        where = str(text).encode("utf-8", "backslashreplace").decode()
        raise HarnessError(f"the path cannot be resolved: {error}", where=where) from error


def is_inside(path: Path, root: Path) -> bool:
    """Tell whether ``path`` is ``root`` or below it, by components. Both must be resolved."""
    return path == root or root in path.parents


def name_in(path: Path, root: Path) -> str:
    """Return ``path`` relative to ``root`` with ``/``; outside the root the absolute path."""
    return path.relative_to(root).as_posix() if is_inside(path, root) else path.as_posix()


def short(path: Path | str) -> str:
    """Return ``path`` with the home folder written as ``~``, for people."""
    text, home = str(path), os.path.expanduser("~")
    if text == home or text.startswith(home.rstrip("/") + "/"):
        return "~" + text[len(home) :]
    return text


def read_regular(path: Path, *, max_bytes: int, follow: bool = True) -> bytes:
    """Return the bytes of a regular file. Raises ``HarnessError`` for anything else, or for a larger one.

    The file is opened without blocking and checked on its descriptor, so a FIFO or a device never hangs. Without
    ``follow`` the path must be absolute and resolved, and a link that is on its way now raises ``MovedError``.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags) if follow else open_file(path, flags)
    except OSError as error:
        if error.errno == errno.ENXIO:  # what a socket says, and a device that nobody serves
            with contextlib.suppress(OSError):
                raise HarnessError(irregular(path.lstat().st_mode), where=str(path), code="not-regular") from error
        raise HarnessError(error.strerror or str(error), where=str(path), code="unreadable") from error
    # The descriptor is looked at before it becomes a file object: of a folder none can be made.
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise HarnessError(irregular(status.st_mode), where=str(path), code="not-regular")
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size > max_bytes:
            raise HarnessError(
                f"{status.st_size} bytes are more than the limit of {max_bytes}", where=str(path), code="too-large"
            )
        try:
            return file.read(max_bytes + 1)[:max_bytes]
        except OSError as error:  # files of /proc are regular, and some cannot be read
            raise HarnessError(error.strerror or str(error), where=str(path), code="unreadable") from error


def irregular(mode: int) -> str:
    """Say what a file of this ``st_mode`` is that is not a regular one."""
    what = next((name for is_kind, name in _KINDS if is_kind(mode)), "something else")
    return f"this is {what}, not a regular file"


def digest(data: bytes) -> str:
    """Return the SHA-256 of ``data`` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def make_private_folder(path: Path) -> Path:
    """Create ``path`` with mode 0700 where it is missing, and each missing folder above it too; return it."""
    missing = [path, *(folder for folder in path.parents if not folder.exists())]
    for folder in reversed(missing):  # ``parents=True`` would give those above the mode of the umask
        folder.mkdir(exist_ok=True, mode=0o700)
    return path
