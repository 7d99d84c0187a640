"""Logins of servers behind a URL: the SDK's OAuth client, with our store, our person and our loopback page.

The SDK does the protocol (discovery, registration, PKCE, issuer and resource checks, step-up). Ours is the policy:
nothing is registered and no page shown where nobody can be asked; tokens outlive the process and are refreshed by one
process at a time; the page that the server names must be one that a browser may be sent to.
Imports the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import socket
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)

from harness_tui._version import __version__
from harness_tui.config.settings import McpServerSettings
from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import make_private_folder
from harness_tui.core.redaction import REDACTOR
from harness_tui.mcp.grants import credentials_of
from harness_tui.mcp.people import PERSON_S, People, page_host
from harness_tui.mcp.token_store import TokenStore, seconds_left

_STEP: Final = "callback"
_PATH: Final = f"/{_STEP}"
_REQUEST_BYTES: Final = 16_384
_LOCK_S: Final = 20.0
_EARLY_S: Final = 30.0
"""A token that is this near to its end is refreshed before it is used."""
_PAGE: Final = (
    "<!doctype html><meta charset=utf-8><title>Harness</title><p style='font:16px sans-serif;margin:3em'>{}</p>"
)


class LoginError(HarnessError):
    """A login that did not come about."""


class Storage:
    """The SDK's ``TokenStorage`` over one entry of the store."""

    def __init__(self, store: TokenStore, server: str, url: str) -> None:
        self._store, self._server, self._url = store, server, url

    async def entry(self) -> dict[str, Any]:
        """Return the whole entry."""
        return await asyncio.to_thread(self._store.read, self._server, self._url)

    async def keep(self, **parts: Any) -> None:
        """Keep parts of the entry."""
        await asyncio.to_thread(lambda: self._store.write(self._server, self._url, **parts))

    async def get_tokens(self) -> OAuthToken | None:
        """Return the stored tokens."""
        return _read(OAuthToken, (await self.entry()).get("tokens"))

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens."""
        await self.keep(tokens=tokens.model_dump(mode="json", exclude_none=True))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the stored registration."""
        return _read(OAuthClientInformationFull, (await self.entry()).get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a registration."""
        await self.keep(client=client_info.model_dump(mode="json", exclude_none=True))


class LoginProvider(OAuthClientProvider):
    """One server's login by a person in their browser."""

    def __init__(self, server: McpServerSettings, store: TokenStore, people: People) -> None:
        url, options = server.url or "", server.oauth
        self._name = server.name
        self._people = people
        self._storage = Storage(store, server.name, url)
        self._lock_file = store.lock.with_name(f"mcp-refresh-{server.name.encode().hex()[:40]}.lock")
        self._listener: socket.socket | None = None
        self._wanted_port = int(options.get("redirect_port") or 0)
        self._fixed = _fixed_client(options)
        metadata: dict[str, Any] = {
            "client_name": "Harness",
            "software_id": "harness",
            "software_version": __version__,
            "redirect_uris": [f"http://127.0.0.1{_PATH}"],  # the port is known once it is listened on
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "scope": options.get("scope"),
            "token_endpoint_auth_method": self._fixed.token_endpoint_auth_method if self._fixed else None,
        }
        super().__init__(
            url,
            OAuthClientMetadata.model_validate(metadata),
            self._storage,
            redirect_handler=self._show,
            callback_handler=self._come_back,
            client_metadata_url=options.get("client_metadata_url"),
        )
        self._coming: asyncio.Future[AuthorizationCodeResult] | None = None
        self._server: asyncio.Server | None = None
        self._state = ""
        self._kept: OAuthMetadata | None = None
        self._page: asyncio.Task[None] | None = None

    # --- what the SDK calls ----------------------------------------------------------------------

    async def _initialize(self) -> None:
        """Load what is stored: also when the token ends and where it is refreshed, which the SDK forgets."""
        entry = await self._storage.entry()
        await super()._initialize()
        context = self.context
        if self._fixed is not None:
            context.client_info = self._fixed
        context.oauth_metadata = context.oauth_metadata or _read(OAuthMetadata, entry.get("metadata"))
        context.protected_resource_metadata = context.protected_resource_metadata or _read(
            ProtectedResourceMetadata, entry.get("resource")
        )
        self._kept = context.oauth_metadata
        left = seconds_left(entry)
        if left is not None and context.current_tokens is not None:
            context.token_expiry_time = time.time() + left - _EARLY_S

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """The SDK's flow: refreshing one process at a time, and no further than a 401 where nobody can be asked."""
        async with self._refreshing() as done:
            flow = super()._auth_flow(request)
            try:
                out = await anext(flow)
                while True:
                    if out is request:
                        done()
                    response = yield out
                    if out is request and _wants_login(response):
                        if not self._people.reachable(self._name):
                            return
                        self._prepare_redirect()
                    out = await flow.asend(response)
            except StopAsyncIteration:
                return
            finally:
                await flow.aclose()
                self._stop_listening()
                await self._keep_places()

    # --- one refresh at a time -------------------------------------------------------------------

    @asynccontextmanager
    async def _refreshing(self) -> AsyncGenerator[Callable[[], None]]:
        """Hold the lock while a token that has ended is refreshed; another process may have done it meanwhile."""
        if not self._initialized:
            await self._initialize()
        if self.context.is_token_valid() or not self.context.can_refresh_token():
            yield lambda: None
            return
        descriptor = await asyncio.to_thread(_open_lock, self._lock_file)
        released = False

        def release() -> None:
            nonlocal released
            if not released:
                released = True
                os.close(descriptor)

        try:
            async with asyncio.timeout(_LOCK_S):
                while not _try_lock(descriptor):  # noqa: ASYNC110 - another process holds it, and tells nobody
                    await asyncio.sleep(0.05)
            await self._initialize()
            yield release
        except TimeoutError:
            raise LoginError("another process refreshes this login and does not finish", where=self._name) from None
        finally:
            release()

    async def _keep_places(self) -> None:
        context = self.context
        if context.current_tokens is None or context.oauth_metadata in (None, self._kept):
            return
        self._kept = context.oauth_metadata
        resource = context.protected_resource_metadata
        with contextlib.suppress(HarnessError, OSError):  # asked for again at the next start
            await self._storage.keep(
                metadata=context.oauth_metadata.model_dump(mode="json", exclude_none=True),
                resource=resource.model_dump(mode="json", exclude_none=True) if resource is not None else None,
            )

    # --- the page and the way back ---------------------------------------------------------------

    def _prepare_redirect(self) -> None:
        """Listen on loopback, at the port that is registered or configured where there is one."""
        info = self.context.client_info
        known = str(info.redirect_uris[0]) if info is not None and info.redirect_uris else ""
        port = self._wanted_port or (urlsplit(known).port or 0)
        try:
            listener = socket.create_server(("127.0.0.1", port))
        except OSError as error:
            if self._wanted_port:
                raise LoginError(
                    f"port {port} of this machine cannot be listened on: {os.strerror(error.errno or 0)}",
                    where=self._name,
                    mend="free it, or change oauth.redirect_port",
                ) from error
            listener = socket.create_server(("127.0.0.1", 0))
        listener.setblocking(False)
        self._listener = listener
        address = f"http://127.0.0.1:{listener.getsockname()[1]}{_PATH}"
        metadata = self.context.client_metadata.model_dump(mode="json", exclude_none=True)
        self.context.client_metadata = OAuthClientMetadata.model_validate(metadata | {"redirect_uris": [address]})
        if known and known != address and self._fixed is None:
            self.context.client_info = None  # registered with another address: register again

    async def _show(self, url: str) -> None:
        """Show the page to the person and listen for the way back from it."""
        state = (parse_qs(urlsplit(url).query).get("state") or [""])[0]
        if page_host(url) is None:
            raise LoginError(f"it wants a login at {url[:200]}, which no browser is sent to", where=self._name)
        assert self._listener is not None
        self._coming = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(self._answer, sock=self._listener)
        self._listener = None
        self._server = server
        self._state = state
        self._page = asyncio.create_task(self._ask(url), name=f"login {self._name}")

    async def _ask(self, url: str) -> None:
        reply = await self._people.page(self._name, f"Log in to {self._name}", url)
        coming = self._coming
        if reply.action != "accept" and coming is not None and not coming.done():
            coming.set_exception(LoginError("the login was not done", where=self._name, code="declined"))

    async def _come_back(self) -> AuthorizationCodeResult:
        """Return what the page sent back. Raises :class:`LoginError`."""
        assert self._coming is not None
        try:
            async with asyncio.timeout(PERSON_S):
                return await self._coming
        except TimeoutError:
            raise LoginError(f"the login was not done within {PERSON_S / 60:.0f} minutes", where=self._name) from None
        finally:
            if self._page is not None:
                self._page.cancel()
            self._stop_listening()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request of a browser: only the way back of this very login counts, anything may come by."""
        words = "This is no part of the login. You can close this page."
        try:
            async with asyncio.timeout(5):
                line = (await reader.readuntil(b"\n"))[:_REQUEST_BYTES].decode("ascii", "replace")
            target = urlsplit(line.split(" ")[1] if line.count(" ") >= 2 else "")
            query = {name: values[0] for name, values in parse_qs(target.query).items()}
            if target.path == _PATH and query.get("state") == self._state and self._coming is not None:
                words = self._take(query)
            body = _PAGE.format(words).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n"
            writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
            await writer.drain()
        except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever it was does not want the answer
        finally:
            writer.close()

    def _take(self, query: dict[str, str]) -> str:
        coming = self._coming
        if coming is None or coming.done():
            return "This login is over. You can close this page."
        if "code" not in query:
            said = query.get("error_description") or query.get("error") or "no reason given"
            coming.set_exception(LoginError(f"the login was refused: {said[:200]}", where=self._name, code="declined"))
            return "The login was refused. You can close this page."
        REDACTOR.add(query["code"])
        coming.set_result(AuthorizationCodeResult(code=query["code"], state=query["state"], iss=query.get("iss")))
        return "You are logged in. You can close this page and go back to Harness."

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        if self._server is not None:
            self._server.close()
            self._server = None


def login_of(server: McpServerSettings, store: TokenStore, people: People) -> httpx2.Auth | None:
    """Return how requests to ``server`` are authorised, ``None`` where its headers already say who asks."""
    if any(name.lower() == "authorization" for name in server.headers):
        return None
    if server.oauth.get("grant") == "client_credentials":
        return credentials_of(server, Storage(store, server.name, server.url or ""))
    return LoginProvider(server, store, people)


def _fixed_client(options: dict[str, Any]) -> OAuthClientInformationFull | None:
    """Return the registration that a person made by hand."""
    if not options.get("client_id"):
        return None
    secret = options.get("client_secret")
    if secret:
        REDACTOR.add(str(secret))
    return OAuthClientInformationFull(
        client_id=str(options["client_id"]),
        client_secret=str(secret) if secret else None,
        token_endpoint_auth_method=options.get("token_auth") or ("client_secret_basic" if secret else "none"),
        issuer=options.get("issuer"),
    )


def _wants_login(response: httpx2.Response) -> bool:
    if response.status_code == 401:
        return True
    return response.status_code == 403 and extract_field_from_www_auth(response, "error") == "insufficient_scope"


def _read(model: Any, value: object) -> Any:
    if value is None:
        return None
    try:
        return model.model_validate(value)
    except ValueError:
        return None  # of another version: asked for again


def _open_lock(path: Path) -> int:
    make_private_folder(path.parent)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
