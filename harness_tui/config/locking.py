"""One writer at a time for a file of the person's state."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import make_private_folder

_WAIT_S: Final = 5.0
_STEP_S: Final = 0.02


@contextlib.contextmanager
def locked(path: Path, *, wait: float = _WAIT_S) -> Generator[None]:
    """Hold the lock file ``path`` (mode 0600) for the block; other processes and threads wait up to ``wait`` seconds.

    The lock goes with the process that holds it. Raises ``HarnessError`` when it is not had in time.
    """
    try:
        make_private_folder(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise HarnessError(f"the lock cannot be made: {error.strerror}", where=str(path), code="lock") from error
    try:
        end = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    mend = "another Harness is writing; try again"
                    raise HarnessError("the lock is held", where=str(path), mend=mend, code="lock") from None
                time.sleep(_STEP_S)
        yield
    finally:
        os.close(descriptor)
