"""The output of a command while it runs: kept within memory, and told to front ends in pieces."""

from __future__ import annotations

import asyncio
import codecs
from collections import deque
from collections.abc import Callable
from typing import Final

from harness_tui.core.events import Event, ToolProgress
from harness_tui.core.limits import KIB, MIB, TOOL_OUTPUT_BYTES

_KEPT_BYTES: Final = 8 * MIB
_FIRST_INTERVAL_S: Final = 0.1
_LATER_INTERVAL_S: Final = 0.5
_LATER_PIECE: Final = 4 * KIB


class KeptOutput:
    """The first and the last 8 MiB of what a command writes; what lies between is counted."""

    def __init__(self, kept: int = _KEPT_BYTES) -> None:
        self._kept = kept
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.dropped = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        room = self._kept - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._kept:
            gone = self._tail.popleft()
            self._tail_size -= len(gone)
            self.dropped += len(gone)

    def text(self) -> str:
        """Return what was kept, decoded; bytes that are no UTF-8 are replaced."""
        joint = f"\n[... {self.dropped} bytes were not kept ...]\n".encode() if self.dropped else b""
        return (bytes(self._head) + joint + b"".join(self._tail)).decode("utf-8", "replace")


class ProgressPieces:
    """Joins output into few ``tool_progress`` events: ten a second at most, fewer and shorter ones in a flood."""

    def __init__(self, call: str, emit: Callable[[Event], None]) -> None:
        self._call = call
        self._emit = emit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting: list[str] = []
        self._sent = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, data: bytes) -> None:
        """Take the next bytes; they are told at the next tick."""
        text = self._decoder.decode(data)
        if not text:
            return
        self._waiting.append(text)
        if self._timer is None:
            interval = _FIRST_INTERVAL_S if self._sent < TOOL_OUTPUT_BYTES else _LATER_INTERVAL_S
            self._timer = asyncio.get_running_loop().call_later(interval, self.flush)

    def flush(self) -> None:
        """Tell what waits, now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        text = "".join(self._waiting)
        self._waiting.clear()
        if not text:
            return
        limit = _LATER_PIECE if self._sent >= TOOL_OUTPUT_BYTES else TOOL_OUTPUT_BYTES
        if len(text) > limit:
            text = f"[... {len(text) - limit} characters not shown ...]\n{text[-limit:]}"
        self._sent += len(text)
        self._emit(ToolProgress(self._call, output_delta=text))
