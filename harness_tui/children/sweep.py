"""What earlier shells left when they and their guards were killed: found by their ledgers, and ended.

A recorded pid is ended only when its start time is the recorded one: another process may have got the number. Whatever
carries the dead shell's mark is ended too, with all descendants. Blocks: run it in a thread, after the first frame.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from harness_tui.children import processes
from harness_tui.children.child import sweep_strays
from harness_tui.children.environment import SHELL_MARK
from harness_tui.children.ledger import LeftLedger, read_ledgers
from harness_tui.core.record import record

_GRACE_S: Final = 0.5


@record
class Swept:
    """What one sweep did: the owners of ended children, and the pids that could not be ended."""

    ended: tuple[str, ...] = ()
    left: tuple[int, ...] = ()


def sweep(folder: Path) -> Swept:
    """End what dead shells left according to the ledgers in ``folder``, and remove these."""
    ended: list[str] = []
    left: list[int] = []
    for ledger in read_ledgers(folder):
        if ledger.alive:
            continue
        if ledger.here:
            ended += _alive_owners(ledger)
            stubborn = _end(ledger)
            left += stubborn
            if stubborn:
                continue  # the next start tries again
        with contextlib.suppress(OSError):
            ledger.path.unlink(missing_ok=True)
    return Swept(tuple(ended), tuple(left))


def _alive_owners(ledger: LeftLedger) -> list[str]:
    return [child.owner for child in ledger.children if _running(child.pid, child.started) is not None]


def _end(ledger: LeftLedger) -> list[int]:
    known = [running for child in ledger.children if (running := _running(child.pid, child.started)) is not None]
    return [running.pid for running in sweep_strays(f"{SHELL_MARK}={ledger.shell}", known, _GRACE_S)]


def _running(pid: int, started: float) -> processes.Running | None:
    running = processes.look(pid)
    return running if running is not None and not running.zombie and running.started == started else None
