"""What a wider approval would store: literal rules, shown before they are kept, never wider than they look.

The pattern language has no escape, so nothing is offered for a value that holds ``*`` or ``?``, and nothing for a
command of several parts or lines. Each offer is tried before it is made: one that would not cover the call is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal
from urllib.parse import urlsplit

from harness_tui.core.events import Offer, OfferedRule
from harness_tui.core.seams import Check
from harness_tui.core.values import Rule
from harness_tui.permissions import bash
from harness_tui.permissions.layers import covers
from harness_tui.permissions.matching import PATH_PERMISSIONS, Matcher, has_wildcard

ONCE_ONLY: Final = frozenset({"doom_loop"})
"""Permissions that are given once, never kept."""

SCOPES: Final[tuple[Literal["session", "project", "user"], ...]] = ("session", "project", "user")

_COMMAND_CHARS: Final = 500


def offers_for(asked: Sequence[Check], matcher: Matcher) -> tuple[Offer, ...]:
    """Return the wider approvals of a call of which ``asked`` is asked.

    For each scope, session first, the narrow offer comes before a wider one (a file before its folder). Each covers all
    of ``asked``; where a check cannot be covered by a sound rule there is no offer.
    """
    if not asked or any(check.permission in ONCE_ONLY for check in asked):
        return ()
    narrow = [_narrow(check, matcher) for check in asked]
    wide = [_wide(check, matcher) or pattern for check, pattern in zip(asked, narrow, strict=True)]
    offers: list[Offer] = []
    for scope in SCOPES:
        seen: set[tuple[OfferedRule, ...]] = set()
        for patterns in (narrow, wide):
            rules = _rules(asked, patterns, matcher)
            if rules and rules not in seen:
                seen.add(rules)
                offers.append(Offer(scope, rules))
    return tuple(offers)


def _rules(asked: Sequence[Check], patterns: Sequence[str | None], matcher: Matcher) -> tuple[OfferedRule, ...]:
    rules: dict[OfferedRule, None] = {}
    for check, pattern in zip(asked, patterns, strict=True):
        if pattern is None or not covers(Rule(check.permission, pattern, "allow"), check, matcher):
            return ()
        rules[OfferedRule(check.permission, pattern, "allow")] = None
    return tuple(rules)


def _narrow(check: Check, matcher: Matcher) -> str | None:
    value = check.value
    if check.permission == "webfetch":
        return _origin(value)
    if not value or has_wildcard(value):
        return None
    if check.permission in PATH_PERMISSIONS:
        path = matcher.path_value(value)
        # A pattern without a slash would fit a file of that name anywhere.
        return path.relative if path.relative and "/" in path.relative else path.absolute
    if check.permission == "bash":
        return value if bash.is_plain(value) and len(value) <= _COMMAND_CHARS else None
    return value


def _wide(check: Check, matcher: Matcher) -> str | None:
    if check.permission not in PATH_PERMISSIONS:
        return None
    path = matcher.path_value(check.value)
    text = path.relative if path.relative and "/" in path.relative else path.absolute
    folder = text.rpartition("/")[0]
    return f"{folder}/*" if folder and not has_wildcard(folder) else None


def _origin(url: str) -> str | None:
    """Return the pattern of everything at the origin of ``url``, as it is written there."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    prefix = f"{parts.scheme}://{parts.netloc}"
    plain = parts.hostname and "@" not in parts.netloc and "\\" not in parts.netloc and not has_wildcard(parts.netloc)
    if not plain or parts.scheme not in ("http", "https") or port == 0 or not url.startswith(f"{prefix}/"):
        return None
    return f"{prefix}/*"
