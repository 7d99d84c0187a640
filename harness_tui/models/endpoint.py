"""Where a provider is, and what must be true of it before a request is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, cast
from urllib.parse import urlsplit

from harness_tui.core.errors import UsageError
from harness_tui.core.limits import MODEL_SILENCE_S
from harness_tui.core.record import record
from harness_tui.core.redaction import SECRET_NAMES

_SHORTEST: Final = 4
"""Shorter values of headers (``1``, ``on``) say nothing, and would tear other words apart."""

_SECRET_CHARS: Final = 12
"""Shorter texts of a body that are named like secrets are words of the protocol."""

_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


@record
class Endpoint:
    """Where a provider is, and of which ``kind``. ``key_source`` names the variable or setting of ``api_key``.

    ``timeout`` in seconds is how long the first piece of an answer may take: a local server reads a long prompt for
    minutes. ``silence_timeout`` is how long nothing may come in the middle of an answer. ``stored``: the key is one
    of ``harness auth``, and is fetched before the first request.
    """

    provider: str
    base_url: str
    api_key: str | None = None
    key_source: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout: float = 600.0
    extra_body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    source: str = ""
    kind: str = "openai-compatible"
    connect_timeout: float = 15.0
    silence_timeout: float = MODEL_SILENCE_S
    stored: bool = False

    @property
    def secrets(self) -> tuple[str, ...]:
        """What is a secret wherever it stands: the key, and what is named like a secret in headers and body."""
        values = [value for name, value in self.headers.items() if SECRET_NAMES.search(name)]
        values += _secret_values(self.extra_body)
        return tuple(value for value in (self.api_key or "", *values) if value.strip())

    @property
    def unspoken(self) -> tuple[str, ...]:
        """What no error text repeats though a server may echo it: the secrets, and every other value of a header."""
        values = [value for value in self.headers.values() if len(value.strip()) >= _SHORTEST]
        return tuple(sorted({*self.secrets, *values}, key=len, reverse=True))

    def url(self, path: str) -> str:
        """Return the address of ``path`` (``chat/completions``, ``models``)."""
        return f"{self.base_url.rstrip('/')}/{path}"


def _secret_values(data: Any, name: str = "") -> list[str]:
    """Return each text in ``data`` that is named like a secret, or lies in what is."""
    match data:
        case str():
            is_secret = len(data) >= _SECRET_CHARS and SECRET_NAMES.search(name) is not None
            return [data] if is_secret else []  # a "stop_token" is none
        case Mapping():
            items = cast(Mapping[Any, Any], data).items()
            return [found for key, value in items for found in _secret_values(value, f"{name} {key}")]
        case list():
            return [found for value in cast(list[Any], data) for found in _secret_values(value, name)]
        case _:
            return []


def check_endpoint(endpoint: Endpoint) -> None:
    """Raise ``UsageError`` for an address or a key that no request can be made with."""
    try:
        parts = urlsplit(endpoint.base_url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        good = good and not (parts.query or parts.fragment)  # paths are appended to it
    except ValueError:
        good = False
    if not good:
        raise UsageError(
            f"the base_url of provider {endpoint.provider!r} is no http or https address that paths can follow",
            where=endpoint.source or endpoint.provider,
            mend="write it like http://127.0.0.1:8080/v1",
        )
    for name, value in {"the key": endpoint.api_key or "", **endpoint.headers}.items():
        if not value.isascii() or any(ord(character) < 0x20 and character != "\t" for character in value):
            where = endpoint.key_source if name == "the key" else endpoint.source
            raise UsageError(
                f"{name} of provider {endpoint.provider!r} holds a character that no header can carry",
                where=where or endpoint.provider,
                mend="copy it again, without line ends and quotes",
            )


def is_loopback(url: str) -> bool:
    """Tell whether ``url`` is on this machine: never reached through a proxy."""
    host = (urlsplit(url).hostname or "").lower()
    return host in _LOOPBACK or host.startswith("127.")
