"""Content-Length framing, without input or output: bytes in, message bodies out.

Servers are not all well behaved: header names come in any case, one read may hold several messages or half a header,
and a launcher may print a line before the first message. What cannot be understood fails with a clear text, and never
makes the buffer grow without limit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import KIB, MIB
from harness_tui.core.text import clean_for_display, cut_end

JUNK_BYTES: Final = 8 * KIB
MESSAGE_BYTES: Final = 64 * MIB

# Searched, not matched: a launcher may print text without a line end right before the header.
_LENGTH: Final = re.compile(rb"content-length[ \t]*:[ \t]*([^\r\n]*?)[ \t]*$", re.IGNORECASE)
_HEADER: Final = re.compile(rb"content-type[ \t]*:", re.IGNORECASE)


class FramingError(HarnessError):
    """The stream cannot be followed any further."""


def frame(message: Mapping[str, Any]) -> bytes:
    """Return ``message`` as JSON with its header; the length counts bytes."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class FrameDecoder:
    """Cuts a byte stream into message bodies.

    Lines that are no header are skipped, up to ``JUNK_BYTES`` between two messages; ``skipped`` keeps the first one.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None
        self._in_body = False
        self._headers = 0
        self._junk = 0
        self.skipped = ""

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes as they come and return the bodies that are whole now. Raises :class:`FramingError`."""
        self._buffer += data
        bodies: list[bytes] = []
        while (body := self._next()) is not None:
            bodies.append(body)
        return bodies

    def _next(self) -> bytes | None:
        while not self._in_body:
            line_end = self._buffer.find(b"\n")
            if line_end < 0:
                if len(self._buffer) > JUNK_BYTES:
                    raise self._no_protocol(bytes(self._buffer[:200]))
                return None
            line = bytes(self._buffer[:line_end]).rstrip(b"\r")
            del self._buffer[: line_end + 1]
            self._take_line(line)
        length = self._length or 0
        if len(self._buffer) < length:
            return None
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        self._in_body, self._length, self._headers, self._junk = False, None, 0, 0
        return body

    def _take_line(self, line: bytes) -> None:
        if not line:
            if self._length is not None:
                self._in_body = True
            elif self._headers:
                raise FramingError("sent a message without Content-Length", code="framing")
            return
        found = _LENGTH.search(line)
        if found is not None:
            self._length = _read_length(found.group(1))
            return
        if _HEADER.match(line):
            self._headers += 1
            return
        self._junk += len(line) + 1
        self.skipped = self.skipped or _show(line)
        if self._junk > JUNK_BYTES:
            raise self._no_protocol(line)

    def _no_protocol(self, line: bytes) -> FramingError:
        shown = self.skipped or _show(line)
        return FramingError(f"writes something else than messages to its output: {shown}", code="framing")


def _read_length(digits: bytes) -> int:
    length = int(digits) if digits.isdigit() and len(digits) <= 12 else 0
    if not 0 < length <= MESSAGE_BYTES:
        raise FramingError(
            f"sent Content-Length {_show(digits) or '(empty)'}, which is not between 1 and {MESSAGE_BYTES}",
            code="framing",
        )
    return length


def _show(line: bytes) -> str:
    return cut_end(clean_for_display(line.decode("utf-8", "replace"), one_line=True), 200)
