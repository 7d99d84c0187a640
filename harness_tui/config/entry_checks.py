"""Whether the parts of a provider's or a server's entry go together, and whether a request can be made with them.

Nothing here shows a value that may be a secret: errors name the key, the place and the remedy.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

from harness_tui.config.fragment import Keys
from harness_tui.config.settings import COMPATIBLE_PROVIDERS, PROVIDER_KINDS
from harness_tui.core.errors import HarnessError
from harness_tui.core.redaction import redact

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")
_NOT_LOCAL: Final = ("base_url", "api_key", "headers")


def check_provider(
    keys: Keys, kind: str, values: dict[str, Any], where: str, place_of: Callable[[Keys, str], str]
) -> None:
    """Raise ``HarnessError`` for values that do not go together, or that no request can be made with."""
    if kind not in PROVIDER_KINDS:
        mend = f"say 'kind', one of {', '.join(PROVIDER_KINDS)}, or give it a 'base_url'"
        raise HarnessError(f"it is not known what {keys[-1]!r} is", where=where, mend=mend, code="kind")
    url = values.get("base_url")
    if url:
        _check_base_url(url, place_of((*keys, "base_url"), where))
    elif kind == "openai-compatible" and keys[-1] not in COMPATIBLE_PROVIDERS:
        mend = "write it like http://127.0.0.1:8080/v1"
        raise HarnessError("'base_url' is missing", where=where, mend=mend, code="no-address")
    check_headers(values.get("headers", {}), lambda name: place_of((*keys, "headers", name), where))
    if not _HEADER_VALUE.fullmatch(values.get("api_key") or ""):
        raise HarnessError(
            "the key holds a character that no header can carry",
            where=place_of((*keys, "api_key"), where),
            mend="copy it again, without line ends and quotes",
            code="api-key",
        )
    for name in _NOT_LOCAL if kind == "local" else ():
        if name in values:
            place = place_of((*keys, name), where)
            mend = "take it away; 'path' of each model names its file"
            raise HarnessError(f"{name!r} does not go with kind local", where=place, mend=mend, code="kind")
    for name, item in values.get("models", {}).items():
        place = place_of((*keys, "models", name), where)
        if kind == "local" and "path" not in item:
            mend = "name its GGUF file"
            raise HarnessError(f"the model {name!r} has no 'path'", where=place, mend=mend, code="no-path")
        if kind != "local" and "path" in item:
            raise HarnessError(
                f"the model {name!r} has a 'path', which goes with kind local only",
                where=place,
                mend="say 'kind: local', or take 'path' away",
                code="kind",
            )


def check_url(url: str, where: str) -> None:
    """Raise ``HarnessError`` where ``url`` is no http or https address."""
    try:
        parts = urlsplit(url)
        ok = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # a port that is no number, a broken IPv6 address
        ok = False
    if not ok:
        mend = "write it like http://127.0.0.1:8080/v1"
        shown = redact(url.partition("?")[0])
        raise HarnessError(f"{shown!r} is not an http or https address", where=where, mend=mend, code="url")


def _check_base_url(url: str, where: str) -> None:
    """Check the address of a provider, which paths are appended to: nothing may come after it, and nothing secret in
    it."""
    check_url(url, where)
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        message = "the address holds a user name, a query or a fragment, which cannot be sent"
        mend = "write the address alone; a key goes into 'api_key', anything else into 'headers'"
        raise HarnessError(message, where=where, mend=mend, code="url")


def check_headers(headers: dict[str, str], place: Callable[[str], str]) -> None:
    """Raise ``HarnessError`` at the ``place`` of the first header that cannot be sent."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            mend = "letters, digits and '-' make one"
            raise HarnessError(f"{name!r} is no name of a header", where=place(name), mend=mend, code="header")
        if not _HEADER_VALUE.fullmatch(value):
            mend = "write it in ASCII, on one line"
            message = f"the header {name!r} holds a character that no header can carry"
            raise HarnessError(message, where=place(name), mend=mend, code="header")
