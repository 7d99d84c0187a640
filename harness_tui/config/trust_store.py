"""The file of trusted folders: ``trust.json`` in the person's state, 0600, written whole under a lock.

``{"version": 1, "folders": {REAL PATH: {"granted": true, "files": {NAME: DIGEST}, "dismissed": DIGEST or null}}}``.
A damaged file trusts nothing; it is kept under a dated name before it is written anew.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.config.locking import locked
from harness_tui.config.problems import Problem
from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import make_private_folder, read_regular, write_atomic

_VERSION: Final = 1
_BYTES: Final = 16 * 1024 * 1024


@dataclass(slots=True)
class FolderTrust:
    """What is stored of one folder: the digest of each file, and that of the content for which *Not now* was said."""

    granted: bool = False
    files: dict[str, str] = field(default_factory=dict[str, str])
    dismissed: str | None = None


class TrustFile:
    """Reads and changes ``trust.json``."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> tuple[dict[str, FolderTrust], Problem | None]:
        """Return the folders by real path, and the fault when the file is damaged."""
        try:
            data = json.loads(read_regular(self._path, max_bytes=_BYTES))
            return _parse(data), None
        except HarnessError as error:
            if not self._path.exists() and not self._path.is_symlink():
                return {}, None
            return {}, self._fault(error.what)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            return {}, self._fault(f"it is damaged: {error}")

    def _fault(self, why: str) -> Problem:
        message = f"no folder is trusted, because this file cannot be used: {why}"
        return Problem(str(self._path), "trust-store", message, "run 'harness trust' in the folders you trust")

    def change(self, folder: str, edit: Callable[[FolderTrust], None]) -> None:
        """Read, let ``edit`` change the record of ``folder``, and write, all under the lock."""
        with locked(self._path.with_name(self._path.name + ".lock")):
            folders, fault = self.read()
            if fault is not None:
                self._keep_damaged()
            record = folders.setdefault(folder, FolderTrust())
            edit(record)
            if not record.granted and record.dismissed is None:
                del folders[folder]
            self._write(folders)

    def _write(self, folders: dict[str, FolderTrust]) -> None:
        data = {
            "version": _VERSION,
            "folders": {
                name: {"granted": item.granted, "files": item.files, "dismissed": item.dismissed}
                for name, item in sorted(folders.items())
            },
        }
        try:
            make_private_folder(self._path.parent)
            write_atomic(self._path, (json.dumps(data, indent=1) + "\n").encode(), mode=0o600)
        except OSError as error:
            raise HarnessError(
                f"trust cannot be stored: {error.strerror}", where=str(self._path), code="trust-store"
            ) from error

    def _keep_damaged(self) -> None:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        with contextlib.suppress(OSError):  # one that cannot even be renamed is replaced
            self._path.rename(self._path.with_name(f"{self._path.name}.damaged-{stamp}"))


def _parse(data: Any) -> dict[str, FolderTrust]:
    if data["version"] != _VERSION:
        raise ValueError(f"version {data['version']} is not known")
    result: dict[str, FolderTrust] = {}
    for name, item in cast(dict[str, Any], data["folders"]).items():
        files = cast(dict[str, Any], item["files"])
        dismissed = item.get("dismissed")
        if not all(isinstance(value, str) for value in files.values()) or not isinstance(item["granted"], bool):
            raise TypeError(f"the record of {name} is not understood")
        result[name] = FolderTrust(item["granted"], dict(files), None if dismissed is None else str(dismissed))
    return result
