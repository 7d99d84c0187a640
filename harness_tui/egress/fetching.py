"""One document from the web: a GET whose every hop is checked, bounded in time and size.

A redirect is followed within the origin only. Where it leads elsewhere the caller is told, and has to ask for that
place as for any other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

import httpx2

from harness_tui.core.record import record
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.egress.egress import Egress
from harness_tui.egress.errors import BadUrlError, EgressError, EgressLimitError
from harness_tui.egress.urls import Url, join_url, within_origin

MAX_REDIRECTS: Final = 5
CONNECT_S: Final = 10.0

_REDIRECTS: Final = (301, 302, 303, 307, 308)
_REASON_CHARS: Final = 200


@record
class Hop:
    """One redirect: the status that said so, and where it led."""

    status: int
    url: str


@record
class Fetched:
    """What came back. ``elsewhere`` is where a redirect leads that was not followed, and then there is no body.

    ``cut`` tells that ``body`` is the first part of a larger one.
    """

    url: Url
    status: int
    reason: str
    content_type: str
    body: bytes
    cut: bool
    hops: tuple[Hop, ...]
    elsewhere: Url | None = None


async def fetch(
    egress: Egress, url: Url, *, surface: str, headers: Mapping[str, str], max_bytes: int, seconds: float
) -> Fetched:
    """Fetch ``url``. Raises ``EgressError``."""
    await egress.load()
    timeout = httpx2.Timeout(seconds, connect=CONNECT_S)
    try:
        async with asyncio.timeout(seconds), egress.client(surface, headers=headers, timeout=timeout) as client:
            return await _follow(client, url, max_bytes)
    except TimeoutError as error:
        what = f"it did not answer completely within {seconds:g} s"
        raise EgressLimitError(what, where=url.authority, code="timeout") from error
    except httpx2.TimeoutException as error:
        raise EgressError(f"it did not answer: {_words(error)}", where=url.authority, code="timeout") from error
    except httpx2.HTTPError as error:
        raise EgressError(f"it cannot be reached: {_words(error)}", where=url.authority, code="network") from error


async def _follow(client: httpx2.AsyncClient, url: Url, max_bytes: int) -> Fetched:
    hops: list[Hop] = []
    while True:
        async with client.stream("GET", str(url)) as response:
            location = response.headers.get("location")
            if response.status_code not in _REDIRECTS or location is None:
                body, cut = await _read(response, max_bytes)
                return _fetched(url, response, hops, body, cut)
            target = _target(url, location)
            if not within_origin(url, target):
                return _fetched(url, response, hops, elsewhere=target)
            if len(hops) == MAX_REDIRECTS:
                what = f"it redirects more than {MAX_REDIRECTS} times"
                raise EgressLimitError(what, where=url.authority, code="redirects")
            hops.append(Hop(response.status_code, str(target)))
        url = target


def _target(url: Url, location: str) -> Url:
    try:
        return join_url(url, location)
    except BadUrlError as error:
        what = f"it redirects to an address that is not requested: {error.what}"
        raise EgressError(what, where=url.authority, mend=error.mend, code="redirects") from error


async def _read(response: httpx2.Response, max_bytes: int) -> tuple[bytes, bool]:
    kept = bytearray()
    async for piece in response.aiter_raw():  # decoded by the transport already
        kept += piece
        if len(kept) > max_bytes:
            return bytes(kept[:max_bytes]), True
    return bytes(kept), False


def _fetched(
    url: Url,
    response: httpx2.Response,
    hops: list[Hop],
    body: bytes = b"",
    cut: bool = False,
    elsewhere: Url | None = None,
) -> Fetched:
    content_type = clean_for_display(response.headers.get("content-type", ""), one_line=True)
    reason = cut_end(clean_for_display(response.reason_phrase, one_line=True), _REASON_CHARS)
    return Fetched(url, response.status_code, reason, content_type, body, cut, tuple(hops), elsewhere)


def _words(error: Exception) -> str:
    return cut_end(clean_for_display(str(error), one_line=True), _REASON_CHARS) or type(error).__name__
