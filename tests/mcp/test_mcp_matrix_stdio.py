"""Everything that a server over stdio can do wrong, one by one.

In one session a neighbour works all the time; the faulty server fails as it should, with words that say what to do, and
the same server works when its fault is gone. Nothing is written to the terminal, no process is left. That a shell which
is killed leaves none either is tested with the whole program, in ``tests/e2e/test_e2e_processes.py``.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from fakes.mcp_sinks import FakeSink

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.settings import McpServerSettings, McpTimeouts
from harness_tui.core.errors import ToolError
from harness_tui.core.events import Notice
from harness_tui.mcp import supervisor as supervising
from harness_tui.mcp.pool import McpPool

Make = Callable[..., McpPool]
Entry = Callable[..., McpServerSettings]

STARTS = [
    (
        "exit_start",
        "missing-variable",
        "exited with code 1 before answering: GITHUB_TOKEN is not set",
        "{env:GITHUB_TOKEN}",
    ),
    ("module_start", "exited", "No module named 'tools'", "install tools where"),
    ("usage_start", "exited", "unrecognized arguments: --x", "run it with --help"),
    ("quiet_start", "exited", "exited with code 0 before answering and said nothing", "'mcp', 'serve' or 'stdio'"),
    ("mute_start", "timeout", "did not answer within 2 s", "mcp.faulty.timeout.start sets the limit"),
    ("page_start", "wrong-protocol", "it writes a web page and no messages", "this is no MCP server"),
    ("lsp_start", "wrong-protocol", "this is a language server", "belongs under lsp.servers"),
    ("http_start", "wrong-protocol", "it answers in HTTP", "give its 'url' in place of 'command'"),
    ("refuse_start", "wrong-protocol", "answered with error -32601: Method not found", "check the command"),
]
"""What is wrong at the start, the kind it is told as, the words, and what is to be done."""

CALLS = [
    ("die", "it was ended by SIGKILL: out of memory during work", "started again at its next use"),
    ("leave", "it exited with code 3 during work", "started again at its next use"),
    ("closed", "it closed its connection during work", "started again at its next use"),
    ("hang", "work was silent for 1 s and was cancelled", "mcp.faulty.timeout.idle sets the limit"),
    ("beat", "work did not finish within 2 s", "mcp.faulty.timeout.total sets the limit"),
    ("endless", "is over the limit of 16 MiB for one message", None),
    ("huge", "is over the limit of 16 MiB for one message", None),
    ("refuse", "answered with error -32603: the disk is full", None),
]
"""What is wrong in a call, the words, and what is to be done where a person can do something."""

SURVIVED = ["slow_start", "banner_start", "probe_start", "flood_start", "glued", "stranger"]
"""What is odd and costs nothing."""

LIMITS = {
    "hang": McpTimeouts(idle=1),
    "beat": McpTimeouts(total=2),
    "mute_start": McpTimeouts(start=2),
}
"""Where a time-out is the point; the others wait as long as a busy machine needs. What speaks another language is not
waited for at all."""


class Session:
    """A pool with the faulty server and its neighbour."""

    def __init__(self, make_pool: Make, server: Entry, folder: Path, sink: FakeSink, limits: McpTimeouts) -> None:
        self.fault = folder / "fault"
        self.pids = folder / "pids"
        self.sink = sink
        env = {"FAULT": str(self.fault), "PIDS": str(self.pids)}
        healthy = env | {"FAULT": str(folder / "none")}
        bare = (sys.executable, "-S", *server("faulty").command[1:])  # it needs nothing but the standard library
        faulty = server("faulty", env=env, timeout=limits, lazy=False)
        neighbour = server("faulty", name="neighbour", env=healthy)
        self.pool = make_pool(replace(faulty, command=bare), replace(neighbour, command=bare))

    async def open(self) -> None:
        self.pool.start()
        assert await self.pool.wait_started(60)

    async def work(self, server: str = "faulty", tool: str = "work") -> str:
        outcome = await self.pool.call(server, tool, {})
        return "\n".join(block["text"] for block in outcome.content)

    def line(self, name: str = "faulty") -> Any:
        return next(line for line in self.pool.status() if line.name == name)

    def left(self) -> list[int]:
        return [pid for pid in map(int, self.pids.read_text().split()) if alive(pid)]

    async def neighbour_is_untouched(self) -> None:
        assert await self.work("neighbour") == "worked"
        assert self.sink.states("neighbour") == ["starting", "ready"]
        assert [event for event in self.sink.of(Notice) if event.source == "mcp:neighbour"] == []


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def session(
    make_pool: Make,
    server: Entry,
    tmp_path: Path,
    sink: FakeSink,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Session:
    monkeypatch.setattr(supervising, "BACK_OFF_S", (0.01, 0.01, 0.01))
    return Session(make_pool, server, tmp_path, sink, LIMITS.get(request.node.callspec.params["fault"], McpTimeouts()))


async def ended(session: Session, registry: ChildRegistry, capfd: pytest.CaptureFixture[str]) -> None:
    """End the session and see that nothing is left of it, neither processes nor words on the terminal."""
    await session.pool.close()
    async with asyncio.timeout(15):
        while session.left():
            await asyncio.sleep(0.02)
    assert registry.list() == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("fault", "kind", "words", "mend"), STARTS, ids=[row[0] for row in STARTS])
async def test_a_server_that_cannot_start_says_why_and_works_once_it_can(
    session: Session,
    registry: ChildRegistry,
    capfd: pytest.CaptureFixture[str],
    fault: str,
    kind: str,
    words: str,
    mend: str,
) -> None:
    session.fault.write_text(fault)
    await session.open()
    found = await session.pool.diagnose("faulty")
    assert (found.ok, found.kind, found.state) == (False, kind, "failed")
    assert words in (found.reason or "")
    assert mend in (found.mend or "")
    assert any(mend in (event.hint or "") for event in session.sink.of(Notice))
    await session.neighbour_is_untouched()
    session.fault.unlink()
    again = await session.pool.diagnose("faulty")
    assert (again.ok, again.kind, again.mend, again.tools) == (True, None, None, 2)
    assert await session.work() == "worked"
    await session.neighbour_is_untouched()
    await ended(session, registry, capfd)


@pytest.mark.parametrize(("fault", "words", "mend"), CALLS, ids=[row[0] for row in CALLS])
async def test_a_call_that_goes_wrong_fails_alone_and_the_next_one_works(
    session: Session,
    registry: ChildRegistry,
    capfd: pytest.CaptureFixture[str],
    fault: str,
    words: str,
    mend: str | None,
) -> None:
    await session.open()
    assert await session.work() == "worked"
    session.fault.write_text(fault)
    with pytest.raises(ToolError) as failed:
        await session.work()
    assert words in failed.value.what
    assert failed.value.where == "MCP server faulty"
    assert mend is None or mend in (failed.value.mend or "")
    await session.neighbour_is_untouched()
    session.fault.unlink()
    assert await session.work() == "worked"
    assert session.line().state == "ready"
    await ended(session, registry, capfd)


@pytest.mark.parametrize("fault", SURVIVED)
async def test_what_is_odd_costs_nothing(
    session: Session, registry: ChildRegistry, capfd: pytest.CaptureFixture[str], fault: str
) -> None:
    session.fault.write_text(fault)
    await session.open()
    assert await session.work() == "worked"
    assert session.line().state == "ready"
    await session.neighbour_is_untouched()
    session.fault.unlink()
    assert await session.work() == "worked"
    await ended(session, registry, capfd)


@pytest.mark.parametrize("fault", ["child_start", "session_start", "stubborn_start"])
async def test_what_a_server_starts_ends_with_it(
    session: Session, registry: ChildRegistry, capfd: pytest.CaptureFixture[str], fault: str
) -> None:
    session.fault.write_text(fault)
    await session.open()
    assert await session.work() == "worked"
    before = session.left()
    assert len(before) == 3, "two servers and the helper"
    session.fault.unlink()
    assert (await session.pool.restart("faulty")).state == "ready"
    assert await session.work() == "worked"
    assert len(set(session.left()) & set(before)) == 1, "only the neighbour is still the same"
    await session.neighbour_is_untouched()
    await ended(session, registry, capfd)


async def test_a_program_that_is_missing_is_found_once_it_is_there(
    make_pool: Make, server: Entry, tmp_path: Path, sink: FakeSink
) -> None:
    program = tmp_path / "bin" / "srv"
    env = {"FAULT": str(tmp_path / "none"), "PIDS": str(tmp_path / "pids")}
    entry = server("faulty", name="neighbour", env=env)
    pool = make_pool(entry, McpServerSettings(name="absent", command=(str(program), entry.command[1]), env=env))
    pool.start()
    assert await pool.wait_started(30)
    found = await pool.diagnose("absent")
    assert (found.kind, found.mend) == ("missing-program", "install it, or name it by its absolute path")
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    assert (await pool.diagnose("absent")).ok
    assert (await pool.call("absent", "work", {})).content[0]["text"] == "worked"
    assert (await pool.call("neighbour", "work", {})).content[0]["text"] == "worked"
    assert sink.states("neighbour") == ["starting", "ready"]


@pytest.mark.parametrize("fault", ["bytes"])
async def test_bytes_that_are_no_utf8_reach_the_reader_as_marks(session: Session, fault: str) -> None:
    await session.open()
    session.fault.write_text(fault)
    assert await session.work() == "w\ufffd"
