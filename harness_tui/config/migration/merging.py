"""What of another tool's settings goes into one file of ours: what is there already stays, and wins.

New rules stand before those of the file, since the last one that matches decides; among themselves as in their source.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from harness_tui.config.document import Document
from harness_tui.config.edit import Change, RuleInsert, SetValue
from harness_tui.config.migration.findings import Findings, FoundRule, FoundValue, Left
from harness_tui.config.migration.meeting import may_meet
from harness_tui.config.validation import validate_config
from harness_tui.core.values import Rule


@dataclass(slots=True)
class Merge:
    """The changes of one file. ``taken`` says what is carried over (place, what, as what), ``same`` counts what is
    there already, ``conflicts`` what is there otherwise."""

    changes: list[Change] = field(default_factory=list[Change])
    taken: list[Left] = field(default_factory=list[Left])
    same: int = 0
    conflicts: list[Left] = field(default_factory=list[Left])


def merge(values: Any, findings: Findings) -> Merge:
    """Return what has to be done to a file with the parsed ``values`` so that it holds ``findings``."""
    present = cast(dict[str, Any], values) if isinstance(values, dict) else {}
    result = Merge()
    for keys, found in findings.values.items():
        _value(present, keys, found, result)
    _rules(present.get("permission"), ordered(findings), result)
    return result


def keep_valid(findings: Findings) -> None:
    """Take out what would be a fault in a file of ours, each with the reason: one costs its neighbours nothing."""
    for keys, found in list(findings.values.items()):
        reason = None if keys[2:] == ("enabled",) else _fault(_nested(keys, found.value))
        if reason is not None:
            del findings.values[keys]
            findings.leave(found.where, ".".join(keys), reason)
    kept: list[FoundRule] = []
    for rule in findings.rules:
        permission, pattern, action = rule.key
        item = {"permission": permission, "pattern": pattern, "action": action}
        reason = _fault({"permission": [item]})
        if reason is None:
            kept.append(rule)
        else:
            findings.leave(rule.where, rule.was or " ".join(rule.key), reason)
    findings.rules = kept


def _fault(values: dict[str, Any]) -> str | None:
    problems = validate_config(Document(Path("config.yaml"), values)).problems
    return next((problem.message for problem in problems if problem.level == "error"), None)


def _nested(keys: tuple[str, ...], value: Any) -> dict[str, Any]:
    for key in reversed(keys):
        value = {key: value}
    return cast(dict[str, Any], value)


def ordered(findings: Findings) -> list[FoundRule]:
    """Return the rules in the order in which they have to stand, each once, with its rank."""
    rules = findings.rules
    if findings.ordered:
        rules = [replace(rule, place=index) for index, rule in enumerate(rules)]
    last = {rule.key: index for index, rule in enumerate(rules)}  # of two that say the same the later one counts
    kept = [rule for index, rule in enumerate(rules) if last[rule.key] == index]
    return sorted(kept, key=lambda rule: rule.rank)


def _value(present: dict[str, Any], keys: tuple[str, ...], found: FoundValue, result: Merge) -> None:
    label = ".".join(keys)
    old: Any = present
    for key in keys:
        old = cast(dict[str, Any], old).get(key) if isinstance(old, dict) else None
    if old == found.value:
        result.same += 1
    elif old is not None:
        result.conflicts.append(Left(found.where, label, "it is configured otherwise already: that stays"))
    else:
        result.changes.append(SetValue(keys, found.value))
        result.taken.append(Left(found.where, label, _shown(found.value)))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        entry = cast(dict[str, Any], value)
        command = entry.get("command")
        return " ".join(map(str, command)) if isinstance(command, list) else str(entry.get("url", ", ".join(entry)))
    return str(value)


def _rules(present: Any, wanted: list[FoundRule], result: Merge) -> None:
    old = [_key(item) for item in cast(list[Any], present)] if isinstance(present, list) else []
    ranks = {rule.key: rule.rank for rule in wanted}
    standing: list[tuple[str, str, str]] = list(old)
    for rule in wanted:
        if rule.key in old:
            result.same += 1
            continue
        before = [index for index, key in enumerate(standing) if key in ranks and ranks[key] <= rule.rank]
        index = before[-1] + 1 if before else 0
        standing.insert(index, rule.key)
        result.changes.append(RuleInsert(index, Rule(*rule.key)))
        result.taken.append(Left(rule.where, rule.was or "rule", " ".join(rule.key)))
        against = _against(rule, (key for key in standing[index + 1 :] if key in old and key not in ranks))
        if against is not None:
            why = f"the rule '{' '.join(against)}' of that file goes before it where both fit"
            result.conflicts.append(Left(rule.where, " ".join(rule.key), why))


def _against(rule: FoundRule, later: Iterable[tuple[str, str, str]]) -> tuple[str, str, str] | None:
    """Return a later rule that decides otherwise on something that ``rule`` fits."""
    for permission, pattern, action in later:
        same = permission in (rule.permission, "*") or rule.permission == "*"
        if same and action != rule.action and may_meet(pattern, rule.pattern):
            return permission, pattern, action
    return None


def _key(item: Any) -> tuple[str, str, str]:
    rule = cast(dict[str, Any], item) if isinstance(item, dict) else {}
    return str(rule.get("permission")), str(rule.get("pattern", "*")), str(rule.get("action"))
