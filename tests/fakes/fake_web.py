"""The web on loopback: a server that answers as it is told, a resolver with a table, a network with no outside."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import httpcore2

PUBLIC = "93.184.215.14"
"""The one public address that is there: connections to it end at the :class:`FakeWeb`."""

Answer = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


def answer(
    body: bytes = b"hello", *, status: str = "200 OK", content_type: str | None = "text/plain", **headers: str
) -> bytes:
    """Return a whole HTTP answer; ``content_encoding="gzip"`` is a header."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [] if content_type is None else [f"Content-Type: {content_type}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("utf-8") + body


class FakeWeb:
    """Listens on loopback. ``pages`` maps a path to bytes, or to what writes the answer; ``seen`` holds requests."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | Answer] = {}
        self.seen: list[str] = []
        self.connections = 0
        self.port = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> FakeWeb:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.seen.append(head)
            target = head.split(" ", 2)[1]
            page = self.pages.get(target, self.pages.get("*", answer(b"nothing", status="404 Not Found")))
            if isinstance(page, bytes):
                writer.write(page)
                await writer.drain()
            else:
                await page(head, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()


class FakeResolver:
    """Names from a table. A name with several answers gives the next one at each look-up, and then the last."""

    def __init__(self) -> None:
        self.names: dict[str, list[Sequence[str]]] = {}
        self.asked: list[str] = []

    def knows(self, name: str, *answers: Sequence[str]) -> None:
        self.names[name] = list(answers)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self.names.get(host)
        if answers is None:
            raise OSError("name or service not known")
        return answers.pop(0) if len(answers) > 1 else answers[0]


class FakeNetwork(httpcore2.AnyIOBackend):
    """Connects on loopback, to :data:`PUBLIC` by way of ``web``, and nowhere else. ``dialled`` is what it saw."""

    def __init__(self, web: FakeWeb, dialled: list[tuple[str, int]]) -> None:
        self._web = web
        self._dialled = dialled

    async def connect_tcp(self, host: str, port: int, *rest: Any, **options: Any) -> Any:
        self._dialled.append((host, port))
        if host == PUBLIC:
            return await super().connect_tcp("127.0.0.1", self._web.port, *rest, **options)
        if host in ("127.0.0.1", "::1"):
            return await super().connect_tcp(host, port, *rest, **options)
        raise httpcore2.ConnectError(f"no way to {host}")
