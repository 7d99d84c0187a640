"""Files that a message mentions: found, asked for, read, attached once each. The text stays as it was written."""

from __future__ import annotations

import asyncio
import base64
import os
import stat
from collections.abc import Awaitable, Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from harness_tui.config.bundled_rules import SECRET_FILES
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import ATTACHMENT_BYTES, ATTACHMENT_LINES, DIRECTORY_ENTRIES, MIB
from harness_tui.core.messages import Attachment
from harness_tui.core.nofollow import open_file
from harness_tui.core.paths import expand, is_inside, name_in, resolve
from harness_tui.core.text import clean_for_display

ReadGate: TypeAlias = Callable[[Path], Awaitable[bool]]
"""Says whether a real path may be read for an attachment; asked for every one."""

MENTIONS: Final = 200
IMAGE_BYTES: Final = 10 * MIB

_TRAILING: Final = ".:!?)]}"
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

    def __init__(self, root: Path, *, images: bool) -> None:
        self._root = root
        self._images = images
        self._seen: set[Path] = set()
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
            self.warnings.append(f"@{shown}: no such file or folder")
            return
        name, real = found
        if real in self._seen:
            return
        self._seen.add(real)
        if not await gate(real):
            self.warnings.append(f"@{shown}: reading {clean_for_display(str(real), one_line=True)} is not allowed")
            return
        try:
            attachment = await asyncio.to_thread(read_attachment, real, name, images=self._images)
        except (HarnessError, OSError) as problem:
            reason = problem.what if isinstance(problem, HarnessError) else problem.strerror or str(problem)
            self.warnings.append(f"@{shown}: not attached, {reason}")
            return
        self.attachments.append(attachment)


def _locate(text: str, root: Path) -> tuple[str, Path] | None:
    """Return the name for people and the real path of what ``text`` mentions: as a whole, else with its end trimmed."""
    for candidate in _candidates(text):
        try:
            path = expand(candidate, root)
            if os.path.exists(path):  # noqa: PTH110 - false, and no exception, for a name that is too long
                real = resolve(path, root)
                return (name_in(path, root) if ".." not in path.parts else name_in(real, root)), real
        except HarnessError:
            continue  # a path that cannot be one (a loop of links): the same as one that does not exist
    return None


def _candidates(text: str) -> Iterator[str]:
    if len(text) > _PATH_CHARS or "\x00" in text:
        return
    yield text
    while len(text) > 1 and text[-1] in _TRAILING:
        text = text[:-1]
        yield text


def read_attachment(path: Path, name: str, *, images: bool) -> Attachment:
    """Read a file or folder within the limits. Raises ``HarnessError`` or ``OSError`` when it cannot be attached.

    ``path`` is resolved. The file is opened without following links and checked on its descriptor, so that it is the
    one that was allowed, and a FIFO or device never hangs.
    """
    descriptor = open_file(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            return _listing(descriptor, name)
        if not stat.S_ISREG(status.st_mode):
            raise HarnessError("not a regular file", where=name)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
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
