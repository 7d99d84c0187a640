"""Runs shell texts where nothing can happen but a record: every program of the PATH writes down its name."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from harness_tui.config.bundled_rules import BUNDLED_RULES
from harness_tui.config.places import Places
from harness_tui.config.settings import RuleLayer
from harness_tui.core.seams import Check, GateCall, GateDecision
from harness_tui.core.values import Rule
from harness_tui.permissions.approvals import Approvals
from harness_tui.permissions.gate import Gate

_TEXT_PROGRAMS = ("cat", "wc", "tee", "sed", "grep", "head", "tail", "sort")
_FILE_PROGRAMS = ("ls", "touch", "rm", "cp", "mv", "mkdir", "ln", "sudo")
RECORDED = (*_TEXT_PROGRAMS, *_FILE_PROGRAMS, "git", "make", "npm", "pytest", "ruff", "cargo", "go", "uv", "python3")
WRITERS = ("touch", "tee", "cp", "mkdir")
"""Programs that are recorded and then really run, so that what they write is seen."""

REAL = ("bash", "sh", "env", "timeout", "nice", "nohup", "stdbuf", "xargs", "find")
"""Programs that only start another one: they are the real ones, so that what they start is recorded."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a text did: the commands that programs were started with, and the files that were not there before.

    ``outside``: files that were named to programs and that lie outside the project, or are secret.
    """

    commands: tuple[str, ...]
    files: tuple[str, ...]
    ended: bool
    outside: tuple[str, ...] = ()


class Recorders:
    """A project folder, a gate with ``rules`` over it, and a PATH of recorders. ``base`` is an empty folder."""

    def __init__(self, base: Path, rules: tuple[Rule, ...]) -> None:
        base = base.resolve()
        self.root, self._home, self._bin = base / "project", base / "home", base / "bin"
        self._record = base / "record"
        for folder in (self.root / "src/out", self.root / "out", self._home, self._bin):
            folder.mkdir(parents=True)
        for name in ("a.txt", "b.txt", "src/a.txt"):
            (self.root / name).write_text("touch PWNED\n")
        self._bash = shutil.which("bash") or "/bin/bash"
        for name in RECORDED:
            script = self._bin / name
            real = f'exec {shutil.which(name)} "$@"\n' if name in WRITERS else ""
            words = f'printf "%s\\\\1" "$PWD" {name} "$@" >> {self._record}; printf "\\\\0" >> {self._record}\n'
            script.write_text(f"#!/bin/sh\n{words}{real}")
            script.chmod(0o755)
        for name in REAL:
            (self._bin / name).symlink_to(shutil.which(name) or f"/bin/{name}")
        places = Places(config=base / "config", data=base / "data", state=base / "state", cache=base / "cache")
        layers = [RuleLayer("bundled", BUNDLED_RULES), RuleLayer("user", rules)]
        self.gate = Gate(layers, Approvals(places, self.root), root=self.root, cwd=self.root, home=self._home)
        self._files = self._listed()

    def remember_files(self) -> None:
        """Take the files that are there now for those that were there before."""
        self._files = self._listed()

    def decide(self, text: str) -> GateDecision:
        """Decide on ``text`` as a call of the model."""
        check = Check("bash", text, folder=self.root.as_posix())
        return self.gate.decide(GateCall("c1", "bash", (check,), session="s1", agent="build", mode="ask"))

    def run(self, text: str, seconds: float = 5.0) -> Ran:
        """Run ``text`` with bash and tell what it did; the folder is as before afterwards."""
        self._record.write_text("")
        environ = {"PATH": str(self._bin), "HOME": str(self._home), "LANG": "C.UTF-8"}
        process = subprocess.Popen(
            [self._bash, "-c", text],
            cwd=self.root,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + seconds
        try:
            process.wait(seconds)
            ended = self._wait_for_group(process.pid, deadline)
        except subprocess.TimeoutExpired:
            ended = False
        if not ended:
            _end_group(process.pid)
            process.wait()
        lines = [line for line in self._record.read_text(errors="replace").split("\0") if line]
        started = [line.split("\1")[:-1] for line in lines]
        files = tuple(sorted(self._listed() - self._files))
        outside = tuple(name for folder, *words in started for name in words[1:] if self._is_outside(folder, name))
        self._clean(files)
        return Ran(tuple(" ".join(words) for _, *words in started), files, ended, outside)

    def _is_outside(self, folder: str, name: str) -> bool:
        path = os.path.realpath(os.path.join(folder, name))
        known = path.startswith(("/dev/", "/proc/")) or not os.path.lexists(path)
        return not known and (not f"{path}/".startswith(f"{self.root}/") or name.endswith(".env"))

    @staticmethod
    def _wait_for_group(group: int, deadline: float) -> bool:
        while time.monotonic() < deadline:
            if not _group_lives(group):
                return True
            time.sleep(0.002)
        return False

    def _listed(self) -> set[str]:
        return {
            str(path.relative_to(self.root.parent)) for folder in (self.root, self._home) for path in folder.rglob("*")
        }

    def _clean(self, files: tuple[str, ...]) -> None:
        for name in sorted(files, reverse=True):
            path = self.root.parent / name
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        for name in ("a.txt", "b.txt", "src/a.txt"):
            (self.root / name).write_text("touch PWNED\n")


def _group_lives(group: int) -> bool:
    """Tell whether a process of ``group`` still runs; one that has ended and that nobody waits for does not count."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    # A test process can be the reaper of its orphans; what is not its own is waited for by its parent, or init.
    with contextlib.suppress(ChildProcessError):
        os.waitpid(-group, os.WNOHANG)
    return any(_is_in(process, group) for process in psutil.process_iter())


def _is_in(process: psutil.Process, group: int) -> bool:
    try:
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False


def _end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def rule(pattern: str, permission: str = "bash") -> Rule:
    """Return an allow rule."""
    return Rule(permission, pattern, "allow", "rules:1")
