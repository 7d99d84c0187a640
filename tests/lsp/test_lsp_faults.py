"""Servers that misbehave: the verdict stays honest, a person is told once, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
import time
from pathlib import Path

import psutil
import pytest

from harness_tui.config.settings import LspServerSettings
from harness_tui.core.events import Notice, ServerChanged
from harness_tui.lsp.lifecycle import Timings

QUICK = Timings(backoff=(0.2, 0.4), crashes=5)


async def wait_until(holds, timeout=5.0):
    async with asyncio.timeout(timeout):
        while not holds():
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_kill_during_a_wait_gives_unknown_at_once_and_the_server_comes_back(bench, scripted):
    server = scripted(delay_second=60)
    (bench.project / "a.txt").write_text("fine\n")
    pool = bench.pool(server, wait=30.0, timings=QUICK)
    await pool.diagnostics(Path("a.txt"))

    (bench.project / "a.txt").write_text("BAD\n")
    asking = asyncio.create_task(pool.diagnostics(Path("a.txt")))
    await asyncio.sleep(0.2)
    killed = time.monotonic()
    os.kill(server.started()[0], signal.SIGKILL)
    verdict = await asking

    assert time.monotonic() - killed < 5  # the wait was 30 s
    assert (verdict.verdict, verdict.items, verdict.reason) == ("unknown", (), "scripted was ended by SIGKILL")
    crashed = await bench.sink.wait_for(ServerChanged, lambda event: event.state == "crashed")
    assert crashed.reason == "was ended by SIGKILL"
    notices = bench.sink.of(Notice)
    assert [(notice.level, notice.source, notice.text) for notice in notices] == [
        ("warning", "lsp:scripted", "scripted was ended by SIGKILL")
    ]

    await wait_until(lambda: len(server.started()) == 2 and pool.open_paths() == [bench.project / "a.txt"])
    again = await pool.diagnostics(Path("a.txt"))
    assert (again.verdict, len(again.items)) == ("fresh", 1)
    assert [entry.restarts for entry in pool.status() if entry.name == "scripted"] == [1]


async def test_a_server_that_ends_at_every_change_is_turned_off_after_five_times(bench, scripted):
    server = scripted(die_on="textDocument/didOpen")
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(server, timings=Timings(backoff=(0.01,), crashes=5), cold_wait=3.0)

    first = await pool.diagnostics(Path("a.txt"))
    assert first.verdict == "unknown"
    assert first.reason == "scripted exited with status 3"
    disabled = await bench.sink.wait_for(ServerChanged, lambda event: event.state == "disabled")
    assert disabled.reason is not None
    assert disabled.reason.startswith("failed 5 times within 10 minutes and is off: exited with status 3")
    assert len(server.started()) == 5

    verdict = await pool.diagnostics(Path("a.txt"))
    assert (verdict.verdict, verdict.reason) == ("unknown", f"scripted {disabled.reason}")
    assert len(server.started()) == 5
    assert len(bench.sink.of(Notice)) == 5


async def test_a_server_that_dies_at_any_message_is_told_and_its_next_life_is_right(bench, scripted):
    file = bench.project / "a.txt"
    messages = ("initialize", "initialized", "textDocument/didOpen", "textDocument/didChange", "textDocument/didSave")
    for method in (*messages, "workspace/didChangeWatchedFiles", "textDocument/diagnostic"):
        pull = {"pull": "static", "push": False} if method.endswith("diagnostic") else {}
        server = scripted(method.replace("/", "-"), die_on=method, lives=1, save=True, **pull)
        pool = bench.pool(server, wait=20.0, cold_wait=20.0, timings=Timings(backoff=(0.01,), crashes=5))
        verdicts = []
        for text in ("BAD\n", "BAD BAD\n", "fine\n"):
            file.write_text(text)
            verdicts.append(await pool.diagnostics(file))
        assert "unknown" in [verdict.verdict for verdict in verdicts[:2]], method
        for verdict, count in zip(verdicts, (1, 2, 0), strict=True):
            assert (verdict.verdict, len(verdict.items)) in (("unknown", 0), ("fresh", count)), method
            assert verdict.verdict == "fresh" or "exited with status 3" in str(verdict.reason), method
        assert (verdicts[2].verdict, len(server.started())) == ("fresh", 2), method
        await pool.close()
        assert not [pid for pid in server.started() if alive(pid)]


async def test_a_server_that_offers_to_be_asked_and_never_answers_costs_only_the_wait(bench, scripted):
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(scripted(pull="static", silent=["textDocument/diagnostic"]), cold_wait=0.4, wait=0.4)
    for _ in range(2):
        verdict = await pool.diagnostics(Path("a.txt"))
        assert (verdict.verdict, verdict.items) == ("unknown", ())
        assert verdict.reason == "scripted has not answered after 0.4 s"


async def test_whatever_spelling_of_a_name_a_server_likes_the_file_is_meant(bench, scripted):
    name = "a é漢 # %41 +@[x].txt"
    (bench.project / name).write_text("BAD\n")
    for how in ("host", "quoted", "small", "dots"):
        pool = bench.pool(scripted(how, respell=how), cold_wait=20.0)
        verdict = await pool.diagnostics(Path(name))
        assert (verdict.path, verdict.verdict, len(verdict.items)) == (name, "fresh", 1), how


async def test_two_hundred_megabytes_of_complaints_neither_block_a_server_nor_fill_the_memory(bench, scripted):
    (bench.project / "a.txt").write_text("BAD\n")
    before = psutil.Process().memory_info().rss
    pool = bench.pool(scripted(errors=200_000_000), cold_wait=60.0)
    assert (await pool.diagnostics(Path("a.txt"))).verdict == "fresh"
    assert psutil.Process().memory_info().rss - before < 30_000_000


async def test_a_server_that_exits_at_once_is_started_only_after_its_pause(bench, scripted):
    server = scripted(initialize="exit")
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(server, timings=Timings(backoff=(30.0,)), cold_wait=5.0)
    for _ in range(3):
        verdict = await pool.diagnostics(Path("a.txt"))
        assert verdict.verdict == "unknown"
        assert verdict.reason is not None
        assert "scripted did not start: it exited with status 7: cannot load the compiler" in verdict.reason
    assert len(server.started()) == 1
    assert len(bench.sink.of(Notice)) == 1


async def test_a_refused_initialize_is_told_in_the_server_s_own_words(bench, scripted):
    (bench.project / "a.txt").write_text("BAD\n")
    server = scripted(initialize="error")
    pool = bench.pool(server, timings=Timings(backoff=(30.0,)))
    verdict = await pool.diagnostics(Path("a.txt"))
    assert verdict.verdict == "unknown"
    assert verdict.reason == "scripted did not start: it refused initialize: no compiler found"
    assert not alive(server.started()[0])


async def test_a_server_that_never_shakes_hands_leaves_no_process_at_close(bench, scripted):
    server = scripted(initialize="never", deaf=True)
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(server, cold_wait=0.5)
    verdict = await pool.diagnostics(Path("a.txt"))
    assert (verdict.verdict, verdict.reason) == ("unknown", "scripted is still starting after 0.5 s")
    await pool.close()
    assert not alive(server.started()[0])


async def test_a_deaf_server_is_gone_by_force(bench, scripted):
    server = scripted(deaf=True)
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(server)
    assert (await pool.diagnostics(Path("a.txt"))).verdict == "fresh"
    started = time.monotonic()
    await pool.close()
    assert time.monotonic() - started < 10  # it takes 3 s on an idle machine
    assert not alive(server.started()[0])


async def test_what_a_launcher_started_ends_with_it(bench, scripted, tmp_path):
    child = tmp_path / "child.pid"
    server = scripted(child=str(child))
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(server, wait=8.0, timings=Timings(backoff=(30.0,)))
    await pool.diagnostics(Path("a.txt"))
    asked = asyncio.create_task(pool.diagnostics(Path("a.txt")))
    await asked
    os.kill(server.started()[0], signal.SIGKILL)  # its child still holds the pipes
    await bench.sink.wait_for(ServerChanged, lambda event: event.state == "crashed")
    await wait_until(lambda: not alive(int(child.read_text())))


async def test_noise_on_both_outputs_and_odd_messages_cost_nothing(bench, scripted):
    items = [
        {"range": {"start": {"line": 0, "character": 0}}, "severity": 0, "message": "severity nought"},
        {"range": {"start": {"line": 0, "character": -5}, "end": {"line": 99, "character": 99}}, "message": "places"},
        {"message": {"kind": "markdown", "value": "as an object"}, "severity": 2, "tags": [99], "code": 7},
        "no object",
    ]
    server = scripted(errors=3_000_000, junk="Starting up ...", unknown="custom/thing", ask="abc", items=items)
    (bench.project / "a.txt").write_text("one\ntwo\n")
    pool = bench.pool(server)
    verdict = await pool.diagnostics(Path("a.txt"))
    assert verdict.verdict == "fresh"
    assert [(item.line, item.column, item.end_line, item.severity, item.message) for item in verdict.items] == [
        (1, 1, 3, "error", "places"),
        (1, 1, 1, "error", "severity nought"),
        (1, 1, 1, "warning", "as an object"),
    ]
    assert verdict.reason == "scripted sent 1 that could not be read"
    replies = {message["id"]: message for message in server.received() if "method" not in message}
    assert replies["abc"]["result"] == [None, None, {}]
    assert replies["u1"]["error"]["code"] == -32601


async def test_the_configuration_that_it_asks_for_is_that_of_its_entry(bench, scripted):
    server = scripted(ask="q")
    entry = LspServerSettings(
        "scripted",
        server.settings.command,
        (".txt",),
        initialization={"level": 3},
        settings={"scripted": {"strict": True}, "other": {"deep": [1]}},
    )
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(entry)
    assert (await pool.diagnostics(Path("a.txt"))).verdict == "fresh"
    reply = next(message for message in server.received() if "method" not in message)
    assert reply["result"] == [{"strict": True}, [1], {"scripted": {"strict": True}, "other": {"deep": [1]}}]
    assert server.received("initialize")[0]["initializationOptions"] == {"level": 3}
    assert server.received("workspace/didChangeConfiguration") == [{"settings": entry.settings}]


async def test_ten_thousand_diagnostics_are_cut_with_a_word_about_it(bench, scripted):
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    items = [{"range": place, "severity": 2, "message": f"number {number}"} for number in range(10_000)]
    items.append({"range": place, "severity": 1, "message": "the one error"})
    (bench.project / "a.txt").write_text("x\n")
    pool = bench.pool(scripted(items=items))
    verdict = await pool.diagnostics(Path("a.txt"))
    assert len(verdict.items) == 1_000
    assert verdict.items[0].message == "the one error"
    assert verdict.reason == "scripted has 9001 more than are kept"


async def test_a_program_that_prints_instead_of_talking_is_given_up(bench):
    (bench.project / "a.txt").write_text("BAD\n")
    entry = LspServerSettings("chatty", (sys.executable, "-c", "print('usage: chatty\\n' * 2000); input()"), (".txt",))
    pool = bench.pool(entry, timings=Timings(backoff=(30.0,)))
    verdict = await pool.diagnostics(Path("a.txt"))
    assert verdict.verdict == "unknown"
    assert verdict.reason is not None
    assert "writes something else than messages to its output: usage: chatty" in verdict.reason


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


async def test_a_broken_binary_on_the_path_is_absent_and_the_next_of_its_group_serves(bench, tmp_path):
    runs = tmp_path / "runs"
    broken = f"#!/bin/sh\necho run >> {runs}\necho 'component is not installed' >&2\nexit 1\n"
    program(tmp_path / "bin", "ty", broken)
    (bench.project / "a.py").write_text('x: int = "t"\n')
    environ = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    pool = bench.pool(built_in=("ty", "pyrefly"), environ=environ)

    verdict = await pool.diagnostics(Path("a.py"))
    assert verdict.verdict == "skipped"
    assert verdict.reason is not None
    assert "ty does not work, it exited with status 1: component is not installed" in verdict.reason
    for _ in range(3):
        again = await pool.diagnostics(Path("a.py"))
        assert again.reason is not None
        assert again.reason.startswith("no language server found for .py: install ty or pyrefly (")
    assert runs.read_text() == "run\nrun\n"  # once as a server, once to see what is wrong
    assert [entry.state for entry in pool.status() if entry.name == "ty"] == ["absent"]
    assert len(bench.sink.of(Notice)) == 1


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_binary_of_the_project_serves_only_when_the_project_is_trusted(bench, scripted, tmp_path, trusted):
    server = scripted()
    argv = server.settings.command
    assert argv is not None
    program(bench.project / ".venv" / "bin", "local-server", f"#!/bin/sh\nexec {' '.join(argv)}\n")
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(LspServerSettings("local", ("local-server",), (".txt",)), trusted=trusted)
    verdict = await pool.diagnostics(Path("a.txt"))
    assert verdict.verdict == ("fresh" if trusted else "skipped")
    assert len(server.started()) == (1 if trusted else 0)


async def test_a_program_that_ends_at_once_says_how_and_why_every_time(bench):
    entry = LspServerSettings("broken", command=("sh", "-c", "exec <&-; echo boom >&2; exit 3"), extensions=(".txt",))
    (bench.project / "a.txt").write_text("BAD\n")
    for _ in range(8):  # its pipes break before, with or after its end
        pool = bench.pool(entry, timings=Timings(backoff=(30.0,)))
        verdict = await pool.diagnostics(Path("a.txt"))
        assert verdict.reason == "broken did not start: it exited with status 3: boom"
