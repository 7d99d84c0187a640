"""How requests to one server behind a URL are authorised: the login of its grant, and the layers around it.

From the inside: the login, requests side by side, the exchange of its token, the record, the proof of possession.
Imports the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError

from harness_tui.config.settings import McpServerSettings
from harness_tui.mcp.auth_layers import Flow, Layer, Notes, SideBySide, Trail
from harness_tui.mcp.dpop import Possession
from harness_tui.mcp.grants import Note, WorkloadProvider, credentials_of, enterprise_of, key_holder_of
from harness_tui.mcp.login import LoginProvider
from harness_tui.mcp.login_errors import LoginError
from harness_tui.mcp.login_storage import Storage
from harness_tui.mcp.means import Means
from harness_tui.mcp.reasons import StartError, leaves, one_line
from harness_tui.mcp.token_exchange import Exchanged
from harness_tui.mcp.token_store import PERSON

BY_HAND: Final = "authorization_code"


def login_of(server: McpServerSettings, means: Means) -> httpx2.Auth | None:
    """Return how requests to ``server`` are authorised, ``None`` where its headers already say who asks."""
    if _says_who_asks(server):
        return None
    url, options = server.url or "", server.oauth
    storage = Storage(means.logins, server.name, url, holder_of(options))
    note = Notes(server.name, means.egress.audit)
    login, good, endpoint = _login(server, storage, means, note)
    flow: Layer = SideBySide(login, good)
    if options.get("exchange") is not None:
        flow = Exchanged(flow, options["exchange"], server=server.name, resource=url, endpoint=endpoint)
    flow = Trail(flow, server=server.name, url=url, note=note, by_hand=by_hand(server))
    if options.get("dpop") is not False:
        flow = Possession(flow, storage, server=server.name, wanted=options.get("dpop"))
    return flow


def login_failure(server: McpServerSettings, error: BaseException, status: int | None) -> StartError | None:
    """Return why ``server`` could not be asked, and what to do, where that is a matter of its login; else ``None``.

    ``status`` is the last HTTP status of it that was no success.
    """
    name = server.name
    hand = by_hand(server)
    log_in = f"/mcp login {name}, or r in the panel Servers (F2); in a terminal `harness mcp login {name}`"
    look = f"look at its 'oauth' in {server.source or 'the configuration'}"
    for leaf in leaves(error):
        if isinstance(leaf, LoginError):
            hand = hand and leaf.by_hand
            what = leaf.what if leaf.where in (None, name) else leaf.placed
            return StartError(what, where=name, mend=leaf.mend or (log_in if hand else look), needs_auth=hand)
        if isinstance(leaf, OAuthFlowError):
            words = f"the login failed: {one_line(str(leaf))}"
            return StartError(words, where=name, mend=log_in if hand else look, needs_auth=hand)
    if status != 401:
        return None
    if _says_who_asks(server):
        mend = f"look at its 'headers' in {server.source or 'the configuration'}"
        return StartError("does not accept the header Authorization that it was sent (401)", where=name, mend=mend)
    if hand:
        return StartError("wants a login", where=name, mend=log_in, needs_auth=True)
    return StartError("does not accept the token that its login server gave (401)", where=name, mend=look)


def by_hand(server: McpServerSettings) -> bool:
    """Tell whether a person logs in to ``server`` in a browser."""
    return server.oauth.get("grant", BY_HAND) == BY_HAND


def _says_who_asks(server: McpServerSettings) -> bool:
    return any(name.lower() == "authorization" for name in server.headers)


def holder_of(options: dict[str, Any]) -> str:
    """Return in whose name tokens are kept: a client's are no person's, and another client's neither."""
    grant = options.get("grant", BY_HAND)
    return PERSON if grant == BY_HAND else f"{grant} {options.get('client_id', '')}".strip()


def _login(
    server: McpServerSettings, storage: Storage, means: Means, note: Note
) -> tuple[Flow, Callable[[], bool], Callable[[], str | None]]:
    """Return the login, whether its token can be used as it is, and where it gets tokens."""
    options = server.oauth
    match options.get("grant", BY_HAND):
        case "identity_assertion":
            enterprise = enterprise_of(server, storage, means.egress, note)
            return enterprise, enterprise.good, lambda: None
        case "client_credentials" if options.get("private_key"):
            login: OAuthClientProvider = key_holder_of(server, storage)
        case "client_credentials":
            login = credentials_of(server, storage)
        case "jwt_bearer":
            login = WorkloadProvider(server, storage)
        case _:
            locks = means.logins.lock.parent
            login = LoginProvider(server, storage, locks=locks, people=means.people, egress=means.egress, note=note)

    def endpoint() -> str | None:
        metadata = login.context.oauth_metadata
        return None if metadata is None else str(metadata.token_endpoint)

    return login, login.context.is_token_valid, endpoint
