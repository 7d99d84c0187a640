"""Secrets never reach a log, an event or a session file.

Two kinds are taken out: exact values that were registered (configured keys, tokens, header values), and shapes of
well-known credentials. Sinks call :func:`redact`; nobody else has to think of it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Any, Final, cast

from harness_tui.core.late_pattern import late_pattern

MARK: Final = "[redacted]"
_SHORTEST: Final = 8

_SHAPES: Final = late_pattern(
    r"sk-[A-Za-z0-9_-]{16,}"
    r"|AIza[A-Za-z0-9_-]{30,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"
    r"|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}"
    r"|A(?:KIA|SIA)[A-Z0-9]{16}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
)
_BEARER: Final = late_pattern(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
# Each of these begins with what is rare, or takes a run of characters as a whole: a pattern that may begin at every
# word and runs on to the end of a long line takes half a minute for one tool result.
_JWT: Final = late_pattern(r"eyJ[A-Za-z0-9_-]{10,}+(\.[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+)?")
_USERINFO: Final = late_pattern(r"(?<=[A-Za-z0-9+.-])://[^/\s:@]+:[^/\s@]+@")

_BEGINNINGS: Final = (
    *(
        b"sk-",
        b"AIza",
        b"ghp_",
        b"gho_",
        b"ghu_",
        b"ghs_",
        b"ghr_",
        b"github_pat_",
        b"glpat-",
        b"xox",
        b"AKIA",
        b"ASIA",
    ),
    *(b"PRIVATE KEY", b"eyJ"),
)
_WORDS: Final = (b"bearer", b"basic")

SECRET_NAMES: Final = late_pattern(
    r"(?i)(api[_-]?key|token|secret|passw(or)?d|credential|private[_-]?key|authorization|cookie)"
)
"""Names of variables, headers and fields whose values are secrets."""


class Redactor:
    """Replaces registered values and well-known shapes. Safe to use from several threads."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._lock = threading.Lock()
        self._pattern: re.Pattern[str] | None = None

    def add(self, value: str) -> None:
        """Register a secret. Values under eight characters are left alone: they would tear other text apart."""
        if len(value) < _SHORTEST:
            return
        with self._lock:
            self._values.add(value)
            longest_first = sorted(self._values, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def text(self, text: str) -> str:
        """Return ``text`` without secrets."""
        if self._pattern is not None:
            text = self._pattern.sub(MARK, text)
        text = _SHAPES.sub(MARK, text)
        text = _JWT.sub(lambda match: MARK if match[1] else match[0], text)
        text = _BEARER.sub(lambda match: f"{match[1]} {MARK}", text)
        return _USERINFO.sub(f"://{MARK}@", text)

    def mask(self, data: bytes) -> bytes:
        """Return ``data`` of the same length, with secrets covered: a part of a long output stays where it was.

        Nearly all of an output holds none, and looking for the beginnings of some is a hundred times as quick.
        """
        with self._lock:
            values = sorted((value.encode("utf-8", "replace") for value in self._values), key=len, reverse=True)
        for value in values:
            if value in data:
                data = data.replace(value, _cover(value.decode("latin-1")).encode("latin-1"))
        lower = data.lower()
        has_beginning = any(word in data for word in _BEGINNINGS) or any(word in lower for word in _WORDS)
        if not has_beginning and not (b"://" in data and b"@" in data):
            return data
        text = _SHAPES.sub(lambda match: _cover(match[0]), data.decode("latin-1"))
        text = _JWT.sub(lambda match: _cover(match[0]) if match[1] else match[0], text)
        text = _BEARER.sub(lambda match: f"{match[1]} {_cover(match[0][len(match[1]) + 1 :])}", text)
        return _USERINFO.sub(lambda match: f"://{_cover(match[0][3:-1])}@", text).encode("latin-1")

    def data(self, data: Any) -> Any:
        """Return JSON ``data`` with every text in it redacted."""
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, Mapping):
            return {key: self.data(value) for key, value in cast(Mapping[str, Any], data).items()}
        if isinstance(data, list | tuple):
            return [self.data(item) for item in cast(list[Any], data)]
        return data


def _cover(secret: str) -> str:
    return MARK.ljust(len(secret), "*") if len(secret) >= len(MARK) else "*" * len(secret)


REDACTOR: Final = Redactor()
"""The process-wide redactor: whoever reads a secret registers it here."""


def redact(text: str) -> str:
    """Return ``text`` without known secrets."""
    return REDACTOR.text(text)


def mask(data: bytes) -> bytes:
    """Return ``data`` of the same length with known secrets covered."""
    return REDACTOR.mask(data)


def redact_data(data: Any) -> Any:
    """Return JSON ``data`` without known secrets."""
    return REDACTOR.data(data)
