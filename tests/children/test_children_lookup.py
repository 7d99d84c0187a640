"""Where programs are looked for, the ledger, and a program on the terminal."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from harness_tui.children.environment import child_environment
from harness_tui.children.lookup import find_binary
from harness_tui.children.registry import ChildRegistry
from harness_tui.core.errors import HarnessError


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_order_is_project_then_path_then_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, onpath, interpreter = (program(tmp_path / name / "tool") for name in ("project", "path", "venv/bin"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv/bin/python"))
    folders = str(tmp_path / "path")
    assert find_binary("tool", project_dirs=[tmp_path / "project"], path=folders) == project
    assert find_binary("tool", path=folders) == onpath
    assert find_binary("tool", path="/nowhere") == interpreter
    assert find_binary("other", path=folders) is None


def test_relative_entries_of_path_are_never_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "evil-tool")
    program(tmp_path / "bin" / "evil-tool")
    monkeypatch.chdir(tmp_path)
    assert find_binary("evil-tool", path=".:bin::") is None


def test_an_absolute_name_is_taken_as_it_is(tmp_path: Path) -> None:
    tool = program(tmp_path / "tool")
    assert find_binary(str(tool), path="") == tool
    tool.chmod(0o644)
    assert find_binary(str(tool), path="") is None
    assert find_binary(str(tmp_path), path="") is None


@pytest.mark.parametrize("name", ["", "a\0b", "./tool", "sub/tool"])
def test_odd_and_relative_names_are_not_found_on_path(tmp_path: Path, name: str) -> None:
    program(tmp_path / "tool")
    program(tmp_path / "sub" / "tool")
    assert find_binary(name, path=str(tmp_path)) is None


def test_a_link_is_not_resolved(tmp_path: Path) -> None:
    program(tmp_path / "real")
    (tmp_path / "alias").symlink_to("real")
    assert find_binary("alias", path=str(tmp_path)) == tmp_path / "alias"


async def test_the_ledger_names_what_runs_and_goes_with_the_registry(tmp_path: Path) -> None:
    registry = ChildRegistry(tmp_path / "state")
    child = await registry.spawn(["sleep", "60"], owner="mcp:a", cwd=tmp_path, env={"NOT_KEPT": "value"})
    path = tmp_path / "state" / f"children-{registry.shell_id}.jsonl"
    head, line = [json.loads(text) for text in path.read_text().splitlines()]
    assert (head["shell"], head["pid"]) == (registry.shell_id, os.getpid())
    assert head["started"] > 0
    assert line.pop("started") > 0
    assert line.pop("since").startswith("20")
    assert line == {
        "pid": child.pid,
        "owner": "mcp:a",
        "shell": registry.shell_id,
        "restarts": 0,
        "command": ["sleep", "60"],
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await child.stop()
    assert json.loads(path.read_text().splitlines()[-1]) == {"pid": child.pid, "ended": True}
    await registry.close()
    assert list((tmp_path / "state").iterdir()) == []


async def test_a_ledger_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    registry = ChildRegistry(tmp_path / "file" / "state")
    child = await registry.spawn(["true"], owner="mcp:a", cwd=tmp_path)
    assert await child.wait() == 0
    await registry.close()


async def test_a_foreground_program_shares_our_group_and_its_status_comes_back(tmp_path: Path, python: str) -> None:
    registry = ChildRegistry(environ={"PATH": os.environ["PATH"], "EDITOR_THEME": "dark", "SOME_API_KEY": "k"})
    before = signal.getsignal(signal.SIGINT)
    check = "import os, sys; open('seen', 'w').write(f'{os.getpgrp()} {sorted(os.environ)}'); sys.exit(5)"
    assert await registry.foreground([python, "-c", check], cwd=tmp_path, env={"OWN": "1"}) == 5
    group, _, names = (tmp_path / "seen").read_text().partition(" ")
    assert int(group) == os.getpgrp()
    assert "EDITOR_THEME" in names
    assert "OWN" in names
    assert "SOME_API_KEY" not in names
    assert signal.getsignal(signal.SIGINT) is before
    assert registry.list() == []
    await registry.close()


async def test_ctrl_c_is_the_programs_alone_from_before_it_starts(
    tmp_path: Path, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry, ours = ChildRegistry(), list[int]()
    start, before = registry._start, signal.signal(signal.SIGINT, lambda number, _: ours.append(number))

    def interrupted(*words: Any, **how: Any) -> Any:
        process = start(*words, **how)
        signal.raise_signal(signal.SIGINT)  # the key is pressed at once
        return process

    monkeypatch.setattr(registry, "_start", interrupted)
    check = "import signal, sys; sys.exit(signal.getsignal(signal.SIGINT) is not signal.default_int_handler)"
    try:
        assert await registry.foreground([python, "-c", check], cwd=tmp_path) == 0
        assert ours == []
        signal.raise_signal(signal.SIGINT)
        assert ours == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)
        await registry.close()


async def test_a_missing_foreground_program_is_named(tmp_path: Path) -> None:
    registry = ChildRegistry()
    with pytest.raises(HarnessError, match="'no-such-editor' was not found"):
        await registry.foreground(["no-such-editor"], cwd=tmp_path)
    await registry.close()


def test_a_program_of_a_project_to_avoid_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, outside = program(tmp_path / "project/bin/tool"), program(tmp_path / "bin/tool")
    (tmp_path / "link").symlink_to(inside.parent)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none/python"))
    path = os.pathsep.join(map(str, (tmp_path / "link", inside.parent, outside.parent)))
    assert find_binary("tool", path=path) == tmp_path / "link/tool"
    assert find_binary("tool", path=path, avoid=tmp_path / "project") == outside
    assert find_binary("tool", path=str(inside.parent), avoid=tmp_path / "project") is None


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        (".:/bin::bin:/usr/bin:", "/bin:/usr/bin"),
        ("/bin", "/bin"),
        (".:", os.defpath),
        ("", os.defpath),
    ],
)
def test_a_child_sees_the_absolute_entries_of_path_alone(path: str, kept: str) -> None:
    assert child_environment({"PATH": path}, owner="bash")["PATH"] == kept
    assert child_environment({"PATH": path}, owner="mcp:a", env={"PATH": "bin"})["PATH"] == "bin"
