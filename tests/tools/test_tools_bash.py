"""The shell tool: output, exit codes, limits, and ends that are ends."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from harness_tui.children import processes
from harness_tui.core.events import CommandPart, CommandPreview, ToolProgress
from harness_tui.core.seams import Check


async def gone(pid: int) -> bool:
    for _ in range(500):
        running = processes.look(pid)
        if running is None or running.zombie:
            return True
        await asyncio.sleep(0.01)
    return False


async def test_a_command_is_shown_whole_and_run_in_the_start_folder(bench: Any) -> None:
    (bench.root / "sub").mkdir()
    prepared = await bench.prepare("bash", command="pwd;\necho 'a b' >&2", description="where am I")
    assert prepared.title == "Run pwd; echo 'a b' >&2"
    assert prepared.checks == (Check("bash", "pwd;\necho 'a b' >&2"),)
    assert prepared.preview == CommandPreview(
        "pwd;\necho 'a b' >&2", (CommandPart("pwd;\necho 'a b' >&2", "ask"),), str(bench.root)
    )
    result = await bench.run("bash", prepared)
    assert result.output == f"{bench.root}\na b\n"
    assert result.metadata["exit_code"] == 0
    assert not result.is_error
    assert (await bench.call("bash", command="pwd", workdir="sub")).output == f"{bench.root}/sub\n"


async def test_a_folder_outside_the_root_needs_a_decision_of_its_own(bench: Any, tmp_path: Path) -> None:
    prepared = await bench.prepare("bash", command="ls", workdir="..")
    assert prepared.checks == (Check("bash", "ls"), Check("external_directory", str(tmp_path)))


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [
        ("echo no; exit 3", "no\n[exit code 3]", 3),
        ("printf part; false", "part\n[exit code 1]", 1),
        ("true", "(no output)", 0),
        ("kill -KILL $$", "(no output)\n[exit code 137: ended by SIGKILL]", 137),
        ("printf '\\377x'", "\ufffdx", 0),
    ],
)
async def test_exit_codes_are_told(bench: Any, command: str, output: str, code: int) -> None:
    result = await bench.call("bash", command=command)
    assert result.output == output
    assert result.metadata["exit_code"] == code
    assert result.is_error == (code != 0)


async def test_nobody_is_asked_and_nothing_pages(bench: Any) -> None:
    names = ["PAGER", "GIT_PAGER", "GIT_TERMINAL_PROMPT", "GIT_EDITOR", "EDITOR", "TERM", "SECRET_API_KEY"]
    script = f"python3 -c 'import json,os; print(json.dumps([os.environ.get(n) for n in {json.dumps(names)}]))'"
    seen = json.loads((await bench.call("bash", command=script)).output)
    assert seen == ["cat", "cat", "0", "true", "true", "dumb", None]
    for command in ["cat", "read x; echo done", "head -c1 /dev/tty"]:
        async with asyncio.timeout(10):
            await bench.call("bash", command=command)


async def test_a_commit_without_a_message_ends_by_itself(bench: Any) -> None:
    command = "git init -q . && git -c user.name=n -c user.email=e commit --allow-empty"
    async with asyncio.timeout(20):
        result = await bench.call("bash", command=command)
    assert "empty commit message" in result.output
    assert result.is_error


async def test_a_time_out_ends_the_whole_group_and_keeps_what_was_written(bench: Any) -> None:
    async with asyncio.timeout(20):
        result = await bench.call("bash", command="echo part; sleep 60 & echo $! > pid; wait", timeout=0.5)
    assert result.output == "part\n[ended after 0.5 s, its time was over; give timeout for more]"
    assert result.is_error
    assert result.metadata["timed_out"] is True
    assert await gone(int((bench.root / "pid").read_text()))


async def test_a_background_process_does_not_hold_the_tool(bench: Any) -> None:
    async with asyncio.timeout(20):
        result = await bench.call("bash", command="sleep 60 & echo $! > pid; echo started")
    assert result.output == "started\n[the command left processes behind that held its output; they were ended]"
    assert result.metadata["exit_code"] == 0
    assert await gone(int((bench.root / "pid").read_text()))


async def test_a_process_that_left_the_group_does_not_hold_the_tool_either(bench: Any) -> None:
    script = "setsid sh -c 'echo $$ > pid; sleep 60' & while [ ! -s pid ]; do sleep 0.01; done; echo started"
    async with asyncio.timeout(20):
        result = await bench.call("bash", command=script)
    assert result.output.startswith("started\n")
    assert await gone(int((bench.root / "pid").read_text()))


async def test_a_cancel_ends_everything_and_what_was_written_was_told(bench: Any) -> None:
    command = "echo part; echo $$ > pid; sleep 60"
    task = asyncio.create_task(bench.call("bash", command=command))
    async with asyncio.timeout(10):
        while not (
            bench.registry._children and (bench.root / "pid").exists() and (bench.root / "pid").read_text().strip()
        ):
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(10):
            await task
    assert "".join(event.output_delta for event in bench.of(ToolProgress)) == "part\n"
    assert await gone(int((bench.root / "pid").read_text()))
    assert bench.registry.list() == []


async def test_output_is_told_while_it_comes_in_few_pieces(bench: Any) -> None:
    command = "for i in 1 2 3; do echo $i; sleep 0.2; done; for i in $(seq 500); do echo x; done"
    result = await bench.call("bash", command=command)
    pieces = [event.output_delta for event in bench.of(ToolProgress)]
    assert "".join(pieces) == result.output
    assert pieces[0] == "1\n"
    assert len(pieces) < 20


async def test_long_output_is_cut_and_kept_whole(bench: Any) -> None:
    result = await bench.call("bash", command="seq 100000")
    whole = "".join(f"{number}\n" for number in range(1, 100_001))
    assert result.full_output == str(bench.session_dir / "outputs" / "c1.txt")
    assert Path(result.full_output).read_text() == whole
    assert result.full_bytes == len(whole) == 588_895
    assert result.output.startswith("1\n2\n3\n")
    assert "bytes left out" in result.output
    assert result.output.endswith(f"[the whole, 588895 bytes, is in {result.full_output}]")
    assert len(result.output) < 52_000


async def test_a_flood_is_bounded(bench: Any) -> None:
    async with asyncio.timeout(60):
        result = await bench.call("bash", command="head -c 40000000 /dev/zero | tr '\\0' 'x'; echo; echo end; exit 2")
    assert result.output.endswith("[exit code 2]")
    assert result.full_bytes < 17_000_000
    assert "bytes were not kept" in Path(result.full_output).read_text()
    told = sum(len(event.output_delta) for event in bench.of(ToolProgress))
    assert told < 1_000_000
