"""URLs in one form: what a rule is matched against, what a person is shown, and what is requested are the same text.

Whatever two programs could read differently is refused instead of repaired: credentials, backslashes, blanks, control
characters, zone ids, numbers in odd spellings, percent signs in a host.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import quote, urljoin

from harness_tui.config.egress_rules import Address, is_name, is_number
from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.record import record
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.egress.errors import BadUrlError

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
MAX_CHARS: Final = 8_192

_URL: Final = late_pattern(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?", re.DOTALL)
_AMBIGUOUS: Final = late_pattern(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff\u2028\u2029]")
_ESCAPED: Final = late_pattern(r"%([0-9A-Fa-f]{2})")
_LONE_PERCENT: Final = late_pattern(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SAFE: Final = "/:@!$&'()*+,;=-._~%"
_SHOWN_CHARS: Final = 100


@record
class Url:
    """An http or https URL. ``host`` is a name in ASCII or an address without brackets; ``address`` is set for one."""

    scheme: str
    host: str
    port: int
    path: str
    address: Address | None = None

    @property
    def authority(self) -> str:
        """Host and port as they stand in the URL: the usual port left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return self.scheme, self.host, self.port

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def read_url(text: str) -> Url:
    """Return ``text`` as a URL in its one form, the fragment left out. Raises ``BadUrlError``."""
    text = text.strip(" \t\r\n")
    if len(text) > MAX_CHARS:
        raise BadUrlError(f"the URL is longer than {MAX_CHARS} characters", where="url", code="bad-url")
    if _AMBIGUOUS.search(text):
        raise _bad("holds blanks, control characters or a backslash", text, "write %20 for a blank")
    match = _URL.fullmatch(text)
    if match is None:
        mend = None if ":" in text.partition("/")[0] else f"write https://{_shown(text)}"
        raise _bad("is no complete http or https address", text, mend)
    scheme, authority, path, query = match[1].lower(), match[2], match[3], match[4] or ""
    if scheme not in DEFAULT_PORTS:
        raise BadUrlError(f"{scheme}: is not fetched, only http and https are", where="url", code="bad-url")
    if "@" in authority:
        # The text is not repeated: it holds a password.
        raise BadUrlError("the URL holds credentials, which are never sent", where="url", code="bad-url")
    host, port = _split(authority, text)
    name, address = read_host(host)
    return Url(scheme, name, port or DEFAULT_PORTS[scheme], _path(path) + _quoted(query, "?"), address)


def read_host(text: str) -> tuple[str, Address | None]:
    """Return a host in its one form, and its address when it is one. IPv6 comes in brackets. Raises ``BadUrlError``."""
    host = text.lower()
    if host.startswith("["):
        return _ipv6(host)
    if not host.isascii():
        host = _ascii_form(host, text)
    if is_number(host.rstrip(".")):
        return _ipv4(host)
    name = host.removesuffix(".")
    if not is_name(name):
        raise _bad("is no host name", text)
    return name, None


def join_url(base: Url, location: str) -> Url:
    """Return where ``location`` leads to from ``base``. Raises ``BadUrlError``."""
    if _AMBIGUOUS.search(location.strip(" \t\r\n")):
        raise _bad("holds blanks, control characters or a backslash", location)
    try:
        return read_url(urljoin(str(base), location.strip(" \t\r\n")))
    except ValueError as error:  # brackets that do not close
        raise _bad("is no address", location) from error


def within_origin(before: Url, after: Url) -> bool:
    """Tell whether ``after`` is on the origin of ``before``, or is the same host's usual https for its usual http."""
    if before.origin == after.origin:
        return True
    upgraded = (before.scheme, after.scheme) == ("http", "https") and before.host == after.host
    return upgraded and (before.port, after.port) == (80, 443)


def _split(authority: str, text: str) -> tuple[str, int | None]:
    host, colon, port = authority, "", ""
    if authority.startswith("["):
        host, bracket, rest = authority.partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise _bad("has an address in brackets that do not close", text)
        host, colon, port = f"{host}]", rest[:1], rest[1:]
    elif ":" in authority:
        host, colon, port = authority.partition(":")
    if not host:
        raise _bad("names no host", text)
    if not colon or not port:
        return host, None
    if not (port.isascii() and port.isdigit()) or len(port) > 5 or not 0 < int(port) < 65_536:
        raise _bad("has a port that is none", text)
    return host, int(port)


def _ipv6(host: str) -> tuple[str, Address]:
    inner = host[1:-1] if host.endswith("]") else ""
    if "%" in inner:
        raise _bad("names a network interface, which a URL cannot", host)
    try:
        address = ipaddress.IPv6Address(inner)
    except ValueError as error:
        raise _bad("is no IPv6 address", host) from error
    return address.compressed, address


def _ipv4(host: str) -> tuple[str, Address]:
    try:
        address = ipaddress.IPv4Address(host)
    except ValueError as error:
        mend = "write it as four numbers, such as 127.0.0.1"
        raise _bad("is a number that programs read as different addresses", host, mend) from error
    return str(address), address


def _ascii_form(host: str, text: str) -> str:
    import idna

    try:
        encoded = idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise _bad("is no host name", text) from error
    if is_number(encoded.rstrip(".")):
        raise _bad("is a number in other signs", text, "write addresses as four numbers in ASCII")
    return encoded


def _path(path: str) -> str:
    return _without_dots(_quoted(path or "/"))


def _quoted(part: str, more: str = "") -> str:
    """Percent-encode what has to be, and decode what need not be, so that ``%61`` is no other path than ``a``."""
    part = _LONE_PERCENT.sub("%25", part)
    return quote(_ESCAPED.sub(_shortest, part), safe=_PATH_SAFE + more)


def _shortest(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _without_dots(path: str) -> str:
    """Apply ``.`` and ``..`` segments, as every client does before it asks."""
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments[1:]:
        if segment == "..":
            kept = kept[:-1]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", "..") and (not kept or kept[-1]):
        kept.append("")
    return "/" + "/".join(kept)


def _bad(what: str, text: str, mend: str | None = None) -> BadUrlError:
    return BadUrlError(f"{_shown(text)} {what}", where="url", mend=mend, code="bad-url")


def _shown(text: str) -> str:
    """Return the part of a URL that may be shown: no credentials, no query."""
    head = re.split(r"[?#]", text, maxsplit=1)[0]
    head = re.sub(r"//[^/@]*@", "//", head)
    return cut_end(clean_for_display(head, one_line=True, show_invisible=True), _SHOWN_CHARS)
