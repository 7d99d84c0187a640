"""Where connections may go: rules of the configuration, and what is refused without any.

A deny beats everything. An allow by address opens that address, an allow by name opens this machine and its networks
for that name, never the metadata services of clouds. What a person configured as a target (a server's URL, a proxy)
may be where it is.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Final

from harness_tui.config.egress_rules import Address, EgressRule, read_rule
from harness_tui.config.settings import EgressEntry, EgressSettings
from harness_tui.core.record import record
from harness_tui.core.seams import AuditSink
from harness_tui.core.text import clean_for_display
from harness_tui.egress.addresses import carried_address, disguise, kind_of, plain_form
from harness_tui.egress.errors import EgressBlockedError

LOOPBACK_NAMES: Final = ("localhost", ".localhost")
LOOPBACK: Final[tuple[Address, ...]] = (ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1"))
_LOCAL_SUFFIXES: Final = (".local", ".internal", ".home.arpa", ".intranet", ".lan", ".localdomain")


def is_loopback_name(host: str) -> bool:
    """Tell whether ``host`` is this machine by its name (RFC 6761), whatever a resolver says."""
    return host == LOOPBACK_NAMES[0] or host.endswith(LOOPBACK_NAMES[1])


@record
class Place:
    """Where a request goes: the host as it is written, its address when it is one, the port."""

    host: str
    port: int
    address: Address | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{clean_for_display(host, one_line=True)}:{self.port}"


class Policy:
    """The decision for one client. ``configured`` is the target that a person named for it."""

    def __init__(self, settings: EgressSettings, configured: Place | None = None) -> None:
        self._allow = _read(settings.allow)
        self._deny = _read(settings.deny)
        self._closed = settings.default == "deny"
        self._configured = configured

    def check(self, place: Place) -> None:
        """Refuse what can be refused before anything is asked of the network. Raises ``EgressBlockedError``."""
        rule = _first(rule for rule in self._deny if rule.fits_host(place.host, place.port))
        if rule is not None:
            raise _denied(place, rule)
        if place.address is not None:
            self.permitted(place, [place.address])
        elif is_loopback_name(place.host):
            self.permitted(place, LOOPBACK)
        elif self._closed and not self._opened_by_name(place) and not self._has_address_rules(place.port):
            raise _closed(place)

    def permitted(self, place: Place, addresses: Sequence[Address]) -> list[Address]:
        """Return those of ``addresses`` that may be connected to. Raises ``EgressBlockedError`` when none may."""
        refused: EgressBlockedError | None = None
        kept: list[Address] = []
        for address in addresses:
            found = self._refusal(place, address)
            if found is None:
                kept.append(plain_form(address))
            else:
                refused = refused or found
        if not kept and refused is not None:
            raise refused
        return kept

    def check_unresolved(self, place: Place) -> None:
        """Refuse a name that a proxy would look up in its own network. Raises ``EgressBlockedError``."""
        host = place.host
        local = "." not in host or host.endswith(_LOCAL_SUFFIXES)
        if local and place.address is None and not self._opened_by_name(place):
            raise _blocked(place, "is a name of a local network", "local-name", str(place))
        if self._closed and not self._opened_by_name(place):
            raise _closed(place)

    def _refusal(self, place: Place, address: Address) -> EgressBlockedError | None:
        forms = [form for form in (address, carried_address(address)) if form is not None]
        rule = _first(rule for rule in self._deny for form in forms if rule.fits_address(form, place.port))
        if rule is not None:
            return _denied(place, rule)
        if self._opened_by_address(place, forms):
            return None
        if place.address is not None and self._is_configured(place):
            return None
        kind, words = kind_of(address)
        if place.address is not None and (disguised := disguise(address)) is not None:
            return _blocked(place, f"is {disguised}", "odd-address", str(place))
        opened = self._opened_by_name(place)
        if kind == "public":
            return _closed(place) if self._closed and not opened else None
        if kind == "inside" and opened:
            return None
        if place.address is not None:
            return _blocked(place, f"is {words}", f"{kind}-address", str(place))
        opening = str(place) if kind == "inside" else str(Place(str(address), place.port))
        return _blocked(place, f"leads to {address}, {words}", f"{kind}-address", opening)

    def _opened_by_address(self, place: Place, forms: Sequence[Address]) -> bool:
        if place.address is None and not is_loopback_name(place.host) and any(form.is_loopback for form in forms):
            return False  # a foreign name for this machine is a trap, whatever else is open here
        return any(rule.fits_address(form, place.port) for rule in self._allow for form in forms)

    def _opened_by_name(self, place: Place) -> bool:
        if self._is_configured(place):
            return True
        return any(rule.fits_host(place.host, place.port) for rule in self._allow)

    def _is_configured(self, place: Place) -> bool:
        mine = self._configured
        return mine is not None and (mine.host, mine.port) == (place.host, place.port)

    def _has_address_rules(self, port: int) -> bool:
        return any(rule.network is not None and rule.port in (None, port) for rule in self._allow)


def record_block(audit: AuditSink | None, surface: str, place: Place, error: EgressBlockedError) -> None:
    """Write what was refused into the audit log: host, port, reason, rule; never the rest of a URL."""
    if audit is not None:
        fields = {"host": place.host, "port": place.port, "reason": error.reason, "rule": error.rule}
        audit.record("egress_blocked", surface=surface, text=error.what, **fields)


def _read(entries: Iterable[EgressEntry]) -> tuple[EgressRule, ...]:
    return tuple(read_rule(entry.rule, entry.source) for entry in entries)


def _first(rules: Iterable[EgressRule]) -> EgressRule | None:
    return next(iter(rules), None)


def _denied(place: Place, rule: EgressRule) -> EgressBlockedError:
    source = f" ({rule.source})" if rule.source else ""
    what = f"connections to it are denied by the rule {rule.text!r}{source}"
    return EgressBlockedError(what, where=str(place), reason="denied", rule=rule.text)


def _closed(place: Place) -> EgressBlockedError:
    return _blocked(place, "is in no rule under 'allow', and 'default' is deny", "default", str(place))


def _blocked(place: Place, what: str, reason: str, opening: str) -> EgressBlockedError:
    mend = f'if it is meant, write in your configuration: egress: {{allow: ["{opening}"]}}'
    return EgressBlockedError(f"it {what}", where=str(place), mend=mend, reason=reason)
