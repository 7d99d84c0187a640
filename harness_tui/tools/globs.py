"""Path patterns as shells and editors know them, for ``glob`` and for ``include`` of ``grep``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_TOKEN: Final = re.compile(r"\*\*/|/\*\*\Z|\*\*|\*|\?|\[!?\]?[^\]/]*\]|\{|\}|,|\\.|.", re.DOTALL)


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """Return a regular expression that a matching path (with ``/``, relative to the searched folder) fits as a whole.

    ``*`` and ``?`` stay within a name, ``**`` crosses folders, ``[a-z]`` and ``{a,b}`` are understood. A pattern
    without ``/`` fits the last component anywhere.
    """
    pattern = pattern.removeprefix("./")
    prefix = "" if "/" in pattern else "(?:.*/)?"
    pattern = pattern.removeprefix("/")
    depth = 0
    source: list[str] = []
    for token in _TOKEN.findall(pattern):
        if token == "{" and pattern.count("{") == pattern.count("}"):
            depth += 1
            source.append("(?:")
        elif token == "}" and depth:
            depth -= 1
            source.append(")")
        elif token == "," and depth:
            source.append("|")
        else:
            source.append(_translate(token))
    try:
        return re.compile(prefix + "".join(source), re.DOTALL)
    except re.error:
        return re.compile(prefix + re.escape(pattern))


def matches_glob(pattern: str, path: str) -> bool:
    """Tell whether the relative ``path`` fits ``pattern``."""
    return compile_glob(pattern).fullmatch(path) is not None


def _translate(token: str) -> str:
    match token:
        case "**/":
            return "(?:.*/)?"
        case "/**":
            return "/.*"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _ if len(token) > 2 and token.startswith("["):
            inner = token[1:-1].replace("\\", "\\\\")
            if inner.startswith("!"):
                return f"[^/{inner[1:]}]"
            return "[\\" + inner + "]" if inner.startswith("^") else f"[{inner}]"
        case _ if len(token) == 2 and token.startswith("\\"):
            return re.escape(token[1])
        case _:
            return re.escape(token)
