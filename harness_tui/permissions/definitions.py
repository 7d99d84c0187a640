"""How tools of servers were described when they were allowed: kept by their hash, to show what is another thing now.

An approval holds for one hash. The text behind it is only for a person to compare: nothing is decided by it, and where
it is gone only the comparison is.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import make_private_folder, read_regular, write_atomic

MOST: Final = 500
"""How many definitions are kept, the latest."""

_BYTES: Final = 256 * 1024
_HASH: Final = re.compile(r"[0-9a-f]{16,128}")
_LINES: Final = 2_000


class ApprovedDefinitions:
    """The folder of definitions that were allowed. Its methods never raise."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, fingerprint: str, definition: str) -> None:
        """Keep ``definition`` under its hash, readable by its owner only."""
        if not _HASH.fullmatch(fingerprint):
            return
        data = definition.encode("utf-8", "replace")[:_BYTES]
        with contextlib.suppress(OSError):
            make_private_folder(self._folder)
            write_atomic(self._folder / fingerprint, data, mode=0o600)
            self._tidy()

    def differences(self, fingerprint: str, definition: str) -> str | None:
        """Return the unified diff from what was allowed under ``fingerprint``, ``None`` where that is not at hand."""
        if not _HASH.fullmatch(fingerprint):
            return None
        try:
            before = read_regular(self._folder / fingerprint, max_bytes=_BYTES).decode("utf-8", "replace")
        except (HarnessError, OSError):
            return None
        old, new = before.splitlines()[:_LINES], definition.splitlines()[:_LINES]
        return "\n".join(difflib.unified_diff(old, new, "allowed", "now", n=2, lineterm="")) or None

    def _tidy(self) -> None:
        files = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        for path in files[:-MOST]:
            path.unlink(missing_ok=True)
