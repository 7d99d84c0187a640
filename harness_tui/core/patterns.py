"""The one pattern language of rules, approvals and scripted answers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WILD: Final = re.compile(r"(\\*)([*?])")


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    source = _source(_pieces(pattern))
    if pattern.endswith(" *"):
        source = f"(?:{_source(_pieces(pattern[:-2]))})|(?:{source})"
    return re.compile(source, re.DOTALL)


def _source(pieces: list[tuple[str, bool]]) -> str:
    """Return a regular expression whose time grows with the value alone: each text after a ``*`` is found once."""
    texts = [""]
    for text, wild in pieces:
        if wild and text == "*":
            texts.append("")
        else:
            texts[-1] += "." if wild else re.escape(text)
    first, *rest = texts
    if not rest:
        return first
    return first + "".join(f"(?>.*?{text})" for text in rest[:-1]) + f".*{rest[-1]}"


def _pieces(pattern: str) -> list[tuple[str, bool]]:
    """Return the pieces of ``pattern`` in order, each with whether it is a wildcard."""
    found: list[tuple[str, bool]] = []
    at = 0
    for match in _WILD.finditer(pattern):
        slashes = len(match[1])
        found.append((pattern[at : match.start()] + "\\" * (slashes // 2), False))
        found.append((match[2], slashes % 2 == 0))
        at = match.end()
    found.append((pattern[at:], False))
    return found


def matches(pattern: str, value: str) -> bool:
    r"""Tell whether the whole of ``value`` fits ``pattern``.

    ``*`` is any text, none and ``/`` included, ``?`` is one character, everything else stands for
    itself. A pattern that ends in blank and ``*`` also fits a value with nothing more:
    ``git status *`` fits ``git status`` and ``git status -s``, never ``git statusx``.
    ``\*`` and ``\?`` are the characters themselves; a backslash before anything else is a backslash.
    """
    return _compiled(pattern).fullmatch(value) is not None


def escape(value: str) -> str:
    """Return the pattern that fits ``value`` and nothing else."""
    return _WILD.sub(lambda match: "\\" * (2 * len(match[1]) + 1) + match[2], value)


@lru_cache(maxsize=4096)
def unescaped(pattern: str) -> str:
    """Return the one text that a pattern without wildcards fits."""
    return "".join(text for text, _ in _pieces(pattern))


@lru_cache(maxsize=4096)
def is_literal(pattern: str) -> bool:
    """Tell whether ``pattern`` fits one text only."""
    return not any(wild for _, wild in _pieces(pattern))


@lru_cache(maxsize=4096)
def literal_text(pattern: str) -> str:
    """Return the characters of ``pattern`` that stand for themselves."""
    return "".join(text for text, wild in _pieces(pattern) if not wild)


@lru_cache(maxsize=4096)
def first_wildcard(pattern: str) -> int:
    """Return where the first wildcard of ``pattern`` stands; its length when there is none."""
    return next((match.end() - 1 for match in _WILD.finditer(pattern) if len(match[1]) % 2 == 0), len(pattern))


@lru_cache(maxsize=4096)
def beginning(pattern: str) -> str:
    """Return what every text that ``pattern`` fits begins with, also one with nothing in the place of `` *``."""
    head = literal_head(pattern)
    return head.removesuffix(" ") if pattern.endswith(" *") else head


@lru_cache(maxsize=4096)
def literal_head(pattern: str) -> str:
    """Return what every text that ``pattern`` fits begins with, as far as its first wildcard."""
    return unescaped(pattern[: first_wildcard(pattern)])
