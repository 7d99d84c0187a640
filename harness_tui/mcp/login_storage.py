"""What the SDK keeps of a login, over one entry of the store.

Tokens are kept together with the registration and the key that they belong to, in one write: of two logins at once the
last one is kept whole, and none of both by halves. Imports the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from harness_tui.mcp.token_store import PERSON, TokenStore


class Storage:
    """The SDK's ``TokenStorage``. ``binding`` is the key that proofs of possession are made with, where there is one.

    ``access_token`` is the one that was read or kept last.
    """

    def __init__(self, store: TokenStore, server: str, url: str, holder: str = PERSON) -> None:
        self._store, self._server, self._url, self._holder = store, server, url, holder
        self._client: dict[str, Any] | None = None
        self.binding: dict[str, Any] | None = None
        self.access_token: str | None = None

    async def entry(self) -> dict[str, Any]:
        """Return the whole entry."""
        return await asyncio.to_thread(self._store.read, self._server, self._url, self._holder)

    async def keep(self, **parts: Any) -> None:
        """Keep parts of the entry."""
        await asyncio.to_thread(lambda: self._store.write(self._server, self._url, self._holder, **parts))

    async def get_tokens(self) -> OAuthToken | None:
        """Return the stored tokens."""
        entry = await self.entry()
        tokens: OAuthToken | None = read_model(OAuthToken, entry.get("tokens"))
        if tokens is not None:
            self.binding = entry.get("dpop")
            self.access_token = tokens.access_token
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens, with what they belong to."""
        self.access_token = tokens.access_token
        parts: dict[str, Any] = {"tokens": tokens.model_dump(mode="json", exclude_none=True), "dpop": self.binding}
        if self._client is not None:
            parts["client"] = self._client
        await self.keep(**parts)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the stored registration."""
        stored: object = (await self.entry()).get("client")
        found: OAuthClientInformationFull | None = read_model(OAuthClientInformationFull, stored)
        self._client = None if found is None else found.model_dump(mode="json", exclude_none=True)
        return found

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a registration; beside tokens of another one only once there are tokens of this."""
        self._client = client_info.model_dump(mode="json", exclude_none=True)
        if "tokens" not in await self.entry():
            await self.keep(client=self._client)


def read_model(model: Any, value: object) -> Any:
    """Return ``value`` as the SDK's ``model``, ``None`` where it is of another version: it is asked for again then."""
    if value is None:
        return None
    try:
        return model.model_validate(value)
    except ValueError:
        return None
