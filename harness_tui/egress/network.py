"""The network as the HTTP library sees it: names are looked up here, once, and only checked addresses are connected to.

The library passes the host of a request; what goes to the socket is an address that the policy has seen. So a name
cannot be one address for the check and another for the connection.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

import httpcore2

from harness_tui.config.egress_rules import Address
from harness_tui.egress.policy import LOOPBACK, Place, Policy, is_loopback_name
from harness_tui.egress.urls import read_host

Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Looks a name up: host and port in, addresses out, in the order to try. Raises ``OSError``."""

_TRIED: Final = 6
_ONE_TRY_S: Final = 5.0


async def system_addresses(host: str, port: int) -> Sequence[str]:
    """Ask the resolver of this machine, in a thread that nobody has to wait for: it may hang for long."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def settle(found: list[str] | OSError) -> None:
        if answer.done():
            return
        if isinstance(found, OSError):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    def ask() -> None:
        try:
            found: list[str] | OSError = [
                str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            ]
        except OSError as error:
            found = error
        except UnicodeError as error:  # a label that is too long
            found = OSError(str(error))
        try:
            loop.call_soon_threadsafe(settle, found)
        except RuntimeError:  # the loop was closed meanwhile: nobody waits any more
            return

    threading.Thread(target=ask, name=f"look up {host}", daemon=True).start()
    return await answer


async def addresses_of(place: Place, resolve: Resolver) -> list[Address]:
    """Return the addresses of ``place``: its own, this machine's for loopback names, else what ``resolve`` says."""
    if place.address is not None:
        return [place.address]
    if is_loopback_name(place.host):
        return list(LOOPBACK)
    found: dict[Address, None] = {}
    for text in await resolve(place.host, place.port):
        try:
            found[ipaddress.ip_address(text)] = None
        except ValueError:  # nothing that could be connected to
            continue
    return list(found)


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects for one client, under its policy."""

    def __init__(self, policy: Policy, resolve: Resolver) -> None:
        self._policy = policy
        self._resolve = resolve
        self._plain: Any = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to a checked address of ``host``. Raises ``EgressBlockedError``, ``httpcore2.ConnectError``."""
        name, literal = read_host(f"[{host}]" if ":" in host else host)
        place = Place(name, port, literal)
        self._policy.check(place)
        try:
            async with asyncio.timeout(timeout):
                try:
                    addresses = await addresses_of(place, self._resolve)
                except OSError as error:
                    raise httpcore2.ConnectError(f"{name} was not found: {error.strerror or error}") from error
                if not addresses:
                    raise httpcore2.ConnectError(f"{name} was not found")
                permitted = self._policy.permitted(place, addresses)
                return await self._first_of(permitted[:_TRIED], port, local_address, list(socket_options or ()))
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"{place} did not answer") from error

    async def _first_of(
        self, addresses: Sequence[Address], port: int, local_address: str | None, options: list[Any]
    ) -> httpcore2.AsyncNetworkStream:
        """Return the first connection that comes about; the last address may take what is left of the time."""
        failure: httpcore2.ConnectError | httpcore2.ConnectTimeout | None = None
        for number, address in enumerate(addresses, start=1):
            limit = None if number == len(addresses) else _ONE_TRY_S
            try:
                return await self._plain.connect_tcp(str(address), port, limit, local_address, options)
            except httpcore2.ConnectTimeout as error:
                failure = error
            except httpcore2.ConnectError as error:
                failure = httpcore2.ConnectError(_reason(error))
        raise failure or httpcore2.ConnectError("no address")

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None
    ) -> httpcore2.AsyncNetworkStream:
        """Refuse: nothing of ours asks for one, and a socket file has no address to check."""
        raise httpcore2.ConnectError("connections to socket files are not made")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


def _reason(error: BaseException) -> str:
    """Return what the operating system said, which the libraries above it wrap in words of their own."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno is not None:
            return os.strerror(cause.errno)
        cause = cause.__cause__ or cause.__context__
    return str(error)
