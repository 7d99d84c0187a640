"""What servers write to standard error, kept on disk: one rotating file per owner.

Lines are redacted before they are written. Writing happens in a thread; what comes faster than the disk takes it is
dropped and counted, so that a loud server neither blocks nor fills memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import threading
from collections import deque
from pathlib import Path
from typing import Final

from harness_tui.core.limits import MIB
from harness_tui.core.paths import make_private_folder
from harness_tui.core.redaction import redact

FILE_BYTES: Final = MIB
"""A file that is larger becomes ``NAME.log.1``; what was that before is gone."""

_WAITING_BYTES: Final = MIB
_LINE_BYTES: Final = 8 * 1024
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]")


def log_file(folder: Path, owner: str) -> Path:
    """Return where the standard error of ``owner`` (``mcp:NAME``, ``lsp:NAME``) is kept."""
    return folder / f"{_UNSAFE.sub('_', owner.replace(':', '-', 1))[:100]}.log"


class StderrLog:
    """Appends to one file, mode 0600. A file that cannot be written never disturbs the child; ``problem`` says why."""

    def __init__(self, path: Path, *, file_bytes: int = FILE_BYTES) -> None:
        self.path = path
        self.problem: str | None = None
        self._file_bytes = file_bytes
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._dropped = 0
        self._rest = b""
        self._lock = threading.Lock()
        self._writing: asyncio.Task[None] | None = None

    def append(self, data: bytes) -> None:
        """Take the next bytes, on the loop; they are written soon, by whole lines."""
        if self._size + len(data) > _WAITING_BYTES:
            self._dropped += len(data)
            return
        self._waiting.append(data)
        self._size += len(data)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all(), name=f"log {self.path.name}")

    def note(self, text: str) -> None:
        """Write a line of our own."""
        self.append(f"--- {text}\n".encode())

    async def close(self) -> None:
        """Write what waits, the unfinished line too."""
        if self._writing is not None:
            await asyncio.wait({self._writing})
        if self._rest:
            self._waiting.append(b"\n")
        await self._write_all()

    async def _write_all(self) -> None:
        while self._waiting or self._dropped:
            data = b"".join(self._waiting)
            self._waiting.clear()
            self._size = 0
            dropped, self._dropped = self._dropped, 0
            await asyncio.to_thread(self._write, data, dropped)

    def _write(self, data: bytes, dropped: int) -> None:
        with self._lock:
            *lines, self._rest = (self._rest + data).split(b"\n")
            if len(self._rest) > _LINE_BYTES:
                lines.append(self._rest)
                self._rest = b""
            text = "".join(f"{redact(line[:_LINE_BYTES].decode('utf-8', 'replace'))}\n" for line in lines)
            if dropped:
                text += f"--- {dropped} bytes came too fast and were not kept\n"
            try:
                self._append(text.encode("utf-8", "backslashreplace"))
            except OSError as error:
                self.problem = str(error)

    def _append(self, data: bytes) -> None:
        make_private_folder(self.path.parent)
        with contextlib.suppress(FileNotFoundError):
            if self.path.stat().st_size + len(data) > self._file_bytes:
                # Another shell may do the same at this moment: the worst is that one old file is lost.
                self.path.replace(self.path.with_name(f"{self.path.name}.1"))
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, data[-self._file_bytes :])
        finally:
            os.close(descriptor)
