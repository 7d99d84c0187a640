"""What a person has typed, in every session and project: brought back by the prompt's history and its search.

One JSON object a line, the newest last; appended under a lock, and cut back to the newest when it has grown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.config.locking import locked
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import make_private_folder, read_regular, write_atomic
from harness_tui.core.record import record
from harness_tui.core.redaction import redact

KEPT: Final = 1_000
"""So many texts are kept at least,"""
GROWN_BYTES: Final = 4 * MIB
"""and the file is cut back to them when it is larger than this."""
TEXT_CHARS: Final = 16_384
"""A longer text is not kept: it is in its session."""

_READ_BYTES: Final = 64 * MIB


@record
class PastText:
    """A text as it was typed, the root of the project that it was typed in, and when (RFC 3339)."""

    text: str
    root: str
    time: str


class PromptHistoryFile:
    """The texts of one person. Blocks: call it in a thread."""

    def __init__(self, path: Path, lock: Path) -> None:
        self._path = path
        self._lock = lock

    def load(self) -> list[PastText]:
        """Return what is kept, the newest last. A line that cannot be read is left out, a missing file is empty."""
        try:
            data = read_regular(self._path, max_bytes=_READ_BYTES)
        except HarnessError:
            return []
        return [found for line in data.splitlines() if (found := _read(line)) is not None]

    def add(self, past: PastText) -> None:
        """Append a text, without what looks like a secret. Raises ``HarnessError`` when it cannot be written."""
        if len(past.text) > TEXT_CHARS or not past.text.strip():
            return
        try:
            with locked(self._lock):
                make_private_folder(self._path.parent)
                descriptor = os.open(
                    self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
                )
                try:
                    size = os.fstat(descriptor).st_size
                    # A line that a crash has cut off must not take this one with it.
                    torn = bool(size) and os.pread(descriptor, 1, size - 1) != b"\n"
                    os.write(descriptor, b"\n" * torn + _line(past))
                finally:
                    os.close(descriptor)
                if size > GROWN_BYTES:
                    write_atomic(self._path, b"".join(map(_line, _newest(self.load()))), mode=0o600)
        except OSError as error:
            text = f"the history of the prompt cannot be written: {error.strerror or error}"
            raise HarnessError(text, where=str(self._path), code="unwritable") from error


def _newest(texts: Iterable[PastText]) -> list[PastText]:
    """Return each text once, where it was used last, and the newest of them."""
    last: dict[str, PastText] = {}
    for past in texts:
        last.pop(past.text, None)
        last[past.text] = past
    return list(last.values())[-KEPT:]


def _line(past: PastText) -> bytes:
    data = {"time": past.time, "root": past.root, "text": redact(past.text)}
    return json.dumps(data).encode() + b"\n"


def _read(line: bytes) -> PastText | None:
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    fields = cast(dict[str, Any], data)
    values = [fields.get(name) for name in ("text", "root", "time")]
    if not all(isinstance(value, str) for value in values):
        return None
    return PastText(*cast(list[str], values))
