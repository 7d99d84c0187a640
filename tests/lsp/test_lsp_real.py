"""Real servers: ty, basedpyright and ruff, as they are installed."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from harness_tui.core.events import DiagnosticsReported, ServerChanged
from harness_tui.lsp.lifecycle import Timings

pytestmark = pytest.mark.real

TYPE_CHECKERS = ("ty", "basedpyright")
QUICK = ("ty",)
"""For names of files, which are ours to keep: the other one takes seconds to start."""


def found(verdict, severity="error"):
    return [(item.line, item.column, item.source) for item in verdict.items if item.severity == severity]


@pytest.mark.parametrize("name", TYPE_CHECKERS)
async def test_a_type_error_is_found_at_its_place_and_gone_when_mended(bench, name):
    file = bench.project / "a.py"
    file.write_text('x: int = "t"\n')
    pool = bench.pool(built_in=(name,), cold_wait=30.0, wait=10.0)
    verdict = await pool.diagnostics(file)
    assert (verdict.path, verdict.verdict, found(verdict)) == ("a.py", "fresh", [(1, 10, name)])
    assert [server.strategy for server in verdict.servers] == ["pull"]
    assert (await pool.diagnostics(file)).verdict == "unchanged"
    file.write_text("x: int = 3\n")
    mended = await pool.diagnostics(file)
    assert (mended.verdict, found(mended)) == ("fresh", [])


@pytest.mark.parametrize("name", TYPE_CHECKERS)
async def test_columns_are_the_same_whatever_encoding_was_agreed_on(bench, name):
    (bench.project / "a.py").write_text('s = "😀é漢"; x: int = "t"\r\n\x0c\r\ny: int = "u"\r\n')
    pool = bench.pool(built_in=(name,), cold_wait=30.0)
    verdict = await pool.diagnostics(Path("a.py"))
    assert found(verdict) == [(1, 21, name), (3, 10, name)]


@pytest.mark.parametrize("name", TYPE_CHECKERS)
async def test_an_import_is_resolved_once_its_module_is_created_and_broken_when_it_is_deleted(bench, name):
    importing = bench.project / "a.py"
    importing.write_text("import newmod\n\nprint(newmod.value)\n")
    pool = bench.pool(built_in=(name,), cold_wait=30.0, wait=10.0)
    assert found(await pool.diagnostics(importing)) == [(1, 8, name)]

    module = bench.project / "newmod.py"
    module.write_text("value = 1\n")
    await pool.touch(module)
    after = await pool.diagnostics(importing)
    assert (after.verdict, found(after)) == ("fresh", [])

    module.unlink()
    await pool.touch(module)
    assert found(await pool.diagnostics(importing)) == [(1, 8, name)]


@pytest.mark.parametrize("name", TYPE_CHECKERS)
async def test_a_change_in_an_imported_file_shows_in_the_one_that_imports_it(bench, name):
    (bench.project / "b.py").write_text("def f(x: int) -> None: ...\n")
    (bench.project / "a.py").write_text("from b import f\n\nf(1)\n")
    pool = bench.pool(built_in=(name,), cold_wait=30.0, wait=10.0)
    assert found(await pool.diagnostics(Path("a.py"))) == []
    assert found(await pool.diagnostics(Path("b.py"))) == []
    (bench.project / "b.py").write_text("def f(x: str) -> None: ...\n")  # by a command: nobody tells us
    verdict = await pool.diagnostics(Path("a.py"))
    assert (verdict.verdict, found(verdict)) == ("fresh", [(3, 3, name)])


@pytest.mark.parametrize("name", QUICK)
async def test_odd_names_in_a_linked_root(bench, tmp_path, name):
    link = tmp_path / "li nk"
    link.symlink_to(bench.project)
    file = "a é漢 # %41 +@[x].py"
    (bench.project / file).write_text('x: int = "t"\n')
    pool = bench.pool(built_in=(name,), cold_wait=30.0, root=link)
    verdict = await pool.diagnostics(Path(file))
    assert (verdict.path, found(verdict)) == (file, [(1, 10, name)])


async def test_ruff_and_a_type_checker_answer_together(bench):
    (bench.project / "a.py").write_text('import os\n\nx: int = "t"\n')
    pool = bench.pool(built_in=("ty", "basedpyright", "ruff"), cold_wait=30.0)
    verdict = await pool.diagnostics(Path("a.py"))
    assert verdict.verdict == "fresh"
    assert [(item.line, item.severity, item.source) for item in verdict.items] == [
        (1, "warning", "Ruff"),
        (3, "error", "ty"),
    ]
    states = {entry.name: (entry.state, entry.reason) for entry in pool.status() if entry.state != "disabled"}
    assert states == {
        "ty": ("ready", None),
        "basedpyright": ("stopped", "ty serves in its place"),
        "ruff": ("ready", None),
    }


async def test_a_new_ruff_configuration_counts_at_once(bench):
    (bench.project / "pyproject.toml").write_text("[tool.ruff.lint]\nselect = []\n")
    (bench.project / "a.py").write_text("import os\n")
    pool = bench.pool(built_in=("ruff",), cold_wait=30.0)
    assert (await pool.diagnostics(Path("a.py"))).items == ()
    (bench.project / "pyproject.toml").write_text('[tool.ruff.lint]\nselect = ["F"]\n')
    await pool.touch(Path("pyproject.toml"))
    verdict = await pool.diagnostics(Path("a.py"))
    assert (verdict.verdict, [item.code for item in verdict.items]) == ("fresh", ["F401"])


async def test_a_slow_start_is_unknown_now_and_reported_late(bench):
    (bench.project / "a.py").write_text('x: int = "t"\n')
    pool = bench.pool(built_in=("basedpyright",), cold_wait=0.05)
    verdict = await pool.diagnostics(Path("a.py"))
    assert verdict.verdict == "unknown"
    assert verdict.reason is not None
    assert verdict.reason.startswith("basedpyright is still starting")
    late = await bench.sink.wait_for(DiagnosticsReported, timeout=30.0)
    assert (late.late, late.servers, [item.line for item in late.items]) == (True, ("basedpyright",), [1])


@pytest.mark.parametrize("name", TYPE_CHECKERS)
async def test_a_killed_server_ends_the_wait_and_comes_back(bench, name):
    file = bench.project / "a.py"
    file.write_text("x = 1\n")
    pool = bench.pool(built_in=(name,), cold_wait=30.0, wait=30.0, timings=Timings(backoff=(0.2,)))
    await pool.diagnostics(file)
    pid = next(entry.pid for entry in pool.status() if entry.name == name)
    assert pid is not None
    group = [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    for member in group:
        os.kill(member, signal.SIGSTOP)  # it cannot answer any more

    file.write_text('x: int = "t"\n')
    asking = asyncio.create_task(pool.diagnostics(file))
    await asyncio.sleep(0.3)
    killed = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    verdict = await asking
    assert time.monotonic() - killed < 5  # the wait was 30 s
    assert (verdict.verdict, verdict.reason) == ("unknown", f"{name} was ended by SIGKILL")

    await bench.sink.wait_for(
        ServerChanged, lambda event: event.state == "warming" and event.detail.restarts == 1, timeout=30.0
    )
    again = await pool.diagnostics(file)
    assert (again.verdict, found(again)) == ("fresh", [(1, 10, name)])
    assert [member for member in group if psutil.pid_exists(member) and alive(member)] == []


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_closing_during_the_start_leaves_no_process(bench):
    (bench.project / "a.py").write_text("x = 1\n")
    pool = bench.pool(built_in=("basedpyright", "ruff"))
    await pool.touch(Path("a.py"))
    await bench.sink.wait_for(ServerChanged, lambda event: event.state == "starting")
    await asyncio.sleep(0.2)
    started = time.monotonic()
    await pool.close()
    assert time.monotonic() - started < 10
