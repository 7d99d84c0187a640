"""How the client of the conformance suite logs in: what the suite gives it, under the keys that a person writes."""

from __future__ import annotations

from typing import Any, Final

_CREDENTIALS: Final = ("auth/client-credentials-basic", "auth/client-credentials-jwt")
_METADATA: Final = "https://conformance-test.local/client-metadata.json"
_GIVEN: Final = {
    "client_id": "client_id",
    "client_secret": "client_secret",
    "private_key_pem": "private_key",
    "signing_algorithm": "signing_algorithm",
    "valid_jwt": "assertion",
}
_IDENTITY: Final = {"token_endpoint", "id_token", "client_id"}


async def login_keys(url: str, context: dict[str, Any], scenario: str) -> dict[str, Any]:
    """Return the mapping ``oauth`` for the server at ``url``; ``context`` is what the suite gives a client."""
    login = {key: context[name] for name, key in _GIVEN.items() if name in context}
    if "valid_jwt" in context:
        return login | {"grant": "jwt_bearer"}
    if "idp_token_endpoint" in context:
        identity = {key: context[f"idp_{key}"] for key in sorted(_IDENTITY)}
        issuer = await _issuer(url)
        return login | {"grant": "identity_assertion", "issuer": issuer, "identity_provider": identity}
    if scenario in _CREDENTIALS:
        return login | {"grant": "client_credentials"}
    return login | {"client_metadata_url": _METADATA}


async def _issuer(url: str) -> str:
    """Return the login server that the MCP server at ``url`` names, as its operator would tell a person."""
    import httpx2

    place = httpx2.URL(url)
    metadata = place.copy_with(path=f"/.well-known/oauth-protected-resource{place.path}", query=None)
    async with httpx2.AsyncClient(trust_env=False, timeout=20) as http:
        return str((await http.get(metadata)).json()["authorization_servers"][0])
