"""The guard of a shell's children: what it holds, how soon it watches, and what it costs while nothing happens."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from table import Row, in_turn

from harness_tui.children.guard import PROGRAM

MIB = 2**20
WATCHED_S = 4.0
LEAN = [sys.executable, "-I", "-S"]


def guard(runs: int) -> Iterator[Row]:
    """Memory after it has looked, CPU while it waits, and start to end beside an interpreter that does nothing."""
    with _watching() as pid:
        process = psutil.Process(pid)
        time.sleep(1.5)
        before = sum(process.cpu_times()[:2])
        time.sleep(WATCHED_S)
        yield Row("guard", process.memory_info().rss / MIB)
        yield Row("guard-cpu", 100 * (sum(process.cpu_times()[:2]) - before) / WATCHED_S)
    figure, floor = in_turn(
        runs * 3, lambda: _wall([*LEAN, str(PROGRAM), *_arguments()]), lambda: _wall([*LEAN, "-c", ""])
    )
    yield Row("guard-start", figure, floor)


def _arguments() -> list[str]:
    return ["shell_bench", str(os.getpid()), ""]


def _wall(argv: list[str]) -> float:
    """Milliseconds until it has ended: with no shell behind its pipe the guard looks once for what is left."""
    began = time.perf_counter()
    subprocess.run(argv, stdin=subprocess.DEVNULL, env={}, check=True)
    return 1000 * (time.perf_counter() - began)


@contextmanager
def _watching() -> Iterator[int]:
    """A guard with one child to watch."""
    process = subprocess.Popen([*LEAN, str(PROGRAM), *_arguments()], stdin=subprocess.PIPE, env={}, cwd=Path("/"))
    assert process.stdin is not None
    try:
        process.stdin.write(b"+1 1.0\n")
        process.stdin.flush()
        yield process.pid
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
