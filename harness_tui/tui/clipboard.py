"""The escape sequence by which a terminal is asked to put text on the clipboard: OSC 52.

It is the one way that works over SSH. Nothing but what a person copies is ever written so.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final

MOST_BYTES: Final = 100_000
"""Longer texts are cut or dropped by most terminals."""

_SCREEN_CHUNK: Final = 700
"""GNU screen takes no longer strings."""


def osc52(text: str, environ: Mapping[str, str]) -> str:
    """Return the sequence for ``text``, empty for one that is too long. GNU screen is told to pass it on."""
    data = text.encode("utf-8", "replace")
    if len(data) > MOST_BYTES:
        return ""
    sequence = f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"
    if not environ.get("STY"):
        return sequence
    pieces = [sequence[start : start + _SCREEN_CHUNK] for start in range(0, len(sequence), _SCREEN_CHUNK)]
    return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)


def amount(text: str) -> str:
    """Return how much text there is, for people."""
    lines = text.count("\n") + 1
    if lines > 1:
        return f"{lines:,} lines"
    return f"{len(text):,} character{'' if len(text) == 1 else 's'}"
