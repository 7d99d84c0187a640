"""A scripted session that kills itself at a chosen point: run as a program of its own by ``test_sessions_kill``.

    python kill_program.py HOME PROJECT REPORT [KIND NUMBER]

Points are what may be interrupted: a published event, a statement of a write to the database, an operation on a file.
Each belongs to kinds: ``commit`` (within a write to the database), ``write``, ``edit``, ``compaction``, ``undo`` (while
that goes on). With KIND and NUMBER the process ends with SIGKILL at that point of that kind, after it has noted in
REPORT where; without, it plays to the end and notes how many points of each kind there were.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from harness_tui.agent.live import LiveSession
from harness_tui.config.loader import Flags
from harness_tui.core import events as ev
from harness_tui.core.bus import Subscription
from harness_tui.core.envelope import Envelope
from harness_tui.core.intents import Compact, Intent, Redo, Submit, Undo
from harness_tui.sessions import database as database_module
from harness_tui.workspace.workspace import OpenOptions, Workspace

KINDS = ("write", "edit", "compaction", "undo", "commit")
FILE_EVENTS = {
    "open",
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.chmod",
    "os.utime",
    "os.truncate",
}


class Points:
    """Counts points, and ends the process at the one that is wanted."""

    def __init__(self, report: Path, kind: str | None, number: int, folders: tuple[str, ...]) -> None:
        self.counts: Counter[str] = Counter()
        self.phase: str | None = None
        self.seen = 0
        self._report = report
        self._wanted = (kind, number)
        self._folders = folders
        self._guard = threading.RLock()
        self._inside = False
        self._writing = False

    def hit(self, what: str, *kinds: str) -> None:
        """One point: it may be the last thing that this process does."""
        with self._guard:
            if self._inside:
                return
            self._inside = True
            try:
                for kind in {*kinds, *([self.phase] if self.phase else [])}:
                    self.counts[kind] += 1
                    if (kind, self.counts[kind]) == self._wanted:
                        self.note({"kind": kind, "number": self.counts[kind], "what": what, "seen": self.seen})
                        os.kill(os.getpid(), signal.SIGKILL)
            finally:
                self._inside = False

    def note(self, data: dict[str, Any]) -> None:
        """Write the report, durable."""
        descriptor = os.open(self._report, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(descriptor, json.dumps(data).encode())
        os.fsync(descriptor)
        os.close(descriptor)

    def event(self, envelope: Envelope) -> None:
        """An event is published; what goes on follows from it."""
        match envelope.event:
            case ev.ToolStarted(tool="write" | "edit" as tool):
                self.phase = tool
            case _:
                pass
        self.seen = max(self.seen, envelope.seq)
        self.hit(f"event {envelope.event.type}")
        if isinstance(envelope.event, ev.ToolFinished):
            self.phase = None

    def statement(self, text: str) -> None:
        """A statement is about to be executed by a connection."""
        word = text.split(maxsplit=1)[0].upper() if text.strip() else ""
        if word == "BEGIN":
            self._writing = True
        if self._writing:
            self.hit(f"sql {text[:40]}", "commit")
        if word in ("COMMIT", "ROLLBACK"):
            self._writing = False

    def audited(self, name: str, arguments: tuple[Any, ...]) -> None:
        """Python is about to touch a file."""
        if name in FILE_EVENTS and arguments and str(arguments[0]).startswith(self._folders):
            self.hit(f"file {name} {arguments[0]}")


async def settled(subscription: Subscription, *ends: type[ev.Event]) -> ev.Event:
    """Wait for an event of one of these classes."""
    async for envelope in subscription:
        if isinstance(envelope.event, ends):
            return envelope.event
    raise AssertionError("the stream ended")


async def play(home: Path, project: Path, points: Points) -> str:
    """Play the session and return its id."""
    options = OpenOptions(
        flags=Flags(model=f"replay:{project / 'play.yaml'}"),
        policy="allow",
        environ={"HOME": str(home), "PATH": os.environ["PATH"]},
    )
    workspace = await Workspace.open(project, options)
    try:
        live = await workspace.new_session(session_id="ses_kill")
        live.stream.listen(points.event)
        subscription = live.stream.subscribe(limit=2**62)
        await workspace.start_session(live)

        async def do(intent: Intent, phase: str | None, *ends: type[ev.Event]) -> None:
            points.phase = phase
            await live.send(intent)
            await settled(subscription, *ends)
            await settle(live)
            points.phase = None

        for text in ("one", "two", "three"):
            await do(Submit(text), None, ev.RunFinished)
        await do(Compact(), "compaction", ev.RunFinished)
        await do(Submit("four"), None, ev.RunFinished)
        await do(Compact(), "compaction", ev.RunFinished)
        for intent in (Undo(), Redo(), Undo(), Undo(), Undo(), Undo(), Redo()):
            await do(intent, "undo", ev.UndoApplied, ev.RedoApplied)
        return live.id
    finally:
        await workspace.close()


async def settle(live: LiveSession) -> None:
    """Return when nothing goes on and everything is recorded."""
    await live.idle()
    await live.flush()


def main() -> None:
    """Play, with the points in place."""
    home, project, report = (Path(word) for word in sys.argv[1:4])
    kind, number = (sys.argv[4], int(sys.argv[5])) if len(sys.argv) > 4 else (None, 0)
    points = Points(report, kind, number, (f"{project}/", f"{home}/.local/share/harness/"))
    connect = database_module.Database._connect

    def traced(self: database_module.Database) -> Any:
        connection = connect(self)
        connection.set_trace_callback(points.statement)
        return connection

    database_module.Database._connect = traced  # type: ignore[method-assign]
    sys.addaudithook(points.audited)
    asyncio.run(play(home, project, points))
    points.note({"counts": dict(points.counts)})


if __name__ == "__main__":
    main()
