"""File contents and large values, each kept once under the hash of its bytes.

One file a blob, ``blobs/ab/abcdef...`` in the data folder, mode 0600 in folders of mode 0700. A blob is written whole
or not at all and never changes. What nothing refers to any more is removed by :meth:`BlobStore.sweep` alone, which
never touches what was put a short while ago: who puts a blob refers to it only afterwards.

Every method does file work and may wait: call it in a thread.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Collection, Generator, Iterator
from pathlib import Path
from typing import Final

from harness_tui.core.atomic import staged
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import digest, make_private_folder, read_regular

SWEEP_AGE_S: Final = 3600.0
"""What was put later than this many seconds ago is not swept: nobody may have referred to it yet."""

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_MOST_BYTES: Final = 1024 * MIB


class BlobStore:
    """The blobs below ``folder``, which is made by the first put. Several processes may use it at the same time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, data: bytes) -> str:
        """Keep ``data`` and return its SHA-256 in hexadecimal. Raises ``HarnessError`` when it cannot be kept."""
        name = digest(data)
        path = self._path(name)
        try:
            make_private_folder(self.folder)
            make_private_folder(path.parent)
            with self._locked(fcntl.LOCK_SH):
                if _is_whole(path, len(data)):
                    os.utime(path)  # it is wanted again: no sweep takes it now
                else:
                    with staged(path, data, mode=0o600) as new:
                        new.replace()
        except OSError as error:
            raise HarnessError(
                f"its content could not be kept: {error.strerror or error}", where=str(path), code="blob"
            ) from error
        return name

    def get(self, name: str) -> bytes:
        """Return the bytes with this hash. Raises ``HarnessError`` when they are not kept, or were damaged."""
        path = self._path(name)
        try:
            data = read_regular(path, max_bytes=_MOST_BYTES)
        except HarnessError as error:
            raise HarnessError(f"the content is not kept: {error.what}", where=str(path), code="no-blob") from error
        if digest(data) != name:
            raise HarnessError("the kept content is damaged", where=str(path), code="no-blob")
        return data

    def has(self, name: str) -> bool:
        """Tell whether something is kept under this hash."""
        return bool(_HASH.fullmatch(name)) and self._path(name).is_file()

    def size(self, name: str) -> int:
        """Return the number of bytes that are kept under this hash, 0 for none."""
        with contextlib.suppress(OSError, HarnessError):
            return self._path(name).stat().st_size
        return 0

    def names(self) -> Iterator[str]:
        """Yield the hash of everything that is kept, in no order."""
        for folder in self.folder.glob("[0-9a-f][0-9a-f]"):
            for path in folder.iterdir():
                if _HASH.fullmatch(path.name):
                    yield path.name

    def sweep(self, keep: Collection[str], *, older_than: float = SWEEP_AGE_S) -> int:
        """Remove what is not in ``keep`` and was put more than ``older_than`` seconds ago; returns the bytes freed."""
        freed = 0
        with contextlib.suppress(FileNotFoundError), self._locked(fcntl.LOCK_EX):
            before = time.time() - older_than
            for name in [name for name in self.names() if name not in keep]:
                path = self._path(name)
                with contextlib.suppress(OSError):
                    status = path.stat()
                    if status.st_mtime <= before:
                        path.unlink()
                        freed += status.st_size
        return freed

    def _path(self, name: str) -> Path:
        if not _HASH.fullmatch(name):
            raise HarnessError("this is no hash of a content", where=repr(name), code="no-blob")
        return self.folder / name[:2] / name

    @contextlib.contextmanager
    def _locked(self, kind: int) -> Generator[None]:
        # Putting and sweeping keep out of each other's way, between processes too.
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with contextlib.suppress(OSError):  # a file system without locks: the age has to do
                fcntl.flock(descriptor, kind)
            yield
        finally:
            os.close(descriptor)


def _is_whole(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False
