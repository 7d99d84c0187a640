"""What can be taken back in a session, read from its record: runs in order, what each did to files, which are undone.

Nothing is removed by an undo. ``undo_applied`` and ``redo_applied`` are events like any other, and which runs are in
force follows from them; so an undo survives a restart, and can be redone after one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import (
    ContextCompacted,
    FileChanged,
    MessageAdded,
    RedoApplied,
    RunStarted,
    UndoApplied,
)
from harness_tui.core.record import record
from harness_tui.sessions import rows

KINDS: Final = (
    RunStarted.type,
    MessageAdded.type,
    FileChanged.type,
    ContextCompacted.type,
    UndoApplied.type,
    RedoApplied.type,
)
"""The types of the events that an undo log is made of."""

_REORDERED: Final = 50
"""So many changes of one file in one run are put in order by what they found and left."""


@record
class FileStep:
    """One file on its way from what it must be now (``old``) to what it shall be (``new``), by hashes and modes.

    ``None`` as a hash means that there is no such file. ``folders`` were made for it and go with it when they are
    empty. ``broken``: something else changed it between two changes of the run, so that neither can be taken back.
    """

    path: str
    old: str | None
    new: str | None
    old_mode: int | None = None
    new_mode: int | None = None
    folders: tuple[str, ...] = ()
    broken: bool = False


@dataclass(slots=True)
class LoggedRun:
    """One run that did something. ``began`` is the time of its first event, ``files`` are changes with their times.

    ``restored`` are the files that its last undo took back. ``outside``: commands or servers of MCP worked in it, and
    nobody knows all that they did. ``text`` is the message that began it, or its command; empty for what was done by
    hand.
    """

    run: str
    began: str
    files: list[tuple[str, FileChanged]] = field(default_factory=list[tuple[str, FileChanged]])
    undone: bool = False
    restored: tuple[str, ...] = ()
    outside: bool = False
    text: str = ""


class UndoLog:
    """The runs of one session, oldest first.

    ``began`` holds the time of the first event of each run. ``others`` are events of the sessions that worked for this
    one: what they changed belongs to the run that went on at that time, for a later run may go on with a subagent.
    """

    def __init__(
        self,
        envelopes: Iterable[Envelope],
        began: Mapping[str, str],
        others: Iterable[Envelope] = (),
        outside: Iterable[str] = (),
    ) -> None:
        self._began = began
        self._runs: dict[str, LoggedRun] = {}
        self._undone: list[str] = []
        events = [item for item in others if isinstance(item.event, FileChanged)]
        for envelope in envelopes:
            self._add(envelope)
        for item in events:
            logged = self._log(self._run_at(item.time))
            if logged is not None and isinstance(item.event, FileChanged):
                logged.files.append((item.time, item.event))
        for run in outside:
            if run in self._runs:
                self._runs[run].outside = True
        self._runs = {run: self._runs[run] for run in began if run in self._runs}

    def _run_at(self, time: str) -> str | None:
        return max((run for run in self._began if self._began[run] <= time), key=self._began.__getitem__, default=None)

    def _add(self, envelope: Envelope) -> None:
        match envelope.event:
            case UndoApplied(run=run, paths=paths):
                logged = self._log(run)
                if logged is not None:
                    logged.undone, logged.restored = True, paths
                    self._undone.append(run)
            case RedoApplied(run=run):
                logged = self._log(run)
                if logged is not None:
                    logged.undone = False
                self._undone = [other for other in self._undone if other != run]
            case RunStarted() | MessageAdded() | ContextCompacted() | FileChanged() as event:
                self._undone.clear()  # what was taken back before something new stays so
                logged = self._log(envelope.run)
                if logged is not None and isinstance(event, FileChanged):
                    logged.files.append((envelope.time, event))
                elif logged is not None and isinstance(event, RunStarted):
                    logged.text = f"/{event.command.name}" if event.command is not None else event.message.text
            case _:
                pass

    def _log(self, run: str | None) -> LoggedRun | None:
        if run is None or run not in self._began:
            return None
        return self._runs.setdefault(run, LoggedRun(run, self._began[run]))

    @property
    def runs(self) -> Sequence[LoggedRun]:
        """Every run that did something, oldest first."""
        return tuple(self._runs.values())

    def to_undo(self, run: str | None) -> list[LoggedRun]:
        """Return the runs to take back, latest first: ``run`` and every one after it, or the latest that is in force.

        Raises ``HarnessError`` when there is none.
        """
        in_force = [logged for logged in reversed(self._runs.values()) if not logged.undone]
        if run is None:
            if not in_force:
                raise HarnessError("there is nothing to undo", code="nothing")
            return in_force[:1]
        if run not in self._runs:
            raise HarnessError(f"this session has no run {run!r} that can be undone", code="unknown-run")
        if self._runs[run].undone:
            raise HarnessError(f"the run {run} is undone already", code="undone")
        return in_force[: in_force.index(self._runs[run]) + 1]

    def to_redo(self) -> LoggedRun:
        """Return the run that was taken back last. Raises ``HarnessError`` when there is none."""
        if not self._undone:
            raise HarnessError("there is nothing to redo", code="nothing")
        return self._runs[self._undone[-1]]


def undo_steps(run: LoggedRun) -> list[FileStep]:
    """Return what takes the changes of ``run`` back, one step a file."""
    return [_backward(path, changes) for path, changes in _by_path(run).items()]


def redo_steps(run: LoggedRun) -> list[FileStep]:
    """Return what brings the changes back that the last undo of ``run`` took; files that it left alone stay out."""
    return [_turned(step) for step in undo_steps(run) if step.path in run.restored]


def _by_path(run: LoggedRun) -> dict[str, list[FileChanged]]:
    found: dict[str, list[FileChanged]] = {}
    for _, change in sorted(run.files, key=lambda item: item[0]):
        found.setdefault(change.path, []).append(change)
    return found


def _backward(path: str, changes: Sequence[FileChanged]) -> FileStep:
    ordered = _chained(changes)
    first, last = (ordered or changes)[0], (ordered or changes)[-1]
    folders = dict.fromkeys(folder for change in changes for folder in change.folders or ())
    return FileStep(
        path=path,
        old=last.after,
        new=first.before,
        old_mode=last.after_mode,
        new_mode=first.before_mode,
        folders=tuple(folders),
        broken=ordered is None,
    )


def _chained(changes: Sequence[FileChanged]) -> Sequence[FileChanged] | None:
    """Return the changes in the order in which each found what the one before had left; ``None`` when they do not.

    They come in the order of their times, which tells nothing about two within one millisecond.
    """
    if all(one.after == other.before for one, other in pairwise(changes)):
        return changes
    for start in range(len(changes) if len(changes) <= _REORDERED else 0):
        rest = list(changes)
        chain = [rest.pop(start)]
        while rest:
            following = next((item for item in rest if item.before == chain[-1].after), None)
            if following is None:
                break
            rest.remove(following)
            chain.append(following)
        if not rest:
            return chain
    return None


def _turned(step: FileStep) -> FileStep:
    return replace(step, old=step.new, new=step.old, old_mode=step.new_mode, new_mode=step.old_mode)


# --- the record ----------------------------------------------------------------------------------


def read_log(connection: sqlite3.Connection, session: str) -> UndoLog:
    """Return the log of a recorded session. Raises ``UsageError`` for an unknown one."""
    rows.last_seq(connection, session)
    began = connection.execute(
        "SELECT run, min(seq), time FROM events WHERE session = ? AND run IS NOT NULL "
        f"AND type NOT IN ('{UndoApplied.type}', '{RedoApplied.type}') GROUP BY run ORDER BY min(seq)",
        (session,),
    ).fetchall()
    below = [name for name in rows.family(connection, session) if name != session]
    others = [envelope for name in below for envelope in events_of(connection, name, (FileChanged.type,))]
    outside = connection.execute(
        "SELECT DISTINCT run FROM events WHERE session = ? AND type = 'tool_started' "
        """AND (json LIKE '%"tool":"bash"%' OR json LIKE '%"source":{"kind":"mcp"%')""",
        (session,),
    ).fetchall()
    return UndoLog(
        events_of(connection, session, KINDS),
        {str(row[0]): str(row[2]) for row in began},
        others,
        [str(row[0]) for row in outside],
    )


def events_of(connection: sqlite3.Connection, session: str, kinds: Sequence[str]) -> list[Envelope]:
    """Return the events of these types in order."""
    marks = ", ".join("?" * len(kinds))
    found = connection.execute(
        f"SELECT {rows.EVENT_COLUMNS} FROM events WHERE session = ? AND type IN ({marks}) ORDER BY seq",
        (session, *kinds),
    ).fetchall()
    return rows.read_events(connection, session, found)
