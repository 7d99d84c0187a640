"""Servers behind a URL: the SDK's Streamable HTTP (or the older SSE) transport, with our bookkeeping in its streams.

The URL is the one that a person configured: that place may be private, no other that an answer leads to. Redirects stay
within its origin, which the SDK sees to. Imports the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Final, Generic, TypeVar

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.limits import MCP_MESSAGE_BYTES
from harness_tui.egress.egress import Egress
from harness_tui.mcp.exchange import Exchange

_CONNECT_S: Final = 30.0
T = TypeVar("T")


class HttpTransport:
    """An SDK transport over HTTP, with the shape of the stdio one. It has no process.

    ``status`` is the last HTTP status that was no success: 401 means that the server wants a login.
    """

    kind: Final = "http"
    pid: Final = None
    own_returncode: Final = None

    def __init__(
        self, server: McpServerSettings, *, exchange: Exchange, egress: Egress, auth: httpx2.Auth | None = None
    ) -> None:
        self._auth = auth
        self._server = server
        self._egress = egress
        self._exchange = exchange
        self._stack = AsyncExitStack()
        self.lost = asyncio.Event()
        self.settled = asyncio.Event()
        self.went_away = False
        self.status: int | None = None

    def stderr_tail(self) -> str:
        """Return nothing: there is no standard error to read."""
        return ""

    async def __aenter__(self) -> tuple[Any, Any]:
        url = self._server.url or ""
        await self._egress.load()
        if self._server.transport == "sse":
            headers = dict(self._server.headers)
            streams = sse_client(url, headers=headers, httpx_client_factory=self._client, auth=self._auth)
        else:
            client = await self._stack.enter_async_context(
                self._client(headers=dict(self._server.headers), auth=self._auth)
            )
            streams = streamable_http_client(url, http_client=client, max_sse_event_size=MCP_MESSAGE_BYTES)
        read, write = await self._stack.enter_async_context(streams)
        return _Reading(read, self._receive, self.lost), _Writing(write, self._send)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        # A request that cannot be delivered ends the SDK's transport from inside, as an error here.
        self.went_away = self.lost.is_set() or error is not None
        self.settled.set()
        self.lost.set()
        return await self._stack.__aexit__(kind, error, trace)

    def _client(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return self._egress.client(
            f"mcp:{self._server.name}",
            configured=self._server.url,
            max_body=MCP_MESSAGE_BYTES,
            headers=headers,
            # How long a call may be silent is the supervisor's matter.
            timeout=timeout or httpx2.Timeout(_CONNECT_S, read=None),
            auth=auth,
            event_hooks={"response": [self._note_status]},
        )

    async def _note_status(self, response: httpx2.Response) -> None:
        # A GET is only the offer of a stream that a server need not take.
        if response.status_code >= 400 and response.request.method == "POST":
            self.status = response.status_code

    def _receive(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, SessionMessage):
            item.message = self._exchange.received(item.message)
        else:
            self._exchange.junk += 1
        return item

    def _send(self, item: SessionMessage) -> None:
        self._exchange.sent(item.message)
        if self._server.server_name is not None:
            item.message = _routed(item.message, self._server.server_name)


class _RoutedRequest(JSONRPCRequest):
    """A request that says which of a gateway's servers it is for; that is no part of the protocol."""

    serverName: str


class _RoutedNotification(JSONRPCNotification):
    serverName: str


def _routed(message: JSONRPCMessage, name: str) -> JSONRPCMessage:
    match message:
        case JSONRPCRequest():
            return _RoutedRequest(**message.model_dump(exclude_unset=True), serverName=name)
        case JSONRPCNotification():
            return _RoutedNotification(**message.model_dump(exclude_unset=True), serverName=name)
        case _:
            return message


class _Stream(Generic[T]):
    """An SDK stream, with what both directions pass on unchanged."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self: T) -> T:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


class _Reading(_Stream["_Reading"]):
    def __init__(self, inner: Any, receive: Callable[[Any], Any], lost: asyncio.Event) -> None:
        super().__init__(inner)
        self._receive = receive
        self._lost = lost

    @property
    def last_context(self) -> contextvars.Context | None:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        return self._receive(await self._inner.receive())

    def __aiter__(self) -> _Reading:
        return self

    async def __anext__(self) -> Any:
        try:
            return self._receive(await self._inner.__anext__())
        except StopAsyncIteration:
            self._lost.set()
            raise


class _Writing(_Stream["_Writing"]):
    def __init__(self, inner: Any, send: Callable[[Any], None]) -> None:
        super().__init__(inner)
        self._send = send

    async def send(self, item: Any, /) -> None:
        self._send(item)
        await self._inner.send(item)
