"""A model server on loopback that answers what a test tells it to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class FakeRequest:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


Handler = Callable[["FakeReply", FakeRequest], Awaitable[None]]


@dataclass
class FakeReply:
    """Writes the answer to one request; the connection is closed after it."""

    writer: asyncio.StreamWriter

    async def head(self, status: int = 200, content_type: str = "text/event-stream", **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} Status", f"Content-Type: {content_type}", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.raw("\r\n".join([*lines, "", ""]).encode())

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def event(self, data: Any) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        await self.raw(f"data: {text}\n\n".encode())

    async def delta(self, *, finish: str | None = None, **delta: Any) -> None:
        await self.event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    async def json(self, data: Any, status: int = 200, **headers: str) -> None:
        await self.head(status, "application/json", **headers)
        await self.raw(json.dumps(data).encode())


@dataclass
class FakeChatServer:
    """Requests in the order they came; each is answered by ``handler``. ``closed`` counts clients that went early."""

    handler: Handler
    url: str = ""
    port: int = 0
    requests: list[FakeRequest] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode().split("\r\n")
            method, path, _ = first.split(" ")
            headers = {
                name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            request = FakeRequest(method, path, headers, body)
            self.requests.append(request)
            answering = asyncio.ensure_future(self.handler(FakeReply(writer), request))
            leaving = asyncio.ensure_future(reader.read())
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if leaving.done() and not answering.done():
                self.gone.set()
            for task in (answering, leaving):
                task.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def chat_server(handler: Handler) -> AsyncIterator[FakeChatServer]:
    """Serve on a free port for the block."""
    fake = FakeChatServer(handler)
    server = await asyncio.start_server(fake._serve, "127.0.0.1", 0)
    fake.port = server.sockets[0].getsockname()[1]
    fake.url = f"http://127.0.0.1:{fake.port}/v1"
    try:
        yield fake
    finally:
        server.close()
        await server.wait_closed()
