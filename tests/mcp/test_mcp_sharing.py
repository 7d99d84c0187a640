"""One process a server, for every session and subagent of a project; it ends when nobody uses it any more."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.mcp_sinks import FakeSink

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.settings import McpServerSettings, McpTimeouts
from harness_tui.core.events import RunFinished, ToolFinished
from harness_tui.core.intents import CallTool
from harness_tui.mcp.manifest import fingerprint
from harness_tui.mcp.pool import McpPool
from harness_tui.workspace.workspace import OpenOptions, Workspace

Make = Callable[..., McpPool]
Entry = Callable[..., McpServerSettings]
SCRIPT = Path(__file__).parent / "servers" / "faulty.py"


def quick(server: Entry, folder: Path, **fields: Any) -> McpServerSettings:
    """Return the entry of a server that needs nothing but the standard library."""
    entry = server("faulty", env={"FAULT": str(folder / "fault"), "PIDS": str(folder / "pids")}, **fields)
    return replace(entry, command=(sys.executable, "-S", *entry.command[1:]))


async def reaches(pool: McpPool, state: str) -> None:
    async with asyncio.timeout(20):
        while pool.status()[0].state != state:
            await asyncio.sleep(0.02)


async def test_a_server_that_nobody_uses_is_ended_and_started_again_at_its_next_use(
    make_pool: Make, server: Entry, registry: ChildRegistry, sink: FakeSink, tmp_path: Path
) -> None:
    pool = make_pool(quick(server, tmp_path, timeout=McpTimeouts(unused=0.3)))
    assert (await pool.call("faulty", "work", {})).content[0]["text"] == "worked"
    await reaches(pool, "idle")
    assert pool.status()[0].reason == "not used for 0.005 minutes: its next use starts it again"
    assert len(pool.tools()) == 2, "what it offers stays known"
    async with asyncio.timeout(10):
        while registry.list():
            await asyncio.sleep(0.02)
    assert (await pool.call("faulty", "work", {})).content[0]["text"] == "worked"
    assert sink.states("faulty") == ["starting", "ready", "idle", "starting", "ready"]
    assert sink.notices("error") == sink.notices("warning") == []


async def test_a_call_that_is_under_way_holds_the_server(
    make_pool: Make, server: Entry, tmp_path: Path, sink: FakeSink
) -> None:
    pool = make_pool(quick(server, tmp_path, timeout=McpTimeouts(unused=0.2, idle=30)))
    await pool.call("faulty", "work", {})
    (tmp_path / "fault").write_text("hang")
    hanging = asyncio.create_task(pool.call("faulty", "work", {}))
    await asyncio.sleep(0.6)
    assert pool.status()[0].state == "ready"
    hanging.cancel()
    await asyncio.wait({hanging})
    await reaches(pool, "idle")
    assert sink.states("faulty") == ["starting", "ready", "idle"]


@pytest.mark.parametrize("fields", [{"lazy": False, "unused": 0.1}, {"unused": 0.0}], ids=["not lazy", "0 is never"])
async def test_a_server_that_is_to_run_all_the_time_does(
    make_pool: Make, server: Entry, tmp_path: Path, fields: dict[str, Any]
) -> None:
    limits = McpTimeouts(unused=fields.pop("unused"))
    pool = make_pool(quick(server, tmp_path, timeout=limits, **fields))
    await pool.call("faulty", "work", {})
    await asyncio.sleep(0.4)
    assert pool.status()[0].state == "ready"


async def test_two_sessions_and_their_calls_share_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, project, pids = tmp_path / "home", tmp_path / "project", tmp_path / "pids"
    project.mkdir()
    config = home / ".config" / "harness" / "config.yaml"
    config.parent.mkdir(parents=True)
    entry = {"command": [sys.executable, "-S", str(SCRIPT)], "env": {"FAULT": str(tmp_path / "no"), "PIDS": str(pids)}}
    allow = {"permission": "mcp", "pattern": "*", "action": "allow"}
    config.write_text(json.dumps({"mcp": {"one": entry}, "permission": [allow], "model": "offline"}))
    monkeypatch.setenv("HOME", str(home))
    workspace = await Workspace.open(project, OpenOptions(environ={"HOME": str(home)}))
    try:
        sessions = [await workspace.new_session() for _ in range(2)]
        readers = [session.stream.subscribe() for session in sessions]
        for session in sessions:
            await session.send(CallTool("one_work", {}))
        for reader in readers:
            async with asyncio.timeout(60):
                async for envelope in reader:
                    if isinstance(envelope.event, ToolFinished):
                        assert (envelope.event.is_error, envelope.event.output) == (False, "worked")
                    if isinstance(envelope.event, RunFinished):
                        break
            reader.close()
        assert len(pids.read_text().split()) == 1
    finally:
        await workspace.close()


def test_what_makes_two_entries_the_same_server(tmp_path: Path) -> None:
    entry = McpServerSettings(name="a", command=("srv", "-v"), env={"A": "1"}, cwd="x")
    assert fingerprint(entry, tmp_path) == fingerprint(replace(entry, name="b", lazy=False), tmp_path)
    others = [
        replace(entry, command=("srv",)),
        replace(entry, env={"A": "2"}),
        replace(entry, cwd="y"),
        replace(entry, command=(), url="https://x.test/mcp"),
        replace(entry, command=(), url="https://x.test/mcp", headers={"K": "v"}),
    ]
    assert len({fingerprint(one, tmp_path) for one in (entry, *others)}) == 6
