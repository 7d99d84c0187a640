"""Servers behind a gateway that serves several of them at one address."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from harness_tui.config.settings import McpServerSettings, McpTimeouts
from harness_tui.mcp.manifest import fingerprint
from harness_tui.mcp.pool import McpPool


async def messages_to(make_pool: Callable[..., McpPool], **fields: str) -> list[dict[str, object]]:
    """Return what a gateway is sent that refuses everything."""
    bodies: list[dict[str, object]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0] or 0)
        bodies.append(json.loads(await reader.readexactly(length)))
        writer.write(b"HTTP/1.1 500 Broken\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as gateway:
        url = f"http://127.0.0.1:{gateway.sockets[0].getsockname()[1]}/mcp"
        entry = McpServerSettings(name="web", url=url, transport="http", timeout=McpTimeouts(start=10), **fields)
        assert (await make_pool(entry).restart("web")).state == "failed"
    return bodies


async def test_a_gateway_is_told_in_each_message_which_server_is_meant_and_only_where_that_is_configured(
    make_pool: Callable[..., McpPool],
) -> None:
    routed = await messages_to(make_pool, server_name="inner-docs")
    assert routed
    assert {body["serverName"] for body in routed} == {"inner-docs"}
    assert {body["jsonrpc"] for body in routed} == {"2.0"}
    plain = await messages_to(make_pool)
    assert plain
    assert not any("serverName" in body for body in plain)


def test_what_one_server_of_a_gateway_offers_is_not_taken_for_that_of_another() -> None:
    one = McpServerSettings(name="a", url="https://gate.example/mcp", transport="http", server_name="one")
    two = McpServerSettings(name="a", url="https://gate.example/mcp", transport="http", server_name="two")
    assert fingerprint(one, Path("/")) != fingerprint(two, Path("/"))
