"""Logins without a person in a browser: by a secret or key of the client, by the identity of a machine, by an
enterprise that vouches for the person.

The SDK does the protocol of client credentials and of the identity assertion grant; ours are the token that a machine
shows (RFC 7523), the exchange at the identity provider, and two rules: what has ended is not sent, and what was made
out to one login server is not shown to another. Imports the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, cast
from urllib.parse import parse_qsl

import httpx2
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.auth.utils import issuers_match
from mcp.shared.auth import JWT_BEARER_GRANT_TYPE

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.limits import KIB
from harness_tui.core.redaction import REDACTOR
from harness_tui.egress.egress import Egress
from harness_tui.mcp.auth_layers import EXCHANGE
from harness_tui.mcp.login_errors import LoginError, json_object, refusal_of
from harness_tui.mcp.login_storage import Storage
from harness_tui.mcp.secret_texts import claims_of, must_not_have_ended, private_key, secret_text
from harness_tui.mcp.token_exchange import basic

_ID_TOKEN: Final = "urn:ietf:params:oauth:token-type:id_token"
_ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"
_TIMEOUT_S: Final = 30.0
_NAMELESS: Final = "harness"
"""Stands where the SDK wants a client and the configuration names none; it is not sent."""

SecretAuth = Literal["client_secret_basic", "client_secret_post"]
Note: TypeAlias = Callable[..., None]
"""Records one step of a login: its name, the address, and fields."""


def credentials_of(server: McpServerSettings, storage: Storage) -> ClientCredentialsOAuthProvider:
    """Return the login of a client by its secret."""
    options = server.oauth
    return ClientCredentialsOAuthProvider(
        server.url or "",
        storage,
        client_id=str(options["client_id"]),
        client_secret=_secret(options),
        token_endpoint_auth_method=_secret_auth(options, "client_secret_basic"),
        scope=options.get("scope"),
        issuer=options.get("issuer"),
    )


def key_holder_of(server: McpServerSettings, storage: Storage) -> PrivateKeyJWTOAuthProvider:
    """Return the login of a client that signs with a key of its own, read whenever it signs."""
    options, client = server.oauth, str(server.oauth["client_id"])
    algorithm = str(options.get("signing_algorithm") or "RS256")

    async def assertion(audience: str) -> str:
        key = await asyncio.to_thread(private_key, str(options["private_key"]), "oauth.private_key")
        signed = SignedJWTParameters(issuer=client, subject=client, signing_key=key, signing_algorithm=algorithm)
        try:
            return await signed.create_assertion_provider()(audience)
        except Exception as error:  # a key of another kind: each library says so by an error of its own
            raise LoginError(
                f"oauth.private_key does not sign by {algorithm}",
                where=server.name,
                mend="oauth.signing_algorithm names what the key is for",
                by_hand=False,
            ) from error

    return PrivateKeyJWTOAuthProvider(
        server.url or "",
        storage,
        client_id=client,
        assertion_provider=assertion,
        scope=options.get("scope"),
        issuer=options.get("issuer"),
    )


class WorkloadProvider(ClientCredentialsOAuthProvider):
    """Shows the token of a machine's own identity (RFC 7523, 2.1) where the SDK would show a client's secret."""

    def __init__(self, server: McpServerSettings, storage: Storage) -> None:
        options = server.oauth
        self._name, self._assertion = server.name, str(options["assertion"])
        self._client_id = options.get("client_id")
        self._named_issuer = options.get("issuer")
        secret = _secret(options)
        super().__init__(
            server.url or "",
            storage,
            client_id=str(self._client_id or _NAMELESS),
            client_secret=secret,
            token_endpoint_auth_method=_secret_auth(options, "client_secret_basic") if secret else cast(Any, "none"),
            scope=options.get("scope"),
            issuer=self._named_issuer,
        )

    async def _exchange_token_client_credentials(self) -> httpx2.Request:
        request = await super()._exchange_token_client_credentials()
        assertion = await secret_text(self._assertion, "oauth.assertion")
        must_not_have_ended(assertion, "oauth.assertion")
        self._must_be_for(assertion, request.url)
        data = dict(parse_qsl(request.content.decode("ascii")))
        data |= {"grant_type": JWT_BEARER_GRANT_TYPE, "assertion": assertion}
        if self._client_id and "authorization" not in request.headers:
            data["client_id"] = str(self._client_id)
        kept = {name: value for name, value in request.headers.items() if name in ("authorization", "content-type")}
        return httpx2.Request("POST", request.url, data=data, headers=kept)

    def _must_be_for(self, assertion: str, endpoint: httpx2.URL) -> None:
        """Refuse to show the token to a login server that it does not name: an MCP server says who that is."""
        metadata = self.context.oauth_metadata
        if self._named_issuer is not None or metadata is None:  # without metadata nothing is sent at all
            return
        claimed = claims_of(assertion).get("aud")
        audiences = [claimed] if isinstance(claimed, str) else claimed if isinstance(claimed, list) else []
        wanted = str(metadata.issuer)
        if not any(issuers_match(str(one), wanted) or str(one) == str(endpoint) for one in cast(list[Any], audiences)):
            raise LoginError(
                f"oauth.assertion is not made out to {wanted}, which the server names, so it is not sent there",
                where=self._name,
                mend="if that is right, write it as oauth.issuer",
                by_hand=False,
            )


class EnterpriseProvider(IdentityAssertionOAuthProvider):
    """The SDK's, which also tells whether its token can be used as it is."""

    def good(self) -> bool:
        """Tell whether there is a token that has not ended."""
        return self._tokens is not None and (self._expiry is None or time.time() <= self._expiry)


def enterprise_of(server: McpServerSettings, storage: Storage, egress: Egress, note: Note) -> EnterpriseProvider:
    """Return the login by a grant of the person's enterprise, got at its identity provider whenever one is needed."""
    options = server.oauth
    identity = cast(dict[str, Any], options["identity_provider"])
    scope = options.get("scope")

    async def grant(audience: str, resource: str) -> str:
        return await _enterprise_grant(server.name, identity, egress, note, audience, resource, scope)

    return EnterpriseProvider(
        server.url or "",
        storage,
        client_id=str(options["client_id"]),
        client_secret=_secret(options),
        issuer=str(options["issuer"]),
        assertion_provider=grant,
        scope=scope,
        token_endpoint_auth_method=_secret_auth(options, "client_secret_basic"),
    )


async def _enterprise_grant(
    server: str, identity: dict[str, Any], egress: Egress, note: Note, audience: str, resource: str, scope: str | None
) -> str:
    """Exchange the person's token at the identity provider for a grant (ID-JAG). Raises :class:`LoginError`."""
    token = await secret_text(str(identity["id_token"]), "oauth.identity_provider.id_token")
    must_not_have_ended(token, "oauth.identity_provider.id_token")
    url = str(identity["token_endpoint"])
    data = {"grant_type": EXCHANGE, "requested_token_type": _ID_JAG, "audience": audience, "resource": resource}
    data |= {"subject_token": token, "subject_token_type": _ID_TOKEN}
    headers = {"Accept": "application/json"}
    if scope:
        data["scope"] = scope
    client = str(identity.get("client_id") or "")
    if identity.get("client_secret"):
        headers["Authorization"] = basic(client, _secret(identity))
    elif client:
        data["client_id"] = client
    surface = f"mcp:{server}"
    async with egress.client(surface, configured=url, max_body=256 * KIB, timeout=_TIMEOUT_S) as http:
        try:
            response = await http.post(url, data=data, headers=headers)
        except httpx2.TransportError as error:
            what = f"its identity provider cannot be reached: {error or type(error).__name__}"
            raise LoginError(what, where=server, by_hand=False) from error
    fields = json_object(response.content)
    issued, jag = fields.get("issued_token_type"), fields.get("access_token")
    said = "ok" if response.is_success else refusal_of(response.status_code, response.content)
    if response.is_success and (issued != _ID_JAG or not isinstance(jag, str)):
        said = "the answer holds no grant"
    note("token", httpx2.URL(url), grant=EXCHANGE, status=response.status_code, result=said)
    if said != "ok":
        mend = "log in to the identity provider again, or look at oauth.identity_provider"
        raise LoginError(f"its identity provider refused: {said}", where=server, mend=mend, by_hand=False)
    REDACTOR.add(str(jag))
    return str(jag)


def _secret(options: dict[str, Any]) -> str:
    secret = str(options.get("client_secret") or "")
    REDACTOR.add(secret)
    return secret


def _secret_auth(options: dict[str, Any], usual: SecretAuth) -> SecretAuth:
    given = options.get("token_auth")
    return given if given in ("client_secret_basic", "client_secret_post") else usual
