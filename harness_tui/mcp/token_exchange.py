"""The exchange of a login's token for another one (RFC 8693), which is what the server is sent. Off by default.

What comes of it is kept in memory only. A login server that knows no such exchange leaves the login's own token in use:
it was given for this very server. Imports the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from collections.abc import AsyncGenerator, Callable
from typing import Any, Final
from urllib.parse import quote

import httpx2

from harness_tui.core.redaction import REDACTOR
from harness_tui.mcp.auth_layers import EXCHANGE, Flow, Layer, wants_login
from harness_tui.mcp.login_errors import LoginError, json_object, refusal_of
from harness_tui.mcp.secret_texts import secret_text

ACCESS_TOKEN: Final = "urn:ietf:params:oauth:token-type:access_token"
_JWT: Final = "urn:ietf:params:oauth:token-type:jwt"
_UNKNOWN: Final = "unsupported_grant_type"
_EARLY_S: Final = 30.0


class Exchanged(Layer):
    """Exchanges the token that the flow below puts on a request.

    ``options`` is the mapping ``oauth.exchange``, ``endpoint`` gives the login server's own address for tokens.
    """

    def __init__(
        self, inner: Flow, options: dict[str, Any], *, server: str, resource: str, endpoint: Callable[[], str | None]
    ) -> None:
        super().__init__(inner)
        self._options = options
        self._name = server
        self._resource = resource
        self._endpoint = endpoint
        self._lock = asyncio.Lock()
        self._subject: str | None = None
        self._token: str | None = None
        self._ends = 0.0

    async def _pass(
        self, out: httpx2.Request, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request | httpx2.Response, httpx2.Response]:
        _, _, subject = out.headers.get("Authorization", "").partition(" ")
        url = self._options.get("token_endpoint") or self._endpoint()
        if out is not request or not subject:
            yield (yield out)
            return
        if url is None:  # a token of an earlier process: the login server is found again on the way to a new one
            del request.headers["Authorization"]
            yield (yield out)
            return
        async with self._lock:
            if subject != self._subject or time.monotonic() >= self._ends:
                response = yield await self._request(url, subject)
                await self._take(subject, response)
        if self._token is not None:
            request.headers["Authorization"] = f"Bearer {self._token}"
        response = yield out
        if wants_login(response):
            self._subject = None
        yield response

    async def _request(self, url: str, subject: str) -> httpx2.Request:
        data = {"grant_type": EXCHANGE, "subject_token": subject, "subject_token_type": ACCESS_TOKEN}
        data["resource"] = self._options.get("resource") or self._resource
        for name in ("audience", "scope", "requested_token_type", "client_id"):
            if self._options.get(name):
                data[name] = str(self._options[name])
        if self._options.get("actor_token"):
            data["actor_token"] = await secret_text(str(self._options["actor_token"]), "oauth.exchange.actor_token")
            data["actor_token_type"] = str(self._options.get("actor_token_type") or _JWT)
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        if self._options.get("client_secret"):
            secret = str(self._options["client_secret"])
            REDACTOR.add(secret)
            headers["Authorization"] = basic(str(data.pop("client_id", "")), secret)
        return httpx2.Request("POST", url, data=data, headers=headers)

    async def _take(self, subject: str, response: httpx2.Response) -> None:
        body = await response.aread()
        fields = json_object(body)
        if not response.is_success:
            if fields.get("error") != _UNKNOWN:
                raise self._failed(refusal_of(response.status_code, body))
            self._subject, self._token, self._ends = subject, None, float("inf")
            return
        token, lasts = fields.get("access_token"), fields.get("expires_in")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise self._failed("the answer holds none")
        REDACTOR.add(token)
        left = float(lasts) - _EARLY_S if isinstance(lasts, int | float) else float("inf")
        self._subject, self._token, self._ends = subject, token, time.monotonic() + max(left, 1.0)

    def _failed(self, why: str) -> LoginError:
        what = f"its token could not be exchanged: {why}"
        return LoginError(what, where=self._name, mend="look at oauth.exchange", by_hand=False)


def basic(client: str, secret: str) -> str:
    """Return the header value by which a client says who it is (RFC 6749, 2.3.1)."""
    pair = f"{quote(client, safe='')}:{quote(secret, safe='')}"
    return f"Basic {b64encode(pair.encode('ascii')).decode('ascii')}"
