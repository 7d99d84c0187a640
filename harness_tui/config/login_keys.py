"""Whether the keys of ``mcp.<name>.oauth`` go together, and whether a login can be made with them.

What a grant needs and what it has no use for is a table. Nothing here shows a value: errors name the key, the place and
the remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from harness_tui.config.entry_checks import check_url
from harness_tui.config.fragment import Keys
from harness_tui.core.errors import HarnessError

_EVERY: Final = ("grant", "scope", "issuer", "client_id", "client_secret", "token_auth", "exchange", "dpop")
_OWN: Final[dict[str, tuple[str, ...]]] = {
    "authorization_code": ("client_metadata_url", "redirect_port"),
    "client_credentials": ("private_key", "signing_algorithm"),
    "jwt_bearer": ("assertion",),
    "identity_assertion": ("identity_provider",),
}
_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "client_credentials": ("client_id",),
    "jwt_bearer": ("assertion",),
    "identity_assertion": ("client_id", "client_secret", "issuer", "identity_provider"),
}
_ADDRESSES: Final[tuple[Keys, ...]] = (
    ("issuer",),
    ("client_metadata_url",),
    ("identity_provider", "token_endpoint"),
    ("exchange", "token_endpoint"),
)
TOKEN_FILES: Final[tuple[Keys, ...]] = (
    ("private_key",),
    ("assertion",),
    ("identity_provider", "id_token"),
    ("exchange", "actor_token"),
)
"""The keys whose value is a key or a token, or the path of the file that holds it."""

_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


def is_path(text: str) -> bool:
    """Tell whether ``text`` names a file: it is neither a key in PEM form nor a token."""
    return not text.startswith(("-----BEGIN", "eyJ"))


def check_login(keys: Keys, options: Mapping[str, Any], where: str, place_of: Callable[[Keys, str], str]) -> None:
    """Raise ``HarnessError`` at the place of the first key that does not go with the others.

    ``keys`` lead to ``options``, the checked mapping ``oauth`` with everything put in.
    """

    def place(*names: str) -> str:
        return place_of((*keys, *names), where)

    grant = options.get("grant") or "authorization_code"
    for name in options:
        if name not in _EVERY and name not in _OWN[grant]:
            owner = next((other for other, names in _OWN.items() if name in names), "")
            message = f"{name!r} does not go with the grant {grant}"
            raise HarnessError(message, where=place(name), mend=f"say 'grant: {owner}', or take it away", code="grant")
    for name in _NEEDED.get(grant, ()):
        if not options.get(name):
            raise HarnessError(f"the grant {grant} needs {name!r}", where=place("grant"), mend="add it", code="grant")
    if grant == "client_credentials" and bool(options.get("private_key")) == bool(options.get("client_secret")):
        both = "both 'client_secret' and 'private_key'" if options.get("private_key") else "no proof of who asks"
        mend = "keep one of them" if options.get("private_key") else "give it a 'client_secret' or a 'private_key'"
        raise HarnessError(both, where=place("grant"), mend=mend, code="grant")
    if options.get("token_auth") in ("client_secret_basic", "client_secret_post") and not options.get("client_secret"):
        message = f"'token_auth: {options['token_auth']}' without a 'client_secret'"
        raise HarnessError(message, where=place("token_auth"), mend="give it, or take 'token_auth' away", code="grant")
    for names in _ADDRESSES:
        _check_address(_at(options, names), place(*names))
    url = options.get("client_metadata_url")
    if url and (urlsplit(url).scheme != "https" or urlsplit(url).path in ("", "/")):
        mend = "write the https address of the document, path and all"
        raise HarnessError("it is no address of a document", where=place("client_metadata_url"), mend=mend, code="url")


def _check_address(url: Any, where: str) -> None:
    """Refuse an address that a secret would be sent to in the clear."""
    if not url:
        return
    check_url(url, where)
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        message = "secrets are sent to it, and http is not encrypted"
        raise HarnessError(message, where=where, mend="write it with https", code="url")


def _at(options: Mapping[str, Any], names: Keys) -> Any:
    value: Any = options
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def with_paths(options: Mapping[str, Any], find: Callable[[Keys, str], str | None]) -> dict[str, Any]:
    """Return ``options`` with the paths of files of tokens absolute; ``find`` gives the path for keys and text."""
    result = dict(options)
    for names in TOKEN_FILES:
        text = _at(options, names)
        if not isinstance(text, str) or not is_path(text):
            continue
        path = find(names, text) or text
        if len(names) == 1:
            result[names[0]] = path
        else:
            result[names[0]] = {**result[names[0]], names[1]: path}
    return result
