"""Messages of the protocol on standard input and output: one JSON object a line.

The package's own reader ends with the first line that is JSON and no object; here such a line is told to the log and
the next one read. Standard output belongs to the protocol alone, whatever else prints.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
from typing import Any, BinaryIO, Final

log = logging.getLogger(__name__)

LINE_BYTES: Final = 64 * 1024 * 1024


class StdioTransport:
    """Satisfies the package's ``Transport``. Takes standard output for itself: what prints later goes to the error."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._out: BinaryIO = sys.stdout.buffer
        self._writing = asyncio.Lock()
        sys.stdout = sys.stderr
        threading.Thread(target=self._read, args=(sys.stdin.buffer,), name="acp input", daemon=True).start()

    def _read(self, source: BinaryIO) -> None:
        # A thread, not the loop: standard input may be a file, which no loop can watch.
        line = b"\n"
        while line:
            try:
                line = source.readline(LINE_BYTES)
            except (OSError, ValueError):
                line = b""
            try:
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            except RuntimeError:  # the loop is closed
                return

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message, ``None`` at the end of the input."""
        while True:
            line = await self._lines.get()
            if not line:
                return None
            if not line.strip():
                continue
            try:
                message: Any = json.loads(line)
            except (ValueError, RecursionError) as error:
                log.warning("a line of the editor is not JSON: %s", error)
                continue
            if isinstance(message, dict) and not isinstance(message.get("method", ""), str):
                log.warning("a message of the editor has a method that is no text")
            elif isinstance(message, dict):
                return message
            else:
                log.warning("a line of the editor is no JSON object")

    async def send(self, message: dict[str, Any]) -> None:
        """Write one message. Raises ``ConnectionError`` when nobody reads any more."""
        data = json.dumps(message, separators=(",", ":")).encode("utf-8") + b"\n"
        async with self._writing:
            try:
                await asyncio.to_thread(self._write, data)
            except (OSError, ValueError) as error:
                raise ConnectionError("the editor does not read any more") from error

    def _write(self, data: bytes) -> None:
        self._out.write(data)
        self._out.flush()

    async def close(self) -> None:
        """Nothing has to be closed: both streams end with the process."""
