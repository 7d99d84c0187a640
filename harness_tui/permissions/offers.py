"""What a wider approval would store: literal rules, shown before they are kept, never wider than they look.

Wildcards of a value are escaped. Nothing is offered for a command of several lines, with a here-document, or with a
word that only the shell will know. Each offer is tried before it is made: one that would not cover the call is left
out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal
from urllib.parse import urlsplit

from harness_tui.core.event_parts import Offer, OfferedRule
from harness_tui.core.patterns import escape
from harness_tui.core.seams import Check
from harness_tui.core.values import Rule
from harness_tui.permissions.layers import Subject, covers
from harness_tui.permissions.matching import PATH_PERMISSIONS, Matcher
from harness_tui.permissions.protected import protected_name

ONCE_ONLY: Final = frozenset({"doom_loop"})
"""Permissions that are given once, never kept."""

SCOPES: Final[tuple[Literal["session", "project", "user"], ...]] = ("session", "project", "user")

_COMMAND_CHARS: Final = 500


_RULES: Final = 12
"""An offer of more rules than a person reads is none."""


def offers_for(asked: Sequence[Subject], matcher: Matcher) -> tuple[Offer, ...]:
    """Return the wider approvals of a call of which ``asked`` is asked.

    For each scope, session first, the narrow offer comes before a wider one (a file before its folder, a command before
    its program), and the mode that would allow all of ``asked`` is the last of the session. Each covers all of
    ``asked``; where a check cannot be covered by a sound rule there is no offer.
    """
    if not asked or any(subject.check.permission in ONCE_ONLY for subject in asked):
        return ()
    # The same command twice is offered once.
    asked = list({id(subject.command or subject.check): subject for subject in asked}.values())
    narrow = [_narrow(subject, matcher) for subject in asked]
    wide = [_wide(subject, matcher) or pattern for subject, pattern in zip(asked, narrow, strict=True)]
    offers: list[Offer] = []
    for scope in SCOPES:
        seen: set[tuple[OfferedRule, ...]] = set()
        for patterns in (narrow, wide):
            rules = _rules(asked, patterns, matcher)
            if rules and rules not in seen:
                seen.add(rules)
                offers.append(Offer(scope, rules))
        if scope == "session" and all(_is_plain_edit(subject.check, matcher) for subject in asked):
            offers.append(Offer(scope, (), mode="accept-edits"))
    return tuple(offers)


def _is_plain_edit(check: Check, matcher: Matcher) -> bool:
    """Tell whether the mode accept-edits would allow what is asked."""
    if check.permission != "edit" or matcher.path_value(check.value).relative is None:
        return False
    return protected_name(matcher, check) is None


def _rules(asked: Sequence[Subject], patterns: Sequence[str | None], matcher: Matcher) -> tuple[OfferedRule, ...]:
    rules: dict[tuple[str, str], Rule] = {}
    for subject, pattern in zip(asked, patterns, strict=True):
        if pattern is None:
            return ()
        permission = subject.check.permission
        rules.setdefault((permission, pattern), Rule(permission, pattern, "allow"))
        if len(rules) > _RULES:
            return ()
    for subject, pattern in zip(asked, patterns, strict=True):
        if not covers(rules[subject.check.permission, pattern or ""], subject, matcher):
            return ()
    return tuple(OfferedRule(permission, pattern, "allow") for permission, pattern in rules)


def _narrow(subject: Subject, matcher: Matcher) -> str | None:
    check = subject.check
    value = check.value
    if check.permission == "webfetch":
        return _origin(value)
    if not value:
        return None
    if check.permission in PATH_PERMISSIONS:
        path = matcher.path_value(value)
        # A pattern without a slash would fit a file of that name anywhere.
        return escape(path.relative if path.relative and "/" in path.relative else path.absolute)
    if check.permission == "bash":
        return _command_pattern(subject, matcher)
    return escape(value)


def _command_pattern(subject: Subject, matcher: Matcher) -> str | None:
    """Return the command as a pattern; the whole text where only that says all it does."""
    command = subject.command
    if command is None or not command.lasting:
        return None
    patterns = [escape(text) for text in dict.fromkeys(command.texts()) if len(text) <= _COMMAND_CHARS]
    return next((pattern for pattern in patterns if covers(Rule("bash", pattern, "allow"), subject, matcher)), None)


def _wide(subject: Subject, matcher: Matcher) -> str | None:
    if subject.command is not None:
        return subject.command.offer
    if subject.check.permission not in PATH_PERMISSIONS:
        return None
    path = matcher.path_value(subject.check.value)
    text = path.relative if path.relative and "/" in path.relative else path.absolute
    folder = text.rpartition("/")[0]
    return f"{escape(folder)}/*" if folder else None


def _origin(url: str) -> str | None:
    """Return the pattern of everything at the origin of ``url``, as it is written there."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    prefix = f"{parts.scheme}://{parts.netloc}"
    plain = parts.hostname and not set(parts.netloc) & set("@\\*?")
    if not plain or parts.scheme not in ("http", "https") or port == 0 or not url.startswith(f"{prefix}/"):
        return None
    return f"{prefix}/*"
