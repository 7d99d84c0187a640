"""The end of a child: nothing that it started outlives it, and nobody waits for ever."""

from __future__ import annotations

import asyncio
import errno
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from fakes import restless

from harness_tui.children import processes
from harness_tui.children.registry import ChildRegistry
from harness_tui.core.errors import HarnessError

PidIn = Callable[[Path], Awaitable[int]]
Gone = Callable[[int], Awaitable[bool]]

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


async def test_wait_ends_with_the_process_though_a_grandchild_holds_the_pipe(
    registry: ChildRegistry, tmp_path: Path, gone: Gone, pid_in: PidIn
) -> None:
    child = await registry.spawn(["sh", "-c", "sleep 60 & echo $! > pid; echo said"], owner="bash", cwd=tmp_path)
    async with asyncio.timeout(5):
        assert await child.wait() == 0
    grandchild = await pid_in(tmp_path / "pid")
    assert await gone(grandchild), "the group ends with its leader"
    assert child.stdout is not None
    async with asyncio.timeout(5):
        assert await child.stdout.read() == b"said\n"


async def test_what_is_left_in_the_group_may_finish_its_sentence(registry: ChildRegistry, tmp_path: Path) -> None:
    child = await registry.spawn(["sh", "-c", "(sleep 0.05; echo late) & echo early"], owner="bash", cwd=tmp_path)
    assert child.stdout is not None
    async with asyncio.timeout(5):
        await child.wait()
        assert await child.stdout.read() == b"early\nlate\n"


async def test_a_child_that_ignores_term_is_killed(registry: ChildRegistry, tmp_path: Path, python: str) -> None:
    child = await registry.spawn([python, "-c", STUBBORN], owner="mcp:a", cwd=tmp_path)
    assert child.stdout is not None
    await child.stdout.readline()
    async with asyncio.timeout(10):
        assert await child.stop(grace=0.1) == -9
    assert registry.list() == []


async def test_the_whole_group_ends(registry: ChildRegistry, tmp_path: Path, pid_in: PidIn, gone: Gone) -> None:
    child = await registry.spawn(
        ["sh", "-c", "sleep 60 & echo $! > one; sleep 60 & echo $! > two; wait"], owner="mcp:a", cwd=tmp_path
    )
    pids = [await pid_in(tmp_path / name) for name in ("one", "two")]
    await child.stop()
    for pid in pids:
        assert await gone(pid)


async def test_a_descendant_that_left_the_group_ends_too(
    registry: ChildRegistry, tmp_path: Path, python: str, pid_in: PidIn, gone: Gone
) -> None:
    leave = "import os, time; os.setsid(); open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    child = await registry.spawn(["sh", "-c", f'{python} -c "{leave}" & wait'], owner="mcp:a", cwd=tmp_path)
    pid = await pid_in(tmp_path / "pid")
    await child.stop()
    assert await gone(pid)


async def test_a_descendant_that_left_the_group_and_cleaned_its_environment_ends_too(
    registry: ChildRegistry, tmp_path: Path, python: str, pid_in: PidIn, gone: Gone
) -> None:
    leave = "import os, time; os.setsid(); open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    child = await registry.spawn(["sh", "-c", f'env -i {python} -c "{leave}" & wait'], owner="mcp:a", cwd=tmp_path)
    pid = await pid_in(tmp_path / "pid")
    await child.stop()
    assert await gone(pid)


@pytest.mark.parametrize("kind", restless.ALL)
async def test_what_will_not_go_is_gone_after_a_stop_and_leaves_no_zombie(
    registry: ChildRegistry, tmp_path: Path, python: str, kind: str
) -> None:
    child = await registry.spawn([python, "-c", restless.ALL[kind]], owner="bash", cwd=tmp_path, keep_left=True)
    async with asyncio.timeout(20):
        while restless.beats(tmp_path) < 60:
            await asyncio.sleep(0.02)
    await child.stop(grace=0.2)
    assert await asyncio.to_thread(restless.is_quiet, tmp_path)
    async with asyncio.timeout(10):
        while any(row.zombie and row.ppid == os.getpid() for row in processes.scan()):
            await asyncio.sleep(0.02)


async def test_closing_the_registry_finds_what_a_finished_child_left_outside_its_group(
    registry: ChildRegistry, tmp_path: Path, python: str, pid_in: PidIn, gone: Gone
) -> None:
    leave = "import os, time; os.setsid(); open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    child = await registry.spawn(
        ["sh", "-c", f'{python} -c "{leave}" >/dev/null 2>&1 & while [ ! -s pid ]; do sleep 0.01; done'],
        owner="bash",
        cwd=tmp_path,
    )
    async with asyncio.timeout(10):
        await child.wait()
    pid = await pid_in(tmp_path / "pid")
    await registry.close()
    assert await gone(pid)


async def test_the_polite_step_comes_first(registry: ChildRegistry, tmp_path: Path) -> None:
    child = await registry.spawn(["cat"], owner="mcp:a", cwd=tmp_path, stdin="pipe")

    async def close_input() -> None:
        assert child.stdin is not None
        child.stdin.close()

    assert await child.stop(close_input) == 0


async def test_a_polite_step_that_hangs_is_given_up(registry: ChildRegistry, tmp_path: Path) -> None:
    child = await registry.spawn(["sleep", "60"], owner="mcp:a", cwd=tmp_path)

    async def hang() -> None:
        await asyncio.sleep(60)

    async with asyncio.timeout(10):
        assert await child.stop(hang, grace=0.1) == -15


async def test_a_polite_step_that_fails_is_told_and_the_child_still_ends(
    registry: ChildRegistry, tmp_path: Path
) -> None:
    child = await registry.spawn(["sleep", "60"], owner="mcp:a", cwd=tmp_path)

    async def fail() -> None:
        raise OSError("broken pipe")

    assert await child.stop(fail) == -15
    assert "the polite stop failed: OSError('broken pipe')" in child.stderr_tail()


async def test_stops_at_the_same_time_share_one(registry: ChildRegistry, tmp_path: Path) -> None:
    child = await registry.spawn(["sleep", "60"], owner="mcp:a", cwd=tmp_path)
    steps = 0

    async def polite() -> None:
        nonlocal steps
        steps += 1

    codes = await asyncio.gather(*(child.stop(polite, grace=0.2) for _ in range(5)))
    assert codes == [-15] * 5
    assert steps == 1
    assert await child.stop() == -15


async def test_a_cancelled_stop_goes_on(registry: ChildRegistry, tmp_path: Path, gone: Gone) -> None:
    child = await registry.spawn(["sleep", "60"], owner="mcp:a", cwd=tmp_path)
    stop = asyncio.create_task(child.stop())
    await asyncio.sleep(0)
    stop.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stop
    assert await gone(child.pid)


async def test_a_stop_after_the_exit_gives_the_status(registry: ChildRegistry, tmp_path: Path) -> None:
    child = await registry.spawn(["sh", "-c", "exit 7"], owner="mcp:a", cwd=tmp_path)
    assert await child.wait() == 7
    assert await child.stop() == 7


async def test_a_reader_that_nobody_reads_does_not_hold_the_stop(registry: ChildRegistry, tmp_path: Path) -> None:
    child = await registry.spawn(["cat", "/dev/zero"], owner="mcp:a", cwd=tmp_path)
    await asyncio.sleep(0.1)
    async with asyncio.timeout(10):
        assert await child.stop() == -15


async def test_close_ends_everything_and_starts_nothing_more(
    registry: ChildRegistry, tmp_path: Path, python: str, gone: Gone
) -> None:
    children = [await registry.spawn(["sleep", "60"], owner=f"mcp:{name}", cwd=tmp_path) for name in "abc"]
    stubborn = await registry.spawn([python, "-c", STUBBORN], owner="lsp:d", cwd=tmp_path)
    assert stubborn.stdout is not None
    await stubborn.stdout.readline()
    assert [info.owner for info in registry.list()] == ["mcp:a", "mcp:b", "mcp:c", "lsp:d"]
    async with asyncio.timeout(15):
        await registry.close()
        await registry.close()
    for child in [*children, stubborn]:
        assert await gone(child.pid)
    assert registry.list() == []
    with pytest.raises(HarnessError) as caught:
        await registry.spawn(["true"], owner="mcp:a", cwd=tmp_path)
    assert caught.value.code == "closed"


async def test_close_now_needs_no_loop(tmp_path: Path, python: str, pid_in: PidIn, gone: Gone) -> None:
    registry = ChildRegistry()
    leave = "import os, time; os.setsid(); open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    child = await registry.spawn(["sh", "-c", f'{python} -c "{leave}" & wait'], owner="mcp:a", cwd=tmp_path)
    pid = await pid_in(tmp_path / "pid")
    registry.close_now()
    registry.close_now()
    assert await gone(child.pid)
    assert await gone(pid)
    assert await child.wait() == -9


async def test_all_of_it_works_where_there_are_no_descriptors_of_processes(
    registry: ChildRegistry, tmp_path: Path, python: str, pid_in: PidIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_pid: int, _flags: int = 0) -> int:
        raise OSError(errno.ENOSYS, "an old kernel, or a sandbox")

    monkeypatch.setattr("os.pidfd_open", refuse)
    child = await registry.spawn(["sh", "-c", "sleep 60 & exit 4"], owner="bash", cwd=tmp_path)
    async with asyncio.timeout(5):
        assert await child.wait() == 4
    leave = "import os, time; os.setsid(); open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    child = await registry.spawn(["sh", "-c", f'{python} -c "{leave}" & wait'], owner="bash", cwd=tmp_path)
    pid = await pid_in(tmp_path / "pid")
    assert await child.stop() == -15
    running = processes.look(pid)
    assert running is None or running.zombie


async def test_the_list_says_who_and_how_often(registry: ChildRegistry, tmp_path: Path) -> None:
    first = await registry.spawn(["sleep", "60"], owner="mcp:a", cwd=tmp_path, stdin="pipe")
    await first.stop()
    asked = await registry.spawn(["true"], owner="mcp:a", cwd=tmp_path)  # for its version, as it were: no start
    await asked.stop()
    second = await registry.spawn(["sleep", "60", "1"], owner="mcp:a", cwd=tmp_path, stdin="pipe")
    (info,) = registry.list()
    assert (info.owner, info.pid, info.restarts, info.command) == ("mcp:a", second.pid, 1, ("sleep", "60", "1"))
    assert info.rss > 0
    assert info.started.endswith("Z")
    assert info.started[:4] == time.strftime("%Y", time.gmtime())


async def test_the_registry_ends_a_child_by_its_pid_with_all_that_it_started(
    registry: ChildRegistry, tmp_path: Path, pid_in: PidIn, gone: Gone
) -> None:
    child = await registry.spawn(["sh", "-c", "sleep 60 & echo $! > pid; wait"], owner="bash", cwd=tmp_path)
    other = await registry.spawn(["sleep", "60"], owner="bash", cwd=tmp_path)
    below = await pid_in(tmp_path / "pid")
    await registry.stop(child.pid)
    assert child.returncode == -15
    assert await gone(below)
    assert [info.pid for info in registry.list()] == [other.pid]
    await registry.stop(child.pid)  # nothing there any more
    await registry.stop(1)  # none of ours
    assert other.returncode is None


async def test_what_a_command_left_is_ended_by_the_pid_that_it_is_listed_with(
    registry: ChildRegistry, tmp_path: Path, pid_in: PidIn, gone: Gone
) -> None:
    child = await registry.spawn(
        ["sh", "-c", "setsid sleep 60 & echo $! > pid"], owner="bash", cwd=tmp_path, keep_left=True
    )
    left = await pid_in(tmp_path / "pid")
    assert left in await child.left()
    assert [info.pid for info in registry.list()] == [left]
    await registry.stop(left)
    assert await gone(left)
    assert registry.list() == []
