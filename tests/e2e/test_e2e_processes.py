"""``harness ps``, and what is left of a run's processes however the shell ends."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from e2e_home import Home

pytestmark = pytest.mark.e2e

HEAD = ["OWNER", "PID", "PPID", "STARTED", "RSS", "CPU", "RESTARTS", "COMMAND"]
STUBBORN = """
import os, signal, sys, time
for number in (1, 2, 15):
    signal.signal(number, signal.SIG_IGN)
if sys.argv[2:]:
    os.setsid()
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(60)
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(test: Any, seconds: float = 30.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := test()) and time.monotonic() < end:
        time.sleep(0.02)
    assert found, "it did not come in time"
    return found


class Scene:
    """A run with an MCP server, a language server, a background job, and a job in a session of its own."""

    def __init__(self, home: Home) -> None:
        self.home = home
        python = shlex.quote(sys.executable)
        home.write("stubborn.py", STUBBORN)
        home.write("a.py", "x: int = 'no'\n")
        home.write("pyproject.toml", "[project]\nname = 'x'\nversion = '1'\n")
        home.user_config(
            """
            permission: [{permission: bash, pattern: "*", action: allow}]
            mcp: {time: {command: [mcp-server-time], lazy: false}}
            """
        )
        own = "stubborn.py pid-left own >/dev/null 2>&1 & while [ ! -s pid-left ]; do sleep 0.05; done"
        commands = [
            {"command": f"{python} stubborn.py pid-job", "background": True},
            {"command": f"{python} {own}"},
            {"command": f"{python} stubborn.py pid-waited", "timeout": 600},
        ]
        calls = [{"name": "time_get_current_time", "arguments": {"timezone": "UTC"}}]
        calls += [{"name": "diagnostics", "arguments": {"path": "a.py"}}]
        calls += [{"name": "bash", "arguments": arguments} for arguments in commands]
        home.write("play.yaml", json.dumps({"turns": [{"tools": [call]} for call in calls]}))
        self.process = home.popen("run", "--json", "--model", "replay:play.yaml", "--ask", "allow", "go")
        self.pids = [self.pid(name) for name in ("pid-job", "pid-left", "pid-waited")]
        self.rows = wait_for(self._rows)
        self.pids += [row["pid"] for row in self.rows]
        assert all(alive(pid) for pid in self.pids)

    def pid(self, name: str) -> int:
        return int(wait_for(lambda: (self.home.project / name).exists() and (self.home.project / name).read_text()))

    def _rows(self) -> list[dict[str, Any]]:
        rows = json.loads(self.home.harness("ps", "--json").out)
        kinds = {row["owner"].partition(":")[0] for row in rows}
        return rows if {"mcp", "lsp", "bash"} <= kinds else []

    def left(self, seconds: float) -> list[int]:
        end = time.monotonic() + seconds
        while (left := [pid for pid in self.pids if alive(pid)]) and time.monotonic() < end:
            time.sleep(0.02)
        return left

    def kill(self) -> None:
        for pid in [self.process.pid, *self.pids]:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.communicate()


@pytest.mark.parametrize(
    ("number", "seconds"),
    [(signal.SIGKILL, 2.0), (signal.SIGQUIT, 2.0), (signal.SIGTERM, 4.0), (signal.SIGHUP, 4.0), (signal.SIGINT, 4.0)],
)
def test_nothing_outlives_a_run_that_a_signal_ends(home: Home, number: signal.Signals, seconds: float) -> None:
    scene = Scene(home)
    try:
        owners = sorted(row["owner"] for row in scene.rows)
        assert owners[:3] == ["bash", "bash", "bash"]
        assert "mcp:time" in owners
        assert {"owner", "pid", "ppid", "started", "rss", "restarts", "command"} <= set(scene.rows[0])
        scene.process.send_signal(number)
        assert scene.left(seconds) == []
        scene.process.communicate(timeout=10)
        if number not in (signal.SIGKILL, signal.SIGQUIT):
            assert scene.process.returncode == 130
        assert json.loads(home.harness("ps", "--json").out) == []
        assert list((home.folder / ".local/state/harness/processes").iterdir()) == []
    finally:
        scene.kill()


def test_what_a_shell_and_its_guard_left_is_ended_by_the_next_start(home: Home) -> None:
    scene = Scene(home)
    try:
        guards = [
            int(entry.name)
            for entry in Path("/proc").iterdir()
            if entry.name.isdecimal() and _is_guard_of(entry, scene.process.pid)
        ]
        assert len(guards) == 1
        scene.process.send_signal(signal.SIGSTOP)  # so that it does not start another one
        os.kill(guards[0], signal.SIGKILL)
        scene.process.kill()
        scene.process.communicate(timeout=10)
        time.sleep(0.5)
        assert scene.left(0) != []
        home.write("other.yaml", "turns: [{text: hello}]\n")
        done = home.run("hi", "--model", "replay:other.yaml")
        assert done.code == 0
        assert scene.left(2.0) == []
    finally:
        scene.kill()


def _is_guard_of(entry: Path, shell: int) -> bool:
    try:
        words = (entry / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(word.endswith(b"guard_program.py") for word in words) and str(shell).encode() in words


def test_ps_shows_the_tree_of_what_runs(home: Home) -> None:
    assert home.harness("ps").out == "no shell has a process running\n"
    assert home.harness("ps", "--json").out == "[]\n"
    home.write(
        "play.yaml", 'turns: [{tools: [{name: bash, arguments: {command: "sh -c \\"sleep 41 & wait\\" & wait"}}]}]\n'
    )
    process = home.popen("run", "--json", "--model", "replay:play.yaml", "--ask", "allow", "go")
    try:

        def shown() -> str:
            out = home.harness("ps").out
            return (
                out if "sleep 41" in out.replace("sh -c", "").replace("bash -c", "") and "    sleep 41" in out else ""
            )

        out = wait_for(shown)
        assert out.splitlines()[0].split() == HEAD
        row = next(row for row in json.loads(home.harness("ps", "--json").out) if row["owner"] == "bash")
        assert row["ppid"] == process.pid
        assert row["restarts"] == 0
        assert row["tree"][-1]["command"] == ["sleep", "41"]
        assert row["started"].endswith("Z")
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert not any(alive(pid) for pid in [row["pid"], *(below["pid"] for below in row["tree"])])
