"""Systems without ``/proc``, subreapers and descriptors of processes, such as macOS: the same ends by other means."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness_tui.children import processes, reaper
from harness_tui.children.guard import PROGRAM
from harness_tui.children.registry import ChildRegistry

PidIn = Callable[[Path], Awaitable[int]]

LEAVE = (
    "import os, signal, time; signal.signal(15, signal.SIG_IGN); os.setsid(); "
    "open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
)


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what only Linux has."""
    monkeypatch.setattr(processes, "_LINUX", False)
    monkeypatch.setattr(reaper, "sys", SimpleNamespace(platform="darwin"))
    for module, name in ((os, "pidfd_open"), (os, "waitid"), (processes.signal, "pidfd_send_signal")):
        monkeypatch.delattr(module, name, raising=False)


def alive(pid: int) -> bool:
    running = processes.look(pid)
    return running is not None and not running.zombie


async def test_the_exit_the_output_and_the_list_are_told(registry: ChildRegistry, tmp_path: Path) -> None:
    done = await registry.spawn(["sh", "-c", "echo out; exit 3"], owner="bash", cwd=tmp_path)
    assert done.stdout is not None
    async with asyncio.timeout(20):
        assert (await done.stdout.read(), await done.wait()) == (b"out\n", 3)
    child = await registry.spawn(["sh", "-c", "sleep 61 & wait"], owner="mcp:a", cwd=tmp_path)
    async with asyncio.timeout(20):
        while not (info := (await asyncio.to_thread(registry.list))[0]).tree:
            await asyncio.sleep(0.02)
    assert (info.pid, info.ppid, info.owner) == (child.pid, os.getpid(), "mcp:a")
    assert info.tree[0].command == ("sleep", "61")
    assert info.rss > 0


@pytest.mark.parametrize("clean", [False, True])
async def test_a_stop_ends_what_left_the_session_and_ignores_term(
    registry: ChildRegistry, tmp_path: Path, python: str, pid_in: PidIn, clean: bool
) -> None:
    start = f'{"env -i " if clean else ""}{python} -c "{LEAVE}" & wait'
    child = await registry.spawn(["sh", "-c", start], owner="bash", cwd=tmp_path)
    pid = await pid_in(tmp_path / "pid")
    await child.stop(grace=0.3)
    assert not alive(pid)
    assert not alive(child.pid)


async def test_what_a_command_left_is_told_and_ends_with_the_registry(
    registry: ChildRegistry, tmp_path: Path, python: str, pid_in: PidIn
) -> None:
    start = f'{python} -c "{LEAVE}" >/dev/null 2>&1 & while [ ! -s pid ]; do sleep 0.01; done'
    child = await registry.spawn(["sh", "-c", start], owner="bash", cwd=tmp_path, keep_left=True)
    pid = await pid_in(tmp_path / "pid")
    async with asyncio.timeout(20):
        assert list(await child.left()) == [pid]
    await registry.close()
    assert not alive(pid)


@pytest.mark.skipif(shutil.which("ps", path="/bin") is None, reason="there is no ps here")
async def test_the_guard_ends_groups_and_what_was_seen_below_the_shell(
    tmp_path: Path, python: str, pid_in: PidIn
) -> None:
    shell = await asyncio.create_subprocess_exec(
        "sh", "-c", f'{python} -c "{LEAVE}" & echo $$ > group; wait', cwd=tmp_path, start_new_session=True
    )
    pid, group = await pid_in(tmp_path / "pid"), await pid_in(tmp_path / "group")
    started = processes.look(group)
    assert started is not None
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); "
        "import guard_program as guard; guard.LINUX = False; guard.main(sys.argv[1:])"
    )
    ledger = tmp_path / "ledger"
    ledger.touch()
    guard = subprocess.Popen(
        [sys.executable, "-S", "-c", code, str(PROGRAM.parent), "nobody", str(os.getpid()), str(ledger)],
        stdin=subprocess.PIPE,
    )
    try:
        guard.communicate(f"+{group} {started.started!r}\n".encode(), timeout=30)
        assert guard.returncode == 0
        await shell.wait()
        assert not alive(pid)
        assert not ledger.exists()
    finally:
        guard.kill()
        guard.wait()


async def test_start_times_of_ps_and_of_the_registry_are_the_same_ones() -> None:
    own = processes.look(os.getpid())
    assert own is not None
    text = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(os.getpid())], env={"LC_ALL": "C"}, capture_output=True, text=True, check=True
    ).stdout
    assert abs(time.mktime(time.strptime(text.strip(), "%a %b %d %H:%M:%S %Y")) - own.started) < 1.5
