"""What lies around the SDK's logins: requests side by side, the record of what was asked, and no secret in the clear.

The SDK drives a login as a generator of requests that is sent their answers. A layer drives the generator below it in
the same way and may change what goes out and what comes back. Imports the SDK: loaded with the first server, in a
thread.
"""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncGenerator, Callable
from typing import Any, Final, Protocol
from urllib.parse import parse_qs

import httpx2
from mcp.client.auth.utils import extract_field_from_www_auth, extract_scope_from_www_auth

from harness_tui.core.seams import AuditSink
from harness_tui.core.tracing import current_trace
from harness_tui.mcp.login_errors import LoginError, json_object, refusal_of

_FORM: Final = "application/x-www-form-urlencoded"
_STEP_UP: Final = "insufficient_scope"
TIMEOUT_S: Final = 20.0
"""How long a login server may be silent."""


class Flow(Protocol):
    """What authorises requests: a login of the SDK, or a layer around one."""

    def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Yield requests, be sent their responses; the last response to ``request`` is the answer."""
        ...


class Layer(httpx2.Auth):
    """A layer around ``inner`` that changes nothing yet: :meth:`_pass` is what a layer is made of."""

    def __init__(self, inner: Flow) -> None:
        self._inner = inner

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Drive the flow below."""
        steps = self._inner.async_auth_flow(request)
        try:
            out = await anext(steps)
            while True:
                passing = self._pass(out, request)
                try:
                    step = await anext(passing)
                    while isinstance(step, httpx2.Request):
                        step = await passing.asend((yield step))
                finally:
                    await passing.aclose()
                out = await steps.asend(step)
        except StopAsyncIteration:
            return
        finally:
            await steps.aclose()

    async def _pass(
        self, out: httpx2.Request, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request | httpx2.Response, httpx2.Response]:
        """Yield what is sent for ``out`` and be sent the answers; at last yield the response for the flow below.

        ``out`` is ``request`` where the request itself goes out, else one of the login.
        """
        yield (yield out)


class SideBySide(Layer):
    """Sends requests side by side while the token is good, and where the server takes them without one.

    The SDK holds a lock from before a request until its answer begins, so that one slow call would hold up all others.
    ``good`` says whether the token can be used as it is; ``headed`` is what the last request went out with, ``open``
    tells that it went out with nothing and was taken.
    """

    def __init__(self, inner: Flow, good: Callable[[], bool]) -> None:
        super().__init__(inner)
        self._good = good
        self._headed: str | None = None
        self._open = False

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send the request with the known token; drive the flow below where that does not do."""
        early: httpx2.Response | None = None
        tried = self._headed
        if self._open or (tried is not None and self._good()):
            if tried is not None:
                request.headers["Authorization"] = tried
            early = yield request
            if not wants_login(early):
                return
        steps = self._inner.async_auth_flow(request)
        try:
            out = await anext(steps)
            while True:
                header = request.headers.get("Authorization")
                if early is not None and out is request and header == tried:
                    response = early  # the very same request has had its answer
                else:
                    response = yield out
                early = None
                if out is request:
                    refused = wants_login(response)
                    self._headed = None if refused else header
                    self._open = header is None and not refused
                out = await steps.asend(response)
        except StopAsyncIteration:
            return
        finally:
            await steps.aclose()


class Trail(Layer):
    """Records each step of a login, and refuses to send one where others could read it.

    ``server`` is the name of the MCP server, ``url`` its address: what is written there in the clear is the person's
    own decision. ``by_hand``: a person logs in; else the configuration does.
    """

    def __init__(self, inner: Flow, *, server: str, url: str, note: Notes, by_hand: bool) -> None:
        super().__init__(inner)
        self._name, self._note, self._by_hand = server, note, by_hand
        self._own = httpx2.URL(url)

    async def _pass(
        self, out: httpx2.Request, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request | httpx2.Response, httpx2.Response]:
        if out is not request:
            self._must_be_private(out.url)
            # The SDK makes these by itself, so that they have no time-out of the client's: a login server that is
            # silent would hold up the call for good, and the lock with it.
            out.extensions = {**out.extensions, "timeout": httpx2.Timeout(TIMEOUT_S).as_dict()}
        response = yield out
        if out is request:
            if wants_login(response):
                self._note_challenge(response)
        elif out.method == "POST":
            await self._look_at_answer(out, response)
        yield response

    def _must_be_private(self, url: httpx2.URL) -> None:
        own = (url.scheme, url.host, url.port) == (self._own.scheme, self._own.host, self._own.port)
        if url.scheme == "https" or own or _is_here(url.host):
            return
        raise LoginError(
            f"its login would be sent to http://{url.host}, which is not encrypted",
            where=self._name,
            mend="its metadata has to name https addresses",
            by_hand=False,
        )

    def _note_challenge(self, response: httpx2.Response) -> None:
        fields = {
            "error": extract_field_from_www_auth(response, "error"),
            "scope": extract_scope_from_www_auth(response),
        }
        self._note("challenge", response.request.url, status=response.status_code, **fields)

    async def _look_at_answer(self, out: httpx2.Request, response: httpx2.Response) -> None:
        body = await response.aread()
        ok = response.is_success
        grant = grant_of(out)
        if grant is None:
            result = "ok" if ok else refusal_of(response.status_code, body)
            self._note("registration", out.url, status=response.status_code, result=result)
            if not ok:
                raise LoginError(
                    f"its login server does not register this program: {result}",
                    where=self._name,
                    mend="register it there by hand and write its oauth.client_id",
                    by_hand=False,
                )
            return
        scope = json_object(body).get("scope") if ok else None
        result = "ok" if ok else refusal_of(response.status_code, body)
        self._note("token", out.url, grant=grant, status=response.status_code, result=result, scope=scope)
        if not ok and grant not in ("refresh_token", EXCHANGE):  # without these there is another way
            raise LoginError(f"its login server refused: {result}", where=self._name, by_hand=self._by_hand)


class Notes:
    """Writes the steps of one server's logins into the audit log. Nothing that was sent stands in it."""

    def __init__(self, server: str, audit: AuditSink | None) -> None:
        self._server, self._audit = server, audit

    def __call__(self, event: str, url: httpx2.URL | None = None, **fields: Any) -> None:
        """Record one step; what is ``None`` is left out."""
        if self._audit is None:
            return
        place = {} if url is None else {"host": url.netloc.decode("ascii", "replace")}
        given = {name: value for name, value in (fields | {"trace": current_trace()}).items() if value is not None}
        self._audit.record("mcp_auth", server=self._server, event=event, **place, **given)


EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"


def wants_login(response: httpx2.Response) -> bool:
    """Tell whether a server wants a login, or one with more rights; any other 403 is a denial."""
    if response.status_code == 401:
        return True
    return response.status_code == 403 and extract_field_from_www_auth(response, "error") == _STEP_UP


def grant_of(request: httpx2.Request) -> str | None:
    """Return the grant of a request for a token, ``None`` for any other request."""
    if request.method != "POST" or not request.headers.get("content-type", "").startswith(_FORM):
        return None
    values = parse_qs(request.content.decode("utf-8", "replace")).get("grant_type")
    return values[0] if values else None


def _is_here(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
