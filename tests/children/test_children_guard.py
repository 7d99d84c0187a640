"""The death of a shell: its guard ends what it left, wherever that went, and a clean end leaves no guard."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fakes import restless

from harness_tui.children import guard_program, processes
from harness_tui.children.guard import PROGRAM
from harness_tui.children.registry import ChildRegistry
from harness_tui.core.limits import MIB

SHELL = """
import asyncio, json, sys
from pathlib import Path
from harness_tui.children.registry import ChildRegistry

async def main():
    registry = ChildRegistry(Path("state"))
    for number, argv in enumerate(json.loads(sys.argv[1])):
        await registry.spawn(argv, owner=f"mcp:{number}", cwd=Path.cwd(), stdin="pipe")
    print(json.dumps([registry.shell_id, registry._guard.pid]), flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""

WRITE_PID = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"
IGNORE = "import signal; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; "


@dataclass
class Shell:
    """A program with a registry, and the children that it was asked to start."""

    process: subprocess.Popen[str]
    id: str
    guard: int
    folder: Path

    def pid(self, name: str) -> int:
        """Wait for the pid that a child wrote into a file."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            text = (self.folder / name).read_text() if (self.folder / name).exists() else ""
            if text:
                return int(text)
            time.sleep(0.01)
        raise AssertionError(f"{name} was never written")


def alive(pid: int) -> bool:
    running = processes.look(pid)
    return running is not None and not running.zombie


def alive_after(pids: list[int], seconds: float) -> list[int]:
    end = time.monotonic() + seconds
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    return left


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for file in tmp_path.glob("pid-*"):
        if file.read_text() and alive(int(file.read_text())):
            os.kill(int(file.read_text()), signal.SIGKILL)


def open_shell(folder: Path, *argvs: list[str]) -> Shell:
    process = subprocess.Popen(
        [sys.executable, "-c", SHELL, json.dumps(argvs)], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    shell, guard = json.loads(process.stdout.readline())
    return Shell(process, shell, guard, folder)


def child(name: str, *, before: str = "", clean: bool = False) -> list[str]:
    program = [sys.executable, "-c", before + WRITE_PID, name]
    return ["env", "-i", *program] if clean else program


def test_a_killed_shell_leaves_nothing_after_two_seconds(folder: Path) -> None:
    leave = "import os; os.setsid(); "
    left = shlex.join(child("pid-left", before=leave + IGNORE))
    clean = shlex.join(child("pid-clean", before=leave + IGNORE, clean=True))
    shell = open_shell(
        folder,
        child("pid-plain"),
        child("pid-stubborn", before=IGNORE),
        ["sh", "-c", f"{left} & wait"],
        ["sh", "-c", f"({clean} &); sleep 60"],
    )
    pids = [shell.pid(name) for name in ("pid-plain", "pid-stubborn", "pid-left", "pid-clean")]
    time.sleep(1.5)  # the one that cleaned its environment and left its session is known by a look
    shell.process.kill()
    shell.process.wait()
    assert alive_after([*pids, shell.guard], 2.0) == []
    assert list((folder / "state").iterdir()) == []


@pytest.mark.parametrize("kind", restless.ALL)
def test_the_guard_ends_what_will_not_go(folder: Path, kind: str) -> None:
    shell = open_shell(folder, [sys.executable, "-c", restless.ALL[kind]])
    end = time.monotonic() + 20
    while restless.beats(folder) < 60 and time.monotonic() < end:
        time.sleep(0.02)
    shell.process.kill()
    shell.process.communicate()
    assert alive_after([shell.guard], 10) == [], "it found no end"
    assert restless.is_quiet(folder)
    assert list((folder / "state").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV, signal.SIGUSR1])
def test_every_deadly_signal_is_the_death_of_the_shell(folder: Path, number: signal.Signals) -> None:
    shell = open_shell(folder, child("pid-a", before=IGNORE))
    pid = shell.pid("pid-a")
    shell.process.send_signal(number)
    shell.process.wait()
    assert alive_after([pid, shell.guard], 2.0) == []


def test_a_guard_that_was_killed_is_started_again(folder: Path) -> None:
    shell = open_shell(folder, child("pid-a", before=IGNORE))
    pid = shell.pid("pid-a")
    os.kill(shell.guard, signal.SIGKILL)
    end = time.monotonic() + 5
    guards: list[int] = []
    while not guards and time.monotonic() < end:
        rows = processes.table()
        guards = [
            row.pid
            for row in rows.values()
            if row.ppid == shell.process.pid and str(PROGRAM) in processes.command_of(row.pid)
        ]
        time.sleep(0.02)
    shell.process.kill()
    shell.process.wait()
    assert alive_after([pid, *guards], 2.0) == []


def test_the_guard_does_not_mind_the_signals_that_end_a_terminal(folder: Path) -> None:
    shell = open_shell(folder, child("pid-a", before=IGNORE))
    pid = shell.pid("pid-a")
    time.sleep(0.2)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        os.kill(shell.guard, number)
    time.sleep(0.1)
    assert alive(shell.guard)
    shell.process.kill()
    shell.process.wait()
    assert alive_after([pid, shell.guard], 2.0) == []


async def test_the_guard_comes_with_the_first_child_and_goes_with_the_registry(tmp_path: Path) -> None:
    registry = ChildRegistry(tmp_path)
    assert registry._guard.pid is None
    await (await registry.spawn(["true"], owner="bash", cwd=tmp_path)).wait()
    guard = registry._guard.pid
    assert guard is not None
    assert alive(guard)
    await registry.spawn(["sleep", "60"], owner="bash", cwd=tmp_path)
    assert registry._guard.pid == guard
    await registry.close()
    assert processes.look(guard) is None, "reaped, not only ended"


async def test_the_guard_is_small_and_has_no_mark(tmp_path: Path) -> None:
    registry = ChildRegistry(tmp_path)
    await registry.spawn(["sleep", "60"], owner="bash", cwd=tmp_path)
    guard = registry._guard.pid
    assert guard is not None
    time.sleep(1.3)  # it has looked once
    running = processes.look(guard)
    assert running is not None
    assert running.rss < 16 * MIB
    assert b"HARNESS_SHELL" not in Path(f"/proc/{guard}/environ").read_bytes()
    assert processes.command_of(guard)[1:4] == ("-I", "-S", str(PROGRAM))
    await registry.close()


def test_the_program_needs_the_standard_library_alone() -> None:
    code = f"import sys, runpy; runpy.run_path({str(PROGRAM)!r}, run_name='guard'); print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    foreign = {name.split(".")[0] for name in done.stdout.split()} - set(sys.stdlib_module_names) - {"__main__"}
    assert foreign == set()


def test_lines_of_ps_are_read_where_there_is_no_proc() -> None:
    text = (
        "    1     0     1     0 Ss   Mon Nov 30 08:00:01 2026\n"
        "  412     1   410   501 Z+   Tue Dec  1 15:47:21 2026\n"
        "a line that is none\n"
    )
    table = guard_program.parse_ps(text)
    assert sorted(table) == [1, 412]
    seen = table[412]
    assert (seen.ppid, seen.group, seen.uid, seen.zombie) == (1, 410, 501, True)
    assert seen.started == time.mktime((2026, 12, 1, 15, 47, 21, 0, 0, -1))
    assert not table[1].zombie


def test_a_group_whose_number_went_to_a_stranger_is_left_alone(folder: Path) -> None:
    stranger = subprocess.Popen(child("pid-stranger"), cwd=folder, start_new_session=True)
    try:
        watch = guard_program.Watch(os.getpid())
        watch.note(f"+{stranger.pid} 1.5")
        found = guard_program.find_left("HARNESS_SHELL=nobody", watch)
        assert stranger.pid not in [seen.pid for seen in found]
        running = processes.look(stranger.pid)
        assert running is not None
        watch.note(f"+{stranger.pid} {running.started!r}")
        found = guard_program.find_left("HARNESS_SHELL=nobody", watch)
        assert [seen.pid for seen in found] == [stranger.pid]
        watch = guard_program.Watch(os.getpid())
        watch.note(f"+{stranger.pid} {running.started!r}")
        watch.note(f"-{stranger.pid}")
        assert guard_program.find_left("HARNESS_SHELL=nobody", watch) == []
    finally:
        stranger.kill()
        stranger.wait()
