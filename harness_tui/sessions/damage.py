"""Whether a file looks like a whole database, before SQLite is asked; what is done about one that does not: ``rescue``.

Looked at whenever the database is opened, so that nothing heavier stands here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

MAGIC: Final = b"SQLite format 3\0"
"""What every database begins with."""


def looks_damaged(path: Path, *, expected: bool) -> str | None:
    """Return why the file at ``path`` is no whole database, ``None`` for one that SQLite should be asked about.

    Looked at before SQLite is, which deletes the ``-wal`` of an empty file. ``expected``: there was a database here.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(100)
    except OSError:
        return None  # it is missing, or whoever opens it says why it cannot be
    has_log = _size(path.with_name(path.name + "-wal")) > 0
    if size == 0:
        return "the file is empty" if expected or has_log else None
    if not head.startswith(MAGIC) or len(head) < 100:
        return "the file is not a database"
    page = int.from_bytes(head[16:18], "big")
    pages, counted = int.from_bytes(head[28:32], "big"), head[24:28] == head[92:96]
    # With a log the file may be shorter for a moment: the log is written back page by page, the first one first.
    if counted and not has_log and size < pages * (65536 if page == 1 else page):
        return "the file was cut off"
    return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
