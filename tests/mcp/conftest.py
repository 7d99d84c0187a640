"""Fixtures of the MCP tests: real servers as children, pools that are always closed, events that are kept."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.canned import FakePerson
from fakes.mcp_sinks import FakeSink

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.settings import McpServerSettings
from harness_tui.core.seams import ToolContext
from harness_tui.mcp.pool import McpPool

SERVERS = Path(__file__).parent / "servers"


@pytest.fixture
def sink() -> FakeSink:
    return FakeSink()


@pytest.fixture
def canned() -> FakePerson:
    """A person whose answers the test gives beforehand: forms, pages, answers of the model."""
    return FakePerson()


@pytest.fixture
async def registry() -> AsyncIterator[ChildRegistry]:
    registry = ChildRegistry()
    yield registry
    await registry.close()


@pytest.fixture
def server() -> Callable[..., McpServerSettings]:
    """``server("plain")`` is the entry of ``servers/plain.py``; further fields by keyword."""

    def make(script: str, *, name: str | None = None, **fields: Any) -> McpServerSettings:
        command = (sys.executable, str(SERVERS / f"{script}.py"))
        return McpServerSettings(name=name or script, command=command, source="config.yaml:3", **fields)

    return make


@pytest.fixture
async def make_pool(registry: ChildRegistry, sink: FakeSink, tmp_path: Path) -> AsyncIterator[Callable[..., McpPool]]:
    pools: list[McpPool] = []

    def make(*servers: McpServerSettings, **fields: Any) -> McpPool:
        fields = {"cache_dir": tmp_path / "cache", "root": tmp_path, "spawner": registry, "sink": sink} | fields
        pool = McpPool({server.name: server for server in servers}, **fields)
        pools.append(pool)
        return pool

    yield make
    async with asyncio.timeout(30):
        for pool in pools:
            await pool.close()


@pytest.fixture
def context(tmp_path: Path, sink: FakeSink) -> ToolContext:
    return ToolContext(
        session="ses_1",
        run="run_1",
        call="c1",
        agent="build",
        root=tmp_path,
        cwd=tmp_path,
        session_dir=tmp_path / "session",
        origin="model",
        emit=sink.emit,
    )
