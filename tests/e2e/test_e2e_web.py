"""The shell on a page, as a browser would ask for it: real server, real shell, no browser."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from e2e_home import Home

aiohttp = pytest.importorskip("aiohttp", reason="the extra `web` is not installed")
SCRIPT = "turns: [{text: hello from the page}]\n"


@contextmanager
def serving(home: Home) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the server, and yield it with the address that it prints."""
    home.write("play.yaml", SCRIPT)
    server = home.popen("web", "--port", "0", "--model", "replay:play.yaml")
    try:
        assert server.stdout is not None
        yield server, server.stdout.readline().strip()
    finally:
        server.kill()
        server.communicate()


async def until(socket: aiohttp.ClientWebSocketResponse, text: str) -> None:
    """Read what is drawn until ``text`` is."""
    drawn = b""
    async with asyncio.timeout(30):
        while text.encode() not in drawn:
            message = await socket.receive()
            assert message.type == aiohttp.WSMsgType.BINARY, message
            drawn += message.data


def shells_of(server: subprocess.Popen[str]) -> list[int]:
    listed = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(server.pid)], capture_output=True, text=True, check=False
    )
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if "harness_tui.tui.page" in line]


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def gone(pids: list[int]) -> bool:
    for _ in range(100):
        if not any(map(is_there, pids)):
            return True
        await asyncio.sleep(0.1)
    return False


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks processes up in /proc")
def test_a_page_shows_the_shell_to_whoever_has_the_token_and_ends_it_when_it_closes(home: Home) -> None:
    async def visit(server: subprocess.Popen[str], address: str) -> None:
        base = address.partition("/?")[0]
        jar = aiohttp.CookieJar(unsafe=True)  # cookies of an address without a name
        async with aiohttp.ClientSession(cookie_jar=jar) as browser:
            for path in ("/", "/ws", "/static/js/textual.js", "/download/x", "/?token=wrong"):
                assert (await browser.get(base + path)).status == 401, path
            page = await browser.get(address)
            assert (page.status, page.url.query_string) == (200, "")  # the token is not in the history
            assert "default-src 'none'" in page.headers["Content-Security-Policy"]
            assert (await browser.get(base, headers={"Host": "harness.example:80"})).status == 421
            assert (await browser.get(base, headers={"Origin": "http://harness.example"})).status == 403
            async with browser.ws_connect(f"{base}/ws?width=90&height=30") as socket:
                await until(socket, "Message, /command")
                await socket.send_json(["stdin", "hi\r"])
                await until(socket, "hello from the page")
                shells = shells_of(server)
                assert len(shells) == 1
            assert await gone(shells)
            async with browser.ws_connect(f"{base}/ws?width=x&height=-3") as socket:
                await until(socket, "\x1b[")
                shells = shells_of(server)
                await socket.send_json({"not": "a message"})
                assert await gone(shells)
            async with browser.ws_connect(f"{base}/ws") as socket:
                await until(socket, "Message, /command")
                shells = shells_of(server)
                os.kill(server.pid, signal.SIGKILL)
                assert await gone(shells)

    with serving(home) as (server, address):
        asyncio.run(visit(server, address))
    home.assert_nothing_left()


def test_a_port_that_is_taken_is_told_with_another_way(home: Home) -> None:
    with serving(home) as (_, address):
        port = address.rpartition(":")[2].partition("/")[0]
        ran = home.harness("web", "--port", port)
    assert ran.code == 1
    assert f"port {port} cannot be served on" in ran.err
    assert "--port 0" in ran.err
