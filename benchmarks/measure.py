"""What the benches share: an empty home, programs in it, and how they are timed."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from terminal import cpu_seconds
from watched import ScreenError, Watched

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
HARNESS = str(BIN / "harness")
FLOOR = [sys.executable, str(HERE / "floor.py")]
SECOND_MARK = "zq7"


@dataclass(frozen=True, slots=True)
class Place:
    """An empty project in an empty home, and the environment of a program there."""

    folder: Path
    project: Path
    env: dict[str, str]

    @property
    def home(self) -> Path:
        """The home folder."""
        return self.folder / "home"

    def configure(self, text: str) -> None:
        """Write the user's configuration."""
        file = self.home / ".config" / "harness" / "config.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def open(self, argv: list[str], **size: int) -> Watched:
        """Open a program in a terminal of 120x40."""
        return Watched(argv, cwd=self.project, env=self.env, **size)


@contextmanager
def scratch() -> Iterator[Place]:
    """Yield a place of its own, removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="harness-bench-"))
    try:
        project = folder / "home" / "project"
        project.mkdir(parents=True)
        (project / "README.md").write_text("# sample\n")
        (project / ".git").mkdir()
        yield Place(folder, project, {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]})
    finally:
        _remove(folder)


def _remove(folder: Path, patience: float = 3.0) -> None:
    """Remove ``folder``; a program that was hung up may still write into it for a moment."""
    end = time.perf_counter() + patience
    while folder.exists() and time.perf_counter() < end:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.05)


def run(argv: list[str], place: Place) -> None:
    """Run a command to its end. Raises ``CalledProcessError``."""
    subprocess.run(argv, cwd=place.project, env=place.env, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def wall(argv: list[str], place: Place) -> float:
    """Return the wall milliseconds of a command."""
    start = time.perf_counter()
    run(argv, place)
    return (time.perf_counter() - start) * 1e3


def child_cpu(argv: list[str], place: Place) -> float:
    """Return the CPU milliseconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(argv, place)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def first_frame(argv: list[str], place: Place) -> tuple[float, float]:
    """Return milliseconds to the first visible character and to the echo of a marker typed at once."""
    with place.open(argv) as terminal:
        at = terminal.pump(lambda: any(terminal.rows), 20)
        if at is None:
            raise ScreenError(f"{argv} drew nothing within 20 s")
        terminal.send(SECOND_MARK)
        ready = terminal.see(SECOND_MARK)
        return (at - terminal.started) * 1e3, (ready - terminal.started) * 1e3


@contextmanager
def settled(place: Place, argv: list[str], last: str | None = None, *, patience: float = 60.0) -> Iterator[Watched]:
    """Open a program and wait until it has nothing more to do; with ``last`` the screen must show that text."""
    with place.open(argv) as terminal:
        if terminal.pump(lambda: any(terminal.rows), 20) is None:
            raise ScreenError(f"{argv} drew nothing within 20 s")
        if last is not None:
            terminal.see(last, patience)
        rest(terminal)
        yield terminal


def rest(terminal: Watched, limit: float = 20.0) -> None:
    """Wait until the program uses next to no CPU."""
    end = time.perf_counter() + limit
    used = cpu_seconds(terminal.process.pid)
    while time.perf_counter() < end:
        terminal.settle(0.5)
        before, used = used, cpu_seconds(terminal.process.pid)
        if used - before < 0.02:
            return


def cpu_of(terminal: Watched, seconds: float) -> float:
    """Return the CPU seconds that a program uses in the next ``seconds``."""
    before = cpu_seconds(terminal.process.pid)
    terminal.settle(seconds)
    return cpu_seconds(terminal.process.pid) - before


def make_session(place: Place, turns: int) -> str:
    """Record a session of ``turns`` messages with answers, and return its id."""
    source = (
        "import sys; sys.path.insert(0, sys.argv[1]); import long_session; "
        "print(long_session.record(sys.argv[2], int(sys.argv[3])))"
    )
    argv = [sys.executable, "-c", source, str(HERE), str(place.project), str(turns)]
    done = subprocess.run(argv, env=place.env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def quoted(text: str | Path) -> str:
    """Return ``text`` as a value of YAML."""
    return json.dumps(str(text))
