"""Files that a message mentions: found, asked for, read, attached once each. The text stays as it was written."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import stat
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from harness_tui.config.bundled_rules import SECRET_FILES
from harness_tui.core.errors import HarnessError
from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.limits import ATTACHMENT_BYTES, ATTACHMENT_LINES, DIRECTORY_ENTRIES, MIB
from harness_tui.core.messages import Attachment
from harness_tui.core.nofollow import open_file
from harness_tui.core.paths import expand, is_inside, name_in, resolve
from harness_tui.core.text import clean_for_display

ReadGate: TypeAlias = Callable[[Path], Awaitable[bool]]
"""Says whether a real path may be read for an attachment; asked for every one."""

MENTIONS: Final = 200
IMAGE_BYTES: Final = 10 * MIB

Lines: TypeAlias = tuple[int, int]
"""The first and the last line of a part of a file, counted from 1."""

_TRAILING: Final = ".:!?)]}"
_LINES: Final = late_pattern(r"(.+)#L(\d{1,9})(?:-L?(\d{1,9}))?", re.DOTALL)
_PLAIN: Final = late_pattern(r"[^\s\"'`<>|*?,;@][^\s\"'`<>|*?,;]*")
_UNWRITABLE: Final = late_pattern(r"[\"\n]")
_LINE_PIECE: Final = 64 * 1024
_LINES_WITHIN: Final = 64 * MIB
_PATH_CHARS: Final = 4096
_BINARY_BYTES: Final = 8192
PDF: Final = "application/pdf"
_IMAGES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", PDF),
)


def inside_only(root: Path) -> ReadGate:
    """Return the gate of those who can ask nobody: files inside ``root`` whose names tell of no secret."""

    async def may_read(path: Path) -> bool:
        return is_inside(path, root) and not any(fnmatchcase(path.name, pattern) for pattern in SECRET_FILES)

    return may_read


class MentionReader:
    """Reads the mentions of one message. ``root`` is a real path; what was not attached is told in :attr:`warnings`."""

    def __init__(self, root: Path, *, images: bool, agents: Collection[str] = ()) -> None:
        """``agents`` are those that a message may name as ``@agent``, where no file is called so."""
        self._root = root
        self._images = images
        self._agents = agents
        self._seen: set[tuple[Path, Lines | None] | str] = set()
        self._tried: set[str] = set()
        self.attachments: list[Attachment] = []
        self.warnings: list[str] = []

    async def attach(self, paths: Sequence[str], gate: ReadGate) -> None:
        """Attach what ``paths`` name, in order; each path once, whatever it is called."""
        for text in paths:
            if not text or text in self._tried:
                continue
            if len(self._tried) == MENTIONS:
                self.warnings.append(f"only the first {MENTIONS} mentions are looked at")
                return
            self._tried.add(text)
            await self._attach_one(text, gate)

    async def _attach_one(self, text: str, gate: ReadGate) -> None:
        found = await asyncio.to_thread(_locate, text, self._root)
        shown = clean_for_display(text, one_line=True)[:200]
        if found is None:
            self._name_agent(text, shown)
            return
        name, real, lines = found
        if (real, lines) in self._seen:
            return
        self._seen.add((real, lines))
        if not await gate(real):
            self.warnings.append(f"@{shown}: reading {clean_for_display(str(real), one_line=True)} is not allowed")
            return
        try:
            attachment = await asyncio.to_thread(read_attachment, real, name, images=self._images, lines=lines)
        except (HarnessError, OSError) as problem:
            reason = problem.what if isinstance(problem, HarnessError) else problem.strerror or str(problem)
            self.warnings.append(f"@{shown}: not attached, {reason}")
            return
        self.attachments.append(attachment)

    def _name_agent(self, text: str, shown: str) -> None:
        name = next((candidate for candidate in _candidates(text) if candidate in self._agents), None)
        if name is None:
            self.warnings.append(f"@{shown}: no such file or folder")
        elif name not in self._seen:
            self._seen.add(name)
            note = f"The person names the agent {name}: let it do this, with the tool task."
            self.attachments.append(Attachment("text", "text/plain", len(note), uri=f"agent:{name}", content=note))


def _locate(text: str, root: Path) -> tuple[str, Path, Lines | None] | None:
    """Return the name for people and the real path of what ``text`` mentions, and which lines of it are meant.

    It is looked for as a whole, then with its end trimmed; only then ``#L10-20`` at its end are lines.
    """
    for candidate in _candidates(text):
        if found := _there(candidate, root):
            return *found, None
    for candidate in _candidates(text):
        if (match := _LINES.fullmatch(candidate)) and (found := _there(match[1], root)):
            first = int(match[2])
            last = int(match[3] or first)
            marks = f"#L{first}" if last == first else f"#L{first}-{last}"
            return found[0] + marks, found[1], (first, last)
    return None


def _there(text: str, root: Path) -> tuple[str, Path] | None:
    try:
        path = expand(text, root)
        if os.path.exists(path):  # noqa: PTH110 - false, and no exception, for a name that is too long
            real = resolve(path, root)
            return (name_in(path, root) if ".." not in path.parts else name_in(real, root)), real
    except HarnessError:
        pass  # a path that cannot be one (a loop of links): the same as one that does not exist
    return None


def _candidates(text: str) -> Iterator[str]:
    if len(text) > _PATH_CHARS or "\x00" in text:
        return
    yield text
    while len(text) > 1 and text[-1] in _TRAILING:
        text = text[:-1]
        yield text


def mention_of(path: str) -> str | None:
    """Return how a message mentions ``path``, with the ``@``; ``None`` for one that cannot be written in a message."""
    if not path or clean_for_display(path) != path or _UNWRITABLE.search(path):
        return None
    if path.startswith("~") or ":" in path.partition("/")[0]:
        path = f"./{path}"  # else it would be read as another place, or as a resource of a server
    return f"@{path}" if _PLAIN.fullmatch(path) else f'@"{path}"'


def read_attachment(path: Path, name: str, *, images: bool, lines: Lines | None = None) -> Attachment:
    """Read a file or folder within the limits. Raises ``HarnessError`` or ``OSError`` when it cannot be attached.

    ``lines`` are the first and last line that are wanted of a text, counted from 1.
    ``path`` is resolved. The file is opened without following links and checked on its descriptor, so that it is the
    one that was allowed, and a FIFO or device never hangs.
    """
    descriptor = open_file(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            if lines is not None:
                raise HarnessError("a folder has no lines", where=name)
            return _listing(descriptor, name)
        if not stat.S_ISREG(status.st_mode):
            raise HarnessError("not a regular file", where=name)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            if lines is not None:
                return _read_lines(file, name, lines)
            return _read_file(file, status.st_size, name, images=images)
    finally:
        os.close(descriptor)


def _read_file(file: BinaryIO, size: int, name: str, *, images: bool) -> Attachment:
    head = file.read(_BINARY_BYTES)
    mime = _image_type(head)
    if mime is not None:
        what, kind = ("a PDF", "resource") if mime == PDF else ("an image", "image")
        if not images:
            raise HarnessError("the model takes no images and no PDF", where=name)
        if size > IMAGE_BYTES:
            raise HarnessError(f"{what} of more than {IMAGE_BYTES // MIB} MiB", where=name)
        data = head + file.read(IMAGE_BYTES)
        return Attachment(kind, mime, len(data), path=name, content=base64.b64encode(data).decode("ascii"))
    if b"\x00" in head:
        raise HarnessError("a binary file", where=name)
    data = head + file.read(ATTACHMENT_BYTES + 1 - len(head))
    return _text(data, max(size, len(data)), name)


def _read_lines(file: BinaryIO, name: str, lines: Lines) -> Attachment:
    first, last = lines
    if not 1 <= first <= last:
        raise HarnessError("lines are counted from 1, the first one first", where=name)
    found: list[bytes] = []
    number, read, kept = 1, 0, 0
    while number <= last and (piece := file.readline(_LINE_PIECE)):
        read += len(piece)
        if b"\x00" in piece:
            raise HarnessError("a binary file", where=name)
        if read > _LINES_WITHIN:
            raise HarnessError(f"only lines in the first {_LINES_WITHIN // MIB} MiB can be named", where=name)
        if number >= first and kept <= ATTACHMENT_BYTES:
            found.append(piece)
            kept += len(piece)
        number += piece.endswith(b"\n")
    if not found:
        raise HarnessError(f"the file ends before line {first}", where=name)
    return _text(b"".join(found), kept, name)


def _image_type(head: bytes) -> str | None:
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for magic, mime in _IMAGES if head.startswith(magic)), None)


def _text(data: bytes, size: int, name: str) -> Attachment:
    cut = len(data) > ATTACHMENT_BYTES
    # A character that the limit cuts in two is left out; other bytes that are no text are replaced.
    text = data[:ATTACHMENT_BYTES].decode("utf-8", "replace")
    text = text.rstrip("\ufffd") if cut else text
    lines = text.splitlines(keepends=True)
    if cut or len(lines) > ATTACHMENT_LINES:
        head = "".join(lines[:ATTACHMENT_LINES])
        kept = len(head.encode("utf-8", "replace"))
        joint = "" if head.endswith("\n") else "\n"
        note = f"[... truncated: the first {kept} of {size} bytes are attached ...]"
        return Attachment("text", "text/plain", size, path=name, truncated=True, content=f"{head}{joint}{note}")
    return Attachment("text", "text/plain", size, path=name, content=text)


def _listing(descriptor: int, name: str) -> Attachment:
    with os.scandir(descriptor) as entries:
        names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries)
    lines = [clean_for_display(entry, one_line=True) for entry in names[:DIRECTORY_ENTRIES]]
    left = len(names) - len(lines)
    if left:
        lines.append(f"[... {left} more entries ...]")
    text = "\n".join(lines) or "(empty)"
    size = len(text.encode("utf-8", "replace"))
    return Attachment("directory", "inode/directory", size, path=name, truncated=True if left else None, content=text)
