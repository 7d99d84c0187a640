"""What runs on this machine, read from the system: to find descendants that left their group, and to count members.

Linux is read from ``/proc`` directly, because a scan happens at every stop; elsewhere psutil answers. Everything here
blocks for some milliseconds: call it in a thread.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LINUX: Final = sys.platform == "linux"
_POLL_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class Running:
    """One process. ``pid`` and ``started`` together name it for good; ``rss`` is in bytes.

    ``started`` is in seconds, since boot on Linux and since 1970 elsewhere: compare it, do not show it.
    """

    pid: int
    ppid: int
    group: int
    started: float
    zombie: bool
    rss: int


def look(pid: int) -> Running | None:
    """Return what is known of ``pid``, ``None`` when there is no such process."""
    return _look_linux(pid) if _LINUX else _look_elsewhere(pid)


def scan() -> list[Running]:
    """Return every process that can be seen."""
    return [running for pid in _pids() if (running := look(pid)) is not None]


def is_alive(process: Running) -> bool:
    """Tell whether this very process still runs; a zombie does not."""
    now = look(process.pid)
    return now is not None and now.started == process.started and not now.zombie


def group_is_alive(group: int) -> bool:
    """Tell whether a process of ``group`` runs. Zombies that nobody reaps do not count."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return any(running.group == group and not running.zombie for running in scan())


def find_strays(mark: str, *, known: Collection[Running] = (), roots: Collection[int] = ()) -> list[Running]:
    """Return what runs with ``mark`` (``NAME=value``) in its environment, and all descendants.

    Descendants of the pids in ``roots`` (which must be alive and ours) and of ``known`` processes count too, ``known``
    ones that still run as well; the roots themselves and this process never do.
    """
    table = {running.pid: running for running in scan() if not running.zombie}
    never = {os.getpid(), *roots}
    starts = {process.pid for process in known if table.get(process.pid) and _same(table[process.pid], process)}
    wanted = mark.encode()
    starts |= {pid for pid in table if pid not in never and _carries(pid, wanted)}
    found = _closure(table, starts | set(roots))
    return [table[pid] for pid in sorted(found - never) if pid in table]


def send(processes: Iterable[Running], number: signal.Signals) -> None:
    """Send a signal to each of these very processes, never to another one that got the same pid."""
    for process in processes:
        if _LINUX:
            _send_linux(process, number)
        elif is_alive(process):
            with contextlib.suppress(OSError):
                os.kill(process.pid, number)


def wait_gone(processes: Sequence[Running], timeout: float) -> list[Running]:
    """Wait up to ``timeout`` seconds for ``processes`` to end; return those that still run."""
    limit = time.monotonic() + timeout
    while left := [process for process in processes if is_alive(process)]:
        if time.monotonic() >= limit:
            return left
        time.sleep(_POLL_S)
    return []


def _same(one: Running, other: Running) -> bool:
    return one.pid == other.pid and one.started == other.started


def _closure(table: dict[int, Running], starts: set[int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for running in table.values():
        children.setdefault(running.ppid, []).append(running.pid)
    found: set[int] = set()
    waiting = list(starts)
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting.extend(children.get(pid, ()))
    return found


def _pids() -> Iterator[int]:
    if _LINUX:
        yield from (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())
        return
    import psutil

    yield from psutil.pids()


def _look_linux(pid: int) -> Running | None:
    try:
        data = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name in brackets may hold anything, brackets too: fields are counted after the last one.
    fields = data[data.rindex(b")") + 2 :].split()
    ticks = int(fields[19])
    return Running(
        pid=pid,
        ppid=int(fields[1]),
        group=int(fields[2]),
        started=ticks / os.sysconf("SC_CLK_TCK"),
        zombie=fields[0] in (b"Z", b"X"),
        rss=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
    )


def _look_elsewhere(pid: int) -> Running | None:
    import psutil

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            zombie = process.status() == psutil.STATUS_ZOMBIE
            return Running(
                pid=pid,
                ppid=process.ppid(),
                group=os.getpgid(pid),
                started=process.create_time(),
                zombie=zombie,
                rss=0 if zombie else process.memory_info().rss,
            )
    except (psutil.Error, OSError):
        return None


def _carries(pid: int, mark: bytes) -> bool:
    if _LINUX:
        try:
            return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:  # another user's, or gone
            return False
    import psutil

    name, _, value = mark.decode().partition("=")
    try:
        return psutil.Process(pid).environ().get(name) == value
    except (psutil.Error, OSError):
        return False


def _send_linux(process: Running, number: signal.Signals) -> None:
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:
        return
    try:
        if is_alive(process):
            signal.pidfd_send_signal(descriptor, number)
    except OSError:
        return  # it ended, or changed its user: the caller looks again
    finally:
        os.close(descriptor)
