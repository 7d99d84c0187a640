"""Puts new bytes into a file without losing what the file is: mode, owner, hard links; and never half of them.

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

from harness_tui.core.errors import HarnessError, StalePreviewError, ToolError
from harness_tui.core.limits import READ_BYTES
from harness_tui.core.paths import digest, make_private_folder, read_regular, write_atomic

_LOCK_WAIT_S: Final = 2.0
_LOCK_POLL_S: Final = 0.02


def read_or_none(path: Path) -> bytes | None:
    """Return the bytes of a regular file, ``None`` when there is nothing at ``path``. Raises ``HarnessError``."""
    try:
        return read_regular(path, max_bytes=READ_BYTES)
    except HarnessError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def replace_file(path: Path, data: bytes, *, before: str | None, backups: Path) -> None:
    """Write ``data`` to ``path`` if its bytes still have the hash ``before`` (``None``: it does not exist).

    A new file, and one that a rename does not change otherwise, is written beside itself and renamed. One with several
    hard links, of another owner or in a folder that may not be written is written in place, with its old bytes kept
    in ``backups`` until that is done. Raises ``StalePreviewError`` when the file is no longer what it was, else
    ``ToolError``.
    """
    try:
        if before is None:
            _create(path, data)
            return
        with _locked(path):
            old = read_or_none(path)
            if old is None or digest(old) != before:
                raise _stale(path)
            if _rename_keeps_all(path):
                write_atomic(path, data)
            else:
                _write_in_place(path, data, old, backups)
    except OSError as error:
        raise ToolError(f"the file could not be written: {error.strerror or error}", where=str(path)) from error


def _stale(path: Path) -> StalePreviewError:
    return StalePreviewError("the file changed meanwhile", where=str(path), mend="prepare the call again")


def _create(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        # Claims the name: whoever was quicker is not written over.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    except FileExistsError as error:
        raise _stale(path) from error
    try:
        write_atomic(path, data)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise


@contextlib.contextmanager
def _locked(path: Path) -> Generator[None]:
    """Hold other writers of this kind off for the moment between the look and the write.

    Who gets the lock of a file that was renamed over meanwhile finds other bytes there, and writes nothing. Where files
    cannot be locked the comparison of hashes alone has to do.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
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


def _rename_keeps_all(path: Path) -> bool:
    status, folder = path.stat(), path.parent.stat()
    inherits = sys.platform == "darwin" or bool(folder.st_mode & stat.S_ISGID)
    return (
        status.st_nlink == 1
        and status.st_uid == os.geteuid()
        and status.st_gid == (folder.st_gid if inherits else os.getegid())
        and os.access(path.parent, os.W_OK | os.X_OK)
    )


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
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
