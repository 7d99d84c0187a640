"""What the runs of a session did to files, as plain data: kept by run, so that an undo takes a run's changes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness_tui.core.events import FileChanged
    from harness_tui.tui.backend_rows import RunFiles


@dataclass(slots=True)
class FileSum:
    """Changes of one file, one after the other. ``before`` and ``after`` are hashes, ``None`` where there is no file.

    ``added`` and ``removed`` are lines of all changes together.
    """

    path: str
    before: str | None
    after: str | None
    added: int = 0
    removed: int = 0

    def add(self, event: FileChanged) -> None:
        """Take the next change."""
        self.after = event.after
        self.added += event.added
        self.removed += event.removed


@dataclass(slots=True)
class RunChanges:
    """What one run did. ``title`` is the message that began it, ``began`` is RFC 3339."""

    run: str
    title: str = ""
    began: str = ""
    events: list[FileChanged] = field(default_factory=list["FileChanged"])
    undone: bool = False


class ChangeLog:
    """The changes of a session's files, by run, oldest first."""

    def __init__(self) -> None:
        self._runs: dict[str, RunChanges] = {}

    def begin(self, run: str, title: str, began: str) -> None:
        """A run begins; ``title`` is shown for it."""
        known = self._runs.setdefault(run, RunChanges(run))
        known.title, known.began = title, began

    def take(self, run: str, event: FileChanged, time: str) -> None:
        """A file was changed in ``run``, or by a subagent that works for it."""
        known = self._runs.setdefault(run, RunChanges(run, began=time))
        known.events.append(event)

    def set_undone(self, run: str, undone: bool) -> None:
        """A run was taken back, or is in force again."""
        if run in self._runs:
            self._runs[run].undone = undone

    def seed(self, rows: Iterable[RunFiles]) -> None:
        """Take what the record knows and events of this session do not tell: what subagents changed.

        The record lags behind the events, so of a run that these told of it only adds changes.
        """
        for row in rows:
            known = self._runs.setdefault(row.run, RunChanges(row.run, began=row.began, undone=row.undone))
            if len(row.files) > len(known.events):
                known.events = [event for _, event in row.files]

    def runs(self) -> Sequence[RunChanges]:
        """Return the runs in force that changed files, the latest first."""
        return [run for run in reversed(self._runs.values()) if run.events and not run.undone]

    def files(self, run: str | None = None) -> Sequence[FileSum]:
        """Return the files that all runs in force changed, or ``run`` alone, by path.

        What was created and is gone again is left out.
        """
        sums: dict[str, FileSum] = {}
        of_run = self._runs.get(run) if run is not None else None
        for known in self._runs.values() if run is None else [of_run] if of_run is not None else []:
            for event in known.events if not known.undone else ():
                one = sums.setdefault(event.path, FileSum(event.path, event.before, event.after))
                one.add(event)
        return [sums[path] for path in sorted(sums) if sums[path].before != sums[path].after]

    def last_run_of(self, path: str) -> str | None:
        """Return the latest run in force that changed a file."""
        found = (run.run for run in self.runs() if any(event.path == path for event in run.events))
        return next(found, None)

    def since(self, run: str) -> tuple[int, int]:
        """Return how many messages and files an undo of ``run`` takes back: it takes every later one too."""
        later = False
        messages, paths = 0, set[str]()
        for known in self._runs.values():
            later = later or known.run == run
            if later and not known.undone:
                messages += 1
                paths.update(event.path for event in known.events)
        return messages, len(paths)
