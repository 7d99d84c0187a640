"""The tab Processes: what a row says, how it is kept up to date, and what its keys do."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from fakes.fake_backend import FakeBackend, FakeDescendant, FakeProcess
from fakes.tui_screen import screen_text, until

from harness_tui.core import events as ev
from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import ServerDetail
from harness_tui.tui import panel_runner
from harness_tui.tui.lines import line_cells, plain
from harness_tui.tui.panels.processes import MAX_TREE, ProcessKey, process_rows
from harness_tui.tui.panels.state import PanelState

NOW = datetime(2026, 1, 2, 3, 5, 10, tzinfo=UTC)
TREE = (
    FakeDescendant(4712, 4711, ("sh", "-c", "a b")),
    FakeDescendant(4713, 4712, ("sleep", "60")),
    FakeDescendant(4714, 4711, ()),
)
SERVER = FakeProcess("mcp:time", 4711, ("mcp-server-time", "--zone", "a b"), restarts=2, tree=TREE)
JOB = FakeProcess("bash", 4800, ("bash", "-c", "make watch"), rss=1_572_864)


def lines_of(state: PanelState, width: int = 60) -> list[str]:
    return [plain(line).rstrip() for row in process_rows(state, width, NOW) for line in row.lines]


def looked(*rows: FakeProcess, at: float = 100.0) -> PanelState:
    state = PanelState()
    state.take_processes(rows, at)
    return state


def test_a_row_says_who_owns_it_how_old_it_is_what_it_takes_and_what_it_started() -> None:
    assert lines_of(looked(SERVER)) == [
        "● mcp:time" + " " * 42 + "pid 4711",
        "  up 1:05 · 20 MiB · cpu 0.5 s · restarted 2×",
        "  mcp-server-time --zone 'a b'",
        "  └ 4712 sh -c 'a b'" + " " * 33 + "2.0 MiB",
        "    └ 4713 sleep 60" + " " * 34 + "2.0 MiB",
        "  └ 4714 ?" + " " * 43 + "2.0 MiB",
    ]
    assert [row.key for row in process_rows(looked(SERVER, JOB), 60, NOW)] == [
        ProcessKey("mcp:time", 4711),
        ProcessKey("bash", 4800),
    ]


def test_a_long_command_leaves_out_folders_before_it_is_cut() -> None:
    words = ("/opt/some/where/bin/python", "-I", "/srv/tools/stock/server.py", "--port", "8080")
    row = FakeProcess("mcp:stock", 1, words)
    assert lines_of(looked(row), 90)[2] == "  /opt/some/where/bin/python -I /srv/tools/stock/server.py --port 8080"
    assert lines_of(looked(row), 60)[2] == "  python -I …/stock/server.py --port 8080"
    assert lines_of(looked(row), 30)[2] == "  python -I …/stock/server.py…"


def test_the_share_of_a_processor_is_that_between_two_looks() -> None:
    state = looked(FakeProcess("bash", 7, cpu=1.0), at=100.0)
    state.take_processes([FakeProcess("bash", 7, cpu=2.5)], 102.0)
    assert state.cpu_share == {7: 75.0}
    assert "cpu 75%" in lines_of(state)[1]
    state.take_processes([FakeProcess("bash", 7, cpu=0.1)], 104.0)  # another process has the pid
    assert state.cpu_share == {}
    state.forget_shares()
    state.take_processes([FakeProcess("bash", 7, cpu=0.2)], 106.0)
    assert "cpu 0.2 s" in lines_of(state)[1]


def test_servers_that_have_stopped_are_listed_so_that_they_can_be_started_again() -> None:
    state = looked(JOB)
    for name, status, reason in (
        ("time", "stopped", "was stopped by a person"),
        ("docs", "failed", "exited with code 3"),
        ("ready", "ready", None),
        ("later", "stopped", None),
    ):
        state.change_server(ev.ServerChanged("mcp", name, status, ServerDetail(), reason))
    assert lines_of(state)[3:] == [
        "✗ mcp:docs" + " " * 44 + "failed",
        "  exited with code 3",
        "○ mcp:time" + " " * 43 + "stopped",
        "  was stopped by a person",
    ]
    assert process_rows(state, 60, NOW)[-1].key == ProcessKey("mcp:time", None)


def test_a_forest_of_processes_is_cut_and_counted() -> None:
    tree = tuple(FakeDescendant(5000 + number, 4999 + number) for number in range(MAX_TREE + 5))
    rows = lines_of(looked(FakeProcess("bash", 4999, tree=tree)))
    assert rows[-1] == "  … 5 more below it"
    assert len(rows) == 3 + MAX_TREE + 1


@pytest.mark.parametrize("width", [10, 18, 40, 62])
def test_no_row_is_wider_than_the_panel(width: int) -> None:
    evil = FakeProcess("mcp:\x1b[2J日本語", 1, ("\x07" * 50, "x" * 200, "日本語" * 30), tree=TREE)
    for row in process_rows(looked(evil, SERVER), width, NOW):
        for line in row.lines:
            assert line_cells(line) <= width
            assert "\x1b" not in plain(line)


def test_before_the_first_look_and_with_nothing_running_the_panel_says_so() -> None:
    assert lines_of(PanelState()) == ["Looking …"]
    assert lines_of(looked())[0] == "No process runs. Subagents, servers, commands and what they"


async def test_slash_ps_shows_the_processes_and_looks_only_while_they_are_shown(
    open_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel_runner, "LOOK_S", 0.05)
    async with open_app(FakeBackend(process_rows=[SERVER])) as (app, pilot, backend):
        assert "processes" not in backend.calls
        app.prompt.set_text("/ps")
        await pilot.press("enter")
        await until(lambda: "● mcp:time" in screen_text(app))
        looks = backend.calls.count("processes")
        backend.process_rows = [SERVER, JOB]
        await until(lambda: "● bash" in screen_text(app))
        assert backend.calls.count("processes") > looks
        await pilot.press("left")
        await until(lambda: "Enter switches a part" in screen_text(app))
        await pilot.pause()
        looks = backend.calls.count("processes")
        await asyncio.sleep(0.3)
        assert backend.calls.count("processes") == looks
        await pilot.press("right")
        await until(lambda: backend.calls.count("processes") > looks)
        await pilot.press("f2")
        await pilot.pause()
        looks = backend.calls.count("processes")
        await asyncio.sleep(0.3)
        assert backend.calls.count("processes") == looks


async def test_the_end_of_a_process_takes_two_keys_and_is_told_while_it_goes_on(open_app: Any) -> None:
    gate = asyncio.Event()
    async with open_app(FakeBackend(process_rows=[JOB, SERVER], stop_gate=gate)) as (app, pilot, backend):
        app.show_panel("processes")
        await until(lambda: "● bash" in screen_text(app))
        await pilot.press("s")
        await until(lambda: "s again stops bash (pid 4800)" in screen_text(app))
        await pilot.press("down")  # any other key takes it back
        await until(lambda: "s stops" in screen_text(app))
        await pilot.press("s")
        await until(lambda: "s again stops mcp:time" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: "s again" not in screen_text(app))
        assert not any(call.startswith("stop") for call in backend.calls)
        await pilot.press("s", "s")
        await until(lambda: "stopping" in screen_text(app))
        assert "stop mcp:time 4711" in backend.calls
        gate.set()
        await until(lambda: "mcp:time" not in screen_text(app))
        assert app.prompt.text == ""


async def test_an_end_that_fails_is_told_and_the_process_stays_listed(open_app: Any) -> None:
    error = HarnessError("these processes could not be ended: 4800", mend="end them by hand")
    async with open_app(FakeBackend(process_rows=[JOB], stop_error=error)) as (app, pilot, _):
        app.show_panel("processes")
        await until(lambda: "● bash" in screen_text(app))
        await pilot.press("s", "s")
        await until(lambda: "could not be ended: 4800" in screen_text(app))
        await until(lambda: "● bash" in screen_text(app))


async def test_a_server_is_restarted_and_a_command_is_not(open_app: Any) -> None:
    async with open_app(FakeBackend(process_rows=[JOB, SERVER])) as (app, pilot, backend):
        app.show_panel("processes")
        await until(lambda: "● mcp:time" in screen_text(app))
        await pilot.press("r", "down", "r")
        await until(lambda: "restart mcp time" in backend.calls)
        assert [call for call in backend.calls if call.startswith("restart")] == ["restart mcp time"]


@pytest.mark.parametrize("key", ["l", "enter"])
async def test_what_a_server_wrote_is_read_from_its_end(open_app: Any, key: str) -> None:
    text = "".join(f"line {number}\x1b[2J\n" for number in range(1, 201))
    backend = FakeBackend(process_rows=[SERVER], outputs={"mcp:time": text})
    async with open_app(backend) as (app, pilot, _):
        app.show_panel("processes")
        await until(lambda: "● mcp:time" in screen_text(app))
        await pilot.press(key)
        await until(lambda: "line 200" in screen_text(app))
        assert "mcp:time: what it wrote last" in screen_text(app)
        assert "line 1\n" not in screen_text(app)
        await pilot.press("escape")
        await until(lambda: "line 200" not in screen_text(app))


async def test_of_a_command_that_is_waited_for_the_reader_says_where_its_output_is(open_app: Any) -> None:
    async with open_app(FakeBackend(process_rows=[JOB])) as (app, pilot, backend):
        app.show_panel("processes")
        await until(lambda: "● bash" in screen_text(app))
        await pilot.press("l")
        await until(lambda: "what a command writes stands in the transcript" in screen_text(app))
        assert "output bash 4800" in backend.calls


async def test_the_mark_stays_on_a_server_that_is_stopped_and_restarted(open_app: Any) -> None:
    rows = [FakeProcess("bash", 1), SERVER, FakeProcess("bash", 2)]
    async with open_app(FakeBackend(process_rows=rows)) as (app, pilot, backend):
        app.show_panel("processes")
        await until(lambda: "pid 2" in screen_text(app))
        backend.session.publish(ev.ServerChanged("mcp", "time", "stopped", ServerDetail(), "was stopped by a person"))
        await pilot.press("down", "s", "s")
        await until(lambda: "was stopped by a person" in screen_text(app))
        await pilot.press("r")
        await until(lambda: "restart mcp time" in backend.calls)
        backend.process_rows = [*backend.process_rows, FakeProcess("mcp:time", 5000)]
        await until(lambda: "pid 5000" in screen_text(app))
        await pilot.press("l")
        await until(lambda: "output mcp:time 5000" in backend.calls)
