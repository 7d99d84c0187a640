"""What one layer of rules says of one check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_tui.config.settings import RuleLayer
from harness_tui.core.patterns import beginning
from harness_tui.core.record import record
from harness_tui.core.seams import Check, LayerResult
from harness_tui.core.values import Action, Rule
from harness_tui.permissions.matching import Matcher
from harness_tui.permissions.modes import rule_text
from harness_tui.permissions.protected import names_protected

if TYPE_CHECKING:
    from harness_tui.permissions.command import Command

STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}
"""Which of two actions holds back more."""


@record
class Subject:
    """What is decided: a check, with the command that it is about if it is one of a shell text.

    ``held_back``: there are rules that ask about or deny particular commands. ``implied``: it is told only where it is
    not allowed.
    """

    check: Check
    command: Command | None = None
    held_back: bool = False
    implied: bool = False


def layer_result(layer: RuleLayer, subject: Subject, matcher: Matcher) -> LayerResult | None:
    """Return the layer's result: its last matching rule; ``None`` when no rule has a say.

    An allow that does not name a protected part has no say. Of a shell text that is not understood every piece is
    tried, each with its own last matching rule, and the strictest is the result.
    """
    found = _last(layer.rules, subject, matcher)
    if subject.command is not None and subject.command.unread is not None and _may_be_stricter(layer.rules, found):
        for piece in subject.command.forms():
            rule = _last_holding(layer.rules, piece, matcher)
            if rule is not None and rule.action != "allow" and _stricter(rule, found):
                found = rule
    if found is None:
        return None
    return LayerResult(layer.name, found.action, rule_text(found), found.source or layer.name)


def covers(rule: Rule, subject: Subject, matcher: Matcher) -> bool:
    """Tell whether an allow rule or approval covers ``subject``."""
    check = subject.check
    if rule.action != "allow" or rule.permission != check.permission:
        return False
    if subject.command is not None:
        return subject.command.allowed_by(rule.pattern, held_back=subject.held_back)
    if not matcher.fits(rule, check):
        return False
    return check.permission not in ("read", "edit") or names_protected(matcher, rule, check)


def holds_back_commands(layers: Sequence[RuleLayer]) -> bool:
    """Tell whether any rule asks about or denies particular commands."""
    return any(
        rule.permission == "bash" and rule.action != "allow" and rule.pattern != "*"
        for layer in layers
        for rule in layer.rules
    )


def _last(rules: Sequence[Rule], subject: Subject, matcher: Matcher) -> Rule | None:
    for rule in reversed(rules):
        if rule.permission != subject.check.permission:
            continue
        if rule.action == "allow":
            if subject.command is not None and not subject.command.may_begin(beginning(rule.pattern)):
                continue
            fits = covers(rule, subject, matcher)
        elif subject.command is not None:
            fits = subject.command.held_back_by(rule.pattern)
        else:
            fits = matcher.fits(rule, subject.check)
        if fits:
            return rule
    return None


def _last_holding(rules: Sequence[Rule], piece: str, matcher: Matcher) -> Rule | None:
    check = Check("bash", piece)
    return next((rule for rule in reversed(rules) if matcher.fits(rule, check)), None)


def strictest(actions: Sequence[Action]) -> Action:
    """Return the action that holds back most; ``actions`` is not empty."""
    return max(actions, key=STRICTNESS.__getitem__)


def _may_be_stricter(rules: Sequence[Rule], found: Rule | None) -> bool:
    least = STRICTNESS["allow" if found is None else found.action]
    return any(rule.permission == "bash" and STRICTNESS[rule.action] > least for rule in rules)


def _stricter(rule: Rule, other: Rule | None) -> bool:
    return other is None or STRICTNESS[rule.action] > STRICTNESS[other.action]
