"""What one layer of rules says of one check."""

from __future__ import annotations

from collections.abc import Sequence

from harness_tui.config.settings import RuleLayer
from harness_tui.core.seams import Check, LayerResult
from harness_tui.core.values import Action, Rule
from harness_tui.permissions import bash
from harness_tui.permissions.matching import Matcher
from harness_tui.permissions.modes import rule_text
from harness_tui.permissions.protected import names_protected

STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}
"""Which of two actions holds back more."""


def layer_result(layer: RuleLayer, check: Check, matcher: Matcher) -> LayerResult | None:
    """Return the layer's result: its last matching rule; ``None`` when no rule has a say.

    An allow that does not name a protected part has no say. A command is tried whole and in pieces, each piece with its
    own last matching rule, and the strictest of them is the result, so that a rule that holds back is not talked round.
    """
    found = _last(layer.rules, check, matcher)
    if check.permission == "bash":
        for piece in bash.parts(check.value):
            rule = _last(layer.rules, Check("bash", piece), matcher)
            if rule is not None and rule.action != "allow" and _stricter(rule, found):
                found = rule
    if found is None:
        return None
    return LayerResult(layer.name, found.action, rule_text(found), found.source or layer.name)


def covers(rule: Rule, check: Check, matcher: Matcher) -> bool:
    """Tell whether an allow rule or approval covers ``check``."""
    if rule.action != "allow" or not matcher.fits(rule, check):
        return False
    return check.permission not in ("read", "edit") or names_protected(matcher, rule, check)


def holds_back_commands(layers: Sequence[RuleLayer]) -> bool:
    """Tell whether any rule asks about or denies particular commands."""
    return any(
        rule.permission == "bash" and rule.action != "allow" and rule.pattern != "*"
        for layer in layers
        for rule in layer.rules
    )


def _last(rules: Sequence[Rule], check: Check, matcher: Matcher) -> Rule | None:
    for rule in reversed(rules):
        fits = covers(rule, check, matcher) if rule.action == "allow" else matcher.fits(rule, check)
        if fits:
            return rule
    return None


def strictest(actions: Sequence[Action]) -> Action:
    """Return the action that holds back most; ``actions`` is not empty."""
    found = actions[0]
    for action in actions:
        if STRICTNESS[action] > STRICTNESS[found]:
            found = action
    return found


def _stricter(rule: Rule, other: Rule | None) -> bool:
    return other is None or STRICTNESS[rule.action] > STRICTNESS[other.action]
