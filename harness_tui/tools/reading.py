"""Turns a file on disk into numbered lines for a model, within limits, whatever the file is.

Small files are read whole, so that their hash is known and they can be edited; larger ones are walked through in
blocks, so that any part of a long log can be seen. Blocks: call it in a thread.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.limits import LINE_CHARS, MIB, READ_BYTES, TOOL_OUTPUT_BYTES, TOOL_OUTPUT_LINES
from harness_tui.core.nofollow import MovedError, open_file
from harness_tui.core.paths import read_regular
from harness_tui.tools.text_file import decode, split_lines

_WALK_BYTES: Final = 512 * MIB
_BLOCK: Final = MIB


@dataclass(frozen=True, slots=True)
class Window:
    """The lines from ``first`` on (counted from 1). ``total`` is ``None`` where the file was not walked to its end."""

    lines: list[str]
    first: int
    total: int | None
    valid: bool


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
    file = decode(data, where)
    lines = split_lines(file.for_model())
    return Window(lines[offset - 1 : offset - 1 + limit], offset, len(lines), file.valid)


def walk(path: Path, where: str, *, offset: int, limit: int) -> Window:
    """Return lines of a large file without holding it; lines end at ``\\n`` here. Raises as :func:`load`."""
    descriptor = open_file(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ToolError("not a regular file", where=where, code="not-regular")
        number, walked, rest = 1, 0, b""
        found: list[bytes] = []
        while walked < _WALK_BYTES and len(found) < limit:
            block = file.read(_BLOCK)
            if not block:
                if rest and number >= offset:
                    found.append(rest)
                total = number if rest else number - 1
                return _walked(found[:limit], offset, total)
            if b"\0" in block:
                raise ToolError("this is a large binary file", where=where, code="binary")
            walked += len(block)
            *whole, rest = (rest + block).split(b"\n")
            rest = rest[: LINE_CHARS * 8]  # a line that never ends takes no memory
            found += whole[max(0, offset - number) :] if number + len(whole) > offset else []
            number += len(whole)
    if not found:
        raise ToolError(
            f"line {offset} lies more than {_WALK_BYTES // MIB} MiB into the file",
            where=where,
            mend="use bash with tail, sed or grep",
            code="too-large",
        )
    return _walked(found[:limit], offset, None)


def _walked(found: list[bytes], offset: int, total: int | None) -> Window:
    lines = [line.decode("utf-8", "replace").removesuffix("\r") for line in found]
    return Window(lines, offset, total, all("\ufffd" not in line for line in lines))


def numbered(window: Window, *, most: int = TOOL_OUTPUT_LINES) -> tuple[str, int, int]:
    """Return the lines with their numbers, how many of them fit the limits, and how many characters were cut.

    There are ``most`` of them at most.
    """
    shown: list[str] = []
    size = cut = 0
    for number, line in enumerate(window.lines[:most], window.first):
        if len(line) > LINE_CHARS:
            cut += len(line) - LINE_CHARS
            line = f"{line[:LINE_CHARS]}[... {len(line) - LINE_CHARS} characters left out]"
        text = f"{number:>6}\t{line}"
        size += len(text.encode("utf-8", "replace")) + 1
        if size > TOOL_OUTPUT_BYTES and shown:
            break
        shown.append(text)
    return "\n".join(shown), len(shown), cut
