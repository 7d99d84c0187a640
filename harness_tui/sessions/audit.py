"""The audit log: what was called, decided, blocked and authorised, one JSON object a line.

Several processes append to the same file: a line is one write at its end. It rotates by size.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Callable, Generator
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


class AuditLog:
    """Satisfies :class:`harness_tui.core.seams.AuditSink`. Safe to use from several threads and processes.

    A record that cannot be written never stops the work: ``failure`` keeps the reason, and ``on_error`` is told once.
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
        self._guard = threading.Lock()
        self.failure: HarnessError | None = None

    def record(self, kind: str, **fields: Any) -> None:
        """Append one record ``{"time", "kind", ...fields}``, redacted; long texts in it are cut."""
        head = {"time": rfc3339(self._clock.now()), "kind": kind}
        line = dumps(head | redact_data(fields))
        if len(line.encode("utf-8")) > LINE_BYTES:
            line = dumps(head | {"cut": True} | {key: _cut(value) for key, value in redact_data(fields).items()})
        try:
            with self._guard:
                self._append(line.encode("utf-8") + b"\n")
        except OSError as error:
            self._fail(error)

    def _append(self, line: bytes) -> None:
        make_private_folder(self.path.parent)
        with self._locked():
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


def _cut(value: Any) -> Any:
    text = value if isinstance(value, str | int | float | bool) or value is None else dumps(value)
    return f"{text[:_TEXT_CHARS]}…" if isinstance(text, str) and len(text) > _TEXT_CHARS else text
