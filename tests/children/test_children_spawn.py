"""What a child gets: its folder, its environment, its pipes; and what a failed start says."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from harness_tui.children import processes
from harness_tui.children.registry import ChildRegistry
from harness_tui.core.errors import HarnessError


def own_children() -> list[processes.Running]:
    return [row for row in processes.scan() if row.ppid == os.getpid()]


async def output_of(registry: ChildRegistry, argv: list[str], cwd: Path, **options: object) -> str:
    child = await registry.spawn(argv, owner="bash", cwd=cwd, **options)  # type: ignore[arg-type]
    assert child.stdout is not None
    async with asyncio.timeout(10):
        data = await child.stdout.read()
        await child.wait()
    return data.decode()


async def test_a_child_runs_in_its_folder_and_gives_its_status(registry: ChildRegistry, tmp_path: Path) -> None:
    child = await registry.spawn(["sh", "-c", "pwd; exit 3"], owner="bash", cwd=tmp_path)
    assert child.stdout is not None
    assert (await child.stdout.read()).decode().strip() == str(tmp_path)
    assert await child.wait() == 3
    assert child.returncode == 3


async def test_a_child_leads_its_own_session_and_group(registry: ChildRegistry, tmp_path: Path) -> None:
    child = await registry.spawn(["sleep", "60"], owner="mcp:a", cwd=tmp_path)
    assert os.getpgid(child.pid) == child.pid
    assert os.getsid(child.pid) == child.pid
    assert await child.stop() == -15


async def test_the_environment_is_an_allow_list(tmp_path: Path, python: str) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": "/h",
        "LC_ALL": "C",
        "XDG_CACHE_HOME": "/c",
        "https_proxy": "http://p",
        "VIRTUAL_ENV": "/v",
        "OPENAI_API_KEY": "sk-secret",
        "MY_NAMED": "yes",
        "HARNESS_SHELL": "an outer shell",
    }
    registry = ChildRegistry(environ=environ)
    show = [python, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
    plain = await registry.spawn(show, owner="mcp:a", cwd=tmp_path)
    named = await registry.spawn(
        show, owner="lsp:b", cwd=tmp_path, inherit=("MY_NAMED", "ABSENT"), env={"HOME": "/other", "OWN": "1"}
    )
    assert plain.stdout is not None
    assert named.stdout is not None
    first = json.loads(await plain.stdout.read())
    second = json.loads(await named.stdout.read())
    await registry.close()
    own = {"HARNESS_SHELL", "HARNESS_CHILD"}
    assert first["HARNESS_SHELL"] == registry.shell_id
    assert {name: value for name, value in first.items() if name not in own} == {
        "PATH": os.environ["PATH"],
        "HOME": "/h",
        "LC_ALL": "C",
        "XDG_CACHE_HOME": "/c",
        "https_proxy": "http://p",
    }
    assert set(second) - set(first) == {"VIRTUAL_ENV", "MY_NAMED", "OWN"}
    assert second["HOME"] == "/other"
    assert second["HARNESS_CHILD"] != first["HARNESS_CHILD"]


async def test_standard_input_is_empty_unless_it_is_a_pipe(registry: ChildRegistry, tmp_path: Path) -> None:
    assert await output_of(registry, ["cat"], tmp_path) == ""
    child = await registry.spawn(["cat"], owner="mcp:a", cwd=tmp_path, stdin="pipe")
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(b"over and back\n")
    await child.stdin.drain()
    assert await child.stdout.readline() == b"over and back\n"
    child.stdin.close()
    async with asyncio.timeout(5):
        assert await child.wait() == 0


async def test_a_child_has_no_terminal_to_ask_at(registry: ChildRegistry, tmp_path: Path) -> None:
    text = await output_of(registry, ["sh", "-c", "head -c1 /dev/tty || echo none"], tmp_path)
    assert text.endswith("none\n")


async def test_standard_error_can_be_merged(registry: ChildRegistry, tmp_path: Path) -> None:
    text = await output_of(registry, ["sh", "-c", "echo out; echo err >&2"], tmp_path, stderr="stdout")
    assert text == "out\nerr\n"


async def test_a_loud_standard_error_is_drained_and_its_end_is_kept(registry: ChildRegistry, tmp_path: Path) -> None:
    noise = 'i=0; while [ $i -lt 30000 ]; do echo "line $i of noise" >&2; i=$((i+1)); done'
    script = noise + r"; printf '\033[31mred\033[0m' >&2"
    child = await registry.spawn(["sh", "-c", script], owner="lsp:a", cwd=tmp_path)
    async with asyncio.timeout(30):
        assert await child.wait() == 0
    await child.stop()
    lines = child.stderr_tail().splitlines()
    assert len(lines) == 20
    assert lines[-1] == "red"
    assert lines[-2] == "line 29999 of noise"


async def test_the_limit_of_the_reader_is_what_the_caller_says(registry: ChildRegistry, tmp_path: Path) -> None:
    child = await registry.spawn(
        ["sh", "-c", "head -c 100000 /dev/zero; echo"], owner="mcp:a", cwd=tmp_path, stdout_limit=200_000
    )
    assert child.stdout is not None
    assert len(await child.stdout.readline()) == 100_001


async def test_a_missing_program_is_named(registry: ChildRegistry, tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="'no-such-program-here' was not found") as caught:
        await registry.spawn(["no-such-program-here"], owner="lsp:a", cwd=tmp_path)
    assert caught.value.code == "not-found"
    assert caught.value.where == "lsp:a"
    assert caught.value.mend


async def test_a_missing_folder_is_named_and_not_the_program(registry: ChildRegistry, tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"does not exist: .*nowhere") as caught:
        await registry.spawn(["sh"], owner="mcp:a", cwd=tmp_path / "nowhere")
    assert caught.value.code == "cwd"


async def test_a_file_as_folder_is_told(registry: ChildRegistry, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HarnessError, match="is not a folder"):
        await registry.spawn(["sh"], owner="mcp:a", cwd=tmp_path / "file")


async def test_a_script_without_the_right_to_run_is_told(registry: ChildRegistry, tmp_path: Path) -> None:
    (tmp_path / "server").write_text("#!/bin/sh\n")
    with pytest.raises(HarnessError, match="may not be executed") as caught:
        await registry.spawn(["./server"], owner="mcp:a", cwd=tmp_path)
    assert caught.value.code == "not-executable"
    assert caught.value.mend == "chmod +x ./server"


async def test_a_file_that_is_no_program_is_told(registry: ChildRegistry, tmp_path: Path) -> None:
    (tmp_path / "server").write_bytes(b"\x00\x01")
    (tmp_path / "server").chmod(0o755)
    with pytest.raises(HarnessError) as caught:
        await registry.spawn(["./server"], owner="mcp:a", cwd=tmp_path)
    assert caught.value.code == "not-executable"


async def test_a_missing_interpreter_is_told(registry: ChildRegistry, tmp_path: Path) -> None:
    (tmp_path / "server").write_text("#!/no/such/interpreter\n")
    (tmp_path / "server").chmod(0o755)
    with pytest.raises(HarnessError, match="interpreter") as caught:
        await registry.spawn(["./server"], owner="mcp:a", cwd=tmp_path)
    assert caught.value.code == "not-found"


@pytest.mark.parametrize("argv", [[], [""], ["sh", "a\0b"]])
async def test_odd_arguments_are_an_error(registry: ChildRegistry, tmp_path: Path, argv: list[str]) -> None:
    with pytest.raises(HarnessError):
        await registry.spawn(argv, owner="mcp:a", cwd=tmp_path)
    assert registry.list() == []


async def test_a_cancelled_start_leaves_nothing(registry: ChildRegistry, tmp_path: Path) -> None:
    for number in range(20):
        task = asyncio.create_task(registry.spawn(["sleep", "61.5"], owner="mcp:a", cwd=tmp_path))
        await asyncio.sleep(number * 0.0005)
        task.cancel()
        try:
            await (await task).stop()  # it was quicker than the cancel
        except asyncio.CancelledError:
            assert registry.list() == [], "the cancel was passed on before the process was gone"
        assert ("sleep", "61.5") not in [processes.command_of(row.pid) for row in own_children()]


async def test_a_variable_that_a_child_needs_and_that_is_not_set_is_named(
    registry: ChildRegistry, tmp_path: Path
) -> None:
    with pytest.raises(HarnessError) as caught:
        await registry.spawn(["true"], owner="mcp:docs", cwd=tmp_path, needs=("LANG", "DOCS_KEY"))
    assert str(caught.value).startswith("mcp:docs: the variable DOCS_KEY is not set")
    assert caught.value.code == "variable"
    assert registry.list() == []


async def test_a_name_with_a_base_prefix_that_is_a_secret_is_not_inherited(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "XDG_API_TOKEN": "t", "LC_SECRET": "s", "XDG_CACHE_HOME": "/c"}
    registry = ChildRegistry(environ=environ)
    text = await output_of(registry, ["env"], tmp_path)
    await registry.close()
    names = {line.partition("=")[0] for line in text.splitlines()}
    assert {"XDG_API_TOKEN", "LC_SECRET"} & names == set()
    assert "XDG_CACHE_HOME" in names
