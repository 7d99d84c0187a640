"""The pipes of a child on the event loop: readers with a limit, a writer, and the ring that keeps standard error.

Standard error is always drained: a child that talks a lot there must neither block nor fill memory.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import IO, Final

from harness_tui.children.stderr_log import StderrLog
from harness_tui.core.limits import STDERR_RING_BYTES, STDERR_TAIL_LINES
from harness_tui.core.text import clean_for_display

_PIPE_DRAIN_S: Final = 0.25


class ErrorRing:
    """The last bytes of a standard error."""

    def __init__(self, size: int = STDERR_RING_BYTES) -> None:
        self._size = size
        self._data = bytearray()

    def append(self, data: bytes) -> None:
        """Keep ``data``, and forget what is too old."""
        self._data += data
        if len(self._data) > self._size:
            del self._data[: len(self._data) - self._size]

    def tail(self) -> str:
        """Return the last lines, cleaned for display."""
        text = clean_for_display(self._data.decode("utf-8", "replace"))
        return "\n".join(text.rstrip().split("\n")[-STDERR_TAIL_LINES:])


class ReadPipe(asyncio.StreamReaderProtocol):
    """One pipe from a child. ``closed`` is set when its last holder closed it, or we did."""

    def __init__(self, limit: int) -> None:
        self.reader = asyncio.StreamReader(limit=limit)
        super().__init__(self.reader)
        self.closed = asyncio.Event()
        self._pipe: asyncio.ReadTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; called by the loop."""
        assert isinstance(transport, asyncio.ReadTransport)
        self._pipe = transport
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the reader that nothing comes any more; called by the loop."""
        super().connection_lost(exc)
        self.closed.set()

    async def drain(self) -> None:
        """Take what is left in the pipe, for a moment at most, then close it.

        A reader that is not read from has paused the pipe: then there is nobody to wait for.
        """
        if self._pipe is not None and not self.closed.is_set() and self._pipe.is_reading():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.closed.wait(), _PIPE_DRAIN_S)
        self.close()

    def close(self) -> None:
        """Close our end; the reader sees the end of the file."""
        if self._pipe is not None:
            self._pipe.close()


class _RingPipe(asyncio.Protocol):
    def __init__(self, ring: ErrorRing, log: StderrLog | None) -> None:
        self._ring = ring
        self._log = log

    def data_received(self, data: bytes) -> None:
        self._ring.append(data)
        if self._log is not None:
            self._log.append(data)


async def read_pipe(pipe: IO[bytes], limit: int) -> ReadPipe:
    """Connect a pipe from a child; ``limit`` in bytes is that of its ``StreamReader``."""
    _, protocol = await asyncio.get_running_loop().connect_read_pipe(lambda: ReadPipe(limit), pipe)
    return protocol


async def drain_to(ring: ErrorRing, log: StderrLog | None, pipe: IO[bytes]) -> asyncio.ReadTransport:
    """Read ``pipe`` for ever, keeping its end in ``ring`` and all of it in ``log``."""
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: _RingPipe(ring, log), pipe)
    return transport


async def write_pipe(pipe: IO[bytes]) -> asyncio.StreamWriter:
    """Connect a pipe to a child."""
    loop = asyncio.get_running_loop()
    # The stream protocol brings the flow control that StreamWriter.drain() waits for; nothing is ever read here.
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), pipe
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)
