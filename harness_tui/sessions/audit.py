"""The audit log: what was called, decided, blocked and authorised, one JSON object a line.

Several processes append to the same file under a lock, and it rotates by size. One thread writes, in the order of the
records: the lock may be held by a process that is stopped, and the event loop must not wait for it.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, Final

from harness_tui.core.clock import SystemClock, rfc3339
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import make_private_folder
from harness_tui.core.redaction import redact_data
from harness_tui.core.seams import Clock
from harness_tui.sessions.records import dumps

MAX_BYTES: Final = 5 * MIB
KEPT: Final = 3
"""Older files that are kept: ``audit.jsonl.1`` is the latest of them."""

LINE_BYTES: Final = 64 * 1024
_TEXT_CHARS: Final = 4_000
_WAITING: Final = 10_000
_CLOSE_S: Final = 2.0
_LINGER_S: Final = 5.0


class AuditLog:
    """Satisfies :class:`harness_tui.core.seams.AuditSink`. Safe to use from several threads and processes.

    A record that cannot be written never stops the work: ``failure`` keeps the reason, and ``on_error`` is told once,
    in the thread that writes. What waits is written by :meth:`close`, at the latest at the end of the process. Where
    the file cannot be written for long, the records of :data:`_WAITING` and more are counted instead of kept.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int = MAX_BYTES,
        kept: int = KEPT,
        clock: Clock | None = None,
        on_error: Callable[[HarnessError], None] | None = None,
    ) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._kept = kept
        self._clock = clock or SystemClock()
        self._on_error = on_error
        self._changed = threading.Condition()
        self._waiting: deque[tuple[str, str, dict[str, Any]]] = deque()
        self._lost = 0
        self._writing = False
        self._writer: threading.Thread | None = None
        self.failure: HarnessError | None = None

    def record(self, kind: str, **fields: Any) -> None:
        """Append one record ``{"time", "kind", ...fields}``, redacted; long texts in it are cut. Does not block.

        The values of ``fields`` are read a moment later: they must not be changed any more.
        """
        time_now = rfc3339(self._clock.now())
        with self._changed:
            if len(self._waiting) >= _WAITING:
                self._lost += 1
                return
            self._waiting.append((time_now, kind, fields))
            self._changed.notify_all()
            if self._writer is None:
                atexit.register(self.close)
                self._writer = threading.Thread(target=self._write_all, name="audit log", daemon=True)
                self._writer.start()

    def close(self, timeout: float = _CLOSE_S) -> bool:
        """Wait until everything is written, ``timeout`` seconds at most; tell whether it is. More may be recorded."""
        end = time.monotonic() + timeout
        with self._changed:
            while self._waiting or self._writing:
                left = end - time.monotonic()
                if left <= 0 or self._writer is None:
                    self._fail(TimeoutError("another process holds it, or the disk is too slow"))
                    return False
                self._changed.wait(left)
        return True

    # --- in the thread -------------------------------------------------------------------------------

    def _write_all(self) -> None:
        while True:
            with self._changed:
                self._writing = False
                self._changed.notify_all()
                if not self._waiting and not self._changed.wait_for(lambda: bool(self._waiting), _LINGER_S):
                    self._writer = None
                    atexit.unregister(self.close)
                    return
                records = list(self._waiting)
                self._waiting.clear()
                lost, self._lost = self._lost, 0
                self._writing = True
            if lost:
                records.append((rfc3339(self._clock.now()), "records_lost", {"count": lost}))
            try:
                self._append([_line(*record) for record in records])
            except OSError as error:
                self._fail(error)

    def _append(self, lines: Sequence[bytes]) -> None:
        make_private_folder(self.path.parent)
        with self._locked():
            for line in lines:
                with contextlib.suppress(FileNotFoundError):
                    if self.path.stat().st_size + len(line) > self._max_bytes:
                        self._rotate()
                descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
                try:
                    os.write(descriptor, line)
                finally:
                    os.close(descriptor)

    @contextlib.contextmanager
    def _locked(self) -> Generator[None, None, None]:
        # Without it two processes could rotate at once and throw a whole file away.
        lock = self.path.with_name(self.path.name + ".lock")
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _rotate(self) -> None:
        names = [self.path, *(self.path.with_name(f"{self.path.name}.{n}") for n in range(1, self._kept + 1))]
        for older, newer in zip(reversed(names), reversed(names[:-1]), strict=False):
            with contextlib.suppress(FileNotFoundError):
                os.replace(newer, older)

    def _fail(self, error: OSError) -> None:
        first = self.failure is None
        self.failure = HarnessError(
            f"the audit log cannot be written: {error.strerror or error}", where=str(self.path), code="audit"
        )
        if first and self._on_error is not None:
            self._on_error(self.failure)


def _line(time_now: str, kind: str, fields: dict[str, Any]) -> bytes:
    head = {"time": time_now, "kind": kind}
    try:
        clean = redact_data(fields)
        line = dumps(head | clean).encode("utf-8")
        if len(line) > LINE_BYTES:
            line = dumps(head | {"cut": True} | {key: _cut(value) for key, value in clean.items()}).encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:  # its neighbours are written all the same
        line = dumps(head | {"unreadable": f"{type(error).__name__}: {error}"}).encode("utf-8")
    return line + b"\n"


def _cut(value: Any) -> Any:
    text = value if isinstance(value, str | int | float | bool) or value is None else dumps(value)
    return f"{text[:_TEXT_CHARS]}…" if isinstance(text, str) and len(text) > _TEXT_CHARS else text
