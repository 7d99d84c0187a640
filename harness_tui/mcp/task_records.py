"""Tasks that servers work on behind a call, on disk: so that a session that is opened again goes on with them.

One small file a task in the folder of its session, written before anybody waits for the task and taken away when it has
ended. Who was killed meanwhile finds the files of what still runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from harness_tui.core.atomic import write_atomic
from harness_tui.core.codec import decode, encode
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import KIB
from harness_tui.core.paths import make_private_folder, read_regular
from harness_tui.core.record import record
from harness_tui.mcp.deadlines import OnProgress

MAX_KEPT: Final = 200
"""Tasks of one session that are gone on with, the latest."""
_FILE_BYTES: Final = 64 * KIB


@record
class TaskRecord:
    """One task. ``tool`` is the server's name for the tool, ``name`` the model's, ``call`` the call of the session.

    ``began`` is in seconds since the epoch.
    """

    server: str
    tool: str
    name: str
    call: str
    task: str
    poll_s: float | None = None
    began: float = 0.0


class TaskFolder:
    """The files of one session's tasks. Its methods do file work: call them in a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, task: TaskRecord) -> None:
        """Keep ``task``, readable by its owner only: its id is all that it takes to ask for it. Raises ``OSError``."""
        make_private_folder(self._folder)
        write_atomic(self._path(task), json.dumps(encode(task), ensure_ascii=True).encode("ascii"), mode=0o600)

    def drop(self, task: TaskRecord) -> None:
        """Forget ``task``, which has ended. Raises ``OSError``."""
        self._path(task).unlink(missing_ok=True)

    def all(self) -> list[TaskRecord]:
        """Return what is kept, oldest first; a file that cannot be read is passed over."""
        try:
            files = list(self._folder.glob("*.json"))
        except OSError:
            return []
        found: list[TaskRecord] = []
        for file in files:
            try:
                found.append(decode(TaskRecord, json.loads(read_regular(file, max_bytes=_FILE_BYTES)), str(file)))
            except (HarnessError, ValueError, RecursionError):
                continue
        return sorted(found, key=lambda task: task.began)[-MAX_KEPT:]

    def _path(self, task: TaskRecord) -> Path:
        mark = hashlib.sha256(f"{task.server}\x00{task.task}".encode("utf-8", "surrogatepass")).hexdigest()[:24]
        return self._folder / f"{mark}.json"


class OpenCall:
    """A call that may become a task. ``folder`` is where that is kept, nowhere without one.

    ``task`` is set when it has become one, ``open`` as long as that has not ended; ``report`` takes its progress.
    ``cancels``: whoever stops waiting wants the task to end.
    """

    def __init__(
        self, server: str, tool: str, *, name: str = "", call: str = "", folder: TaskFolder | None = None
    ) -> None:
        self.server = server
        self.tool = tool
        self.name = name or tool
        self.call = call
        self.folder = folder
        self.task: TaskRecord | None = None
        self.open = False
        self.answered: set[str] = set()
        self.report: OnProgress | None = None
        self.cancels = True

    @classmethod
    def of(cls, task: TaskRecord, folder: TaskFolder) -> OpenCall:
        """Return the call of a task that is gone on with."""
        made = cls(task.server, task.tool, name=task.name, call=task.call, folder=folder)
        made.task, made.open, made.cancels = task, True, False
        return made


_CALL: ContextVar[OpenCall | None] = ContextVar("open_call", default=None)


@contextmanager
def opening(call: OpenCall) -> Generator[OpenCall, None, None]:
    """Let what is called here become a task of ``call``."""
    token = _CALL.set(call)
    try:
        yield call
    finally:
        _CALL.reset(token)


def open_call() -> OpenCall | None:
    """Return the call that is being made here."""
    return _CALL.get()
