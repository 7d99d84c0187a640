"""Speed and memory as ratios within one run: ``make bench``.

Each row is a figure of Harness beside a floor that is measured in the same run, in turn, so that a slow or busy machine
slows both. Prints figure, floor, ratio, budget and verdict; exit code 1 when a budget is missed.

    python benchmarks/bench.py [--runs N] [--only WORD] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from terminal import Terminal, cpu_seconds, memory

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
HARNESS = str(BIN / "harness")
FLOOR = [sys.executable, str(HERE / "floor.py")]


@dataclass(frozen=True)
class Row:
    """One line of the table. ``figure`` and ``floor`` are medians in ``unit``."""

    name: str
    unit: str
    figure: float
    floor: float
    budget: float

    @property
    def ratio(self) -> float:
        """The figure in floors."""
        return self.figure / self.floor if self.floor else float("inf")

    @property
    def holds(self) -> bool:
        """Whether the budget holds."""
        return self.ratio <= self.budget


@contextmanager
def scratch() -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield an empty project and the environment of an empty home."""
    folder = Path(tempfile.mkdtemp(prefix="harness-bench-"))
    try:
        project = folder / "home" / "project"
        project.mkdir(parents=True)
        (project / "README.md").write_text("# sample\n")
        (project / ".git").mkdir()
        yield project, {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def in_turn(runs: int, *measures: Callable[[], float]) -> list[float]:
    """Run the measures in turn, the order reversed each time, and return their medians."""
    figures: list[list[float]] = [[] for _ in measures]
    for number in range(runs):
        order = list(range(len(measures)))
        for index in order if number % 2 == 0 else reversed(order):
            figures[index].append(measures[index]())
    return [statistics.median(values) for values in figures]


def child_cpu(argv: list[str], project: Path, env: dict[str, str]) -> float:
    """Return the CPU seconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, cwd=project, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wall(argv: list[str], project: Path, env: dict[str, str]) -> float:
    """Return the wall seconds of a command."""
    start = time.perf_counter()
    subprocess.run(argv, cwd=project, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return time.perf_counter() - start


def open_terminal(argv: list[str], project: Path, env: dict[str, str]) -> Terminal:
    """Open a program in a terminal of 120x40."""
    return Terminal(argv, cwd=project, env=env)


def first_frame(argv: list[str], project: Path, env: dict[str, str]) -> tuple[float, float]:
    """Return seconds to the first visible character and to the echo of a marker typed at once."""
    with open_terminal(argv, project, env) as terminal:
        at = terminal.pump(lambda: bool(terminal.text().strip()), 20)
        terminal.send("zq7")
        ready = terminal.pump(lambda: "zq7" in terminal.text(), 20)
        if at is None or ready is None:
            raise RuntimeError(f"{argv[0]} drew nothing, or lost what was typed:\n{terminal.text()}")
        return at - terminal.started, ready - terminal.started


def idle(argv: list[str], project: Path, env: dict[str, str], seconds: float = 3.0) -> tuple[float, float]:
    """Return PSS in MiB and the CPU share of an idle program, a few seconds after its start."""
    with open_terminal(argv, project, env) as terminal:
        terminal.pump(lambda: bool(terminal.text().strip()), 20)
        terminal.settle(4.0)
        before = cpu_seconds(terminal.process.pid)
        terminal.settle(seconds)
        share = (cpu_seconds(terminal.process.pid) - before) / seconds
        return memory(terminal.process.pid)[1] / 2**20, share


def echo(argv: list[str], project: Path, env: dict[str, str], keys: int = 40, ready: str | None = None) -> float:
    """Return the median seconds from a key to its letter on the screen."""
    with open_terminal(argv, project, env) as terminal:
        terminal.pump(lambda: bool(terminal.text().strip()), 20)
        if ready is not None:
            terminal.wait_for(ready, 30)
        terminal.settle(2.5)
        typed, times = "zq7", []
        terminal.send(typed)
        terminal.pump(lambda: typed in terminal.text(), 10)
        for index in range(keys):
            typed += "abdefghijkmnoprstuvwxy"[index % 22]
            start = time.perf_counter()
            terminal.send(typed[-1])
            end = terminal.pump(lambda want=typed: want in terminal.text().replace("\n", ""), 5)
            if end is None:
                raise RuntimeError(f"the key was lost:\n{terminal.text()}")
            times.append(end - start)
        return statistics.median(times[3:])


def bench_version(runs: int) -> Iterator[Row]:
    """``--version`` beside an interpreter that does nothing."""
    with scratch() as (project, env):
        figure, floor = in_turn(
            runs * 3,
            lambda: wall([HARNESS, "--version"], project, env),
            lambda: wall([sys.executable, "-c", "pass"], project, env),
        )
        yield Row("--version", "ms", figure * 1e3, floor * 1e3, 2.0)


def bench_start(runs: int) -> Iterator[Row]:
    """First frame and ready, beside the floor."""
    with scratch() as (project, env):
        first_frame([HARNESS], project, env)
        first_frame(FLOOR, project, env)
        ours: list[tuple[float, float]] = []
        floors: list[tuple[float, float]] = []
        for number in range(runs):
            for mine in (True, False) if number % 2 == 0 else (False, True):
                (ours if mine else floors).append(first_frame([HARNESS] if mine else FLOOR, project, env))
        for index, name in enumerate(("first frame", "ready for typing")):
            figure, floor = (statistics.median(pair[index] for pair in rows) for rows in (ours, floors))
            yield Row(name, "ms", figure * 1e3, floor * 1e3, 1.35)


def bench_run(runs: int) -> Iterator[Row]:
    """A headless one-turn run beside ``import textual.app``, in CPU time."""
    with scratch() as (project, env):
        (project / "play.yaml").write_text("turns:\n  - text: Hello.\n")
        argv = [HARNESS, "run", "--model", "replay:play.yaml", "hi"]
        child_cpu(argv, project, env)
        figure, floor = in_turn(
            runs,
            lambda: child_cpu(argv, project, env),
            lambda: child_cpu([sys.executable, "-c", "import textual.app"], project, env),
        )
        yield Row("run, one turn, CPU", "ms", figure * 1e3, floor * 1e3, 1.5)


def bench_idle(runs: int) -> Iterator[Row]:
    """Idle memory, nothing configured and with one MCP server, and idle CPU."""
    with scratch() as (project, env):
        ours = [idle([HARNESS], project, env) for _ in range(max(2, runs // 2))]
        floors = [idle(FLOOR, project, env) for _ in range(max(2, runs // 2))]
        floor = statistics.median(value for value, _ in floors)
        yield Row("idle memory (PSS)", "MiB", statistics.median(value for value, _ in ours), floor, 2.0)
        yield Row("idle CPU, of 1 %", "%", 100 * statistics.median(share for _, share in ours), 1.0, 1.0)
        config = Path(env["HOME"]) / ".config" / "harness"
        config.mkdir(parents=True)
        server = json.dumps(str(BIN / "mcp-server-time"))
        (config / "config.yaml").write_text(f"mcp:\n  time: {{command: [{server}]}}\n")
        own = [idle_alone([HARNESS], project, env) for _ in range(max(2, runs // 2))]
        yield Row("idle memory, one MCP server", "MiB", statistics.median(own), floor, 3.2)


def idle_alone(argv: list[str], project: Path, env: dict[str, str]) -> float:
    """Return the RSS in MiB of the program itself, without its children."""
    import psutil

    with open_terminal(argv, project, env) as terminal:
        terminal.pump(lambda: bool(terminal.text().strip()), 20)
        terminal.settle(7.0)
        return psutil.Process(terminal.process.pid).memory_full_info().pss / 2**20


def make_session(project: Path, env: dict[str, str], turns: int) -> str:
    """Record a session of ``turns`` messages with answers, and return its id."""
    source = (
        "import sys; sys.path.insert(0, sys.argv[1]); import long_session; "
        "print(long_session.record(sys.argv[2], int(sys.argv[3])))"
    )
    argv = [sys.executable, "-c", source, str(HERE), str(project), str(turns)]
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout.strip()


def bench_long(runs: int) -> Iterator[Row]:
    """Resume, first frame and key echo with a long transcript, beside an empty one."""
    with scratch() as (project, env):
        resumed = [HARNESS, "--session", make_session(project, env, 1000)]
        first_frame(resumed, project, env)
        ours, empty = [], []
        for _ in range(runs):
            ours.append(first_frame(resumed, project, env)[0])
            empty.append(first_frame([HARNESS], project, env)[0])
        yield Row(
            "resume 2,000 messages, first frame",
            "ms",
            statistics.median(ours) * 1e3,
            statistics.median(empty) * 1e3,
            1.5,
        )
    with scratch() as (project, env):
        long = [HARNESS, "--session", make_session(project, env, 2500)]
        figure, floor = in_turn(
            max(2, runs // 2),
            lambda: echo(long, project, env, ready="answer 2499"),
            lambda: echo([HARNESS], project, env),
        )
        yield Row("key echo, 5,000 blocks", "ms", figure * 1e3, floor * 1e3, 1.5)


BENCHES: dict[str, Callable[[int], Iterator[Row]]] = {
    "version": bench_version,
    "start": bench_start,
    "run": bench_run,
    "idle": bench_idle,
    "long": bench_long,
}


def main() -> int:
    """Run the benches and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", action="append", choices=sorted(BENCHES))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows: list[Row] = []
    print(f"load at start {os.getloadavg()[0]:.1f}; medians of {options.runs} runs, taken in turn")
    print(f"{'what':38} {'figure':>10} {'floor':>10} {'ratio':>7} {'budget':>7}  verdict")
    for name, bench in BENCHES.items():
        if options.only and name not in options.only:
            continue
        for row in bench(options.runs):
            rows.append(row)
            verdict = "holds" if row.holds else "MISSED"
            print(
                f"{row.name:38} {row.figure:8.1f} {row.unit:>3} {row.floor:8.1f} {row.unit:>3}"
                f" {row.ratio:6.2f}x {row.budget:6.2f}x  {verdict}",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps([asdict(row) | {"ratio": row.ratio} for row in rows], indent=2) + "\n")
    missed = [row.name for row in rows if not row.holds]
    print(f"{len(rows) - len(missed)} hold, {len(missed)} missed{': ' + ', '.join(missed) if missed else ''}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
