"""The grammar of ``egress`` rules: a host, ``*.suffix``, an address or a network, each with a port when wanted.

Read by the checker of files and by the network policy, so that both mean the same by a rule.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final, TypeAlias

from harness_tui.core.record import record

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_NAME: Final = re.compile(r"(?=.{1,253}\Z)[a-z0-9_](?:[a-z0-9_-]{0,62})?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62})?)*")
_NUMBER_LABEL: Final = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)")


@record
class EgressRule:
    """One rule, read. Exactly one of ``name``, ``suffix`` and ``network`` is set, or none for ``*``, which is all.

    ``suffix`` begins with a dot and does not fit the domain itself. ``source`` is ``file:line``.
    """

    text: str
    source: str = ""
    name: str | None = None
    suffix: str | None = None
    network: Network | None = None
    port: int | None = None

    def fits_host(self, host: str, port: int) -> bool:
        """Tell whether the rule speaks of this name, as it is written in a request, in lower case."""
        if self.port not in (None, port) or self.network is not None:
            return False
        if self.suffix is not None:
            return host.endswith(self.suffix)
        return self.name in (None, host)

    def fits_address(self, address: Address, port: int) -> bool:
        """Tell whether the rule speaks of this address."""
        return self.port in (None, port) and self.network is not None and address in self.network


def read_rule(text: str, source: str = "") -> EgressRule:
    """Return the rule that ``text`` is. Raises ``ValueError`` that says what is wrong and what is meant."""
    bare = text.strip()
    if "://" in bare:
        raise ValueError(f"{text!r} is an address of a page; write its host alone, such as 'docs.example.com'")
    if "@" in bare or not bare.isascii():
        raise ValueError(f"{text!r} is no host; write names in their ASCII form (xn--...)")
    host, port = _split_port(bare.lower(), text)
    if host == "*":
        return EgressRule(text, source, port=port)
    network = _network(host)
    if network is not None:
        return EgressRule(text, source, network=network, port=port)
    if "/" in host:
        raise ValueError(f"{text!r} is neither a host nor a network such as '10.0.0.0/8'")
    name = host.removeprefix("*.")
    if name.startswith(".") or "*" in name:
        raise ValueError(f"{text!r}: a '*' stands alone or at the start, as in '*.example.com'")
    if is_number(name):
        raise ValueError(f"{text!r} is no address; write it in the usual form, such as '127.0.0.1' or '[::1]'")
    if not _NAME.fullmatch(name):
        raise ValueError(f"{text!r} is neither a host, nor an address, nor a network")
    if name == host:
        return EgressRule(text, source, name=name, port=port)
    return EgressRule(text, source, suffix=f".{name}", port=port)


def is_number(host: str) -> bool:
    """Tell whether programs read ``host`` as an IPv4 address in some spelling: its last label is a number."""
    return _NUMBER_LABEL.fullmatch(host.rpartition(".")[2]) is not None


def is_name(host: str) -> bool:
    """Tell whether ``host`` is a name in the usual characters, and no number."""
    return _NAME.fullmatch(host) is not None and not is_number(host)


def _split_port(rule: str, text: str) -> tuple[str, int | None]:
    if rule.startswith("["):
        host, bracket, rest = rule[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError(f"{text!r}: an address in brackets is written '[::1]' or '[::1]:8080'")
        return host, _port(rest[1:], text) if rest else None
    if rule.count(":") != 1:
        return rule, None
    host, _, port = rule.partition(":")
    return host, _port(port, text)


def _port(digits: str, text: str) -> int:
    if not (digits.isascii() and digits.isdigit()) or not 0 < int(digits) < 65_536:
        raise ValueError(f"{text!r}: a port is a number from 1 to 65535")
    return int(digits)


def _network(host: str) -> Network | None:
    try:
        return ipaddress.ip_network(host, strict=False)
    except ValueError:
        return None
