"""Patterns of paths as ``.gitignore`` writes them, as patterns of ours.

There ``*`` stops at a slash and ``**`` does not; here ``*`` is any text. So some have no equal: a rule that allows is
then not carried over, one that holds back is made a little wider.
"""

from __future__ import annotations

import itertools
import re
from typing import Final

from harness_tui.core.values import Action

_GROUP: Final = re.compile(r"\[[^\]/]*\]")
_BRACES: Final = re.compile(r"\{[^}/]*\}")
_ODD: Final = re.compile(r"[\[\]{}\\!]")


def path_patterns(text: str, action: Action) -> tuple[str, ...]:
    """Return our patterns for ``text``; none when a rule that allows would become wider than it is.

    ``//x`` is absolute, ``~/x`` in the home folder, ``/x`` and ``./x`` in the project, ``x`` at any depth.
    """
    text = text.strip()
    holds = action != "allow"
    if text.startswith("!") or (not holds and _ODD.search(text)):
        return ()
    if holds:
        text = re.sub(r"\\.", "?", _BRACES.sub("*", _GROUP.sub("?", text)), flags=re.DOTALL)
    prefix, body, anchored = _anchor(text)
    if body.startswith("../") or body == "..":
        if not holds:
            return ()
        prefix, body, anchored = "*/", body.replace("../", ""), True
    below = body.endswith("/")
    body = re.sub(r"/{2,}", "/", body).strip("/")
    if body in ("", "**", "*") and not (body == "*" and anchored and not holds):
        return (f"{prefix}*",) if body or anchored else ()
    segments = body.split("/")
    if not anchored and "/" not in body:
        if not holds and "**" in body:
            return ()
        name = body.replace("**", "*")
        return (name, f"{name}/*", f"*/{name}/*") if holds else (name,)
    if not holds and (below or not _exact(segments)):
        return ()
    found = [prefix + pattern for pattern in _spread(segments)]
    if holds:
        found += [f"{pattern}/*" for pattern in found if not pattern.endswith("/*")]
        found += [pattern.removesuffix("/*") for pattern in found if pattern.endswith("/*")]
    return tuple(dict.fromkeys(pattern for pattern in found if pattern not in ("", "~", "*/")))


def _anchor(text: str) -> tuple[str, str, bool]:
    """Return what our pattern begins with, the rest, and whether the rest begins there."""
    for sign, prefix in (("//", "/"), ("~/", "~/"), ("./", ""), ("/", "")):
        if text.startswith(sign):
            return prefix, text.removeprefix(sign), True
    return "", text, "/" in text.rstrip("/")


def _exact(segments: list[str]) -> bool:
    """Tell whether every ``*`` and ``?`` stands where it makes no difference that ours also cross a slash."""
    for index, segment in enumerate(segments):
        if segment == "**":
            continue
        rest = segment
        after_any = index > 0 and segments[index - 1] == "**"
        before_any = index + 1 < len(segments) and segments[index + 1] == "**"
        if (after_any and rest.startswith("*")) or (before_any and rest == "*"):
            rest = rest[1:]
        if "*" in rest or "?" in rest:
            return False
    return True


def _spread(segments: list[str]) -> list[str]:
    """Return the patterns for ``**``, which is any number of folders, none included."""
    *inner, last = segments
    choices: list[tuple[str, ...]] = [("", "*/") if segment == "**" else (f"{segment}/",) for segment in inner]
    choices = choices[:12]  # more of them are no pattern that anybody wrote on purpose
    end = "*" if last == "**" else last
    return ["".join(parts) + end for parts in itertools.product(*choices)]
