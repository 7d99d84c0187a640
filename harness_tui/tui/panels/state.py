"""What the side panel shows, as plain data: diagnostics by file, servers, notices, commands, skills and
what is wrong with their files, processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from harness_tui.tui.panels.change_log import ChangeLog

if TYPE_CHECKING:
    from harness_tui.core.events import ContextReported, DiagnosticsReported, FileChanged, Notice, ServerChanged
    from harness_tui.core.values import TodoItem
    from harness_tui.tui.backend_library import EntryRow, FindingRow, LibraryRows
    from harness_tui.tui.backend_rows import ProcessRow
    from harness_tui.tui.panels.tasks import TaskRow

MAX_NOTICES: Final = 200

_UP: Final = frozenset({"ready", "busy", "idle"})
_BAD: Final = frozenset({"failed", "crashed", "degraded", "needs_auth"})


@dataclass(slots=True)
class PanelState:
    """The panel's data. ``version`` grows with every change.

    ``processes`` is ``None`` until they were looked at; ``cpu_share`` is in per cent of one processor, by pid, between
    the last two looks; ``ending`` are the processes (owner and pid) whose end was asked for; ``latency`` is how
    long the last verdict of a language server took, in ms.
    ``context`` is what the next request would hold, ``context_old`` that something has happened since. ``tasks`` are
    the subagents at work, by run, ``ending_tasks`` those that were cancelled. ``changes`` are those of files, ``todos``
    the agent's list of steps.
    """

    diagnostics: dict[str, DiagnosticsReported] = field(default_factory=dict[str, "DiagnosticsReported"])
    servers: dict[tuple[str, str], ServerChanged] = field(default_factory=dict[tuple[str, str], "ServerChanged"])
    notices: list[Notice] = field(default_factory=list["Notice"])
    commands: Sequence[EntryRow] = ()
    skills: Sequence[EntryRow] = ()
    findings: Sequence[FindingRow] = ()
    processes: Sequence[ProcessRow] | None = None
    cpu_share: dict[int, float] = field(default_factory=dict[int, float])
    latency: dict[str, int] = field(default_factory=dict[str, int])
    ending: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    context: ContextReported | None = None
    context_old: bool = True
    tasks: dict[str, TaskRow] = field(default_factory=dict[str, "TaskRow"])
    ending_tasks: set[str] = field(default_factory=set[str])
    changes: ChangeLog = field(default_factory=ChangeLog)
    todos: Sequence[TodoItem] = ()
    version: int = 0
    _cpu_seen: dict[int, tuple[float, float]] = field(default_factory=dict[int, tuple[float, float]])

    def report(self, event: DiagnosticsReported) -> None:
        """Take the latest verdict on a file. One that knows nothing keeps the items that were known, marked as old."""
        known = self.diagnostics.get(event.path)
        if event.verdict in ("unknown", "unchanged", "skipped") and not event.items and known is not None:
            from dataclasses import replace

            event = replace(event, items=known.items)
        self.diagnostics[event.path] = event
        for one in event.by_server or ():
            if one.verdict in ("fresh", "unchanged") and not event.late:
                self.latency[one.name] = one.elapsed_ms
        self.version += 1

    def change_server(self, event: ServerChanged) -> None:
        """Take a server's state."""
        self.servers[event.kind, event.name] = event
        self.version += 1

    def take_library(self, rows: LibraryRows) -> None:
        """Take a look at commands and skills."""
        self.commands, self.skills, self.findings = rows.commands, rows.skills, rows.problems
        self.version += 1

    def keep_library(self, other: PanelState) -> None:
        """Take over what another session's panel knows of commands and skills."""
        self.commands, self.skills, self.findings = other.commands, other.skills, other.findings

    def count_findings(self, level: str) -> int:
        """Return how many findings of a level there are in files of commands, skills and configuration."""
        return sum(finding.level == level for finding in self.findings)

    def take_processes(self, rows: Sequence[ProcessRow], now: float) -> None:
        """Take a look at the processes; ``now`` in monotonic seconds."""
        before, self._cpu_seen, self.cpu_share = self._cpu_seen, {}, {}
        for row in (row for child in rows for row in (child, *child.tree)):
            self._cpu_seen[row.pid] = (row.cpu, now)
            cpu, moment = before.get(row.pid, (row.cpu, now))
            if now > moment and row.cpu >= cpu:  # less: another process has the pid by now
                self.cpu_share[row.pid] = 100 * (row.cpu - cpu) / (now - moment)
        self.processes = rows
        self.version += 1

    def forget_shares(self) -> None:
        """Nobody looks any more: the next look is the first one."""
        self._cpu_seen, self.cpu_share = {}, {}

    def take_context(self, report: ContextReported) -> None:
        """Take a report on the next request."""
        self.context, self.context_old = report, False
        self.version += 1

    def change_file(self, run: str | None, event: FileChanged, time: str) -> None:
        """Take a change of a file; one that belongs to no run cannot be undone, and is not listed."""
        if run is not None:
            self.changes.take(run, event, time)
            self.version += 1

    def set_undone(self, run: str, undone: bool) -> None:
        """A run was taken back, or put in force again."""
        self.changes.set_undone(run, undone)
        self.version += 1

    def take_todos(self, items: Sequence[TodoItem]) -> None:
        """Take the list of steps."""
        self.todos = items
        self.version += 1

    def begin_task(self, task: TaskRow) -> None:
        """A subagent begins to work."""
        self.tasks[task.run] = task
        self.version += 1

    def tell_task(self, session: str, doing: str) -> None:
        """The subagent of ``session`` does something else now."""
        for task in self.tasks.values():
            if task.session == session and task.doing != doing:
                task.doing = doing
                self.version += 1

    def end_task(self, run: str) -> None:
        """A subagent has ended."""
        self.ending_tasks.discard(run)
        if self.tasks.pop(run, None) is not None:
            self.version += 1

    def end_tasks(self) -> None:
        """The run is over: no subagent works any more."""
        for run in tuple(self.tasks):
            self.end_task(run)

    def add_notice(self, event: Notice) -> None:
        """Take a notice; the same one twice in a row is kept once."""
        if self.notices and self.notices[-1] == event:
            return
        self.notices.append(event)
        del self.notices[:-MAX_NOTICES]
        self.version += 1

    def count(self, severity: str) -> int:
        """Return how many diagnostics of a severity there are."""
        return sum(item.severity == severity for report in self.diagnostics.values() for item in report.items)

    def servers_up(self, kind: str) -> tuple[int, int, int]:
        """Return how many servers of a kind are usable, how many have failed, and how many there are."""
        states = [server.state for (k, _), server in self.servers.items() if k == kind and server.state != "disabled"]
        return sum(s in _UP for s in states), sum(s in _BAD for s in states), len(states)

    def problems(self) -> int:
        """Return the number of notices at level warning or error."""
        return sum(notice.level != "info" for notice in self.notices)
