"""Failures during use: calls end at once and are never repeated, restarts are few, cancelling reaches the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from fakes.mcp_sinks import FakeSink

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.settings import McpServerSettings, McpTimeouts
from harness_tui.core.errors import ToolError
from harness_tui.core.events import ServerChanged
from harness_tui.mcp import supervisor as supervising
from harness_tui.mcp.pool import McpPool
from harness_tui.mcp.reasons import CallError

Make = Callable[..., McpPool]
Entry = Callable[..., McpServerSettings]


async def opened(pool: McpPool) -> McpPool:
    pool.start()
    assert await pool.wait_started(60)
    return pool


@pytest.fixture
def quick_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervising, "BACK_OFF_S", (0.01, 0.02, 0.04))


async def test_a_server_that_dies_in_a_call_fails_it_once_and_is_started_again_at_the_next(
    make_pool: Make, server: Entry, tmp_path: Path, sink: FakeSink, quick_restarts: None
) -> None:
    counter = tmp_path / "calls"
    pool = await opened(make_pool(server("dies_mid_call", env={"COUNTER": str(counter), "DEATHS": "1"})))
    with pytest.raises(CallError) as failed:
        await pool.call("dies_mid_call", "work", {})
    assert failed.value.what == (
        "it was ended by SIGKILL: out of memory during work; whether that had an effect is not known"
    )
    assert failed.value.where == "MCP server dies_mid_call"
    assert failed.value.effect_unknown
    assert counter.read_text() == "x"
    outcome = await pool.call("dies_mid_call", "work", {})
    assert outcome.content[0]["text"].startswith("call 2 by ")
    assert sink.states("dies_mid_call") == ["starting", "ready", "failed", "starting", "ready"]


async def test_a_server_that_always_dies_is_given_up_after_three_failures(
    make_pool: Make, server: Entry, tmp_path: Path, quick_restarts: None
) -> None:
    counter = tmp_path / "calls"
    pool = await opened(make_pool(server("dies_mid_call", env={"COUNTER": str(counter)})))
    for _ in range(5):
        with pytest.raises(ToolError):
            await pool.call("dies_mid_call", "work", {})
    assert counter.read_text() == "xxx"
    (line,) = pool.status()
    assert line.state == "failed"
    assert "failed 3 times within 5 minutes" in (line.reason or "")
    assert (await pool.restart("dies_mid_call")).state == "ready"
    with pytest.raises(ToolError, match="SIGKILL"):
        await pool.call("dies_mid_call", "work", {})
    assert counter.read_text() == "xxxx"


async def test_the_next_use_waits_for_the_back_off(
    make_pool: Make, server: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervising, "BACK_OFF_S", (30.0, 30.0, 30.0))
    pool = await opened(make_pool(server("exits_at_once")))
    call = asyncio.create_task(pool.call("exits_at_once", "work", {}))
    await asyncio.sleep(0.1)
    (line,) = pool.status()
    assert line.state == "starting"
    assert (line.reason or "").startswith("is started again in ")
    call.cancel()
    await asyncio.wait({call}, timeout=5)
    assert call.cancelled()


async def test_the_end_of_the_process_is_noticed_while_its_child_holds_the_pipe(
    make_pool: Make, server: Entry, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    pool = await opened(make_pool(server("leaves_child", env={"PIDS": str(pids)})))
    async with asyncio.timeout(10):
        with pytest.raises(CallError, match="it exited with code 3 during work"):
            await pool.call("leaves_child", "work", {})
        leader, child = map(int, pids.read_text().split())
        while alive(leader) or alive(child):
            await asyncio.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_server_that_ignores_everything_is_ended_with_its_child(
    make_pool: Make, server: Entry, tmp_path: Path, registry: ChildRegistry
) -> None:
    pids = tmp_path / "pids"
    pool = await opened(make_pool(server("stubborn", env={"PIDS": str(pids)})))
    assert pool.status()[0].state == "ready"
    leader, child = map(int, pids.read_text().split())
    assert alive(leader)
    assert alive(child)
    async with asyncio.timeout(15):
        await pool.close()
        while alive(leader) or alive(child):
            await asyncio.sleep(0.05)
    assert registry.list() == []


def received(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


async def test_cancelling_a_call_tells_the_server_and_leaves_the_others_alone(
    make_pool: Make, server: Entry, tmp_path: Path, sink: FakeSink
) -> None:
    log = tmp_path / "log"
    pool = await opened(make_pool(server("hangs", env={"PEER_LOG": str(log)})))
    hanging = [asyncio.create_task(pool.call("hangs", "hang", {})) for _ in range(2)]
    await asyncio.sleep(0.2)
    hanging[0].cancel()
    await asyncio.wait({hanging[0]}, timeout=5)
    assert hanging[0].cancelled()
    assert (await pool.call("hangs", "work", {})).content[0]["text"] == "worked"
    assert not hanging[1].done()
    messages = received(log)
    calls = [message["id"] for message in messages if message.get("method") == "tools/call"]
    cancels = [message["params"] for message in messages if message.get("method") == "notifications/cancelled"]
    assert [cancel["requestId"] for cancel in cancels] == calls[:1]  # type: ignore[index]
    assert sink.notices("error") == sink.notices("warning") == []
    hanging[1].cancel()
    await asyncio.wait({hanging[1]}, timeout=5)


async def test_a_silent_call_is_cancelled_at_its_time_out_and_the_connection_lives(
    make_pool: Make, server: Entry, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    entry = server("hangs", env={"PEER_LOG": str(log)}, timeout=McpTimeouts(idle=0.3))
    pool = await opened(make_pool(entry))
    with pytest.raises(CallError, match=r"hang was silent for 0\.3 s and was cancelled") as failed:
        await pool.call("hangs", "hang", {})
    assert failed.value.effect_unknown
    assert failed.value.mend == "mcp.hangs.timeout.idle sets the limit"
    assert (await pool.call("hangs", "work", {})).content[0]["text"] == "worked"
    assert "notifications/cancelled" in log.read_text()
    assert pool.status()[0].state == "ready"


async def test_progress_extends_the_idle_time_out_but_not_the_total(make_pool: Make, server: Entry) -> None:
    pool = await opened(make_pool(server("plain", timeout=McpTimeouts(idle=0.6, total=60))))
    outcome = await pool.call("plain", "count", {"to": 6})  # takes 0.9 s, never silent for 0.6 s
    assert outcome.content[0]["text"] == "counted to 6"
    await pool.close()
    capped = await opened(make_pool(server("plain", lazy=False, timeout=McpTimeouts(idle=5, total=0.5))))
    with pytest.raises(CallError, match=r"did not finish within 0\.5 s"):
        await capped.call("plain", "count", {"to": 100})


async def test_an_answer_over_the_limit_fails_its_call_and_the_connection_lives(
    make_pool: Make, server: Entry, registry: ChildRegistry
) -> None:
    pool = await opened(make_pool(server("big_result")))
    pid = registry.list()[0].pid
    with pytest.raises(ToolError, match="over the limit of 16 MiB"):
        await pool.call("big_result", "big", {"megabytes": 20})
    outcome = await pool.call("big_result", "big", {"megabytes": 10})
    assert len(outcome.content[0]["text"]) == 10_000_000
    assert [child.pid for child in registry.list()] == [pid]


async def test_a_slow_server_is_waited_for_within_its_own_time_out(make_pool: Make, server: Entry) -> None:
    patient = server("slow_start", name="patient", env={"DELAY": "1.5"})
    hurried = server("slow_start", name="hurried", env={"DELAY": "30"}, timeout=McpTimeouts(start=1))
    pool = await opened(make_pool(patient, hurried))
    states = {line.name: (line.state, line.reason) for line in pool.status()}
    assert states == {"patient": ("ready", None), "hurried": ("failed", "did not answer within 1 s")}


async def test_many_calls_at_once_share_one_connection(make_pool: Make, server: Entry, registry: ChildRegistry) -> None:
    pool = make_pool(server("simple"))
    outcomes = await asyncio.gather(*(pool.call("simple", "work", {"word": str(n)}) for n in range(20)))
    assert [outcome.content[0]["text"] for outcome in outcomes] == [str(n) for n in range(20)]
    assert len(registry.list()) == 1


async def test_arguments_with_lone_surrogates_reach_the_server_as_question_marks(
    make_pool: Make, server: Entry
) -> None:
    pool = await opened(make_pool(server("simple")))
    outcome = await pool.call("simple", "work", {"word": "a\ud800b"})
    assert outcome.content[0]["text"] == "a?b"


async def test_a_server_that_closes_its_output_and_lives_on_is_ended(
    make_pool: Make, server: Entry, registry: ChildRegistry
) -> None:
    pool = await opened(make_pool(server("closes_output")))
    with pytest.raises(CallError, match="it closed its connection during work"):
        await pool.call("closes_output", "work", {})
    async with asyncio.timeout(20):
        while registry.list() or pool.status()[0].state != "failed":
            await asyncio.sleep(0.05)


async def test_a_server_that_reads_nothing_holds_neither_the_call_nor_the_end(
    make_pool: Make, server: Entry, registry: ChildRegistry
) -> None:
    pool = await opened(make_pool(server("stops_reading", timeout=McpTimeouts(idle=0.5))))
    async with asyncio.timeout(15):
        with pytest.raises(CallError, match="was silent"):
            await pool.call("stops_reading", "work", {"filler": "x" * 1_000_000})
        call = asyncio.create_task(pool.call("stops_reading", "work", {"filler": "x" * 1_000_000}))
        await asyncio.sleep(0.1)
        call.cancel()
        await asyncio.wait({call}, timeout=1)
        assert call.cancelled()
        await pool.close()
    assert registry.list() == []


async def test_a_call_that_our_own_end_cuts_off_does_not_blame_the_server(make_pool: Make, server: Entry) -> None:
    pool = await opened(make_pool(server("hangs")))
    call = asyncio.create_task(pool.call("hangs", "hang", {}))
    await asyncio.sleep(0.1)
    await pool.close()
    with pytest.raises(CallError, match="it was stopped during hang"):
        await asyncio.wait_for(call, 5)


async def test_a_server_that_a_person_stopped_starts_only_when_it_is_restarted(
    make_pool: Make, server: Entry, sink: FakeSink
) -> None:
    pool = await opened(make_pool(server("simple")))
    (pid,) = [event.detail.pid for event in sink.of(ServerChanged) if event.state == "ready"]
    assert pid is not None
    stopped = await pool.stop("simple")
    assert (stopped.state, stopped.reason) == ("stopped", "was stopped by a person")
    assert not alive(pid)
    assert pool.server_tools("simple"), "what it offers stays known"
    with pytest.raises(CallError, match="MCP server simple: was stopped by a person"):
        await pool.call("simple", "work", {})
    assert sink.states("simple") == ["starting", "ready", "stopped"]
    assert (await pool.restart("simple")).state == "ready"
    assert sink.states("simple")[3:] == ["starting", "ready"]


async def test_a_server_that_is_stopped_while_it_starts_does_not_come_up(
    make_pool: Make, server: Entry, sink: FakeSink
) -> None:
    pool = make_pool(server("never_answers"))
    pool.start()
    async with asyncio.timeout(30):
        while "starting" not in sink.states("never_answers"):
            await asyncio.sleep(0.01)
    call = asyncio.create_task(pool.call("never_answers", "work", {}))
    await asyncio.sleep(0)
    await pool.stop("never_answers")
    with pytest.raises(CallError):
        await call
    assert sink.states("never_answers")[-1] == "stopped"
