"""``harness ps``, and what is left of a shell's processes however the shell ends."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from e2e_home import Home
from e2e_scene import RUN_SAMPLE, RUN_WAYS, SCREEN_SAMPLE, SCREEN_WAYS, Scene, alive, ledgers, wait_for

pytestmark = pytest.mark.e2e

HEAD = ["OWNER", "PID", "PPID", "STARTED", "RSS", "CPU", "RESTARTS", "COMMAND"]
Play = Callable[..., Scene]


@pytest.fixture
def play(home: Home) -> Iterator[Play]:
    """Return a function that opens a shell at work."""
    scenes: list[Scene] = []

    def open_scene(**how: bool) -> Scene:
        scenes.append(Scene.__new__(Scene))
        scenes[-1].__init__(home, **how)  # kept before it is whole: it is closed whatever happens
        return scenes[-1]

    yield open_scene
    for scene in scenes:
        scene.close()


@pytest.mark.parametrize("way", RUN_SAMPLE)
def test_nothing_outlives_a_run(home: Home, play: Play, way: str) -> None:
    scene = play(official=way == "SIGKILL")
    owners = sorted(row.owner for row in scene.rows)
    assert owners[:3] == ["bash", "bash", "bash"]
    assert "mcp:time" in owners
    if way == "SIGKILL":
        scene.pids.append(os.getpid())  # a process that is left is seen
        assert scene.left(scene.leave(way)) == [os.getpid()]
        scene.pids.remove(os.getpid())
    else:
        assert scene.left(scene.leave(way)) == []
    scene.process.communicate(timeout=10)
    assert scene.process.returncode == (130 if way in ("SIGTERM", "SIGHUP", "SIGINT") else -signal.Signals[way])
    assert_no_ledger(home)


@pytest.mark.parametrize("way", SCREEN_SAMPLE)
def test_nothing_outlives_the_full_screen_shell(home: Home, play: Play, way: str) -> None:
    scene = play(screen=True)
    assert scene.terminal is not None
    assert scene.left(scene.leave(way)) == []
    scene.terminal.wait_exit(5)
    wait_for(lambda: scene.process.poll() is not None, 5)
    if way == "hang up":
        assert scene.process.returncode == 128 + signal.SIGHUP
    elif way != "SIGKILL":
        assert scene.terminal.attributes() == scene.before
        assert scene.terminal.screen.modes["1049"] is False
    assert_no_ledger(home)


def test_a_closed_window_ends_a_shell_that_was_told_to_ignore_hangups(home: Home, play: Play) -> None:
    scene = play(screen=True, ignore_hangup=True)
    scene.leave("hang up")
    assert scene.left(4.0) == []
    wait_for(lambda: scene.process.poll() is not None, 5)
    assert_no_ledger(home)


def test_a_run_under_nohup_goes_on_after_a_hangup(home: Home) -> None:
    home.write("play.yaml", "turns: [{text: waited, wait: go.flag}]\n")
    process = home.popen("run", "--json", "--model", "replay:play.yaml", "go", ignores_hangups=True)
    assert process.stdout is not None
    while '"run_started"' not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    (home.project / "go.flag").touch()
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "waited" in out


@pytest.mark.skipif("HARNESS_SOAK_ROUNDS" not in os.environ, reason="make soak plays it")
def test_a_few_rounds_leave_nothing(home: Home, play: Play) -> None:
    """``make soak`` plays fifty: every way out in turn, at another moment each time."""
    for number in range(int(os.environ["HARNESS_SOAK_ROUNDS"])):
        screen = number % 2 == 1
        ways = SCREEN_WAYS if screen else RUN_WAYS
        way = ways[number // 2 % len(ways)]
        scene = play(screen=screen, official=True)
        time.sleep(number % 5 * 0.3)
        left = scene.left(scene.leave(way))
        assert left == [], f"round {number + 1}, {way}"
        scene.close()
        assert_no_ledger(home)
        print(f"round {number + 1}: {'screen' if screen else 'run'}, {way}: nothing left", flush=True)


def assert_no_ledger(home: Home) -> None:
    wait_for(lambda: not list(ledgers(home).iterdir()), 3)


def test_what_a_shell_and_its_guard_left_is_ended_by_the_next_start(home: Home, play: Play) -> None:
    scene = play()
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
        assert {"owner", "pid", "ppid", "started", "rss", "restarts", "command"} <= set(row)
        assert row["tree"][-1]["command"] == ["sleep", "41"]
        assert row["started"].endswith("Z")
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert not any(alive(pid) for pid in [row["pid"], *(below["pid"] for below in row["tree"])])
