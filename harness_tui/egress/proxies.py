"""Proxies of the environment: ``HTTP_PROXY``, ``HTTPS_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``, in either case.

Small letters win where both are set. What is on this machine never goes through a proxy.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import field
from typing import Final
from urllib.parse import unquote, urlsplit

from harness_tui.config.egress_rules import Address
from harness_tui.core.errors import HarnessError
from harness_tui.core.record import record
from harness_tui.core.redaction import REDACTOR
from harness_tui.egress.addresses import plain_form
from harness_tui.egress.policy import Place, is_loopback_name

_PORTS: Final = {"http": 80, "https": 443}


@record
class Proxy:
    """One proxy. ``variable`` is where it comes from; the credentials never show."""

    scheme: str
    place: Place
    variable: str
    user: str | None = field(default=None, repr=False)
    password: str = field(default="", repr=False)


class Proxies:
    """Which proxy a request goes through."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._by_scheme = {scheme: _configured(environ, scheme) for scheme in ("http", "https")}
        self._exceptions = _exceptions(_value(environ, "NO_PROXY")[1])

    def proxy_for(self, scheme: str, place: Place) -> Proxy | None:
        """Return the proxy for a request, ``None`` for a direct one. Raises ``HarnessError`` for one that is wrong."""
        variable, address = self._by_scheme[scheme]
        if not address or is_on_this_machine(place) or any(one.fits(place) for one in self._exceptions):
            return None
        return _read_proxy(variable, address)


def is_on_this_machine(place: Place) -> bool:
    """Tell whether ``place`` is a loopback name or address."""
    if place.address is None:
        return is_loopback_name(place.host)
    return plain_form(place.address).is_loopback


@record
class _Exception:
    """One entry of ``NO_PROXY``: a name with everything below it, an address or a network, for one port or all."""

    name: str | None = None
    only_below: bool = False
    network: ipaddress.IPv4Network | ipaddress.IPv6Network | None = None
    port: int | None = None

    def fits(self, place: Place) -> bool:
        if self.port not in (None, place.port):
            return False
        if self.network is not None:
            return place.address is not None and plain_form(place.address) in self.network
        if self.name is None:
            return True
        return place.host.endswith(f".{self.name}") or (place.host == self.name and not self.only_below)


def _configured(environ: Mapping[str, str], scheme: str) -> tuple[str, str]:
    variable, address = _value(environ, f"{scheme.upper()}_PROXY")
    return (variable, address) if address else _value(environ, "ALL_PROXY")


def _value(environ: Mapping[str, str], name: str) -> tuple[str, str]:
    for spelling in (name.lower(), name):
        if spelling in environ:
            return spelling, environ[spelling].strip()
    return name, ""


def _exceptions(text: str) -> tuple[_Exception, ...]:
    return tuple(_exception(entry) for entry in text.lower().replace(",", " ").split())


def _exception(entry: str) -> _Exception:
    if entry == "*":
        return _Exception()
    host, port = _host_and_port(entry)
    try:
        return _Exception(network=ipaddress.ip_network(host, strict=False), port=port)
    except ValueError:  # no network: a name
        pass
    only_below = host.startswith("*.")
    return _Exception(name=host.removeprefix("*").removeprefix(".").removesuffix("."), only_below=only_below, port=port)


def _host_and_port(entry: str) -> tuple[str, int | None]:
    if entry.startswith("["):
        host, _, rest = entry[1:].partition("]")
        digits = rest.removeprefix(":")
    elif entry.count(":") == 1:
        host, _, digits = entry.partition(":")
    else:
        return entry, None
    return host, int(digits) if digits.isascii() and digits.isdigit() else None


def _read_proxy(variable: str, text: str) -> Proxy:
    mend = f"set {variable} to an address such as http://proxy.example.com:3128"
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = (parts.hostname or "").removesuffix("."), parts.port
    except ValueError as error:  # a port that is no number, brackets that do not close
        raise HarnessError("is no address of a proxy", where=variable, mend=mend, code="proxy") from error
    if parts.scheme not in _PORTS:
        what = f"{parts.scheme} proxies are not known, only http and https"
        raise HarnessError(what, where=variable, mend=mend, code="proxy")
    if not host:
        raise HarnessError("names no host of a proxy", where=variable, mend=mend, code="proxy")
    user = None if parts.username is None else unquote(parts.username)
    password = unquote(parts.password or "")
    REDACTOR.add(password)
    return Proxy(parts.scheme, Place(host, port or _PORTS[parts.scheme], _address(host)), variable, user, password)


def _address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:  # a name
        return None
