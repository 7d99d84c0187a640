"""Logins without a person: a client that proves by a secret or by a key of its own that it may (client credentials).

Imports the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
from mcp.client.auth import TokenStorage
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import KIB
from harness_tui.core.paths import read_regular
from harness_tui.core.redaction import REDACTOR


def credentials_of(server: McpServerSettings, storage: TokenStorage) -> httpx2.Auth:
    """Return what asks for tokens with the own credentials of the client. Raises ``HarnessError`` for a bad key."""
    options, url = server.oauth, server.url or ""
    client = str(options.get("client_id", ""))
    common: dict[str, Any] = {"scope": options.get("scope"), "issuer": options.get("issuer")}
    if options.get("private_key"):
        key = _key(str(options["private_key"]))
        algorithm = str(options.get("signing_algorithm") or "RS256")
        signed = SignedJWTParameters(issuer=client, subject=client, signing_key=key, signing_algorithm=algorithm)
        return PrivateKeyJWTOAuthProvider(
            url, storage, client_id=client, assertion_provider=signed.create_assertion_provider(), **common
        )
    secret = str(options.get("client_secret", ""))
    REDACTOR.add(secret)
    return ClientCredentialsOAuthProvider(url, storage, client_id=client, client_secret=secret, **common)


def _key(text: str) -> str:
    """Return a private key that is given as it is, or as the path of its file."""
    if not text.startswith("-----BEGIN"):
        text = read_regular(Path(text).expanduser(), max_bytes=64 * KIB).decode("ascii", "replace")
    if not text.startswith("-----BEGIN"):
        raise HarnessError("oauth.private_key is no key in PEM form", where="mcp", mend="give the path of a .pem file")
    REDACTOR.add(text)
    return text
