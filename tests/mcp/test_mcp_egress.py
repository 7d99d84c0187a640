"""Servers behind a URL go through the network policy: where they are configured, and nowhere else."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpcore2
import pytest
from fakes.fake_web import FakeNetwork, FakeResolver, FakeWeb, answer

from harness_tui.config.settings import EgressEntry, EgressSettings, McpServerSettings, McpTimeouts
from harness_tui.core.limits import MCP_MESSAGE_BYTES
from harness_tui.egress.egress import Egress
from harness_tui.mcp.listing import ServerStatus
from harness_tui.mcp.pool import McpPool

Make = Callable[..., McpPool]


@pytest.fixture
async def web() -> AsyncIterator[FakeWeb]:
    async with FakeWeb() as web:
        yield web


@pytest.fixture
async def trap() -> AsyncIterator[FakeWeb]:
    async with FakeWeb() as trap:
        yield trap


async def status_of(make_pool: Make, url: str, egress: Egress, **fields: Any) -> ServerStatus:
    server = McpServerSettings(
        name="web", url=url, transport=fields.pop("transport", "http"), timeout=McpTimeouts(start=10), **fields
    )
    pool = make_pool(server, egress=egress)
    pool.start()
    assert await pool.wait_started(30)
    (line,) = pool.status()
    return line


REFUSAL = answer(b"no", status="500 Broken")
"""Ends a start at once; what matters here is that it came."""


async def test_a_redirect_to_another_origin_takes_no_header_along(make_pool: Make, web: FakeWeb, trap: FakeWeb) -> None:
    target = f"http://127.0.0.1:{trap.port}/mcp?token=hunter22"
    web.pages["*"] = answer(b"", status="307 Temporary Redirect", location=target)
    line = await status_of(
        make_pool, f"http://127.0.0.1:{web.port}/mcp", Egress(environ={}), headers={"X-Key": "hunter22"}
    )
    assert line.state == "failed"
    assert "hunter22" not in (line.reason or "")
    assert f"127.0.0.1:{trap.port}" in (line.reason or "")
    assert (trap.connections, web.connections >= 1) == (0, True)


async def test_a_redirect_within_the_origin_keeps_the_header(make_pool: Make, web: FakeWeb) -> None:
    web.pages |= {"/mcp": answer(b"", status="307 Temporary Redirect", location="/mcp/"), "/mcp/": REFUSAL}
    await status_of(make_pool, f"http://127.0.0.1:{web.port}/mcp", Egress(environ={}), headers={"X-Key": "sesame88"})
    assert any(head.startswith("POST /mcp/ ") and "x-key: sesame88" in head.lower() for head in web.seen)


@pytest.mark.parametrize("transport", ["http", "sse"])
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_a_server_on_this_machine_is_reached_without_the_proxy(
    make_pool: Make, web: FakeWeb, trap: FakeWeb, variable: str, transport: str
) -> None:
    web.pages["*"] = REFUSAL
    egress = Egress(environ={variable: f"http://127.0.0.1:{trap.port}"})
    await status_of(make_pool, f"http://127.0.0.1:{web.port}/mcp", egress, transport=transport)
    assert (trap.connections, web.connections >= 1) == (0, True)


async def test_a_denied_host_is_not_connected_to_and_says_why(make_pool: Make, web: FakeWeb) -> None:
    egress = Egress(EgressSettings(deny=(EgressEntry("127.0.0.0/8", "config.yaml:7"),)), environ={})
    line = await status_of(make_pool, f"http://127.0.0.1:{web.port}/mcp", egress)
    assert (line.state, web.connections) == ("failed", 0)
    assert line.reason == "connections to it are denied by the rule '127.0.0.0/8' (config.yaml:7)"


@pytest.mark.parametrize("address", ["10.0.0.5", "192.168.7.7", "fd00::7", "127.0.0.1", "100.64.0.9"])
async def test_a_configured_name_may_be_on_a_private_address(
    make_pool: Make, web: FakeWeb, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    dialled: list[tuple[str, int]] = []
    monkeypatch.setattr(httpcore2, "AnyIOBackend", lambda: FakeNetwork(web, dialled))
    resolver = FakeResolver()
    resolver.knows("tools.corp.test", [address])
    web.pages["*"] = REFUSAL
    egress = Egress(environ={}, resolve=resolver)
    await status_of(make_pool, f"http://tools.corp.test:{web.port}/mcp", egress)
    assert set(dialled) == {(address, web.port)}


async def test_a_configured_name_does_not_open_metadata_services(make_pool: Make) -> None:
    resolver = FakeResolver()
    resolver.knows("tools.corp.test", ["169.254.169.254"])
    line = await status_of(make_pool, "http://tools.corp.test/mcp", Egress(environ={}, resolve=resolver))
    assert line.state == "failed"
    assert line.reason == "it leads to 169.254.169.254, the metadata service of a cloud"


async def test_an_answer_that_unpacks_without_end_is_stopped_at_the_limit(make_pool: Make, web: FakeWeb) -> None:
    packed = gzip.compress(b'{"jsonrpc":"2.0","id":1,"result":"' + b"0" * (MCP_MESSAGE_BYTES + 1) + b'"}', 1)
    assert len(packed) < 1_000_000
    web.pages["*"] = answer(packed, content_type="application/json", content_encoding="gzip")
    line = await status_of(make_pool, f"http://127.0.0.1:{web.port}/mcp", Egress(environ={}))
    assert line.state == "failed"
    assert f"its answer is over {MCP_MESSAGE_BYTES} bytes" in (line.reason or "")


async def test_a_url_in_an_odd_spelling_is_no_server(make_pool: Make, web: FakeWeb) -> None:
    line = await status_of(make_pool, f"http://2130706433:{web.port}/mcp", Egress(environ={}))
    assert (line.state, web.connections) == ("failed", 0)
    assert "is a number that programs read as different addresses" in (line.reason or "")
