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
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    ProtectedResourceMetadata,
)

from harness_tui._version import __version__
from harness_tui.config.settings import McpServerSettings
from harness_tui.core.calls import DONE
from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import make_private_folder
from harness_tui.core.redaction import REDACTOR
from harness_tui.egress.egress import Egress
from harness_tui.egress.errors import EgressError
from harness_tui.egress.urls import read_url
from harness_tui.mcp.auth_layers import wants_login
from harness_tui.mcp.grants import Note
from harness_tui.mcp.login_errors import LoginError
from harness_tui.mcp.login_storage import Storage, read_model
from harness_tui.mcp.people import People, page_host
from harness_tui.mcp.token_store import seconds_left
from harness_tui.mcp.way_back import PATH, WayBack

_LOCK_S: Final = 20.0
_EARLY_S: Final = 30.0
"""A token that is this near to its end is refreshed before it is used."""


class LoginProvider(OAuthClientProvider):
    """One server's login by a person in their browser. ``note`` records its steps."""

    def __init__(
        self,
        server: McpServerSettings,
        storage: Storage,
        *,
        locks: Path,
        people: People,
        egress: Egress,
        note: Note,
    ) -> None:
        url, options = server.url or "", server.oauth
        self._name, self._url = server.name, url
        self._people, self._egress, self._note = people, egress, note
        self._storage = storage
        self._lock_file = locks / f"mcp-refresh-{server.name.encode().hex()[:40]}.lock"
        self._wanted_port = int(options.get("redirect_port") or 0)
        self._fixed = _fixed_client(options)
        metadata: dict[str, Any] = {
            "client_name": "Harness",
            "software_id": "harness",
            "software_version": __version__,
            "redirect_uris": [f"http://127.0.0.1{PATH}"],  # the port is known once it is listened on
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "scope": options.get("scope"),
            "token_endpoint_auth_method": self._fixed.token_endpoint_auth_method if self._fixed else None,
        }
        super().__init__(
            url,
            OAuthClientMetadata.model_validate(metadata),
            storage,
            redirect_handler=self._show,
            callback_handler=self._come_back,
            client_metadata_url=options.get("client_metadata_url"),
        )
        self._way_back = WayBack(server.name)
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
        context.oauth_metadata = context.oauth_metadata or read_model(OAuthMetadata, entry.get("metadata"))
        context.protected_resource_metadata = context.protected_resource_metadata or read_model(
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
                    if out is request and response.status_code == 401 and await self._logged_in_elsewhere(request):
                        response = yield request
                    if out is request and wants_login(response):
                        if not self._people.reachable(self._name):
                            return
                        self._prepare_redirect()
                    out = await flow.asend(response)
            except StopAsyncIteration:
                return
            finally:
                await flow.aclose()
                self._way_back.close()
                await self._keep_places()

    async def _logged_in_elsewhere(self, request: httpx2.Request) -> bool:
        """Take up a login that another process has done meanwhile; tell whether ``request`` has its token now."""
        known = self.context.current_tokens.access_token if self.context.current_tokens is not None else None
        stored = await self._storage.get_tokens()
        if stored is None or stored.access_token == known:
            return False
        await self._initialize()
        if not self.context.is_token_valid():
            return False
        self._add_auth_header(request)
        return True

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
        address = self._way_back.listen(self._wanted_port, urlsplit(known).port or 0)
        metadata = self.context.client_metadata.model_dump(mode="json", exclude_none=True)
        self.context.client_metadata = OAuthClientMetadata.model_validate(metadata | {"redirect_uris": [address]})
        if known and known != address and self._fixed is None:
            self.context.client_info = None  # registered with another address: register again

    async def _show(self, url: str) -> None:
        """Show the page to the person and listen for the way back from it."""
        host = page_host(url)
        if host is None:
            raise LoginError(f"it wants a login at {url[:200]}, which no browser is sent to", where=self._name)
        self._must_be_open(url)
        await self._way_back.expect((parse_qs(urlsplit(url).query).get("state") or [""])[0])
        self._page = asyncio.create_task(self._ask(url, host), name=f"login {self._name}")

    def _must_be_open(self, url: str) -> None:
        """Refuse a page at an address that this program would not connect to: a browser is no way around the rules."""
        page, own = urlsplit(url), urlsplit(self._url)
        if (page.scheme, page.netloc) == (own.scheme, own.netloc):
            return
        try:
            self._egress.check(read_url(url), f"mcp:{self._name}")
        except EgressError as error:
            what = f"it wants a login at {error.where}, which no browser is sent to: {error.what}"
            raise LoginError(what, where=self._name, mend=error.mend, by_hand=False) from error

    async def _ask(self, url: str, host: str) -> None:
        self._note("page", httpx2.URL(url))
        reply = await self._people.page(self._name, f"Log in to {self._name}", url)
        if reply.action != "accept":
            self._note("page_refused", httpx2.URL(url))
            self._way_back.give_up(LoginError("the login was not done", where=self._name, code="declined"))

    async def _come_back(self) -> AuthorizationCodeResult:
        """Return what the page sent back. Raises :class:`LoginError`."""
        done = None
        try:
            answer = await self._way_back.answer()
            done = DONE
            return answer
        finally:
            if self._page is not None:
                self._page.cancel(done)


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


def _open_lock(path: Path) -> int:
    make_private_folder(path.parent)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
