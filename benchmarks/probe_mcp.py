"""Calls of an MCP server in three ways, and the loop's longest block under a large result.

    python probe_mcp.py calls|large

``calls`` prints the median milliseconds of a call by the SDK's own client, through the pool, and by hand through gate,
events and record. ``large`` prints the longest block of the loop while 16 MB arrive by the same way, how long one
parse of the same bytes takes, and by how many MiB memory grows with five more.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from pydantic_core import from_json

from harness_tui.agent.live import LiveSession
from harness_tui.core.events import RunFinished, ToolFinished
from harness_tui.core.intents import CallTool
from harness_tui.mcp.pool import McpPool
from harness_tui.workspace.workspace import OpenOptions, Workspace

SERVER = [sys.executable, str(Path(__file__).with_name("probe_server.py"))]
CALLS, WARM = 200, 20
CONFIG = """
mcp:
  bench: {{command: {command}}}
permission:
  - {{permission: mcp, pattern: "*", action: allow}}
"""


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[Workspace, LiveSession]]:
    """A workspace with the server, and a session in it."""
    config = Path(os.environ["HOME"], ".config", "harness", "config.yaml")
    config.parent.mkdir(parents=True)
    config.write_text(CONFIG.format(command=json.dumps(SERVER)))
    workspace = await Workspace.open(Path.cwd(), OpenOptions())
    try:
        session = await workspace.new_session()
        await workspace.start_session(session)
        await workspace.mcp.wait_started(30)
        yield workspace, session
    finally:
        await workspace.close()


async def by_hand(session: LiveSession, tool: str, **arguments: str) -> float:
    """Call through gate, events and record; return milliseconds to ``tool_finished``."""
    reader = session.stream.subscribe()
    start = time.perf_counter()
    await session.send(CallTool(f"bench_{tool}", arguments))
    took = -1.0
    async for envelope in reader:
        match envelope.event:
            case ToolFinished(is_error=False):
                took = (time.perf_counter() - start) * 1e3
            case RunFinished():
                break
            case _:
                pass
    reader.close()
    if took < 0:
        raise SystemExit(f"the call of {tool} failed")
    await session.idle()
    return took


@asynccontextmanager
async def bare_pool(workspace: Workspace) -> AsyncIterator[McpPool]:
    """A pool of its own without an audit log, which belongs to the gate."""
    servers, folder = workspace.loaded.settings.mcp, workspace.places.cache / "bare"
    pool = McpPool(
        servers,
        spawner=workspace.children,
        sink=workspace.surroundings,
        cache_dir=folder,
        root=workspace.project.root,
    )
    try:
        pool.start(eager=True)
        await pool.wait_started(30)
        yield pool
    finally:
        await pool.close()


async def calls() -> dict[str, float]:
    """Time the three ways in turn."""
    command = StdioServerParameters(command=SERVER[0], args=SERVER[1:])
    async with opened() as (workspace, session), bare_pool(workspace) as pool, Client(command) as client:
        await client.list_tools()

        async def timed(call: Callable[[], Awaitable[object]]) -> float:
            start = time.perf_counter()
            await call()
            return (time.perf_counter() - start) * 1e3

        ways: dict[str, Callable[[], Awaitable[float]]] = {
            "client": lambda: timed(lambda: client.call_tool("small", {"word": "blue"})),
            "pool": lambda: timed(lambda: pool.call("bench", "small", {"word": "blue"})),
            "gate": lambda: by_hand(session, "small", word="blue"),
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(CALLS):
            for way, call in ways.items():
                times[way].append(await call())
    return {way: statistics.median(values[WARM:]) for way, values in times.items()}


async def large() -> dict[str, float]:
    """Watch the loop while the result arrives."""
    async with opened() as (workspace, session):
        outcome = await workspace.mcp.call("bench", "text", {})
        body = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "result": {"content": list(outcome.content)}}, ensure_ascii=False
        ).encode()
        if len(body) < 15_900_000:
            raise SystemExit(f"the result is {len(body)} bytes")
        blocks, parses = [], []
        for _ in range(5):
            start = time.perf_counter()
            from_json(body)
            parses.append((time.perf_counter() - start) * 1e3)
            blocks.append(await longest_block(by_hand(session, "text")))
        # What a dozen of them need is what the allocator keeps; a leak would keep each of the others as well.
        for _ in range(6):
            await by_hand(session, "text")
        settled = psutil.Process().memory_info().rss
        for _ in range(5):
            await by_hand(session, "text")
        growth = (psutil.Process().memory_info().rss - settled) / 1024**2
    return {"block": statistics.median(blocks), "parse": statistics.median(parses), "growth": max(0.0, growth)}


async def longest_block(work: Awaitable[object]) -> float:
    """Return the most milliseconds for which the loop did nothing else while ``work`` went on."""
    longest, over = 0.0, False

    async def watch() -> None:
        nonlocal longest
        before = time.perf_counter()
        while not over:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            longest, before = max(longest, now - before - 0.001), now

    watching = asyncio.create_task(watch())
    await work
    over = True
    await watching
    return longest * 1e3


if __name__ == "__main__":
    print(json.dumps(asyncio.run(large() if sys.argv[1] == "large" else calls())))
