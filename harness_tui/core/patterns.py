"""The one pattern language of rules, approvals and scripted answers."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    body = pattern[:-2] if pattern.endswith(" *") else pattern
    parts = {"*": ".*", "?": "."}
    source = "".join(parts.get(character) or re.escape(character) for character in body)
    if body is not pattern:
        source += "(?: .*)?"
    return re.compile(source, re.DOTALL)


def matches(pattern: str, value: str) -> bool:
    """Tell whether the whole of ``value`` fits ``pattern``.

    ``*`` is any text, none and ``/`` included, ``?`` is one character, everything else stands for
    itself. A pattern that ends in blank and ``*`` also fits a value with nothing more:
    ``git status *`` fits ``git status`` and ``git status -s``, never ``git statusx``.
    """
    return _compiled(pattern).fullmatch(value) is not None


def literal_text(pattern: str) -> str:
    """Return the characters of ``pattern`` that stand for themselves."""
    return pattern.replace("*", "").replace("?", "")
