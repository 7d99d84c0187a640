"""The one limit on what a tool gives to a model, and the file that keeps the whole.

``tools`` and ``mcp`` both end here, so that cut output looks the same wherever it comes from. The whole is kept before
anything enters the history; the text that goes on says where it is.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from pathlib import Path
from typing import Final

from harness_tui.core.limits import TOOL_OUTPUT_BYTES, TOOL_OUTPUT_LINES
from harness_tui.core.paths import make_private_folder
from harness_tui.core.record import record
from harness_tui.core.redaction import mask
from harness_tui.core.text import cut_middle, fits, followed_by

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")
_NAME_CHARS: Final = 80
_NAME_TRIES: Final = 1_000


@record
class Limited:
    """Text within the limits. ``path`` is the file with the whole, ``None`` when nothing was cut (or nothing could be
    kept, which ``text`` tells); ``bytes`` is the size of the whole in UTF-8."""

    text: str
    path: str | None
    bytes: int


def limit_output(
    text: str,
    *,
    folder: Path,
    name: str,
    max_bytes: int = TOOL_OUTPUT_BYTES,
    max_lines: int = TOOL_OUTPUT_LINES,
    notes: str = "",
) -> Limited:
    """Return ``text`` with ``notes`` after it, both together within the limits.

    Only ``text`` is ever cut; the whole of it goes to ``folder/{name}.txt`` first, and a further note says so.

    ``folder`` is created with mode 0700, the file has 0600. ``name`` may be any text (ids of calls come from outside):
    what does not fit a file name is replaced, and an existing file is never written over. In the file secrets are
    covered. Does file work: call it in a thread where ``text`` may be long.
    """
    data = text.encode("utf-8", "backslashreplace")
    told = followed_by(text, notes)
    if fits(told, max_bytes=max_bytes, max_lines=max_lines):
        return Limited(told, None, len(data))
    path: Path | None = None
    try:
        path = _keep(mask(data), folder, name)
        where = f"[the whole, {len(data)} bytes, is in {path}]"
    except OSError as error:
        where = f"[the whole, {len(data)} bytes, could not be kept: {error.strerror or error}]"
    cut = cut_middle(text, max_bytes=max_bytes, max_lines=max_lines, note=where, after=notes)
    return Limited(cut.text, None if path is None else str(path), len(data))


def _file_stem(name: str) -> str:
    safe = _UNSAFE.sub("_", name)[:_NAME_CHARS]
    if safe == name and safe:
        return safe
    mark = hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{safe}-{mark}"


def create_output(folder: Path, name: str) -> tuple[int, Path]:
    """Create the file that keeps an output, ``folder/{name}.txt``, and return its descriptor and path.

    As for :func:`limit_output`: ``name`` may be any text, and an existing file is never written over. Raises
    ``OSError``.
    """
    make_private_folder(folder)
    stem = _file_stem(name)
    for number in range(1, _NAME_TRIES):
        path = folder / (f"{stem}.txt" if number == 1 else f"{stem}-{number}.txt")
        with contextlib.suppress(FileExistsError):
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), path
    raise FileExistsError(0, f"{_NAME_TRIES} outputs are named {stem}")


def _keep(data: bytes, folder: Path, name: str) -> Path:
    descriptor, path = create_output(folder, name)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    return path
