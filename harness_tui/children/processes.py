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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from harness_tui.core.record import record

_LINUX: Final = sys.platform == "linux"
_POLL_S: Final = 0.02
_LISTINGS: Final = 5


@record
class Running:
    """One process. ``pid`` and ``started`` together name it for good; ``rss`` in bytes, ``cpu`` in seconds.

    ``started`` is in seconds, since boot on Linux and since 1970 elsewhere: compare it, do not show it.
    """

    pid: int
    ppid: int
    group: int
    started: float
    zombie: bool
    rss: int
    cpu: float


def look(pid: int) -> Running | None:
    """Return what is known of ``pid``, ``None`` when there is no such process."""
    return _look_linux(pid) if _LINUX else _look_elsewhere(pid)


def scan() -> Iterator[Running]:
    """Look at every process that can be seen, the youngest first, and at those that are born meanwhile."""
    seen: set[int] = set()
    for _ in range(_LISTINGS):
        born = sorted((pid for pid in _pids() if pid not in seen), reverse=True)
        if not born:
            return
        seen.update(born)
        yield from (running for pid in born if (running := look(pid)) is not None)


def table() -> dict[int, Running]:
    """Return every process that runs, zombies left out, by pid."""
    return {running.pid: running for running in scan() if not running.zombie}


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


def find_strays(
    mark: str | None,
    *,
    known: Collection[Running] = (),
    roots: Collection[int] = (),
    groups: Collection[int] = (),
    running: Mapping[int, Running] | None = None,
) -> list[Running]:
    """Return what runs with ``mark`` (``NAME=value``) in its environment, and all descendants.

    Members of ``groups``, ``known`` ones that still run, and descendants of these and of the pids in ``roots`` (which
    must be alive and ours) count too; the roots themselves and this process never do. Without ``mark`` no environment
    is read, which is much quicker. ``running`` is a :func:`table` that was just made.
    """
    never = {os.getpid(), *roots}
    rows: dict[int, Running] = {}
    carriers: set[int] = set()
    wanted = None if mark is None else mark.encode()
    for row in scan() if running is None else running.values():
        if not row.zombie:
            rows[row.pid] = row
            # At once: one that passes itself on by forking is another one a moment later.
            if wanted is not None and row.pid not in never and _carries(row.pid, wanted):
                carriers.add(row.pid)
    starts = {process.pid for process in known if (now := rows.get(process.pid)) is not None and _same(now, process)}
    starts |= {pid for pid, row in rows.items() if row.group in groups}
    found = _closure(rows, starts | carriers | set(roots))
    return [rows[pid] for pid in sorted(found - never) if pid in rows]


def command_of(pid: int) -> tuple[str, ...]:
    """Return the argument vector of ``pid``, empty where it cannot be read."""
    if _LINUX:
        try:
            data = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return ()
        return tuple(part.decode("utf-8", "replace") for part in data.removesuffix(b"\0").split(b"\0") if data)
    import psutil

    try:
        return tuple(psutil.Process(pid).cmdline())
    except (psutil.Error, OSError):
        return ()


def boot_mark() -> str:
    """Return what tells this boot, and this space of pids, from every other: a pid means nothing elsewhere."""
    if _LINUX:
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
        except OSError:
            return "unknown"
    import psutil

    return f"{psutil.boot_time():.0f}"


def send(processes: Iterable[Running], number: signal.Signals) -> None:
    """Send a signal to each of these very processes, never to another one that got the same pid."""
    for process in processes:
        if not (_LINUX and _send_by_descriptor(process, number)) and is_alive(process):
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


def _closure(rows: Mapping[int, Running], starts: set[int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for running in rows.values():
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
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            data = file.read(4096)
    except OSError:
        return None
    if not data:
        return None
    # The name in brackets may hold anything, brackets too: fields are counted after the last one.
    fields = data[data.rindex(b")") + 2 :].split()
    second = os.sysconf("SC_CLK_TCK")
    return Running(
        pid=pid,
        ppid=int(fields[1]),
        group=int(fields[2]),
        started=int(fields[19]) / second,
        zombie=fields[0] in (b"Z", b"X"),
        rss=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
        cpu=(int(fields[11]) + int(fields[12])) / second,
    )


def _look_elsewhere(pid: int) -> Running | None:
    import psutil

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            zombie = process.status() == psutil.STATUS_ZOMBIE
            times = None if zombie else process.cpu_times()
            return Running(
                pid=pid,
                ppid=process.ppid(),
                group=os.getpgid(pid),
                started=process.create_time(),
                zombie=zombie,
                rss=0 if zombie else process.memory_info().rss,
                cpu=0.0 if times is None else times.user + times.system,
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


def _send_by_descriptor(process: Running, number: signal.Signals) -> bool:
    """Send a signal without the moment in which a pid may change hands; false where this cannot be done.

    Old kernels and some sandboxes have no descriptors of processes.
    """
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return True
    except (AttributeError, OSError):
        return False
    try:
        if is_alive(process):
            signal.pidfd_send_signal(descriptor, number)
    except (ProcessLookupError, PermissionError):
        return True  # it ended, or changed its user: the caller looks again
    except (AttributeError, OSError):
        return False
    finally:
        os.close(descriptor)
    return True
