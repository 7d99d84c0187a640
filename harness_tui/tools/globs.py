"""Path patterns as shells and editors know them, for ``glob`` and for ``include`` of ``grep``.

A pattern comes from a model and is held against every name of a project: no pattern may take more than a moment for
any name. So each piece between two stars is taken where it fits first and never looked for again (an atomic group).
That finds what trying every place would: what a piece leaves over, the star behind it takes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

_TOKEN: Final = re.compile(r"\*\*+|\*|\?|\[!?\]?[^\]/]*\]|\\.|.", re.DOTALL)
_BRACES: Final = re.compile(r"\\.|\[!?\]?[^\]/]*\]|[{},]", re.DOTALL)
_CLASS: Final = re.compile(r"[\\\[\]^&~|]|-(?=-)|(?<=-)-|^-|-$")
"""What a class of characters must not hold as it stands: all that means more in an expression than in a pattern."""
_MOST_CHOICES: Final = 256


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """Return a regular expression that a matching path (with ``/``, relative to the searched folder) fits as a whole.

    ``*`` and ``?`` stay within a name, ``**`` as a whole component crosses folders, ``[a-z]`` and ``{a,b}`` are
    understood. A pattern without ``/`` fits the last component anywhere. Braces that stand for more than 256 patterns
    are taken as they stand.
    """
    pattern = pattern.removeprefix("./")
    anywhere = "/" not in pattern
    pattern = pattern.removeprefix("/")
    choices = _choices(pattern) or [pattern]
    try:
        return re.compile("|".join(_translate(choice, anywhere=anywhere) for choice in choices), re.DOTALL)
    except re.error:  # such as a range that goes backwards
        return re.compile(("(?:.*/)?" if anywhere else "") + re.escape(pattern), re.DOTALL)


def matches_glob(pattern: str, path: str) -> bool:
    """Tell whether the relative ``path`` fits ``pattern``."""
    return compile_glob(pattern).fullmatch(path) is not None


def _choices(pattern: str) -> list[str] | None:
    """Return the patterns without braces that ``pattern`` stands for, ``None`` where they are too many."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        if len(done) + len(waiting) > _MOST_CHOICES:
            return None
        text = waiting.pop()
        group = _first_group(text)
        if group is None:
            done.append(text)
            continue
        start, commas, end = group
        places = [start, *commas, end]
        waiting += [text[:start] + text[low + 1 : high] + text[end + 1 :] for low, high in pairwise(places)]
    return done


def _first_group(text: str) -> tuple[int, list[int], int] | None:
    """Return where the first closed group of braces begins, its own commas, and where it ends."""
    open_at: list[tuple[int, list[int]]] = []
    first: tuple[int, list[int], int] | None = None
    for match in _BRACES.finditer(text):
        if match[0] == "{":
            open_at.append((match.start(), []))
        elif match[0] == "," and open_at:
            open_at[-1][1].append(match.start())
        elif match[0] == "}" and open_at:
            start, commas = open_at.pop()
            if first is None or start < first[0]:
                first = start, commas, match.start()
            if not open_at:
                return first
    return first


def _translate(pattern: str, *, anywhere: bool) -> str:
    """Return the expression for a pattern without braces: runs of components between ``**``, each found first."""
    parts = pattern.split("/")
    runs: list[list[str]] = [[]]
    if anywhere:
        runs.append([])
    for part in parts:
        if part.strip("*") or len(part) < 2:
            runs[-1].append(part)
        elif runs[-1] or len(runs) == 1:
            runs.append([])
    source = "/".join(map(_component, runs[0]))
    for run in runs[1:-1]:
        inner = "/".join(map(_component, run))
        source += f"{_slash(source)}(?>(?:[^/]*/)*?{inner}(?=/))"
    if len(runs) == 1:
        return source
    last = "/".join(map(_component, runs[-1]))
    return f"{source}{_slash(source)}" + (f"(?:[^/]*/)*?{last}" if runs[-1] else ".+" if source else ".*")


def _slash(source: str) -> str:
    return "/" if source else ""


def _component(part: str) -> str:
    """Return the expression for one name."""
    pieces: list[str] = [""]
    for token in _TOKEN.findall(part):
        if token.startswith("*"):
            pieces.append("")
        else:
            pieces[-1] += _one(token)
    first, *rest = pieces
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece) + f"[^/]*{last}"


def _one(token: str) -> str:
    """Return the expression for one token that is no star."""
    if token == "?":
        return "[^/]"
    if len(token) > 2 and token.startswith("["):
        inner = token[1:-1]
        negated = inner[0] in "!^"
        return f"[{'^/' if negated else ''}{_CLASS.sub(_escaped, inner[1:] if negated else inner)}]"
    if len(token) == 2 and token.startswith("\\"):
        return re.escape(token[1])
    return re.escape(token)


def _escaped(match: re.Match[str]) -> str:
    return "\\" + match[0]
