"""The file of lasting approvals: private, written whole under a lock, read entry by entry.

``{"version": 1, "user": [entry...], "projects": {"/real/root": [entry...]}}``, an entry being
``{"permission", "pattern", "added", "fingerprint"?}``. Whatever cannot be read approves nothing. A file that is no such
object is kept beside the new one under a dated name.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.config.bundled_rules import NAMED_ALONE, PERMISSIONS
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import make_private_folder, read_regular, write_atomic
from harness_tui.core.record import record

_LOCK_WAIT_S: Final = 2.0
_MAX_BYTES: Final = 4 * MIB


@record
class StoredApproval:
    """One entry; ``root`` is ``None`` for one that counts everywhere."""

    root: str | None
    permission: str
    pattern: str
    added: str
    fingerprint: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the entry as it is written."""
        data = {"permission": self.permission, "pattern": self.pattern, "added": self.added}
        return data if self.fingerprint is None else data | {"fingerprint": self.fingerprint}


class ApprovalsFile:
    """Reads and changes the file at ``path``; several shells may do so at once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def signature(self) -> tuple[int, int, int] | str:
        """Return something that changes whenever the file does."""
        try:
            status = self.path.stat()
        except OSError as error:
            return error.strerror or "unreadable"
        return status.st_mtime_ns, status.st_size, status.st_ino

    def read(self) -> tuple[list[StoredApproval], list[HarnessError]]:
        """Return the usable entries, oldest first, and what is wrong with the rest."""
        problems: list[HarnessError] = []
        try:
            data = self._load()
        except HarnessError as error:
            return [], [error]
        entries: list[StoredApproval] = []
        for root, where, items in _lists(data, problems, str(self.path)):
            for index, item in enumerate(items):
                try:
                    entries.append(_parse(root, item))
                except ValueError as error:
                    problems.append(self._problem(f"{where}[{index}]: {error}; the entry does not count"))
        return entries, problems

    def add(self, entries: Sequence[StoredApproval]) -> None:
        """Append ``entries``; one that is there already moves to the end. Raises ``HarnessError``."""
        with self._changing() as data:
            for entry in entries:
                items = _list_of(data, entry.root)
                items[:] = [item for item in items if not _is(item, entry)]
                items.append(entry.to_json())

    def remove(self, entries: Sequence[StoredApproval]) -> None:
        """Take ``entries`` out. Raises ``HarnessError``."""
        with self._changing() as data:
            for entry in entries:
                items = _list_of(data, entry.root)
                items[:] = [item for item in items if not _is(item, entry)]
            projects = cast(dict[str, Any], data["projects"])
            data["projects"] = {root: items for root, items in projects.items() if items}

    def _load(self) -> dict[str, Any]:
        if not self.path.exists() and not self.path.is_symlink():
            return {}
        try:
            data = json.loads(read_regular(self.path, max_bytes=_MAX_BYTES))
        except HarnessError as error:
            raise self._problem(f"cannot be read, so nothing in it counts: {error.what}") from error
        except (ValueError, RecursionError) as error:
            raise self._problem(f"is not JSON, so nothing in it counts: {error}", code="damaged") from error
        if not isinstance(data, dict):
            raise self._problem("is not a JSON object, so nothing in it counts", code="damaged")
        return cast(dict[str, Any], data)

    @contextlib.contextmanager
    def _changing(self) -> Generator[dict[str, Any]]:
        try:
            make_private_folder(self.path.parent)
            with _locked(self.path.with_name(self.path.name + ".lock")):
                data = self._load_or_set_aside()
                data.setdefault("version", 1)
                data.setdefault("user", [])
                data.setdefault("projects", {})
                yield data
                text = json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
                write_atomic(self.path, text.encode("utf-8", "surrogatepass"), mode=0o600)
        except OSError as error:
            raise self._problem(f"cannot be written: {error.strerror or error}") from error

    def _load_or_set_aside(self) -> dict[str, Any]:
        try:
            data = self._load()
            if isinstance(data.get("user", []), list) and isinstance(data.get("projects", {}), dict):
                return data
        except HarnessError as error:
            if error.code != "damaged":
                raise
        aside = self.path.with_name(f"{self.path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}")
        os.replace(self.path, aside)
        return {}

    def _problem(self, what: str, *, code: str = "approvals") -> HarnessError:
        mend = "mend or delete the file, or use harness permissions revoke"
        return HarnessError(what, where=str(self.path), mend=mend, code=code)


def _lists(
    data: dict[str, Any], problems: list[HarnessError], path: str
) -> Iterator[tuple[str | None, str, list[Any]]]:
    groups: list[tuple[str | None, str, Any]] = [(None, "user", data.get("user", []))]
    projects = data.get("projects", {})
    if isinstance(projects, dict):
        groups += [(root, f"projects.{root}", items) for root, items in cast(dict[str, Any], projects).items()]
    else:
        groups.append((None, "projects", None))
    for root, where, items in groups:
        if isinstance(items, list):
            yield root, where, cast(list[Any], items)
        else:
            problems.append(
                HarnessError(f"{where} has the wrong form and does not count", where=path, code="approvals")
            )


def _parse(root: str | None, item: Any) -> StoredApproval:
    if not isinstance(item, dict):
        raise ValueError("not an object")
    entry = cast(dict[str, Any], item)
    for key in ("permission", "pattern"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise ValueError(f"{key} is missing or no text")
    if entry["permission"] not in (*PERMISSIONS, *NAMED_ALONE):
        raise ValueError(f"unknown permission {entry['permission']!r}")
    fingerprint, added = entry.get("fingerprint"), entry.get("added", "")
    if not isinstance(fingerprint, str | None) or not isinstance(added, str):
        raise ValueError("fingerprint or added is no text")
    return StoredApproval(root, entry["permission"], entry["pattern"], added, fingerprint)


def _list_of(data: dict[str, Any], root: str | None) -> list[Any]:
    holder = data if root is None else cast(dict[str, Any], data["projects"])
    key = "user" if root is None else root
    items = holder.get(key)
    if not isinstance(items, list):
        items = holder[key] = []
    return cast(list[Any], items)


def _is(item: Any, entry: StoredApproval) -> bool:
    if not isinstance(item, dict):
        return False
    data = cast(dict[str, Any], item)
    return data.get("permission") == entry.permission and data.get("pattern") == entry.pattern


@contextlib.contextmanager
def _locked(path: Path) -> Generator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + _LOCK_WAIT_S
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise OSError(f"another process has locked it for {_LOCK_WAIT_S:.0f} s") from None
                time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)
