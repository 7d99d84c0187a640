"""Whose settings go into which file of ours, and what may not, because it would mean more there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, Literal, TypeAlias, cast

from harness_tui.config.migration.findings import RANK, Findings, FoundRule, Level
from harness_tui.config.migration.meeting import may_meet
from harness_tui.config.migration.tool_names import HOSTED, safe_tool
from harness_tui.config.own_alone import why_own_alone

Target: TypeAlias = Literal["user", "project"]

_PERSONAL: Final = ("mode", "instructions")


def hold_levels_apart(found: Sequence[Findings]) -> None:
    """Take out rules that a stricter one of an earlier level holds back in the other tool and would not here.

    There any rule that asks goes before one that allows, whoever wrote it. Here the project's rules go before the
    person's where neither denies, and of the project's two files the last rule decides.
    """
    for index, findings in enumerate(found):
        if findings.ordered:
            continue
        kept: list[FoundRule] = []
        for rule in findings.rules:
            held = _held_back(rule, findings.level, found[:index])
            if held is None:
                kept.append(rule)
            else:
                why = f"it is held back by {held.was or ' '.join(held.key)} ({held.where})"
                findings.leave(rule.where, rule.was or " ".join(rule.key), why)
        findings.rules = kept


def _held_back(rule: FoundRule, level: Level, earlier: Iterable[Findings]) -> FoundRule | None:
    for findings in earlier:
        for other in findings.rules:
            # A deny of another layer holds by itself; within the project's layer it would not.
            stricter = RANK[other.action] > RANK[rule.action]
            apart = findings.level == "user" and other.action == "deny"
            if stricter and not apart and other.permission == rule.permission and may_meet(other.pattern, rule.pattern):
                return other
    return None


def keep_at_home(found: Iterable[Findings]) -> None:
    """Take out values that count in the person's own file alone."""
    for findings in found:
        for keys, value in list(findings.values.items()) if findings.level != "user" else ():
            reason = _own_reason(keys, value.value)
            if reason is not None:
                del findings.values[keys]
                findings.leave(value.where, f"{'.'.join(keys)}: {value.value}", f"not read in a project: {reason}")


def _own_reason(keys: tuple[str, ...], value: object) -> str | None:
    if isinstance(value, dict):
        inner = (_own_reason((*keys, str(key)), item) for key, item in cast(dict[str, object], value).items())
        return next((reason for reason in inner if reason is not None), None)
    return why_own_alone(keys, value)


def keep_servers_apart(found: Iterable[Findings], servers: Collection[str]) -> None:
    """Take out rules that allow tools of one server and fit those of another: ``git_*`` and the server ``git_hub``."""
    prefixes = {f"{safe_tool(name)}_*" for name in servers}
    for findings in found:
        kept: list[FoundRule] = []
        for rule in findings.rules:
            fitting = [prefix for prefix in prefixes if may_meet(prefix, rule.pattern)]
            several = rule.permission == "mcp" and rule.action == "allow" and len(fitting) > 1
            if several and not rule.pattern.startswith("*"):
                names = ", ".join(sorted(prefix.removesuffix("_*") for prefix in fitting))
                findings.leave(
                    rule.where, rule.was or " ".join(rule.key), f"it would fit tools of {names}: it is asked"
                )
            else:
                kept.append(rule)
        findings.rules = kept


def keep_known(found: Iterable[Findings], agents: Collection[str], providers: Collection[str]) -> None:
    """Take out models and agents that are named and are not there: with them every run would end before it begins."""
    known = {*providers, *HOSTED}
    for findings in found:
        known |= {keys[1] for keys in findings.values if keys[0] == "providers"}
        there = {*agents, *(agent.name for agent in findings.agents)}
        for keys in (("model",), ("small_model",), ("agent",)):
            value = findings.values.get(keys)
            if value is None:
                continue
            name = str(value.value)
            if keys == ("agent",):
                missing = None if name in there else "there is no such agent here"
            else:
                provider, slash, model = name.partition("/")
                missing = None if slash and model and provider in known else "its provider is not configured here"
            if missing is not None:
                del findings.values[keys]
                findings.leave(value.where, f"{keys[0]}: {name}", missing)


def to_one_file(found: Sequence[Findings], target: Target) -> list[Findings]:
    """Return what goes into one file alone. What is a project's and allows something does not go to the person's."""
    joined = Findings(target, ordered=any(findings.ordered for findings in found))
    for findings in found:
        wider = target == "user" and findings.level != "user"
        for rule in findings.rules:
            if wider and rule.action == "allow":
                joined.leave(rule.where, rule.was or " ".join(rule.key), "it would hold in every project")
            else:
                joined.rules.append(rule)
        for keys, value in findings.values.items():
            if wider and (keys[0] in _PERSONAL or keys[2:] == ("enabled",)):
                joined.leave(value.where, ".".join(keys), "it would hold in every project")
            else:
                joined.values[keys] = value
        joined.agents += findings.agents
        joined.left += findings.left
        joined.notes += findings.notes
        joined.secrets += findings.secrets
        joined.keys |= findings.keys
        joined.read += findings.read
    return [joined]
