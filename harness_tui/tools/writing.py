"""Puts new bytes into a file without losing what the file is: mode, owner, links, attributes; and never half of them.

Blocks: call it in a thread.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

from harness_tui.core.atomic import staged
from harness_tui.core.errors import HarnessError, StalePreviewError, ToolError
from harness_tui.core.limits import READ_BYTES
from harness_tui.core.nofollow import MovedError, make_folders, open_file, remove_file, remove_folder, stat_file
from harness_tui.core.paths import digest, make_private_folder, read_regular
from harness_tui.core.record import record

_LOCK_WAIT_S: Final = 2.0
_LOCK_POLL_S: Final = 0.02
_UNCOUNTED: Final = ("security.selinux", "security.ima", "security.evm")
"""Attributes that the system gives each new file by itself."""


@record
class Written:
    """What a write did: the permission bits before and after (``None`` where there was no file), new folders."""

    before_mode: int | None
    after_mode: int | None
    folders: tuple[Path, ...] = ()


def read_or_none(path: Path) -> bytes | None:
    """Return the bytes of a regular file, ``None`` when there is nothing at ``path``. Raises ``HarnessError``."""
    try:
        return read_regular(path, max_bytes=READ_BYTES, follow=False)
    except HarnessError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def replace_file(path: Path, data: bytes, *, before: str | None, backups: Path, mode: int | None = None) -> Written:
    """Write ``data`` to ``path`` if its bytes still have the hash ``before`` (``None``: it does not exist).

    The new bytes are on the disk before the old ones are compared for the last time and a rename puts them in place. A
    file that a rename would change otherwise (several hard links, another owner, attributes, a folder that may not be
    written) is written in place, with its old bytes kept in ``backups`` until that is done. ``mode`` is given to a new
    file; an existing one keeps its own. Raises ``StalePreviewError`` when the file is no longer what it was, else
    ``ToolError``.
    """
    with _told(path):
        if before is None:
            return _create(path, data, mode)
        with _locked(path):
            old = _expected(path, before)
            status = stat_file(path)
            if not status.st_mode & 0o222 or not os.access(path, os.W_OK):
                raise ToolError(
                    "the file is read-only", where=str(path), mend=f"chmod u+w {path.name}, if that is meant"
                )
            bits = stat.S_IMODE(status.st_mode)
            if _rename_keeps_all(path, status):
                with staged(path, data, mode=bits, follow=False) as new:
                    _expected(path, before)
                    new.replace()
            else:
                _write_in_place(path, data, old, backups)
            return Written(bits, bits)


def delete_file(path: Path, *, before: str) -> Written:
    """Remove the file if its bytes have the hash ``before``. Raises as :func:`replace_file` does."""
    with _told(path), _locked(path):
        _expected(path, before)
        bits = stat.S_IMODE(stat_file(path).st_mode)
        remove_file(path)
        return Written(bits, None)


@contextlib.contextmanager
def _told(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise ToolError(f"the file could not be written: {error.strerror or error}", where=str(path)) from error


def _expected(path: Path, before: str) -> bytes:
    data = read_or_none(path)
    if data is None or digest(data) != before:
        raise _stale(path)
    return data


def _stale(path: Path) -> StalePreviewError:
    return StalePreviewError("the file changed meanwhile", where=str(path), mend="prepare the call again")


def _create(path: Path, data: bytes, mode: int | None) -> Written:
    folders = make_folders(path.parent)
    try:
        with staged(path, data, mode=mode, follow=False) as new:
            bits = stat.S_IMODE(os.fstat(new.descriptor).st_mode)
            new.create()
    except BaseException as error:
        remove_folders(folders)
        if isinstance(error, FileExistsError):  # whoever was quicker is not written over
            raise _stale(path) from error
        raise
    return Written(None, bits, folders)


def remove_folders(folders: tuple[Path, ...]) -> None:
    """Remove those of ``folders`` (the outermost first) that are empty."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError, MovedError):
            remove_folder(folder)


@contextlib.contextmanager
def _locked(path: Path) -> Generator[None]:
    """Hold other writers of this kind off for the moment between the look and the write.

    Who gets the lock of a file that was renamed over meanwhile finds other bytes there, and writes nothing. Where files
    cannot be locked, or another program keeps the lock, the comparison of hashes alone has to do.
    """
    try:
        descriptor = open_file(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise _stale(path) from error
    try:
        limit = time.monotonic() + _LOCK_WAIT_S
        while not _try_lock(descriptor) and time.monotonic() < limit:
            time.sleep(_LOCK_POLL_S)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _rename_keeps_all(path: Path, status: os.stat_result) -> bool:
    folder = path.parent.stat()
    inherits = sys.platform == "darwin" or bool(folder.st_mode & stat.S_ISGID)
    return (
        status.st_nlink == 1
        and status.st_uid == os.geteuid()
        and status.st_gid == (folder.st_gid if inherits else os.getegid())
        and os.access(path.parent, os.W_OK | os.X_OK)
        and not _has_attributes(path)
    )


def _has_attributes(path: Path) -> bool:
    if sys.platform != "linux":
        return False
    try:
        return any(name not in _UNCOUNTED for name in os.listxattr(path, follow_symlinks=False))
    except OSError:  # a file system without attributes
        return False


def _write_in_place(path: Path, data: bytes, old: bytes, backups: Path) -> None:
    make_private_folder(backups)
    descriptor, kept = tempfile.mkstemp(prefix="before-", dir=backups)
    with os.fdopen(descriptor, "wb") as file:
        file.write(old)
        file.flush()
        os.fsync(descriptor)
    try:
        _overwrite(path, data)
    except OSError as error:
        try:
            _overwrite(path, old)
        except OSError as again:
            raise ToolError(
                f"the file is damaged, writing it failed: {again.strerror or again}",
                where=str(path),
                mend=f"its old bytes are in {kept}",
            ) from error
        os.unlink(kept)
        raise
    os.unlink(kept)


def _overwrite(path: Path, data: bytes) -> None:
    with os.fdopen(open_file(path, os.O_RDWR), "r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
