"""The HTTP client that libraries of providers are given: ours in time-outs, headers and what it lets through.

A library adds headers of its own making, variables of the environment among them; only those that the protocol needs
are sent, with the configured key and headers. Every answer is taken through its :class:`Exchange`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from harness_tui._version import __version__
from harness_tui.core.seams import ModelError
from harness_tui.models import failures
from harness_tui.models.endpoint import Endpoint, is_loopback
from harness_tui.models.exchange import CURRENT, Exchange

if TYPE_CHECKING:
    import httpx2

AGENT: Final = f"harness/{__version__}"
ERROR_BYTES: Final = 64 * 1024
ERROR_S: Final = 20.0

_KEPT: Final = frozenset(
    {
        "host",
        "connection",
        "content-type",
        "content-length",
        "transfer-encoding",
        "accept",
        "anthropic-version",
        "anthropic-beta",
    }
)


def new_client(httpx2: ModuleType, endpoint: Endpoint, **options: Any) -> httpx2.AsyncClient:
    """Return a client for ``endpoint``; makes a TLS context, so call it in a thread. Raises what a proxy or a
    certificate of the environment that cannot be used raises: ``ImportError``, ``ValueError``, ``OSError``."""
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=endpoint.connect_timeout, write=120.0),
        limits=httpx2.Limits(max_connections=32, max_keepalive_connections=4, keepalive_expiry=30.0),
        follow_redirects=False,
        trust_env=not is_loopback(endpoint.base_url),
        verify=endpoint.base_url.startswith("https:"),  # certificates are read for https alone
        **options,
    )


def watched_client(httpx2: ModuleType, endpoint: Endpoint, key_headers: dict[str, str]) -> httpx2.AsyncClient:
    """Return a client whose requests and answers go through the exchange of their task."""

    class Stream(httpx2.AsyncByteStream):
        """What a library reads in the place of the bytes of the connection."""

        def __init__(self, chunks: AsyncIterator[bytes], source: httpx2.Response) -> None:
            self._chunks, self._source = chunks, source

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._chunks

        async def aclose(self) -> None:
            await self._source.aclose()

    async def ask(request: httpx2.Request) -> None:
        if (exchange := CURRENT.get()) is not None:
            exchange.failure, exchange.answered = None, False
        for name in [name for name in request.headers if name.lower() not in _KEPT]:
            del request.headers[name]
        request.headers.update(
            {"user-agent": AGENT, "accept-encoding": "identity", **key_headers}
            | {name.lower(): value for name, value in endpoint.headers.items()}
        )

    async def take(response: httpx2.Response) -> None:
        exchange = CURRENT.get()
        if exchange is None:
            return
        exchange.heard()
        source = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)
        exchange.on_close(source.aclose)
        if response.is_success and "text/html" not in response.headers.get("content-type", ""):
            exchange.answered = True
            chunks = exchange.events(source.aiter_bytes())
            content_type = "text/event-stream"
        else:
            body = await _beginning(source, httpx2.TransportError)
            exchange.failed(_refused(exchange, response, body))
            chunks, content_type = _once(body), "application/json"
        response.stream = Stream(chunks, source)
        for name in ("content-encoding", "content-length", "transfer-encoding"):
            response.headers.pop(name, None)
        response.headers["content-type"] = content_type
        if response.is_success and not exchange.answered:
            raise exchange.failure or ModelError("server", "no answer")

    return new_client(httpx2, endpoint, event_hooks={"request": [ask], "response": [take]})


def _refused(exchange: Exchange, response: httpx2.Response, body: bytes) -> ModelError:
    if response.is_success:
        return failures.web_page(exchange.caller)
    text = body.decode("utf-8", "replace")
    return failures.from_status(exchange.caller, response.status_code, response.headers, text)


async def _beginning(source: httpx2.Response, broken: type[Exception]) -> bytes:
    """Return the beginning of an error's body; the status alone says enough where it does not come whole."""
    body = bytearray()
    try:
        async with asyncio.timeout(ERROR_S):
            async for chunk in source.aiter_bytes():
                body += chunk
                if len(body) > ERROR_BYTES:
                    break
    except (TimeoutError, broken):
        body += b" ..."
    return bytes(body[:ERROR_BYTES])


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
