"""A document's text as the protocol counts it: lines, and columns in the encoding that was agreed on.

Lines end at ``\n``, ``\r\n`` and ``\r`` only. ``str.splitlines`` also cuts at form feeds and U+2028, which shifts every
number after them.
"""

from __future__ import annotations

import re
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import digest, read_regular
from harness_tui.core.record import record

DOCUMENT_BYTES: Final = MIB
PositionEncoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END: Final = re.compile("\r\n|\n|\r")
_BOM: Final = b"\xef\xbb\xbf"
_LONE_RETURN: Final = re.compile("\r(?!\n)")


class NotADocumentError(HarnessError):
    """A file that no server is shown; ``what`` says why. ``code`` is ``missing`` when it is not there."""


@record
class FileStamp:
    """What tells without reading that a file was written: change time in ns, size, inode.

    ``moved_ns`` is when it was last written or got its name, which is no sign of other bytes.
    """

    modified_ns: int
    size: int
    inode: int
    moved_ns: int = field(default=0, compare=False)


@record
class Snapshot:
    """A file's text (without byte order mark), the SHA-256 of its bytes, and its stamp."""

    text: str
    digest: str
    stamp: FileStamp


def stamp_of(path: Path) -> FileStamp | None:
    """Return the stamp of ``path``, ``None`` when it is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return FileStamp(status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns)


def read_snapshot(path: Path, *, max_bytes: int = DOCUMENT_BYTES) -> Snapshot:
    """Read a document from disk. Raises :class:`NotADocumentError` for what is missing, too large or not UTF-8 text."""
    # The stamp is taken first: a write in between makes the next look find a difference, never hides one.
    stamp = stamp_of(path)
    if stamp is None:
        raise NotADocumentError("the file is not there", where=str(path), code="missing")
    try:
        data = read_regular(path, max_bytes=max_bytes)
    except HarnessError as error:
        raise NotADocumentError(error.what, where=str(path), code=error.code) from error
    if b"\0" in data:
        raise NotADocumentError("the file is binary", where=str(path), code="binary")
    try:
        text = data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotADocumentError("the file is not UTF-8", where=str(path), code="encoding") from error
    return Snapshot(text, digest(data), stamp)


def split_lines(text: str) -> list[str]:
    """Return the lines of ``text`` without their ends; there is always at least one."""
    return _LINE_END.split(text)


def code_point_column(line: str, character: int, encoding: PositionEncoding) -> int:
    """Return the 1-based column, in code points, of the 0-based ``character`` in units of ``encoding``.

    Beyond the line it is the end of the line; inside a character it is that character.
    """
    if character <= 0:
        return 1
    if encoding == "utf-32" or line.isascii():
        return min(character, len(line)) + 1
    units = 0
    for index, letter in enumerate(line):
        units += len(letter.encode("utf-8", "replace")) if encoding == "utf-8" else (2 if ord(letter) > 0xFFFF else 1)
        if units > character:
            return index + 1
    return len(line) + 1


def character_of(line: str, column: int, encoding: PositionEncoding) -> int:
    """Return the 0-based character, in units of ``encoding``, of the 1-based ``column`` in code points."""
    before = line[: max(0, column - 1)]
    if encoding == "utf-8":
        return len(before.encode("utf-8", "replace"))
    return len(before) if encoding == "utf-32" else len(before.encode("utf-16-le", "replace")) // 2


def changed_range(old: str, new: str, encoding: PositionEncoding) -> dict[str, Any] | None:
    """Return the one ``contentChanges`` entry of whole lines that makes ``new`` of ``old``.

    ``None`` where lines cannot be told apart cheaply: a carriage return that ends a line by itself.
    """
    if _LONE_RETURN.search(old) or _LONE_RETURN.search(new):
        return None
    before, after = old.split("\n"), new.split("\n")
    most = min(len(before), len(after))
    start = next((place for place in range(most) if before[place] != after[place]), most)
    end = next((place for place in range(most - start) if before[-1 - place] != after[-1 - place]), most - start)
    if start == most == len(before) == len(after):
        return {"range": _range((0, 0), (0, 0)), "text": ""}
    if end:  # whole lines up to the start of the first one that is the same again
        text = "".join(f"{line}\n" for line in after[start : len(after) - end])
        return {"range": _range((start, 0), (len(before) - end, 0)), "text": text}
    if start == most:  # lines were added at the end, or taken away: the last common one goes with them
        start -= 1
    last = len(before) - 1
    stop = (last, character_of(before[last], len(before[last]) + 1, encoding))
    return {"range": _range((start, 0), stop), "text": "\n".join(after[start:])}


def _range(start: tuple[int, int], end: tuple[int, int]) -> dict[str, Any]:
    return {name: {"line": line, "character": at} for name, (line, at) in (("start", start), ("end", end))}
