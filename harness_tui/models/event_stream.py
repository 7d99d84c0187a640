"""Server-sent events from bytes, with limits: what a server sends is never kept without bound."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

from harness_tui.core.limits import MIB

LINE_BYTES: Final = 16 * MIB
DONE: Final = "[DONE]"


class TooLongError(ValueError):
    """A line or an event over the limit."""


async def data_of(chunks: AsyncIterator[bytes], *, line_bytes: int = LINE_BYTES) -> AsyncGenerator[str, None]:
    """Yield the data of each event; comments and other fields are skipped. Raises :class:`TooLongError`.

    Lines end with LF, CRLF or CR. An event that the end of the stream cuts off is yielded too: a server that forgets
    the last empty line has still said it.
    """
    buffer, event, size = bytearray(), list[str](), 0
    async for chunk in chunks:
        buffer += chunk
        while (end := _line_end(buffer)) is not None:
            line = bytes(buffer[: end[0]])
            del buffer[: end[1]]
            if not line:
                if event:
                    yield "\n".join(event)
                event, size = [], 0
                continue
            field = _data(line)
            if field is not None:
                event.append(field)
                size += len(line)
            if size > line_bytes:
                raise TooLongError(f"an event is longer than {line_bytes} bytes")
        if len(buffer) > line_bytes:
            raise TooLongError(f"a line is longer than {line_bytes} bytes")
    last = _data(bytes(buffer).rstrip(b"\r"))
    if last is not None:
        event.append(last)
    if event:
        yield "\n".join(event)


def _line_end(buffer: bytearray) -> tuple[int, int] | None:
    """Return where the first line ends and the next one starts; a CR at the very end may be half of a CRLF."""
    feed = buffer.find(b"\n")
    back = buffer.find(b"\r", 0, feed if feed >= 0 else len(buffer))
    if back >= 0 and back + 1 < len(buffer):
        return (back, back + 2) if buffer[back + 1] == 0x0A else (back, back + 1)
    if back >= 0:
        return None
    return (feed, feed + 1) if feed >= 0 else None


def _data(line: bytes) -> str | None:
    name, _, value = line.partition(b":")
    if name != b"data":
        return None
    return value.removeprefix(b" ").decode("utf-8", "replace")
