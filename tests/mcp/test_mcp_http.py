"""Servers behind a URL, on loopback: the same states, tools and calls as over stdio."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from harness_tui.config.settings import McpServerSettings, McpTimeouts
from harness_tui.mcp import supervisor as supervising
from harness_tui.mcp.pool import McpPool
from harness_tui.mcp.reasons import CallError

Make = Callable[..., McpPool]
SCRIPT = Path(__file__).parent / "servers" / "over_http.py"


@pytest.fixture
def started() -> list[subprocess.Popen[str]]:
    return []


@pytest.fixture
def address(started: list[subprocess.Popen[str]]) -> Iterator[Callable[..., str]]:
    """``address(KEY="x")`` starts a server that wants this key and returns its URL."""

    def start(**environment: str) -> str:
        process = subprocess.Popen(
            [sys.executable, str(SCRIPT)], stdout=subprocess.PIPE, text=True, env=os.environ | environment
        )
        started.append(process)
        assert process.stdout is not None
        return f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"

    yield start
    for process in started:
        process.kill()
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()


def entry(url: str, **fields: object) -> McpServerSettings:
    return McpServerSettings(name="web", url=url, transport="http", **fields)  # type: ignore[arg-type]


async def opened(pool: McpPool) -> McpPool:
    pool.start()
    assert await pool.wait_started(60)
    return pool


async def test_a_server_over_http_is_listed_and_called(make_pool: Make, address: Callable[..., str]) -> None:
    pool = await opened(make_pool(entry(address())))
    (line,) = pool.status()
    assert (line.state, line.transport, line.protocol, line.tools) == ("ready", "http", "2026-07-28", 2)
    assert (await pool.call("web", "work", {})).content[0]["text"] == "worked over http"


async def test_cancelling_a_call_of_the_present_revision_ends_it_in_the_server(
    make_pool: Make, address: Callable[..., str], tmp_path: Path
) -> None:
    mark = tmp_path / "cancelled"
    pool = await opened(make_pool(entry(address(CANCELLED=str(mark)))))
    call = asyncio.create_task(pool.call("web", "hang", {}))
    async with asyncio.timeout(30):
        while not mark.exists() or not mark.read_text():
            await asyncio.sleep(0.02)
        call.cancel()
        await asyncio.wait({call})
        while mark.read_text() != "cancelled":
            await asyncio.sleep(0.02)
    assert (await pool.call("web", "work", {})).content[0]["text"] == "worked over http"


async def test_headers_are_sent(make_pool: Make, address: Callable[..., str]) -> None:
    pool = await opened(make_pool(entry(address(KEY="open-sesame"), headers={"X-Key": "open-sesame"})))
    assert (await pool.call("web", "work", {})).content[0]["text"] == "worked over http"


async def test_a_server_that_wants_a_login_is_told_apart(make_pool: Make, address: Callable[..., str]) -> None:
    pool = await opened(make_pool(entry(address(KEY="open-sesame"))))
    (line,) = pool.status()
    assert (line.state, line.reason) == ("needs_auth", "wants a login")


async def test_an_address_where_nobody_listens_is_the_reason(make_pool: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    pool = await opened(make_pool(entry(f"http://127.0.0.1:{port}/mcp")))
    (line,) = pool.status()
    assert line.state == "failed"
    assert line.reason == "cannot be reached: Connection refused"


async def test_an_address_that_never_answers_is_given_up_in_time(make_pool: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        pool = await opened(make_pool(entry(url, timeout=McpTimeouts(start=1))))
        (line,) = pool.status()
        assert (line.state, line.reason) == ("failed", "did not answer within 1 s")
        async with asyncio.timeout(10):
            await pool.close()


async def test_a_server_that_went_away_and_came_back_is_used_again(
    make_pool: Make,
    address: Callable[..., str],
    started: list[subprocess.Popen[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervising, "BACK_OFF_S", (0.01, 0.02, 0.04))
    url = address()
    pool = await opened(make_pool(entry(url)))
    started[0].kill()
    started[0].wait(10)
    with pytest.raises(CallError, match="it closed its connection during work"):
        await pool.call("web", "work", {})
    assert pool.status()[0].state == "failed"
    address(PORT=str(urlsplit(url).port))
    assert (await pool.call("web", "work", {})).content[0]["text"] == "worked over http"
