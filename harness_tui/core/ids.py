"""Identifiers: short, sortable by time, safe in file names and URLs."""

from __future__ import annotations

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, lower case


def _encode(number: int, width: int) -> str:
    digits: list[str] = []
    for _ in range(width):
        number, rest = divmod(number, 32)
        digits.append(_ALPHABET[rest])
    return "".join(reversed(digits))


def new_id(prefix: str) -> str:
    """Return ``{prefix}_{9 time digits}{8 random digits}``; later ids sort after earlier ones.

    The time part counts milliseconds since 1970, the random part is 40 bits.
    """
    milliseconds = time.time_ns() // 1_000_000
    return f"{prefix}_{_encode(milliseconds, 9)}{_encode(int.from_bytes(os.urandom(5)), 8)}"
