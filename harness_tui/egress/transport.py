"""The transport of every HTTP client: checks where a request goes, picks the way, and limits what comes back."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Generator
from typing import Any, Final

import httpcore2
import httpx2

from harness_tui.config.settings import EgressSettings
from harness_tui.core.seams import AuditSink
from harness_tui.egress.bodies import LimitedBody
from harness_tui.egress.errors import BadUrlError, EgressBlockedError
from harness_tui.egress.network import GuardedNetwork, Resolver, addresses_of
from harness_tui.egress.policy import Place, Policy, record_block
from harness_tui.egress.proxies import Proxies, Proxy
from harness_tui.egress.urls import DEFAULT_PORTS, read_host

_LOOK_UP_S: Final = 2.0
_CONNECTIONS: Final = 100
_KEPT_CONNECTIONS: Final = 20
_KEPT_S: Final = 5.0
_NO_LIMIT: Final = "text/event-stream"

# The names of both libraries' errors are the same; the nearest one of a class is taken.
_NAMES: Final = (
    "ConnectTimeout", "ReadTimeout", "WriteTimeout", "PoolTimeout", "TimeoutException",
    "ConnectError", "ReadError", "WriteError", "NetworkError",
    "ProxyError", "UnsupportedProtocol", "LocalProtocolError", "RemoteProtocolError", "ProtocolError",
)  # fmt: skip


class EgressTransport(httpx2.AsyncBaseTransport):
    """Satisfies what ``httpx2.AsyncClient`` wants of a transport. ``surface`` says in the audit log what asked."""

    def __init__(
        self,
        settings: EgressSettings,
        *,
        surface: str,
        proxies: Proxies,
        resolve: Resolver,
        tls: ssl.SSLContext,
        configured: Place | None = None,
        max_body: int | None = None,
        audit: AuditSink | None = None,
    ) -> None:
        self._settings = settings
        self._policy = Policy(settings, configured)
        self._surface = surface
        self._proxies = proxies
        self._resolve = resolve
        self._tls = tls
        self._max_body = max_body
        self._audit = audit
        self._pools: dict[Proxy | None, httpcore2.AsyncConnectionPool] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request. Raises ``EgressError`` besides the errors of ``httpx2``."""
        place = place_of(request.url)
        try:
            self._policy.check(place)
            proxy = self._proxies.proxy_for(request.url.scheme, place)
            if proxy is not None:
                await self._check_behind_proxy(place)
            with _translated(proxy):
                answer = await self._pool(proxy).handle_async_request(_core_request(request))
        except EgressBlockedError as error:
            record_block(self._audit, self._surface, place, error)
            raise
        return self._response(place, answer, proxy)

    async def aclose(self) -> None:
        """Close every connection."""
        for pool in self._pools.values():
            await pool.aclose()

    def _pool(self, proxy: Proxy | None) -> httpcore2.AsyncConnectionPool:
        if proxy not in self._pools:
            policy = self._policy if proxy is None else Policy(self._settings, proxy.place)
            self._pools[proxy] = httpcore2.AsyncConnectionPool(
                ssl_context=self._tls,
                proxy=None if proxy is None else _core_proxy(proxy),
                max_connections=_CONNECTIONS,
                max_keepalive_connections=_KEPT_CONNECTIONS,
                keepalive_expiry=_KEPT_S,
                network_backend=GuardedNetwork(policy, self._resolve),
            )
        return self._pools[proxy]

    async def _check_behind_proxy(self, place: Place) -> None:
        """Check a name that the proxy will look up as well as can be done from here.

        Where this machine finds addresses for it, they are held to the rules; where it finds none, which is usual
        behind a proxy, the proxy decides.
        """
        self._policy.check_unresolved(place)
        if place.address is not None:
            return
        try:
            async with asyncio.timeout(_LOOK_UP_S):
                addresses = await addresses_of(place, self._resolve)
        except (OSError, TimeoutError):
            return
        self._policy.permitted(place, addresses)

    def _response(self, place: Place, answer: httpcore2.Response, proxy: Proxy | None) -> httpx2.Response:
        headers = httpx2.Headers(answer.headers)
        stream = _Translated(answer.stream, proxy)
        endless = headers.get("content-type", "").lower().startswith(_NO_LIMIT)
        encoding = headers.get("content-encoding", "")
        if encoding:
            for name in ("content-encoding", "content-length"):  # both speak of the bytes before decoding
                headers.pop(name, None)
        limit = None if endless else self._max_body
        return httpx2.Response(
            answer.status,
            headers=headers,
            stream=LimitedBody(stream, encoding, max_bytes=limit, where=str(place)),
            extensions=answer.extensions,
        )


def place_of(url: httpx2.URL) -> Place:
    """Return where a request to ``url`` goes. Raises ``BadUrlError``."""
    if url.scheme not in DEFAULT_PORTS:
        raise BadUrlError(f"{url.scheme}: is not requested, only http and https are", where="url", code="bad-url")
    raw = url.raw_host.decode("ascii")
    host, address = read_host(f"[{raw}]" if ":" in raw else raw)
    port = url.port or DEFAULT_PORTS[url.scheme]
    if not 0 < port < 65_536:
        raise BadUrlError("the URL has a port that is none", where=host, code="bad-url")
    return Place(host, port, address)


def _core_request(request: httpx2.Request) -> httpcore2.Request:
    url = request.url
    return httpcore2.Request(
        method=request.method,
        url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )


def _core_proxy(proxy: Proxy) -> httpcore2.Proxy:
    host, port = proxy.place.host.encode("ascii"), proxy.place.port
    auth = None if proxy.user is None else (proxy.user.encode(), proxy.password.encode())
    return httpcore2.Proxy(httpcore2.URL(scheme=proxy.scheme.encode(), host=host, port=port, target=b"/"), auth=auth)


@contextlib.contextmanager
def _translated(proxy: Proxy | None) -> Generator[None, None, None]:
    """Turn errors of the lower library into those of the upper one; a proxy's failure says that it is one."""
    try:
        yield
    except Exception as error:  # one of an unknown class is raised again as it is
        names = [name for name in _NAMES if isinstance(error, getattr(httpcore2, name))]
        if not names:
            raise
        text = str(error)
        if proxy is not None and names[0] in ("ConnectTimeout", "ConnectError", "ProxyError"):
            via = f"the proxy {proxy.place} ({proxy.variable}) does not serve this"
            raise httpx2.ProxyError(f"{via}: {text}" if text else via) from error
        raise getattr(httpx2, names[0])(text) from error


class _Translated:
    """A body of the lower library that raises the upper one's errors."""

    def __init__(self, inner: Any, proxy: Proxy | None) -> None:
        self._inner = inner
        self._proxy = proxy

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _translated(self._proxy):
            async for data in self._inner:
                yield data

    async def aclose(self) -> None:
        if hasattr(self._inner, "aclose"):
            await self._inner.aclose()
