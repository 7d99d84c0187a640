"""Resources that somebody attached, watched for changes as long as their server is there.

Servers of the present revision are told in one request which resources are watched, so that it is made anew when there
is one more; older ones are told of each. What changes arrives at the connection's message handler in both eras. Imports
the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

import asyncio
from typing import Final

from mcp import Client, MCPError
from mcp.client.subscriptions import Subscription, SubscriptionLost
from mcp_types import EmptyResult, SubscribeRequest, SubscribeRequestParams

from harness_tui.mcp.repair import MODERN_FROM
from harness_tui.mcp.watched import Watched

_AGAIN_S: Final = 5.0


async def keep_watching(client: Client, watched: Watched) -> None:
    """Keep the server told of what is ``watched``; ends where it serves no subscriptions."""
    capability = client.server_capabilities.resources
    if capability is None or not capability.subscribe:
        return
    try:
        if client.protocol_version >= MODERN_FROM:
            await _listen(client, watched)
        else:
            await _subscribe(client, watched)
    except (MCPError, RuntimeError):
        return  # it refuses; what is read again is fresh all the same


async def _listen(client: Client, watched: Watched) -> None:
    while True:
        uris, version = await watched.any()
        try:
            async with client.listen(resource_subscriptions=uris) as changes:
                more = asyncio.ensure_future(watched.changed(version))
                ended = asyncio.ensure_future(_drained(changes))
                try:
                    await asyncio.wait({more, ended}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    more.cancel()
                    ended.cancel()
                    await asyncio.gather(more, ended, return_exceptions=True)
                if watched.version != version:
                    continue
        except (SubscriptionLost, TimeoutError):
            pass
        await asyncio.sleep(_AGAIN_S)


async def _drained(changes: Subscription) -> None:
    async for _ in changes:
        pass


async def _subscribe(client: Client, watched: Watched) -> None:
    told: set[str] = set()
    while True:
        uris, version = await watched.any()
        for uri in uris:
            if uri not in told:
                told.add(uri)
                request = SubscribeRequest(params=SubscribeRequestParams(uri=uri))
                await client.session.send_request(request, EmptyResult)
        await watched.changed(version)
