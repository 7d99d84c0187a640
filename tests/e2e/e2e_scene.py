"""A shell that has an MCP server, a language server, and jobs that will not go, each proven alive; and its ends."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from e2e_home import BIN, Home
from terminal import Terminal

from harness_tui.children.listing import ProcessInfo, running_processes

SERVER = Path(__file__).parents[1] / "mcp" / "servers" / "simple.py"
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


def wait_for(test: Callable[[], Any], seconds: float = 30.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := test()) and time.monotonic() < end:
        time.sleep(0.02)
    assert found, "it did not come in time"
    return found


def ledgers(home: Home) -> Path:
    """Return the folder of the records of what runs."""
    return home.folder / ".local/state/harness/processes"


class Scene:
    """A shell at work: ``screen`` says whether it is the full-screen one or ``harness run``.

    ``official`` takes the MCP server of others, whose start costs more than all else, for one that is small.

    ``pids`` are an MCP server, a language server, and three stubborn processes: a background job, one that left its
    session and was left behind by its command, and one that a command waits for. All ignore TERM, HUP and INT.
    """

    def __init__(
        self, home: Home, *, screen: bool = False, ignore_hangup: bool = False, official: bool = False
    ) -> None:
        self.home = home
        self.terminal: Terminal | None = None
        python = shlex.quote(sys.executable)
        for name in ("pid-job", "pid-left", "pid-waited"):
            (home.project / name).unlink(missing_ok=True)
        home.write("stubborn.py", STUBBORN)
        home.write("a.py", "x: int = 'no'\n")
        home.write("pyproject.toml", "[project]\nname = 'x'\nversion = '1'\n")
        command = ["mcp-server-time"] if official else [sys.executable, str(SERVER)]
        home.user_config(
            f"""
            permission:
              - {{permission: bash, pattern: "*", action: allow}}
              - {{permission: mcp, pattern: "*", action: allow}}
            mcp: {{time: {{command: {json.dumps(command)}, lazy: false}}}}
            """
        )
        own = "stubborn.py pid-left own >/dev/null 2>&1 & while [ ! -s pid-left ]; do sleep 0.05; done"
        commands = [
            {"command": f"{python} stubborn.py pid-job", "background": True},
            {"command": f"{python} {own}"},
            {"command": f"{python} stubborn.py pid-waited", "timeout": 600},
        ]
        timely = {"name": "time_get_current_time", "arguments": {"timezone": "UTC"}}
        calls: list[dict[str, Any]] = [timely if official else {"name": "time_work", "arguments": {}}]
        calls += [{"name": "diagnostics", "arguments": {"path": "a.py"}}]
        calls += [{"name": "bash", "arguments": arguments} for arguments in commands]
        home.write("play.yaml", json.dumps({"turns": [{"tools": [call]} for call in calls]}))
        if screen:
            self._open_screen(ignore_hangup)
        else:
            self.process: subprocess.Popen[Any] = home.popen("run", "--json", "--model", "replay:play.yaml", "go")
        self.pids = [self.pid(name) for name in ("pid-job", "pid-left", "pid-waited")]
        self.rows = wait_for(self._rows)
        self.pids += [row.pid for row in self.rows]
        assert all(alive(pid) for pid in self.pids)

    def _open_screen(self, ignore_hangup: bool) -> None:
        argv = [str(BIN / "harness"), "--model=replay:play.yaml"]
        if ignore_hangup:
            argv = ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh", *argv]
        self.terminal = Terminal(argv, cwd=self.home.project, env=self.home.environ(), columns=100, rows=30)
        self.process = self.terminal.process
        self.before = self.terminal.attributes()
        self.terminal.wait_for("● idle")
        self.terminal.send("go")
        self.terminal.settle(0.2)
        self.terminal.send("\r")

    def pid(self, name: str) -> int:
        """Wait for the pid that a stubborn process wrote."""
        file = self.home.project / name
        return int(wait_for(lambda: self._drawn() and file.exists() and file.read_text()))

    def _drawn(self) -> bool:
        if self.terminal is not None:
            self.terminal.settle(0.02)
        return True

    def _rows(self) -> list[ProcessInfo]:
        self._drawn()
        rows = running_processes(ledgers(self.home))
        kinds = {row.owner.partition(":")[0] for row in rows}
        return rows if {"mcp", "lsp", "bash"} <= kinds else []

    def left(self, seconds: float) -> list[int]:
        """Return what is alive after ``seconds`` at most."""
        end = time.monotonic() + seconds
        while (left := [pid for pid in self.pids if alive(pid)]) and time.monotonic() < end:
            if self.terminal is None or self.terminal.ended:
                time.sleep(0.02)
            else:
                self.terminal.settle(0.02)
        return left

    def leave(self, way: str) -> float:
        """End the shell in one of ``WAYS``; return how many seconds it may take."""
        match way:
            case "hang up":
                assert self.terminal is not None
                self.terminal.hang_up()
            case "quit":
                assert self.terminal is not None
                self.terminal.send("\x1b")  # the command that still runs is cancelled first
                self.terminal.settle(0.5)
                self.terminal.send("/quit")
                self.terminal.settle(0.3)
                self.terminal.send("\r")
            case _:
                self.process.send_signal(signal.Signals[way])
        ends_at_once = way == "SIGKILL" or (way == "SIGQUIT" and self.terminal is None)
        return 2.0 if ends_at_once else 4.0

    def close(self) -> None:
        """End whatever there still is; later these numbers are those of others."""
        pids, self.pids = [self.process.pid, *getattr(self, "pids", [])], []
        if self.process.returncode is not None:
            pids.remove(self.process.pid)
        for pid in pids:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        if self.terminal is not None:
            self.terminal.close()
        elif self.process.returncode is None:
            self.process.communicate()


RUN_WAYS = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")
RUN_SAMPLE = ("SIGKILL", "SIGTERM")
"""Those that every run of the tests plays; the soak plays all."""
SCREEN_WAYS = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "hang up", "quit")
SCREEN_SAMPLE = ("SIGKILL", "hang up", "quit")
