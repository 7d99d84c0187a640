"""The program's own log: one rotating file, never the terminal.

Without it Python writes warnings to standard error, which a full-screen program draws on.
"""

from __future__ import annotations

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from harness_tui.core.limits import MIB
from harness_tui.core.paths import make_private_folder
from harness_tui.core.redaction import redact

LOG_BYTES: Final = 2 * MIB
_KEPT: Final = 3
_FORMAT: Final = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


class _RedactingFormatter(logging.Formatter):
    """Takes secrets out of the whole record, its traceback included."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


class PrivateFile(RotatingFileHandler):
    """A rotating file that only its owner can read, from its first byte on."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return TextIOWrapper(os.fdopen(descriptor, "ab"), encoding=self.encoding, errors=self.errors)


def log_to_file(folder: Path) -> None:
    """Send every warning and error of this process to ``folder/harness.log``; again for another folder.

    Warnings of libraries (``warnings.warn``) are among them.

    A folder that cannot be written costs the log, not the session: nothing is written to the terminal then either.
    """
    root = logging.getLogger()
    path = folder / "harness.log"
    logging.captureWarnings(True)
    for handler in root.handlers:
        if isinstance(handler, PrivateFile) and handler.baseFilename == str(path):
            return
    try:
        make_private_folder(folder)
        handler: logging.Handler = PrivateFile(
            path, maxBytes=LOG_BYTES, backupCount=_KEPT, encoding="utf-8", errors="backslashreplace", delay=True
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(_RedactingFormatter(_FORMAT))
    handler.setLevel(logging.WARNING)
    for old in [old for old in root.handlers if isinstance(old, PrivateFile)]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
