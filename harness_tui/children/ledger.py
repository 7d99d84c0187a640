"""The record of what runs, on disk: one JSON line per child, so that a later start can find what a killed one left.

A line is ``{"pid", "started", "owner", "shell", "command"}`` (``started`` as in ``processes.Running``) or
``{"pid", "ended"}``. One file per shell, removed when nothing of it runs any more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from harness_tui.core.paths import make_private_folder

PREFIX: Final = "children-"


class ChildLedger:
    """Appends to ``folder/children-{shell}.jsonl`` (mode 0600).

    A ledger that cannot be written never stops a child from starting; ``problem`` then says why.
    """

    def __init__(self, folder: Path, shell: str) -> None:
        self.path = folder / f"{PREFIX}{shell}.jsonl"
        self.problem: str | None = None
        self._shell = shell

    def started(self, pid: int, started: float, owner: str, command: Sequence[str]) -> None:
        """Record a child that runs."""
        self._append({"pid": pid, "started": started, "owner": owner, "shell": self._shell, "command": list(command)})

    def ended(self, pid: int) -> None:
        """Record that a child and its group are gone."""
        self._append({"pid": pid, "ended": True})

    def close(self) -> None:
        """Remove the file: nothing runs any more."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            self.problem = str(error)

    def _append(self, record: dict[str, Any]) -> None:
        try:
            make_private_folder(self.path.parent)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, json.dumps(record).encode() + b"\n")
            finally:
                os.close(descriptor)
        except OSError as error:
            self.problem = str(error)
