"""Keys and tokens that the configuration names: a text, or the path of a file that is read whenever it is needed.

Whoever gives a machine its identity writes such a file anew every hour.
"""

from __future__ import annotations

import asyncio
import base64
import time
from pathlib import Path
from typing import Any, Final

from harness_tui.config.login_keys import is_path
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import KIB
from harness_tui.core.paths import read_regular
from harness_tui.core.redaction import REDACTOR
from harness_tui.mcp.login_errors import LoginError, json_object

_MAX_BYTES: Final = 64 * KIB
_SKEW_S: Final = 60.0


async def secret_text(value: str, key: str) -> str:
    """Return the token that ``value`` is, or that stands in its file. Raises :class:`LoginError` naming ``key``."""
    text = await asyncio.to_thread(_read, value, key)
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise LoginError(f"{key} holds no token", where=_shown(value, key), mend="write the token alone", by_hand=False)
    return text


def private_key(value: str, key: str) -> str:
    """Return the private key in PEM form that ``value`` is, or that stands in its file. Reads: call it in a thread."""
    text = _read(value, key)
    if not text.startswith("-----BEGIN"):
        raise LoginError(
            f"{key} is no key in PEM form", where=_shown(value, key), mend="give the path of a .pem file", by_hand=False
        )
    return text


def _read(value: str, key: str) -> str:
    text = value
    if is_path(value):
        try:
            text = read_regular(Path(value).expanduser(), max_bytes=_MAX_BYTES).decode("ascii", "replace")
        except HarnessError as error:
            raise LoginError(f"{key} cannot be read: {error.what}", where=value, by_hand=False) from error
    text = text.strip()
    REDACTOR.add(text)
    return text


def _shown(value: str, key: str) -> str:
    return value if is_path(value) else key


def claims_of(token: str) -> dict[str, Any]:
    """Return the claims of a JWT without looking at its signature, empty for a token of another form."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        return json_object(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return {}


def must_not_have_ended(token: str, key: str) -> None:
    """Raise :class:`LoginError` for a token whose own words say that it has ended."""
    ends = claims_of(token).get("exp")
    if isinstance(ends, int | float) and ends < time.time() - _SKEW_S:
        ago = (time.time() - ends) / 60
        raise LoginError(f"{key} has ended, {ago:.0f} minutes ago", where=key, mend="get a new one", by_hand=False)
