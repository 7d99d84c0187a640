"""Larger results, many calls at once, and many servers at once: through the pool and by the SDK's own client, in turn.

    python probe_mcp_many.py sizes|starts

Prints the medians in milliseconds (``starts``: seconds), and the most servers that were starting at one time.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from probe_mcp import SERVER, bare_pool, opened

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.settings import McpServerSettings
from harness_tui.core.events import Event, ServerChanged
from harness_tui.mcp.pool import McpPool

COMMAND = StdioServerParameters(command=SERVER[0], args=SERVER[1:])
TIMES = 7
SERVERS, AT_ONCE = 10, 3


async def timed(call: Callable[[], Awaitable[object]]) -> float:
    """Return the milliseconds that ``call`` takes."""
    start = time.perf_counter()
    await call()
    return (time.perf_counter() - start) * 1e3


async def sizes() -> dict[str, float]:
    """Time results of 1 and 4 MB, and 20 calls at once."""
    async with opened() as (workspace, _), bare_pool(workspace) as pool, Client(COMMAND) as client:
        await client.list_tools()

        def by_pool(tool: str, **arguments: object) -> Awaitable[object]:
            return pool.call("bench", tool, arguments)

        def by_client(tool: str, **arguments: object) -> Awaitable[object]:
            return client.call_tool(tool, arguments)

        def twenty(call: Callable[..., Awaitable[object]]) -> Awaitable[object]:
            return asyncio.gather(*(call("slow", word=str(number)) for number in range(20)))

        works: dict[str, Callable[[], Awaitable[object]]] = {}
        for way, call in (("pool", by_pool), ("client", by_client)):
            for size in (1, 4):
                works[f"{way}{size}"] = lambda call=call, size=size: call("text", megabytes=size)
            works[f"{way}20"] = lambda call=call: twenty(call)
        times: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(TIMES):
            for name, work in works.items():
                times[name].append(await timed(work))
    return {name: statistics.median(values[1:]) for name, values in times.items()}


class Starting:
    """An event sink that counts servers which are starting."""

    def __init__(self) -> None:
        self.now: set[str] = set()
        self.most = 0

    def emit(self, event: Event) -> None:
        """Take one event."""


async def pool_starts(folder: Path) -> tuple[float, int]:
    """Start ten servers through a pool; return seconds, and the most processes that had not answered yet."""
    sink, registry = Starting(), ChildRegistry()
    entries = {
        f"s{number}": McpServerSettings(name=f"s{number}", command=tuple(SERVER), lazy=False)
        for number in range(SERVERS)
    }
    ready: set[str] = set()

    def emit(event: Event) -> None:
        if isinstance(event, ServerChanged) and event.state == "ready":
            ready.add(event.name)

    sink.emit = emit  # type: ignore[method-assign]
    pool = McpPool(entries, spawner=registry, sink=sink, cache_dir=folder / "manifests", root=folder)

    async def watch() -> None:
        while True:
            sink.most = max(sink.most, len(registry.list()) - len(ready))
            await asyncio.sleep(0.2)  # a look costs

    watching = asyncio.create_task(watch())
    try:
        start = time.perf_counter()
        pool.start()
        await pool.wait_started(120)
        took = time.perf_counter() - start
        if len(ready) != SERVERS:
            raise SystemExit(f"{len(ready)} of {SERVERS} servers are ready")
    finally:
        watching.cancel()
        await pool.close()
        await registry.close()
    return took, sink.most


async def client_starts() -> float:
    """Start ten servers by the SDK's client, three at a time; return seconds."""
    slots, done = asyncio.Semaphore(AT_ONCE), asyncio.Event()
    ready = 0

    async def one() -> None:
        nonlocal ready
        await slots.acquire()
        async with Client(COMMAND) as client:
            await client.list_tools()
            slots.release()
            ready += 1
            if ready == SERVERS:
                done.set()
            await done.wait()

    start = time.perf_counter()
    tasks = [asyncio.create_task(one()) for _ in range(SERVERS)]
    await done.wait()
    took = time.perf_counter() - start
    await asyncio.gather(*tasks)
    return took


async def starts() -> dict[str, float]:
    """Time both ways once, the SDK's first: it is imported by then for both."""
    client = await client_starts()
    pool, most = await pool_starts(Path.cwd())
    return {"client": client, "pool": pool, "most": most}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(sizes() if sys.argv[1] == "sizes" else starts())))
