"""What each session has seen of each file: the base of read-before-edit.

Time stamps lie (a checkout, a formatter, a coarse clock), so the hash of the bytes decides.
"""

from __future__ import annotations

from pathlib import Path


class FileLedger:
    """SHA-256 of the last bytes of a file that a session read, or wrote itself."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, Path], str] = {}

    def record(self, session: str, path: Path, content: str) -> None:
        """Note that ``session`` knows the bytes of ``path`` (resolved) with this hash."""
        self._seen[session, path] = content

    def seen(self, session: str, path: Path) -> str | None:
        """Return the hash that ``session`` knows, ``None`` when it never read the file."""
        return self._seen.get((session, path))

    def forget(self, session: str) -> None:
        """Drop what a closed session knew."""
        for key in [key for key in self._seen if key[0] == session]:
            del self._seen[key]
