"""Logins of servers behind a URL, against a real authorization server on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from fakes.mcp_sinks import FakeSink

from harness_tui.config.locking import locked as file_lock
from harness_tui.config.settings import McpServerSettings
from harness_tui.core.calls import QuestionReply, QuestionRequest
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Notice
from harness_tui.core.redaction import redact
from harness_tui.core.seams import ToolContext
from harness_tui.mcp.people import asked_by
from harness_tui.mcp.pool import McpPool
from harness_tui.mcp.token_store import TokenStore, seconds_left

SCRIPT = Path(__file__).parent / "servers" / "wants_login.py"


class Browser:
    """A person who opens the page that is shown, or ``refuses`` to."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.asked: list[QuestionRequest] = []
        self.refuses = refuses

    async def __call__(self, request: QuestionRequest) -> QuestionReply:
        self.asked.append(request)
        if self.refuses:
            return QuestionReply("decline")
        assert request.url is not None
        async with httpx2.AsyncClient(trust_env=False, follow_redirects=False) as client:
            there = await client.get(request.url)
            back = there.headers["location"]
            # What else comes by at that port is no part of the login.
            for odd in (back.replace("state=", "state=x"), back.split("?")[0]):
                assert "no part of the login" in (await client.get(odd)).text
            await client.get(back)
        await asyncio.sleep(30)  # the way back ends the question
        return QuestionReply("accept")


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Callable[..., tuple[McpServerSettings, Callable[[], list[str]]]]]:
    """``locked(LASTS="2")`` starts a server and returns its entry, and what steps of logins it has seen."""
    started: list[subprocess.Popen[str]] = []

    def start(**environment: str) -> tuple[McpServerSettings, Callable[[], list[str]]]:
        log = tmp_path / f"login{len(started)}.log"
        process = subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"LOG": str(log)} | environment,
        )
        started.append(process)
        assert process.stdout is not None
        url = f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
        entry = McpServerSettings(name="locked", url=url, transport="http", source="config.yaml:3")
        return entry, lambda: log.read_text().split() if log.exists() else []

    yield start
    for process in started:
        process.kill()
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def logins(tmp_path: Path) -> Path:
    return tmp_path / "state" / "logins.json"


async def test_a_login_is_done_once_kept_and_used_by_the_next_process(
    locked, make_pool: Callable[..., McpPool], logins: Path, context: ToolContext, sink: FakeSink
) -> None:
    entry, steps = locked()
    pool, browser = make_pool(entry, logins=logins, people=True), Browser()
    # Where nobody can be asked nothing is registered, and the reason says what to do.
    status = await pool.restart("locked")
    assert (status.state, status.reason, steps()) == ("needs_auth", "wants a login", [])
    assert any("harness mcp login locked" in (notice.hint or "") for notice in sink.of(Notice))

    with asked_by(browser):
        assert (await pool.restart("locked")).state == "ready"
    assert steps() == ["register", "authorize", "exchange"]
    (asked,) = browser.asked
    assert (asked.kind, asked.source, asked.title) == ("auth", "locked", "Log in to locked (opens 127.0.0.1)")
    (tool,) = pool.tools()
    result = await tool.run(await tool.prepare({}, context), context)
    assert result.output == "worked behind the login"

    assert stat.S_IMODE(logins.stat().st_mode) == 0o600
    kept = json.loads(logins.read_text())["servers"]["locked"]
    assert redact(f"x {kept['tokens']['access_token']} {kept['tokens']['refresh_token']}") == "x [redacted] [redacted]"

    later = make_pool(entry, logins=logins)
    assert (await later.restart("locked")).state == "ready"
    assert steps() == ["register", "authorize", "exchange"]
    # The entry belongs to its address.
    elsewhere = make_pool(replace(entry, url=entry.url + "/"), logins=logins)
    assert (await elsewhere.restart("locked")).state != "ready"


async def test_an_old_token_is_refreshed_by_one_of_two_processes(
    locked, make_pool: Callable[..., McpPool], logins: Path
) -> None:
    entry, steps = locked()
    pool = make_pool(entry, logins=logins, people=True)
    with asked_by(Browser()):
        assert (await pool.restart("locked")).state == "ready"
    await pool.close()
    with file_lock(TokenStore(logins).lock):
        data = json.loads(logins.read_text())
        data["servers"]["locked"]["received"] -= 3_600
        logins.write_text(json.dumps(data))
    assert (seconds_left(data["servers"]["locked"]) or 0) < 0

    pools = [make_pool(entry, logins=logins) for _ in range(2)]
    states = await asyncio.gather(*(one.restart("locked") for one in pools))
    assert [status.state for status in states] == ["ready", "ready"]
    assert steps()[3:] == ["refresh"]
    assert (seconds_left(json.loads(logins.read_text())["servers"]["locked"]) or 0) > 3_500


async def test_a_login_that_a_person_or_the_server_refuses_says_so(
    locked, make_pool: Callable[..., McpPool], logins: Path
) -> None:
    entry, _ = locked(REFUSE="1")
    for browser, reason in ((Browser(refuses=True), "the login was not done"), (Browser(), "access_denied")):
        pool = make_pool(entry, logins=logins, people=True)
        with asked_by(browser):
            status = await pool.restart("locked")
        assert status.state == "needs_auth"
        assert reason in (status.reason or "")
    assert "locked" not in json.loads(logins.read_text())["servers"] or "tokens" not in logins.read_text()


async def test_a_port_that_is_taken_is_named(locked, make_pool: Callable[..., McpPool], logins: Path) -> None:
    entry, _ = locked()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        pool = make_pool(replace(entry, oauth={"redirect_port": port}), logins=logins, people=True)
        with asked_by(Browser()):
            status = await pool.restart("locked")
    assert (status.state, status.reason) == (
        "needs_auth",
        f"port {port} of this machine cannot be listened on: Address already in use",
    )


def test_a_damaged_file_of_logins_is_named_and_left_alone(logins: Path) -> None:
    store = TokenStore(logins)
    assert store.read("a", "u") == {}
    store.write("a", "u", tokens={"access_token": "t" * 20, "expires_in": 60})
    assert 58 < (seconds_left(store.read("a", "u")) or 0) <= 60
    assert store.read("a", "other") == {}
    assert store.remove("a")
    assert not store.remove("a")
    for text in ("{", "[]", '{"format": 9, "servers": {}}'):
        logins.write_text(text)
        with pytest.raises(HarnessError, match="the logins of MCP servers cannot be read") as caught:
            store.read("a", "u")
        assert str(logins) in str(caught.value)
        assert logins.read_text() == text


def test_a_token_without_an_end_is_not_called_old() -> None:
    assert seconds_left({"tokens": {"access_token": "x"}, "received": time.time()}) is None
    assert seconds_left({}) is None
