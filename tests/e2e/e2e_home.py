"""A person's empty home and a project of theirs, and the installed ``harness`` run as a child process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

MARK = "HARNESS_TEST_MARK"
BIN = Path(sys.executable).parent


@dataclass
class Ran:
    """What a run gave: exit code, standard output and error, and the events when it printed JSON lines."""

    code: int
    out: str
    err: str
    events: list[dict[str, Any]] = field(default_factory=list)

    def of(self, kind: str, /, **fields: Any) -> list[dict[str, Any]]:
        """Return the events of a type whose fields have these values."""
        return [
            event
            for event in self.events
            if event["type"] == kind and all(event.get(name) == value for name, value in fields.items())
        ]

    def index(self, event: dict[str, Any]) -> int:
        """Return the place of an event in the stream."""
        return self.events.index(event)


@dataclass
class Home:
    """An empty home with one project in it; every process started from here carries ``mark``."""

    folder: Path
    project: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    variables: dict[str, str] = field(default_factory=dict)
    """What the person has set besides."""

    def environ(self) -> dict[str, str]:
        """Return the environment of a person who has set nothing up."""
        return {
            "HOME": str(self.folder),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            MARK: self.mark,
            **self.variables,
        }

    def write(self, name: str, text: str, *, base: Path | None = None) -> Path:
        """Write a file of the project, indentation removed."""
        path = (base or self.project) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    def user_config(self, text: str) -> None:
        """Write the person's own configuration."""
        self.write(".config/harness/config.yaml", text, base=self.folder)

    def trust(self) -> None:
        """Trust the project."""
        assert self.harness("trust", str(self.project), "--yes").code == 0

    def popen(
        self, *arguments: str, stdin: int = subprocess.DEVNULL, ignores_hangups: bool = False
    ) -> subprocess.Popen[str]:
        """Start ``harness`` in the project, with the signals as a person's shell gives them to a program."""

        def set_signals() -> None:  # whoever started the tests may ignore some: nohup, a shell's background job
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_IGN if ignores_hangups else signal.SIG_DFL)

        return subprocess.Popen(
            [BIN / "harness", *arguments],
            cwd=self.project,
            env=self.environ(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=set_signals,
        )

    def harness(self, *arguments: str, stdin: str | None = None, timeout: float = 90) -> Ran:
        """Run ``harness`` to its end."""
        process = self.popen(*arguments, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE)
        try:
            out, err = process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"harness {arguments} did not end within {timeout} s\n{out[-2000:]}\n{err}") from None
        events = [json.loads(line) for line in out.splitlines()] if "--json" in arguments and "run" in arguments else []
        return Ran(process.returncode, out, err, events)

    def run(self, message: str, *arguments: str, stdin: str | None = None) -> Ran:
        """Run ``harness run --json``."""
        return self.harness("run", "--json", *arguments, message, stdin=stdin)

    def leftovers(self) -> list[int]:
        """Return the living processes that carry this home's mark."""
        want = f"{MARK}={self.mark}".encode()
        found: list[int] = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                if want in Path("/proc", entry, "environ").read_bytes().split(b"\0"):
                    found.append(int(entry))
            except OSError:
                continue
        return found

    def assert_nothing_left(self, seconds: float = 2.0) -> None:
        """Wait at most ``seconds`` until no process of this home is alive."""
        end = time.monotonic() + seconds
        while self.leftovers() and time.monotonic() < end:
            time.sleep(0.05)
        left = [Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ") for pid in self.leftovers()]
        assert not left, f"alive {seconds} s after the end: {left}"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """An empty home; the test fails when a process outlives it."""
    project = tmp_path / "home" / "src" / "project"
    project.mkdir(parents=True)
    made = Home(tmp_path / "home", project)
    made.write(".git/HEAD", "ref: refs/heads/main\n")
    yield made
    made.assert_nothing_left()


def request_log(path: Path) -> list[dict[str, Any]]:
    """Return the model requests that a replay script logged."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def yaml_list(items: Sequence[Any]) -> str:
    """Return items as a YAML flow list (JSON is YAML)."""
    return json.dumps(list(items))
