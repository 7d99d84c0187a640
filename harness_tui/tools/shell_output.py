"""The output of a command while it runs: kept in memory and on disk, and told to front ends in pieces."""

from __future__ import annotations

import asyncio
import codecs
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from harness_tui.core.events import Event, ToolProgress
from harness_tui.core.limits import KIB, MIB, TOOL_OUTPUT_BYTES, TOOL_OUTPUT_LINES
from harness_tui.core.outputs import Limited, create_output, limit_output
from harness_tui.core.redaction import mask
from harness_tui.core.text import cut_ends, cut_middle, followed_by

FILE_BYTES: Final = 256 * MIB
"""What is kept on disk of one command at most: a flood must not fill the disk."""

_ENDS_BYTES: Final = 256 * KIB
_LINE_BYTES: Final = 64 * KIB
"""Of a line that does not end so much waits for its end; a secret is shorter."""
_FIRST_INTERVAL_S: Final = 0.1
_LATER_INTERVAL_S: Final = 0.5
_LATER_PIECE: Final = 4 * KIB


class CommandOutput:
    """What a command writes: short output in memory, longer output on disk as it comes, within a limit of bytes.

    The file is ``folder/{name}.txt``, made when it is needed. Secrets are covered in it, so the last line goes there
    when it is complete. One reader adds, anybody may ask for a part.
    """

    def __init__(self, folder: Path, name: str, *, most: int = FILE_BYTES) -> None:
        self._folder = folder
        self._name = name
        self._most = most
        self._head = bytearray()
        self._tail = bytearray()
        self._descriptor: int | None = None
        self._written = 0
        self._line = b""  # the last one, as far as it came
        self._problem: str | None = None
        self._closed = False
        self._writing = threading.Lock()
        self.path: Path | None = None
        self.size = 0

    async def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self.size += len(data)
        self._head += data[: _ENDS_BYTES - len(self._head)]
        if self.size <= _ENDS_BYTES:
            return
        if self.path is None and self._problem is None:
            # Nothing was written yet: what came before `data` is in the head, all of it.
            data = bytes(self._head[: self.size - len(data)]) + data
        self._tail += data
        del self._tail[:-_ENDS_BYTES]
        await asyncio.to_thread(self._write, data)

    async def finish(self) -> None:
        """Write the last line, which nothing follows any more."""
        if self._line:
            await asyncio.to_thread(self._write, b"", is_last=True)

    async def part(self, start: int = 0, *, notes: str = "") -> tuple[Limited, int]:
        """Return what was written from the byte ``start`` on, then ``notes``, within the limits, and where it ended."""
        end = self.size
        if end <= _ENDS_BYTES:
            text = self._head[start:end].decode("utf-8", "replace")
            limited = await asyncio.to_thread(limit_output, text, folder=self._folder, name=self._name, notes=notes)
            return limited, end
        return await asyncio.to_thread(self._part_of_long, start, end, bytes(self._tail), notes), end

    def close(self) -> None:
        """Close the file; nothing is added any more. Does not wait: a thread that still writes closes it itself."""
        self._closed = True
        self._close_unless_used()

    def _close_unless_used(self) -> None:
        # Never under a writer's hands: the number of the descriptor would be another file's.
        if self._writing.acquire(blocking=False):
            descriptor, self._descriptor = self._descriptor, None
            self._writing.release()
            if descriptor is not None:
                try:
                    self._put(descriptor, mask(self._line))
                except OSError as error:
                    self._problem = error.strerror or str(error)
                finally:
                    self._line = b""
                    os.close(descriptor)

    def _write(self, data: bytes, *, is_last: bool = False) -> None:
        try:
            with self._writing:
                if self.path is None and self._problem is None and not self._closed:
                    self._descriptor, self.path = create_output(self._folder, self._name)
                if self._descriptor is None:
                    return
                data = self._line + data
                end = len(data) if is_last else max(data.rfind(b"\n") + 1, len(data) - _LINE_BYTES)
                self._line = data[end:] if self._written + end < self._most else b""
                self._put(self._descriptor, mask(data[:end]))
        except OSError as error:
            self._problem = error.strerror or str(error)
        if self._closed:
            self._close_unless_used()

    def _put(self, descriptor: int, data: bytes) -> None:
        piece = data[: self._most - self._written]
        while piece:
            done = os.write(descriptor, piece)
            self._written += done
            piece = piece[done:]

    @property
    def _kept(self) -> int:
        return min(self._most, self._written + (len(self._line) if self._problem is None else 0))

    def _part_of_long(self, start: int, end: int, tail: bytes, notes: str) -> Limited:
        size = end - start
        where = f"[{self._where()}]"
        most = {"max_bytes": TOOL_OUTPUT_BYTES, "max_lines": TOOL_OUTPUT_LINES}
        if size <= len(tail):
            text = tail[len(tail) - size :].decode("utf-8", "replace")
            cut = cut_middle(text, **most, note=where, after=notes)
        else:
            first, last = (data.decode("utf-8", "replace") for data in (self._read(start, _ENDS_BYTES), tail))
            cut = cut_ends(first, last, size, **most, note=followed_by(where, notes))
        if not cut.omitted:
            return Limited(cut.text, None, size)
        return Limited(cut.text, str(self.path) if self.path is not None else None, self._kept)

    def _where(self) -> str:
        if self._kept == self.size:
            return f"the whole, {self.size} bytes, is in {self.path}"
        if self._kept:
            why = f": {self._problem}" if self._problem else ""
            return f"the first {self._kept} of {self.size} bytes are in {self.path}, the rest was not kept{why}"
        return f"the whole, {self.size} bytes, could not be kept: {self._problem}"

    def _read(self, start: int, count: int) -> bytes:
        if start + count <= len(self._head):
            return bytes(self._head[start : start + count])
        if self.path is None:
            return bytes(self._head[start:])
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                return file.read(count)
        except OSError:
            return bytes(self._head[start:])


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
