"""Server-sent events from bytes, with limits: what a server sends is never kept without bound.

Servers say that an answer failed in three ways: an ``error`` in the data, an event called ``error``, and (llama.cpp)
a field of that name. All three come out as data with an ``error``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Final, cast

from harness_tui.core.limits import MIB

LINE_BYTES: Final = 16 * MIB
DONE: Final = "[DONE]"

_BOM: Final = b"\xef\xbb\xbf"
_SHOWN_CHARS: Final = 200


class TooLongError(ValueError):
    """A line or an event over the limit."""


class NoEventsError(ValueError):
    """Something came, and nothing of it was an event; the text is how it begins."""


async def data_of(chunks: AsyncIterator[bytes], *, line_bytes: int = LINE_BYTES) -> AsyncGenerator[str, None]:
    """Yield the data of each event; comments and other fields are skipped.

    Lines end with LF, CRLF or CR. An event needs no empty line at the end of the stream: a server that forgets
    it has still said it. Where the end comes in the middle of a line, only what is whole is yielded. Raises
    :class:`TooLongError`, and :class:`NoEventsError` at the end of what was no stream of events.
    """
    buffer, event, stray = bytearray(), _Event(), ""
    known = False
    async for chunk in _without_mark(chunks):
        buffer += chunk
        while (end := _line_end(buffer)) is not None:
            line = bytes(buffer[: end[0]])
            del buffer[: end[1]]
            if not line:
                if (data := event.data()) is not None:
                    yield data
                event = _Event()
                continue
            understood = event.take(line)
            known = known or understood
            stray = stray if known or stray else line.decode("utf-8", "replace")[:_SHOWN_CHARS]
            if event.size > line_bytes:
                raise TooLongError(f"an event is longer than {line_bytes} bytes")
        if len(buffer) > line_bytes:
            raise TooLongError(f"a line is longer than {line_bytes} bytes")
    last = bytes(buffer).rstrip(b"\r")
    if last:
        understood = event.take(last)
        known = known or understood
        stray = stray if known or stray else last.decode("utf-8", "replace")[:_SHOWN_CHARS]
    data = event.data()
    if data is not None and (not last or _is_whole(data)):
        yield data
    if stray.strip() and not known:
        raise NoEventsError(stray)


class _Event:
    """The lines of one event."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._failed = False
        self.size = 0

    def take(self, line: bytes) -> bool:
        """Take one line; false for one that no event has."""
        name, _, value = line.partition(b":")
        match name:
            case b"data" | b"error":
                self._lines.append(value.removeprefix(b" ").decode("utf-8", "replace"))
                self._failed = self._failed or name == b"error"
                self.size += len(line)
            case b"event":
                self._failed = value.strip() == b"error"
            case b"" | b"id" | b"retry":
                pass
            case _:
                return False
        return True

    def data(self) -> str | None:
        if not self._lines:
            return None
        text = "\n".join(self._lines)
        return _as_error(text) if self._failed else text


def _as_error(text: str) -> str:
    try:
        said: Any = json.loads(text)
    except (ValueError, RecursionError):
        said = text
    if isinstance(said, dict) and cast(dict[str, Any], said).get("error"):
        return text
    return json.dumps({"error": said})


def _is_whole(data: str) -> bool:
    if data.strip() == DONE:
        return True
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


async def _without_mark(chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Leave out a byte order mark at the very beginning."""
    begin: bytes | None = b""
    async for chunk in chunks:
        if begin is None:
            yield chunk
            continue
        begin += chunk
        if len(begin) >= len(_BOM) or not _BOM.startswith(begin):
            yield begin.removeprefix(_BOM)
            begin = None
    if begin:
        yield begin


def _line_end(buffer: bytearray) -> tuple[int, int] | None:
    """Return where the first line ends and the next one starts; a CR at the very end may be half of a CRLF."""
    feed = buffer.find(b"\n")
    back = buffer.find(b"\r", 0, feed if feed >= 0 else len(buffer))
    if back >= 0 and back + 1 < len(buffer):
        return (back, back + 2) if buffer[back + 1] == 0x0A else (back, back + 1)
    if back >= 0:
        return None
    return (feed, feed + 1) if feed >= 0 else None
