"""Lines out of a byte stream in linear time, with a limit on each.

A server may send any number of bytes without a line end. Chunks are collected and joined once; a line over the limit is
dropped while it arrives, and only its two ends are kept: enough to find out which request it answered.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from harness_tui.core.record import record

KEPT_END_BYTES: Final = 4_096
"""What is kept of each end of an oversized line."""

_ID: Final = rb'"id"\s*:\s*(?:(?P<number>-?\d+)|"(?P<text>[^"\\]*)")'
_VERSION: Final = rb'"jsonrpc"\s*:\s*"2\.0"'
_ID_FIRST: Final = re.compile(rb"^\s*\{\s*(?:" + _VERSION + rb"\s*,\s*)?" + _ID)
_ID_LAST: Final = re.compile(_ID + rb"\s*(?:,\s*" + _VERSION + rb"\s*)?\}\s*$")
_METHOD_FIRST: Final = re.compile(rb"^\s*\{\s*(?:" + _VERSION + rb'\s*,\s*)?"method"\s*:')


@record
class Oversized:
    """A line that was dropped. ``size`` is its whole length in bytes."""

    size: int
    head: bytes
    tail: bytes

    @property
    def request_id(self) -> int | str | None:
        """The id of the request it answers, where it stands at either end of the message."""
        found = _ID_FIRST.search(self.head) or _ID_LAST.search(self.tail)
        if found is None:
            return None
        number, text = found["number"], found["text"]
        return int(number) if number is not None else text.decode("utf-8", "replace")

    @property
    def is_answer(self) -> bool:
        """Whether it may be an answer: it does not begin like a request or a notification."""
        return _METHOD_FIRST.search(self.head) is None


Line: TypeAlias = bytes | Oversized


class LineAssembler:
    """Cuts a byte stream into lines of at most ``limit`` bytes, line ends not counted and not kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._tail = b""

    def feed(self, chunk: bytes) -> list[Line]:
        """Take the next bytes and return the lines that they complete."""
        *ends, rest = chunk.split(b"\n")
        lines: list[Line] = []
        for piece in ends:
            self._add(piece)
            lines.append(self._take())
        self._add(rest)
        return lines

    def finish(self) -> list[Line]:
        """Return what is left after the last line end, if anything is."""
        return [self._take()] if self._size else []

    def _add(self, piece: bytes) -> None:
        if not piece:
            return
        within = self._size <= self._limit
        self._size += len(piece)
        if self._size <= self._limit:
            self._parts.append(piece)
            return
        if within:
            whole = b"".join([*self._parts, piece])
            self._parts = [whole[:KEPT_END_BYTES]]
            self._tail = whole[-KEPT_END_BYTES:]
        else:
            self._tail = (self._tail + piece[-KEPT_END_BYTES:])[-KEPT_END_BYTES:]

    def _take(self) -> Line:
        joined = b"".join(self._parts)
        line: Line = joined if self._size <= self._limit else Oversized(self._size, joined, self._tail)
        self._parts, self._size, self._tail = [], 0, b""
        return line
