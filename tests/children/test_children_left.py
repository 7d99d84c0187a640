"""What outlives a command or a shell: kept and listed, swept at the next start, reaped, logged."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from harness_tui.children import processes
from harness_tui.children.ledger import ChildLedger, LedgerChild, read_ledgers
from harness_tui.children.listing import running_processes
from harness_tui.children.registry import ChildRegistry
from harness_tui.children.stderr_log import StderrLog, log_file
from harness_tui.children.sweep import Swept, sweep
from harness_tui.core.errors import HarnessError

PidIn = Callable[[Path], Awaitable[int]]
Gone = Callable[[int], Awaitable[bool]]

LEAVE = "import os, sys, time; os.setsid(); open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"


def killed_shell(folder: Path, children: list[LedgerChild], *, boot: str | None = None, pid: int = 2**22) -> Path:
    """Write the ledger of a shell that is dead."""
    folder.mkdir(exist_ok=True)
    path = folder / "children-shell_dead.jsonl"
    head = {"shell": "shell_dead", "pid": pid, "started": 1.0, "boot": boot or processes.boot_mark()}
    lines = [
        {
            "pid": child.pid,
            "started": child.started,
            "owner": child.owner,
            "shell": "shell_dead",
            "since": child.since,
            "restarts": child.restarts,
            "command": list(child.command),
        }
        for child in children
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in [head, *lines]))
    return path


def recorded(pid: int, *, started: float | None = None) -> LedgerChild:
    running = processes.look(pid)
    assert running is not None
    since = "2026-01-01T00:00:00.000Z"
    return LedgerChild(pid, running.started if started is None else started, "mcp:a", since, 0, ("sleep", "60"))


# --- kept ----------------------------------------------------------------------------------------


async def test_what_a_command_leaves_lives_on_and_is_listed_until_it_is_stopped(
    registry: ChildRegistry, tmp_path: Path, gone: Gone, pid_in: PidIn
) -> None:
    command = "sleep 60 & echo $! > pid; echo said"
    child = await registry.spawn(["sh", "-c", command], owner="bash", cwd=tmp_path, keep_left=True)
    assert await child.wait() == 0
    pid = await pid_in(tmp_path / "pid")
    assert list(await child.left()) == [pid]
    await asyncio.sleep(0.6)
    (info,) = registry.list()
    assert (info.owner, info.pid, info.command) == ("bash", pid, ("sleep", "60"))
    assert [row.pid for row in running_processes(tmp_path / "state")] == [pid]
    assert await child.stop() == 0
    assert await gone(pid)
    assert registry.list() == []


async def test_what_left_the_session_is_kept_too_and_ends_with_the_registry(
    registry: ChildRegistry, tmp_path: Path, python: str, gone: Gone, pid_in: PidIn
) -> None:
    command = f'{python} -c "{LEAVE}" pid >/dev/null 2>&1 & while [ ! -s pid ]; do sleep 0.01; done'
    child = await registry.spawn(["sh", "-c", command], owner="bash", cwd=tmp_path, keep_left=True)
    await child.wait()
    pid = await pid_in(tmp_path / "pid")
    assert list(await child.left()) == [pid]
    await registry.close()
    assert await gone(pid)


async def test_a_child_that_left_nothing_is_over_at_its_exit(registry: ChildRegistry, tmp_path: Path) -> None:
    child = await registry.spawn(["true"], owner="bash", cwd=tmp_path, keep_left=True)
    assert list(await child.left()) == []
    assert registry.list() == []


async def test_it_is_noticed_when_what_was_left_ends_by_itself(registry: ChildRegistry, tmp_path: Path) -> None:
    child = await registry.spawn(["sh", "-c", "sleep 0.5 &"], owner="bash", cwd=tmp_path, keep_left=True)
    assert len(await child.left()) == 1
    async with asyncio.timeout(10):
        while registry._children:
            await asyncio.sleep(0.05)
    assert list(await child.left()) == []


# --- found by looking -----------------------------------------------------------------------------


async def test_a_descendant_that_lost_its_parents_and_cleaned_its_environment_ends_with_a_stop(
    registry: ChildRegistry, tmp_path: Path, python: str, gone: Gone, pid_in: PidIn
) -> None:
    command = f'(env -i {python} -c "{LEAVE}" pid & sleep 1.2); sleep 60'
    child = await registry.spawn(["sh", "-c", command], owner="bash", cwd=tmp_path)
    pid = await pid_in(tmp_path / "pid")
    await asyncio.sleep(1.6)  # its parent is gone by now: only an earlier look knows whose it is
    running = processes.look(pid)
    assert running is not None
    assert running.ppid != child.pid
    await child.stop()
    assert await gone(pid)


async def test_what_term_made_a_child_start_ends_too(
    registry: ChildRegistry, tmp_path: Path, python: str, gone: Gone, pid_in: PidIn
) -> None:
    (tmp_path / "leave.py").write_text(LEAVE)
    command = f"trap 'env -i {python} leave.py pid & sleep 60' TERM; echo up; sleep 60 & wait"
    child = await registry.spawn(["sh", "-c", command], owner="mcp:a", cwd=tmp_path)
    assert child.stdout is not None
    await child.stdout.readline()
    await child.stop(grace=1.0)
    assert await gone(await pid_in(tmp_path / "pid"))


@pytest.mark.skipif(sys.platform != "linux", reason="orphans come to us on Linux alone")
async def test_an_orphan_that_ends_does_not_stay_a_zombie(
    registry: ChildRegistry, tmp_path: Path, pid_in: PidIn
) -> None:
    child = await registry.spawn(["sh", "-c", "(sleep 0.5 & echo $! > pid); sleep 60"], owner="mcp:a", cwd=tmp_path)
    pid = await pid_in(tmp_path / "pid")
    async with asyncio.timeout(5):
        while (running := processes.look(pid)) is not None and running.ppid != os.getpid():
            await asyncio.sleep(0.01)
        assert running is not None, "the orphan came to us"
        while processes.look(pid) is not None:
            await asyncio.sleep(0.02)
    assert child.returncode is None


async def test_a_status_that_other_code_waits_for_is_not_taken(registry: ChildRegistry, tmp_path: Path) -> None:
    await registry.spawn(["sleep", "60"], owner="mcp:a", cwd=tmp_path)
    foreign = subprocess.Popen(["sh", "-c", "exit 7"])
    await (await registry.spawn(["true"], owner="bash", cwd=tmp_path)).wait()
    await asyncio.sleep(0.3)
    assert foreign.wait() == 7


# --- the end of the shell --------------------------------------------------------------------------


async def test_an_ending_shell_kills_what_is_still_asked_politely_after_a_while(
    registry: ChildRegistry, tmp_path: Path
) -> None:
    child = await registry.spawn(["sleep", "60"], owner="mcp:a", cwd=tmp_path)

    async def hang() -> None:
        await asyncio.sleep(60)

    began = time.monotonic()
    registry.hurry(0.3)
    assert await child.stop(hang, grace=30.0) == -9
    assert time.monotonic() - began < 10


# --- the next start --------------------------------------------------------------------------------


def test_the_sweep_ends_what_a_killed_shell_left(tmp_path: Path) -> None:
    left = subprocess.Popen(["sleep", "60"], start_new_session=True)
    marked = subprocess.Popen(["sleep", "61"], start_new_session=True, env={"HARNESS_SHELL": "shell_dead"})
    try:
        path = killed_shell(tmp_path / "state", [recorded(left.pid)])
        assert sweep(tmp_path / "state") == Swept(("mcp:a",), ())
        assert left.wait(5) == -signal.SIGTERM
        assert marked.wait(5) == -signal.SIGTERM
        assert not path.exists()
        assert sweep(tmp_path / "state") == Swept()
    finally:
        left.kill()
        marked.kill()


@pytest.mark.parametrize("why", ["another process has its pid", "the machine was started again", "its shell lives"])
def test_the_sweep_leaves_alone_what_is_not_its_business(tmp_path: Path, why: str) -> None:
    other = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        if why == "another process has its pid":
            path = killed_shell(tmp_path / "state", [recorded(other.pid, started=1.0)])
        elif why == "the machine was started again":
            path = killed_shell(tmp_path / "state", [recorded(other.pid)], boot="another")
        else:
            path = killed_shell(tmp_path / "state", [recorded(other.pid)])
            own = processes.look(os.getpid())
            assert own is not None
            path.write_text(
                path.read_text().replace(
                    f'"pid": {2**22}, "started": 1.0', f'"pid": {own.pid}, "started": {own.started}'
                )
            )
        assert sweep(tmp_path / "state") == Swept()
        assert other.poll() is None
        assert path.exists() == (why == "its shell lives")
    finally:
        other.kill()
        other.wait()


def test_a_ledger_whose_shell_holds_its_lock_is_alive(tmp_path: Path) -> None:
    ledger = ChildLedger(tmp_path, "shell_x")
    ledger.started(LedgerChild(2**22, 1.0, "bash", "2026-01-01T00:00:00.000Z", 0, ("x",)))
    text = ledger.path.read_text().replace(f'"pid": {os.getpid()}', '"pid": 1')
    ledger.path.write_text(text)
    (read,) = read_ledgers(tmp_path)
    assert read.alive
    assert [child.owner for child in read.children] == ["bash"]
    ledger.close()
    assert list(read_ledgers(tmp_path)) == []


@pytest.mark.parametrize("text", ["", "{", "[]\n", '{"shell": 1}\n', "\xff\n", '{"shell": "s", "pid": "x"}\n'])
def test_a_ledger_that_cannot_be_read_is_left_out_and_removed_once_it_is_old(tmp_path: Path, text: str) -> None:
    path = tmp_path / "children-odd.jsonl"
    path.write_text(text, encoding="latin-1")
    assert sweep(tmp_path) == Swept()
    assert path.exists(), "it may be one that is just being written"
    os.utime(path, (1, 1))
    assert sweep(tmp_path) == Swept()
    assert not path.exists()


def test_a_torn_last_line_does_not_hide_the_others(tmp_path: Path) -> None:
    left = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        path = killed_shell(tmp_path, [recorded(left.pid)])
        with path.open("a") as file:
            file.write('{"pid": 12, "sta')
        assert sweep(tmp_path).ended == ("mcp:a",)
        assert left.wait(5) == -signal.SIGTERM
    finally:
        left.kill()


async def test_a_registry_without_a_folder_sweeps_nothing() -> None:
    assert await ChildRegistry().sweep() == Swept()


# --- logs -------------------------------------------------------------------------------------------


async def test_standard_error_of_a_server_is_kept_on_disk_without_secrets(tmp_path: Path) -> None:
    registry = ChildRegistry(logs=tmp_path / "logs")
    script = "echo one >&2; echo token sk-abcdefghijklmnopqrstuvwxyz >&2; printf two >&2"
    child = await registry.spawn(["sh", "-c", script], owner="mcp:a b/c", cwd=tmp_path)
    await child.wait()
    await child.stop()
    path = log_file(tmp_path / "logs", "mcp:a b/c")
    assert child.log_path == str(path)
    assert path.name == "mcp-a_b_c.log"
    head, *lines = path.read_text().splitlines()
    assert head.startswith("--- ")
    assert head.endswith(f"as {child.pid}")
    assert lines == ["one", "token [redacted]", "two"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    command = await registry.spawn(["sh", "-c", "echo x >&2"], owner="bash", cwd=tmp_path)
    await command.stop()
    assert [entry.name for entry in (tmp_path / "logs").iterdir()] == ["mcp-a_b_c.log"]
    await registry.close()


async def test_a_log_is_rotated_and_bounded(tmp_path: Path) -> None:
    log = StderrLog(tmp_path / "x.log", file_bytes=10_000)
    for number in range(50):
        log.append(b"%04d " % number * 200 + b"\n")
        await asyncio.sleep(0)
    await log.close()
    old = (tmp_path / "x.log.1").read_text()
    new = (tmp_path / "x.log").read_text()
    assert new.endswith("0049 \n")
    assert len(old) <= 10_000
    assert len(new) <= 10_000
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["x.log", "x.log.1"]


async def test_what_comes_faster_than_it_can_be_written_is_counted(tmp_path: Path) -> None:
    log = StderrLog(tmp_path / "x.log", file_bytes=4 * 2**20)
    for _ in range(40):
        log.append(b"y" * 65_535 + b"\n")
    await log.close()
    assert "bytes came too fast and were not kept" in (tmp_path / "x.log").read_text()


async def test_a_log_that_cannot_be_written_disturbs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    registry = ChildRegistry(logs=tmp_path / "file" / "logs")
    child = await registry.spawn(["sh", "-c", "echo said >&2"], owner="lsp:a", cwd=tmp_path)
    assert await child.wait() == 0
    await child.stop()
    assert child.stderr_tail() == "said"
    await registry.close()


async def test_a_close_that_finds_something_left_says_what(
    registry: ChildRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = await registry.spawn(["sleep", "60"], owner="mcp:a", cwd=tmp_path)
    running = processes.look(child.pid)
    with monkeypatch.context() as patched:
        patched.setattr("harness_tui.children.registry.sweep_strays", lambda *_arguments: [running])
        with pytest.raises(HarnessError, match=str(child.pid)):
            await registry.close()
