"""What an address is: public, or one of the kinds that a page or a model must not be able to reach.

The table is written out (IANA special-purpose registries, metadata services of clouds): the standard library's idea of
a global address differs between versions.
"""

from __future__ import annotations

import ipaddress
from typing import Final, Literal, TypeAlias

from harness_tui.config.egress_rules import Address, Network

Kind: TypeAlias = Literal["public", "inside", "special"]
"""``inside``: this machine and its networks, opened by a rule on the name. ``special``: opened by its address alone."""

_INSIDE: Final = (
    ("127.0.0.0/8", "a loopback address"),
    ("10.0.0.0/8", "a private address"),
    ("172.16.0.0/12", "a private address"),
    ("192.168.0.0/16", "a private address"),
    ("169.254.0.0/16", "a link-local address"),
    ("100.64.0.0/10", "an address of a provider's own network"),
    ("::1/128", "a loopback address"),
    ("fc00::/7", "a private address"),
    ("fe80::/10", "a link-local address"),
    ("fec0::/10", "a private address"),
)
_METADATA: Final = (
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
)
_SPECIAL: Final = (
    ("0.0.0.0/8", "an unspecified address"),
    ("192.0.0.0/24", "a reserved address"),
    ("192.0.2.0/24", "an address of documentation"),
    ("192.88.99.0/24", "a 6to4 relay"),
    ("198.18.0.0/15", "an address of test networks"),
    ("198.51.100.0/24", "an address of documentation"),
    ("203.0.113.0/24", "an address of documentation"),
    ("224.0.0.0/4", "a multicast address"),
    ("240.0.0.0/4", "a reserved address"),
    ("::/128", "an unspecified address"),
    ("2001::/32", "a Teredo address"),
    ("2001::/23", "a reserved address"),
    ("2001:db8::/32", "an address of documentation"),
    ("2002::/16", "a 6to4 address"),
    ("3fff::/20", "an address of documentation"),
    ("ff00::/8", "a multicast address"),
)
_GLOBAL_V6: Final = ipaddress.ip_network("2000::/3")
_MAPPED: Final = ipaddress.ip_network("::ffff:0:0/96")
_CARRIERS: Final = (
    (_MAPPED, "an IPv4-mapped address"),
    (ipaddress.ip_network("::ffff:0:0:0/96"), "an IPv4-translated address"),
    (ipaddress.ip_network("64:ff9b::/96"), "a NAT64 address"),
)
_LOCAL_NAT64: Final = ipaddress.ip_network("64:ff9b:1::/48")
_ISATAP: Final = (0x00005EFE, 0x02005EFE)


_METADATA_ADDRESSES: Final = frozenset(map(ipaddress.ip_address, _METADATA))
_NETWORKS: Final[tuple[tuple[Network, Kind, str], ...]] = (
    *((ipaddress.ip_network(text), "inside", words) for text, words in _INSIDE),
    *((ipaddress.ip_network(text), "special", words) for text, words in _SPECIAL),
)


def kind_of(address: Address) -> tuple[Kind, str]:
    """Return what ``address`` is, and the words for it. An IPv6 form that carries an IPv4 address is that address."""
    carried = carried_address(address)
    if carried is not None:
        return kind_of(carried)
    if address in _METADATA_ADDRESSES:
        return "special", "the metadata service of a cloud"
    for network, kind, words in _NETWORKS:
        if address in network:
            return kind, words
    if isinstance(address, ipaddress.IPv6Address) and (address not in _GLOBAL_V6 or _is_isatap(address)):
        return "special", "a reserved address"
    return "public", "a public address"


def carried_address(address: Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that packets to ``address`` end up at, where the network translates it."""
    if isinstance(address, ipaddress.IPv6Address) and any(address in network for network, _ in _CARRIERS):
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return None


def plain_form(address: Address) -> Address:
    """Return the address that a socket is connected to: the IPv4 address of an IPv4-mapped one."""
    carried = carried_address(address)
    return carried if carried is not None and address in _MAPPED else address


def disguise(address: Address) -> str | None:
    """Say in which form an address carries another one; nobody writes such a form by hand for a public host."""
    for network, words in (*_CARRIERS, (_LOCAL_NAT64, "a NAT64 address")):
        if address in network:
            return words
    return None


def _is_isatap(address: ipaddress.IPv6Address) -> bool:
    return (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP
