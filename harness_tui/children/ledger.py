"""The record of what runs, on disk: one file per shell, so that others can list it and a later start can clean up.

The first line is ``{"shell", "pid", "started", "boot"}`` and names the shell itself. Then one line per child, ``{"pid",
"started", "owner", "shell", "since", "restarts", "command"}`` (``started`` as in ``processes.Running``, ``since`` RFC
3339), or ``{"pid", "ended"}``. The shell holds a lock on the file while it lives. The file goes when nothing runs.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness_tui.children import processes
from harness_tui.core.limits import MIB
from harness_tui.core.paths import make_private_folder

PREFIX: Final = "children-"
_SUFFIX: Final = ".jsonl"
_LEDGER_BYTES: Final = 16 * MIB
_UNREADABLE_S: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class LedgerChild:
    """One recorded child that had not ended."""

    pid: int
    started: float
    owner: str
    since: str
    restarts: int
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeftLedger:
    """What one ledger says. ``alive``: its shell still runs; ``here``: its pids mean something on this boot."""

    path: Path
    shell: str
    shell_pid: int
    alive: bool
    here: bool
    children: tuple[LedgerChild, ...]


class ChildLedger:
    """Appends to ``folder/children-{shell}.jsonl`` (mode 0600).

    A ledger that cannot be written never stops a child from starting; ``problem`` then says why.
    """

    def __init__(self, folder: Path, shell: str) -> None:
        self.path = folder / f"{PREFIX}{shell}{_SUFFIX}"
        self.problem: str | None = None
        self._shell = shell
        self._descriptor: int | None = None

    def started(self, child: LedgerChild) -> None:
        """Record a child that runs."""
        self._append(
            {
                "pid": child.pid,
                "started": child.started,
                "owner": child.owner,
                "shell": self._shell,
                "since": child.since,
                "restarts": child.restarts,
                "command": list(child.command),
            }
        )

    def ended(self, pid: int) -> None:
        """Record that a child and its group are gone."""
        self._append({"pid": pid, "ended": True})

    def close(self) -> None:
        """Remove the file: nothing runs any more."""
        descriptor, self._descriptor = self._descriptor, None
        try:
            if descriptor is not None:
                self.path.unlink(missing_ok=True)
                os.close(descriptor)
        except OSError as error:
            self.problem = str(error)

    def _append(self, record: dict[str, Any]) -> None:
        try:
            if self._descriptor is None:
                self._descriptor = self._open()
            os.write(self._descriptor, json.dumps(record).encode() + b"\n")
        except OSError as error:
            self.problem = str(error)

    def _open(self) -> int:
        make_private_folder(self.path.parent)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:  # a file system without locks: the pid and start time in the first line have to do
            self.problem = str(error)
        own = processes.look(os.getpid())
        head = {
            "shell": self._shell,
            "pid": os.getpid(),
            "started": own.started if own is not None else 0.0,
            "boot": processes.boot_mark(),
        }
        os.write(descriptor, json.dumps(head).encode() + b"\n")
        return descriptor


def read_ledgers(folder: Path) -> Iterator[LeftLedger]:
    """Read every ledger in ``folder``; what cannot be read is left out, and removed once it is old. Blocks."""
    try:
        paths = sorted(folder.glob(f"{PREFIX}*{_SUFFIX}"))
    except OSError:
        return
    for path in paths:
        try:
            yield _read(path)
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, TypeError):
            _remove_when_old(path)


def _read(path: Path) -> LeftLedger:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        locked = _is_locked(descriptor)
        lines = file.read(_LEDGER_BYTES).split(b"\n")[:-1]  # a torn last line was being written when its shell died
    head, *records = [json.loads(line) for line in lines]
    shell, pid, started = str(head["shell"]), int(head["pid"]), float(head["started"])
    here = head["boot"] == processes.boot_mark()
    now = processes.look(pid) if here else None
    alive = locked or (now is not None and not now.zombie and now.started == started)
    return LeftLedger(path, shell, pid, alive, here, tuple(_children(records)))


def _children(records: list[dict[str, Any]]) -> Sequence[LedgerChild]:
    found: dict[int, LedgerChild] = {}
    for record in records:
        pid = int(record["pid"])
        if record.get("ended"):
            found.pop(pid, None)
            continue
        found[pid] = LedgerChild(
            pid=pid,
            started=float(record["started"]),
            owner=str(record["owner"]),
            since=str(record["since"]),
            restarts=int(record["restarts"]),
            command=tuple(str(part) for part in record["command"]),
        )
    return list(found.values())


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def _remove_when_old(path: Path) -> None:
    try:
        if time.time() - path.lstat().st_mtime > _UNREADABLE_S:
            path.unlink()
    except OSError:
        return  # the next start tries again
