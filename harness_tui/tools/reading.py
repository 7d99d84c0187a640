"""Turns a file on disk into numbered lines for a model, within limits, whatever the file is.

Small files are read whole, so that their hash is known and they can be edited; larger ones are walked through in
blocks, so that any part of a long log can be seen. Only the lines that are shown become text: a file may have millions,
and one odd character makes four bytes of each of its letters. Blocks: call it in a thread.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.limits import LINE_CHARS, MIB, READ_BYTES, TOOL_OUTPUT_BYTES, TOOL_OUTPUT_LINES
from harness_tui.core.nofollow import MovedError, open_file
from harness_tui.core.paths import irregular, read_regular
from harness_tui.core.record import record
from harness_tui.tools.text_file import binary_error, marked_encoding, split_lines

_WALK_BYTES: Final = 512 * MIB
_BLOCK: Final = MIB
_KEPT_BYTES: Final = LINE_CHARS * 4
"""So much of a line is kept: no character takes more bytes."""

_STRIDE: Final = 64 * 1024
_BYTE_ENDS: Final = re.compile(rb"\r\n|\r|\n")


@record
class Window:
    """The lines from ``first`` on (counted from 1). ``total`` is ``None`` where the file was not walked to its end.

    ``beyond`` says of the lines that were too long how many bytes are not in ``lines``, by their place there.
    """

    lines: list[str]
    first: int
    total: int | None
    valid: bool
    beyond: dict[int, int] = field(default_factory=dict[int, int])


def load(path: Path, where: str) -> bytes | None:
    """Return the bytes of a regular file, ``None`` when it is too large to be held.

    Raises ``MovedError`` when the path leads elsewhere than when it was resolved, else ``ToolError``.
    """
    try:
        return read_regular(path, max_bytes=READ_BYTES, follow=False)
    except MovedError:
        raise
    except HarnessError as error:
        if error.code == "too-large":
            return None
        raise ToolError(error.what, where=where, code=error.code) from error


def window_of(data: bytes, where: str, *, offset: int, limit: int) -> Window:
    """Return ``limit`` lines of a file's bytes from line ``offset`` on. Raises ``ToolError`` for a binary file."""
    bom, encoding = marked_encoding(data)
    if encoding is None or (encoding == "utf-8" and b"\0" in data):
        raise binary_error(where, len(data))
    if encoding.startswith(("utf-16", "utf-32")):
        try:
            return _wide_window(memoryview(data)[len(bom) :], encoding, offset, limit)
        except UnicodeDecodeError as error:
            raise binary_error(where, len(data)) from error
    found = _spans(data, len(bom), offset, limit)
    return _decoded(
        ((data[start : min(end, start + _KEPT_BYTES)], end - start) for start, end in found),
        encoding,
        offset,
        _count(data, len(bom)),
    )


def _wide_window(data: memoryview, encoding: str, offset: int, limit: int) -> Window:
    """Return lines of a text of two or four bytes a character, decoded piece by piece: as a whole it is much larger."""
    decoder = codecs.getincrementaldecoder(encoding)()
    lines: list[str] = []
    number, rest = 1, ""  # the line that goes on, and its beginning
    for start in range(0, len(data), _BLOCK):
        is_last = start + _BLOCK >= len(data)
        text = rest + decoder.decode(bytes(data[start : start + _BLOCK]), is_last)
        held = "\r" if text.endswith("\r") and not is_last else ""  # its line feed may follow
        text = text.removesuffix(held)
        last_end = max(text.rfind("\n"), text.rfind("\r")) + 1
        text, rest = text[:last_end], text[last_end:] + held
        ends = text.count("\n") + text.count("\r") - text.count("\r\n")
        if number + ends > offset and len(lines) < limit:
            lines += split_lines(text)[max(0, offset - number) :][: limit - len(lines)]
        number += ends
    if rest and offset <= number and len(lines) < limit:
        lines.append(rest)
    return Window(lines, offset, number if rest else number - 1, True)


def _spans(data: bytes, start: int, offset: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield where the lines lie in ``data``."""
    number = 1
    if b"\r" not in data:
        while number + (ends := data.count(b"\n", start, start + _STRIDE)) < offset and start + _STRIDE < len(data):
            start, number = start + _STRIDE, number + ends  # within a line before the wanted ones
        while number < offset + limit and start < len(data):
            end = data.find(b"\n", start)
            end = len(data) if end < 0 else end
            if number >= offset:
                yield start, end
            start, number = end + 1, number + 1
        return
    for match in _BYTE_ENDS.finditer(data, start):
        if number >= offset + limit:
            return
        if number >= offset:
            yield start, match.start()
        start, number = match.end(), number + 1
    if start < len(data) and offset <= number < offset + limit:
        yield start, len(data)


def _count(data: bytes, start: int) -> int:
    ends = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
    return ends + (len(data) > start and data[-1:] not in (b"\n", b"\r"))


def walk(path: Path, where: str, *, offset: int, limit: int) -> Window:
    """Return lines of a large file without holding it; lines end at ``\\n`` here. Raises as :func:`load`."""
    descriptor = open_file(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise ToolError(irregular(mode), where=where, code="not-regular")
        number, walked = 1, 0
        rest, size = b"", 0  # the beginning of the line that goes on, and how many bytes it has so far
        found: list[tuple[bytes, int]] = []
        while walked < _WALK_BYTES and len(found) < limit:
            block = file.read(_BLOCK)
            if not block:
                if size and number >= offset:
                    found.append((rest, size))
                return _decoded(found[:limit], "utf-8", offset, number if size else number - 1)
            if b"\0" in block:
                raise ToolError("this is a large binary file", where=where, code="binary")
            walked += len(block)
            ends = block.count(b"\n")
            if number + ends < offset:  # nothing of it is wanted
                number, rest, size = (
                    number + ends,
                    b"",
                    len(block) - 1 - block.rfind(b"\n") if ends else size + len(block),
                )
                continue
            if not ends:
                rest, size = (rest + block[:_KEPT_BYTES])[:_KEPT_BYTES], size + len(block)
                continue
            first, *others = block.split(b"\n")
            pieces = [
                ((rest + first[:_KEPT_BYTES])[:_KEPT_BYTES], size + len(first)),
                *((each, len(each)) for each in others),
            ]
            rest, size = pieces.pop()
            found += pieces[max(0, offset - number) :]
            number += len(pieces)
    if not found and size and number >= offset:  # a line that does not end within reach
        found.append((rest, size))
    if not found:
        raise ToolError(
            f"line {offset} lies more than {_WALK_BYTES // MIB} MiB into the file",
            where=where,
            mend="use bash with tail, sed or grep",
            code="too-large",
        )
    return _decoded(found[:limit], "utf-8", offset, None)


def _decoded(found: Iterable[tuple[bytes, int]], encoding: str, first: int, total: int | None) -> Window:
    """Decode lines, of which ``(beginning, size)`` is known; a character that the cut divides is left out."""
    lines: list[str] = []
    beyond: dict[int, int] = {}
    valid = True
    for place, (data, size) in enumerate(found):
        kept = data[:_KEPT_BYTES]
        try:
            text = kept.decode(encoding)
        except UnicodeDecodeError as error:
            if size > len(kept) and error.start >= len(kept) - 3:
                text = kept[: error.start].decode(encoding)
            else:
                text, valid = kept.decode(encoding, "replace"), False
        if size > len(kept):
            text = text[:LINE_CHARS]
            beyond[place] = size - len(text.encode(encoding, "replace"))
        lines.append(text.removesuffix("\r"))
    return Window(lines, first, total, valid, beyond)


def numbered(window: Window, *, most: int = TOOL_OUTPUT_LINES) -> tuple[str, int, int]:
    """Return the lines with their numbers, how many of them fit the limits, and how many of them were cut.

    There are ``most`` of them at most.
    """
    shown: list[str] = []
    size = cut = 0
    for place, line in enumerate(window.lines[:most]):
        if place in window.beyond:
            cut += 1
            line = f"{line}[... {window.beyond[place]} bytes left out]"
        elif len(line) > LINE_CHARS:
            cut += 1
            line = f"{line[:LINE_CHARS]}[... {len(line) - LINE_CHARS} characters left out]"
        text = f"{window.first + place:>6}\t{line}"
        size += len(text.encode("utf-8", "replace")) + 1
        if size > TOOL_OUTPUT_BYTES and shown:
            break
        shown.append(text)
    return "\n".join(shown), len(shown), cut
