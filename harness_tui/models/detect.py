"""Looks for models that nobody configured: keys in the environment, servers on this machine.

Loopback only, with short time-outs; nothing is imported until a port answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, cast

from harness_tui.core.record import record
from harness_tui.models.endpoint import Endpoint, is_loopback
from harness_tui.models.library_dialects import models_request
from harness_tui.models.providers import LOCAL_PROVIDERS, KeyProvider, LocalProvider, local

CONNECT_S: Final = 0.5
LIST_S: Final = 3.0
_NAME_CHARS: Final = 256
_LIST_BYTES: Final = 4 * 1024 * 1024


@record
class Detected:
    """A provider that could be used. ``where`` is where its key is, or the address of the server.

    ``models`` are the names that it lists; empty for a key, whose provider is not asked.
    """

    provider: str
    kind: Literal["key", "server"]
    where: str
    models: tuple[str, ...] = ()


async def detect(
    key_providers: Sequence[KeyProvider],
    hosted: Callable[[KeyProvider], Endpoint | None],
    *,
    local_providers: Sequence[LocalProvider] = LOCAL_PROVIDERS,
) -> list[Detected]:
    """Return what was found, in the order of preference: anthropic, openai, google, local servers, other keys.

    ``hosted`` gives the endpoint of a provider whose key there is.
    """
    found = [
        (provider.is_first, Detected(provider.name, "key", endpoint.key_source or ""))
        for provider in key_providers
        if (endpoint := hosted(provider)) is not None
    ]
    servers = await asyncio.gather(*map(server, local_providers))
    first = [one for is_first, one in found if is_first]
    others = [one for is_first, one in found if not is_first]
    return first + [one for one in servers if one is not None and one.models] + others


async def server(provider: LocalProvider) -> Detected | None:
    """Return what a server on this machine offers, ``None`` when nobody answers on its port."""
    endpoint = local(provider)
    try:
        async with asyncio.timeout(CONNECT_S):
            _, writer = await asyncio.open_connection("127.0.0.1", provider.port)
    except (OSError, TimeoutError):
        return None
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return Detected(provider.name, "server", endpoint.base_url, await listed(endpoint))


async def listed(endpoint: Endpoint, *, timeout: float = LIST_S) -> tuple[str, ...]:
    """Return the names that an endpoint lists, none when it does not answer in time or is no such server."""
    try:
        async with asyncio.timeout(timeout):
            return await _listed(endpoint)
    except (OSError, TimeoutError):
        return ()


async def _listed(endpoint: Endpoint) -> tuple[str, ...]:
    httpx2 = await asyncio.to_thread(__import__, "httpx2")
    url, headers = models_request(endpoint)
    body = bytearray()
    client: Any = await asyncio.to_thread(
        lambda: httpx2.AsyncClient(
            trust_env=not is_loopback(endpoint.base_url), verify=endpoint.base_url.startswith("https:"), timeout=LIST_S
        )
    )
    try:
        async with client, client.stream("GET", url, headers=headers) as response:
            if response.status_code != 200:
                return ()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _LIST_BYTES:
                    return ()
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError):
        return ()
    return _names(bytes(body))


def _names(body: bytes) -> tuple[str, ...]:
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(data, dict):
        return ()
    fields = cast(dict[str, Any], data)
    entries: Any = fields.get("data", fields.get("models"))  # Google's list has another name
    if not isinstance(entries, list):
        return ()
    found = (cast(dict[str, Any], entry) for entry in cast(list[Any], entries) if isinstance(entry, dict))
    names = (_name(entry.get("id", entry.get("name"))) for entry in found)
    return tuple(
        name for name in names if isinstance(name, str) and name.isprintable() and 0 < len(name) <= _NAME_CHARS
    )


def _name(given: Any) -> Any:
    return given.removeprefix("models/") if isinstance(given, str) else given
