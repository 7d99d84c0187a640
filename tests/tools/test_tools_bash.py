"""The shell tool: output, exit codes, limits, and ends that are ends."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from harness_tui.children import processes
from harness_tui.core.errors import ToolError
from harness_tui.core.event_parts import CommandPart, CommandPreview
from harness_tui.core.events import ToolProgress
from harness_tui.core.seams import CallCancelled, Check
from harness_tui.tools.shell_output import CommandOutput


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
    assert prepared.checks == (Check("bash", "pwd;\necho 'a b' >&2", folder=str(bench.root)),)
    assert prepared.preview == CommandPreview(
        "pwd;\necho 'a b' >&2", (CommandPart("pwd;\necho 'a b' >&2", "ask"),), str(bench.root)
    )
    result = await bench.run("bash", prepared)
    assert result.output == f"{bench.root}\na b\n"
    assert result.metadata["exit_code"] == 0
    assert not result.is_error
    assert (await bench.call("bash", command="pwd", workdir="sub")).output == f"{bench.root}/sub\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"command": " "}, "the command is empty"),
        ({"command": "echo \0"}, "NUL byte"),
        ({"command": "echo \ud800"}, "half of a character"),
        ({"command": "echo " + "x" * 3_000_000}, "longer than the system takes (write the long part into a file"),
        ({"command": "pwd", "workdir": "a\0"}, "NUL"),
        ({"command": "pwd", "workdir": "\ud800"}, "cannot be resolved"),
        ({"command": "pwd", "workdir": "nowhere"}, "workdir is no folder"),
        ({"command": "pwd", "timeout": 0}, "timeout must be over 0"),
        ({"command": "pwd", "timeout": float("nan")}, "timeout must be over 0"),
    ],
)
async def test_what_cannot_be_run_is_an_error_that_says_why(
    bench: Any, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolError) as raised:
        await bench.call("bash", **arguments)
    assert message in str(raised.value)


async def test_a_folder_outside_the_root_needs_a_decision_of_its_own(bench: Any, tmp_path: Path) -> None:
    prepared = await bench.prepare("bash", command="ls", workdir="..")
    assert prepared.checks == (Check("bash", "ls", folder=str(tmp_path)), Check("external_directory", str(tmp_path)))


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
    for command, code, told in [
        ("cat", 0, "(no output)"),
        ("read x || echo nothing", 0, "nothing"),
        ("head -c1 /dev/tty", 1, "/dev/tty"),
        ("python3 -c 'import getpass; getpass.getpass()'", 1, "EOFError"),
    ]:
        async with asyncio.timeout(20):
            result = await bench.call("bash", command=command)
        assert (result.metadata["exit_code"], told in result.output) == (code, True), result.output


@pytest.mark.skipif(shutil.which("vim") is None, reason="there is no Vim here")
@pytest.mark.parametrize("command", ["vim x", "vim -c 'set number' x"])
async def test_a_vim_that_waits_for_a_key_says_that_nobody_types_and_ends(bench: Any, command: str) -> None:
    (bench.root / "x").write_text("a\n")
    result = await bench.call("bash", command=command, timeout=30)
    assert "vim: nobody can type here; use the edit tool or sed" in result.output
    assert result.metadata["exit_code"] == 1
    assert [path.name for path in bench.root.iterdir()] == ["x"]


@pytest.mark.skipif(shutil.which("vim") is None, reason="there is no Vim here")
@pytest.mark.parametrize(
    "command",
    [
        "vim -es -c 'normal Ab' -c wq x",
        "vim -c 'normal Ab' -c wq x",
        "printf 'Ab\\033:wq\\n' | vim x",
        "vim -e x <<'.'\ns/a/ab/\nwq\n.",
    ],
)
async def test_a_vim_that_is_told_what_to_do_does_it(bench: Any, command: str) -> None:
    (bench.root / "x").write_text("a\n")
    result = await bench.call("bash", command=command, timeout=30)
    assert (result.metadata["exit_code"], (bench.root / "x").read_text()) == (0, "ab\n")


@pytest.mark.skipif(shutil.which("vim") is None, reason="there is no Vim here")
async def test_the_persons_own_settings_of_vim_count_as_always(bench: Any, tmp_path: Path) -> None:
    (tmp_path / ".vimrc").write_text("let g:mine = 1\n")
    await bench.call("bash", command="vim -c 'call writefile([g:mine], \"seen\")' -c q", timeout=30)
    assert (bench.root / "seen").read_text() == "1\n"


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


@pytest.mark.parametrize("chatty", [False, True])
async def test_a_background_process_that_keeps_the_pipe_open_does_not_hold_the_tool(bench: Any, chatty: bool) -> None:
    left = "while :; do echo more; sleep 0.05; done" if chatty else "sleep 60"
    began = time.monotonic()
    result = await bench.call("bash", command=f"(echo $BASHPID > pid; {left}) & echo started; echo whole")
    assert time.monotonic() - began < 10  # it would be for ever, or a minute
    pid = int((bench.root / "pid").read_text())
    assert [line for line in result.output.splitlines() if line in ("started", "whole")] == ["started", "whole"]
    assert f"[the command has ended and left running: {pid} (" in result.output
    assert result.output.endswith(
        "; bash_output b1 reads what it writes, bash_kill b1 ends it, and it ends with the session]"
    )
    assert result.metadata["exit_code"] == 0
    assert result.metadata["job"] == "b1"
    assert pid in result.metadata["left"]
    assert not result.is_error
    assert [info.owner for info in bench.registry.list()] == ["bash"]
    told = len(bench.of(ToolProgress))
    await asyncio.sleep(0.3)
    assert len(bench.of(ToolProgress)) == told, "nothing is told of a call that is over"
    assert ("more" in (await bench.call("bash_output", id="b1")).output) == chatty
    await bench.tools.close()
    assert await gone(pid)


async def test_what_ends_right_behind_its_command_is_not_told_as_left(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "harness_tui.tools.jobs.BASH_DRAIN_S", 20.0
    )  # its output is waited for, however busy it is here
    result = await bench.call("bash", command="(sleep 0.2; echo second) & echo first")
    assert result.output == "first\nsecond\n"
    assert "left" not in result.metadata


async def test_what_left_the_group_and_closed_its_output_is_kept_and_told_too(bench: Any) -> None:
    script = "setsid sh -c 'echo $$ > pid; exec sleep 60' >/dev/null 2>&1 & while [ ! -s pid ]; do sleep 0.01; done"
    result = await bench.call("bash", command=script)
    pid = int((bench.root / "pid").read_text())
    assert result.output.startswith(f"(no output)\n[the command has ended and left running: {pid} (sleep 60); ")
    done = await bench.call("bash_kill", id="b1")
    assert done.output.startswith("(no new output)\n[b1 was ended after ")
    assert processes.look(pid) is None or processes.look(pid).zombie
    assert bench.registry.list() == []


async def test_a_time_out_ends_what_ignores_term_in_a_session_of_its_own_before_the_result(bench: Any) -> None:
    stubborn = "trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done"
    (bench.root / "stubborn.sh").write_text(stubborn)
    result = await bench.call("bash", command="echo part; setsid sh stubborn.sh & wait", timeout=1.0)
    pid = int((bench.root / "pid").read_text())
    running = processes.look(pid)
    assert running is None or running.zombie
    assert result.metadata["timed_out"] is True
    assert result.output.startswith("part\n[ended after 1 s")
    assert bench.registry.list() == []


async def test_a_cancel_ends_everything_and_what_was_written_was_told(bench: Any) -> None:
    command = "echo part; echo $$ > pid; sleep 60"
    task = asyncio.create_task(bench.call("bash", command=command))
    async with asyncio.timeout(10):
        while not (
            bench.registry._children and (bench.root / "pid").exists() and (bench.root / "pid").read_text().strip()
        ):
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(CallCancelled) as cancelled:
        async with asyncio.timeout(10):
            await task
    result = cancelled.value.result
    assert result.output.startswith("part\n[cancelled by the person after ")
    assert result.output.endswith(" s; it was ended with all that it started]")
    assert (result.is_error, result.metadata["cancelled"]) == (True, True)
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


async def test_a_long_output_is_on_disk_whole_and_not_in_memory(bench: Any) -> None:
    result = await bench.call("bash", command="seq 400000; echo end")
    whole = "".join(f"{number}\n" for number in range(1, 400_001)) + "end\n"
    assert Path(result.full_output).read_text() == whole
    assert result.full_bytes == len(whole)
    assert result.output.startswith("1\n2\n")
    head, _, tail = result.output.partition("[... ")
    omitted = int(tail.split(" ", 1)[0])
    kept_tail = tail.partition("]\n")[2].partition("[the whole")[0]
    assert kept_tail.endswith("400000\nend\n")
    assert len(head) + omitted + len(kept_tail) == len(whole)
    assert len(result.output) < 52_000


async def test_secrets_are_covered_in_what_is_kept_on_disk(bench: Any) -> None:
    secret = "sk-" + "a1" * 20
    # Once in the middle of the numbers, once in a last line that does not end.
    result = await bench.call("bash", command=f"seq 100000; echo key {secret}; seq 100000; printf 'last {secret}'")
    kept = Path(result.full_output).read_text()
    assert kept.count(secret) == 0
    numbers = "".join(f"{number}\n" for number in range(1, 100_001))
    covered = "[redacted]".ljust(len(secret), "*")
    assert kept == f"{numbers}key {covered}\n{numbers}last {covered}"
    assert result.full_bytes == len(kept)


async def test_a_flood_is_bounded(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_tui.tools.shell_output.CommandOutput.__init__.__kwdefaults__", {"most": 10_000_000})
    command = "head -c 40000000 /dev/zero | tr '\\0' 'x'; echo; echo end; exit 2"
    async with asyncio.timeout(60):
        result = await bench.call("bash", command=command)
    assert result.output.endswith("the rest was not kept]\n[exit code 2]")
    assert "\nend\n[the first 10000000 of 40000005 bytes are in " in result.output
    assert result.full_bytes == Path(result.full_output).stat().st_size == 10_000_000
    told = sum(len(event.output_delta) for event in bench.of(ToolProgress))
    assert told < 1_000_000


# --- in the background -----------------------------------------------------------------------------


async def test_a_command_in_the_background_is_read_and_ended(bench: Any) -> None:
    command = "echo up; echo $$ > pid; while [ ! -e go ]; do sleep 0.02; done; echo more; sleep 60"
    began = time.monotonic()
    result = await bench.call("bash", command=command, background=True)
    assert time.monotonic() - began < 5
    pid = int((bench.root / "pid").read_text())
    assert result.output == (
        f"up\n[started in the background as b1, process {pid}; bash_output b1 reads what it writes, "
        "bash_kill b1 ends it, and it ends with the session]"
    )
    assert result.metadata == {"job": "b1", "pid": pid, "running": True}
    again = await bench.call("bash_output", id="b1")
    assert again.output.startswith("(no new output)\n[b1 runs, for ")
    (bench.root / "go").touch()
    async with asyncio.timeout(10):
        while "more\n" not in (again := await bench.call("bash_output", id="b1")).output:
            await asyncio.sleep(0.02)
    assert again.output.startswith("more\n[b1 runs")
    done = await bench.call("bash_kill", id="b1")
    assert done.output.startswith("(no new output)\n[b1 was ended after ")
    assert not done.is_error
    assert done.metadata == {"job": "b1", "running": False, "exit_code": 143}
    assert await gone(pid)
    later = await bench.call("bash_kill", id="b1")
    assert later.output.endswith("[exit code 143: ended by SIGTERM]")


async def test_a_background_command_that_cannot_start_is_told_at_once(bench: Any) -> None:
    result = await bench.call("bash", command="echo wrong >&2; exit 3", background=True)
    assert result.output == "wrong\n[exit code 3]"
    assert result.is_error
    assert bench.registry.list() == []


@pytest.mark.parametrize(
    "command", ["cat", "read x", "head -c1 /dev/tty", "python3 -c 'import getpass; getpass.getpass()'"]
)
async def test_a_background_command_that_wants_input_ends(bench: Any, command: str) -> None:
    await bench.call("bash", command=command, background=True)
    async with asyncio.timeout(20):
        while (result := await bench.call("bash_output", id="b1")).metadata["running"]:
            await asyncio.sleep(0.02)
    assert result.metadata["exit_code"] in (0, 1)


async def test_a_background_command_may_have_a_time_out(bench: Any) -> None:
    await bench.call("bash", command="sleep 60", background=True, timeout=0.6)
    async with asyncio.timeout(10):
        while (result := await bench.call("bash_output", id="b1")).metadata["running"]:
            await asyncio.sleep(0.05)
    assert "its time was over]" in result.output


async def test_a_long_background_output_is_read_in_parts(bench: Any) -> None:
    await bench.call("bash", command="sleep 0.5; seq 100000; touch done; sleep 60", background=True)
    async with asyncio.timeout(20):
        while not (bench.root / "done").exists():
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.5)  # what the command wrote last may still be on its way through the pipe
    result = await bench.call("bash_output", id="b1")
    assert result.output.startswith("1\n2\n")
    assert "99999\n100000\n[the whole, 588895 bytes, is in " in result.output
    assert Path(result.full_output).stat().st_size == 588_895
    assert (await bench.call("bash_output", id="b1")).output.startswith("(no new output)")


async def test_jobs_belong_to_their_session_and_end_with_it(bench: Any) -> None:
    one = await bench.call("bash", command="sleep 60", background=True)
    other = bench.context(session="s2")
    two = await bench.call("bash", other, command="sleep 60", background=True)
    assert (one.metadata["job"], two.metadata["job"]) == ("b1", "b1")
    with pytest.raises(ToolError) as caught:
        await bench.call("bash_output", id="b7")
    assert "there is no job 'b7'" in str(caught.value)
    assert caught.value.mend == "jobs: b1"
    await bench.tools.jobs.end("s1")
    assert await gone(one.metadata["pid"])
    assert (await bench.call("bash_output", other, id="b1")).metadata["running"]
    with pytest.raises(ToolError, match="there is none"):
        await bench.call("bash_kill", id="b1")


async def test_too_many_jobs_are_refused_by_name(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_tui.tools.jobs.MOST_RUNNING", 2)
    for _ in range(2):
        await bench.call("bash", command="sleep 60", background=True)
    with pytest.raises(ToolError) as caught:
        await bench.call("bash", command="true")
    assert caught.value.mend == "end one of them with bash_kill: b1, b2"


async def test_a_file_is_not_closed_under_the_hands_of_who_writes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    real = os.write

    def slow(descriptor: int, data: bytes) -> int:
        begun.set()
        go_on.wait(20)
        return real(descriptor, data)

    monkeypatch.setattr("harness_tui.tools.shell_output.os.write", slow)
    output = CommandOutput(tmp_path, "c1")
    adding = asyncio.create_task(output.add(b"x" * 300_000))
    await asyncio.to_thread(begun.wait, 20)
    adding.cancel()  # nobody waits for the thread any more
    output.close()
    (tmp_path / "other").touch()
    other = os.open(tmp_path / "other", os.O_WRONLY)  # it would have got the number
    try:
        go_on.set()
        async with asyncio.timeout(20):
            while output._descriptor is not None:
                await asyncio.sleep(0.01)
        assert (tmp_path / "other").stat().st_size == 0
        assert (tmp_path / "c1.txt").read_bytes() == b"x" * 300_000
    finally:
        os.close(other)
