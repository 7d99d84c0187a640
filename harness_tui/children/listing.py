"""What runs, for people: one row per child, with what it started below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness_tui.children import processes
from harness_tui.children.ledger import LedgerChild, read_ledgers
from harness_tui.core.record import record
from harness_tui.core.redaction import redact


@record
class Descendant:
    """A process that a child started, directly or not. ``rss`` in bytes, ``cpu`` in seconds."""

    pid: int
    ppid: int
    rss: int
    cpu: float
    command: tuple[str, ...]


@record
class ProcessInfo:
    """One running child.

    ``started`` is RFC 3339, ``rss`` in bytes, ``cpu`` in seconds, ``restarts`` the earlier starts of its owner,
    ``tree`` what it started, parents first, ``log`` the file that keeps its standard error.
    """

    owner: str
    pid: int
    ppid: int
    started: str
    rss: int
    restarts: int
    command: tuple[str, ...]
    cpu: float = 0.0
    tree: tuple[Descendant, ...] = ()
    log: str | None = None


def describe(
    child: LedgerChild, rows: Mapping[int, processes.Running], *, log: str | None = None
) -> ProcessInfo | None:
    """Return the row of a recorded child, ``None`` when another process has its pid by now, or none."""
    running = rows.get(child.pid)
    if running is None or running.started != child.started:
        return None
    return ProcessInfo(
        owner=child.owner,
        pid=child.pid,
        ppid=running.ppid,
        started=child.since,
        rss=running.rss,
        restarts=child.restarts,
        command=child.command,
        cpu=running.cpu,
        tree=tuple(_below(child.pid, rows)),
        log=log,
    )


def stand_ins(recorded: LedgerChild, left: Sequence[processes.Running]) -> Iterator[LedgerChild]:
    """Return what stands for a child that has exited: what it left, without what lies below another one of these."""
    pids = {running.pid for running in left}
    for running in left:
        if running.ppid not in pids:
            command = tuple(redact(part) for part in processes.command_of(running.pid))
            yield replace(recorded, pid=running.pid, started=running.started, command=command)


def memory_of(pid: int) -> int:
    """Return the resident bytes of a process with what it started; shared pages count in each. Blocks."""
    rows = processes.table()
    running = rows.get(pid)
    return 0 if running is None else running.rss + sum(below.rss for below in _below(pid, rows))


def running_processes(folder: Path) -> list[ProcessInfo]:
    """Return the children of every shell that runs now, by the ledgers in ``folder``; oldest first. Blocks."""
    rows = processes.table()
    found = [
        info
        for ledger in read_ledgers(folder)
        if ledger.alive and ledger.here
        for child in ledger.children
        if (info := describe(child, rows)) is not None
    ]
    return sorted(found, key=lambda info: (info.started, info.pid))


def _below(pid: int, rows: Mapping[int, processes.Running]) -> Iterator[Descendant]:
    for running in sorted(rows.values(), key=lambda row: row.pid):
        if running.ppid == pid and running.pid != pid:
            command = tuple(redact(part) for part in processes.command_of(running.pid))
            yield Descendant(running.pid, pid, running.rss, running.cpu, command)
            yield from _below(running.pid, rows)
