"""What a session's mode adds to the rules: the last layer of the gate."""

from __future__ import annotations

from typing import Final

from harness_tui.core.seams import LayerResult, Origin
from harness_tui.core.values import Action, Rule

MODES: Final = ("ask", "accept-edits", "plan")
"""``ask`` adds nothing; ``accept-edits`` allows edits inside the root; ``plan`` changes nothing on disk."""

PLAN_AGENTS: Final = ("explore",)
"""Agents that a task may go to in ``plan``: those that only read."""


def mode_rules(mode: str) -> tuple[Rule, ...]:
    """Return what ``mode`` adds, for a list of rules. Raises ``ValueError`` for an unknown mode."""
    source = f"mode {mode}"
    match mode:
        case "ask":
            return ()
        case "accept-edits":
            return (Rule("edit", "*", "allow", source),)
        case "plan":
            return (
                Rule("edit", "*", "deny", source),
                Rule("bash", "*", "deny", source),
                Rule("task", "*", "deny", source),
            )
        case _:
            raise ValueError(f"unknown mode {mode!r}, known are {', '.join(MODES)}")


def mode_result(
    mode: str,
    permission: str,
    value: str,
    *,
    so_far: Action | None,
    inside_root: bool,
    protected: bool,
    origin: Origin,
) -> LayerResult | None:
    """Return what ``mode`` says of one check, given the result of the layers below it.

    In ``plan`` a command runs only when an allow rule covers it; what a person typed is not the agent's doing and stays
    with the rules. Raises ``ValueError`` for an unknown mode.
    """
    for rule in mode_rules(mode):
        if rule.permission != permission:
            continue
        match mode, permission:
            case "accept-edits", "edit":
                applies = inside_root and not protected
            case "plan", "bash":
                applies = so_far != "allow" and origin != "person"
            case "plan", "task":
                applies = value not in PLAN_AGENTS
            case _:
                applies = True
        if applies:
            return LayerResult("mode", rule.action, rule_text(rule), rule.source or "mode")
    return None


def rule_text(rule: Rule) -> str:
    """Return a rule as it is written in lists: ``edit src/* allow``."""
    return f"{rule.permission} {rule.pattern} {rule.action}"
