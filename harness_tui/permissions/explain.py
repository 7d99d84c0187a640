"""Why the gate decides as it does, and every rule that has a say: for ``harness permissions`` and ``/permissions``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from harness_tui.config.settings import RuleLayer
from harness_tui.core.seams import GateCall, PartDecision, PermissionGate
from harness_tui.core.text import cut_end
from harness_tui.core.values import Rule
from harness_tui.permissions.approvals import Approvals
from harness_tui.permissions.modes import mode_rules

_VALUE_CHARS: Final = 500


def explain(gate: PermissionGate, call: GateCall) -> dict[str, Any]:
    """Return ``{"decision", "reason"?, "parts": [{"permission", "value", "command"?, "decision", "rule", "layer",
    "source", "layers": [{"layer", "decision", "rule", "source"}]}]}``; nobody is asked and nothing is done."""
    decision = gate.decide(call)
    result: dict[str, Any] = {"decision": decision.action}
    if decision.reason is not None:
        result["reason"] = decision.reason
    result["parts"] = [_part(part) for part in decision.parts]
    return result


def _part(part: PartDecision) -> dict[str, Any]:
    data: dict[str, Any] = {"permission": part.check.permission, "value": part.check.value}
    if part.check.permission == "bash":
        data["command"] = part.check.display or part.check.value
    data |= {"decision": part.decision, "rule": part.rule, "layer": part.layer, "source": part.source}
    data["layers"] = [
        {"layer": result.layer, "decision": result.decision, "rule": result.rule, "source": result.source}
        for result in part.layers
    ]
    return data


def explanation_lines(explained: dict[str, Any]) -> list[str]:
    """Return what :func:`explain` says as lines: the decision, then each part with one line for each layer."""
    lines = [explained["decision"] + (f": {explained['reason']}" if "reason" in explained else "")]
    for part in explained["parts"]:
        value = cut_end(part["value"], _VALUE_CHARS)
        lines += ["", f"{part['permission']} {value}: {part['decision']} by {part['rule']} ({part['source']})"]
        lines += [
            f"  {layer['layer']}: {layer['decision']} by {layer['rule']} ({layer['source']})"
            for layer in part["layers"]
        ]
    return lines


def rule_rows(
    layers: Sequence[RuleLayer],
    approvals: Approvals,
    *,
    agent_rules: Sequence[Rule] = (),
    mode: str = "ask",
    session: str | None = None,
) -> list[dict[str, Any]]:
    """Return ``permission, pattern, action, layer, source`` of every rule and approval, in the order they are asked."""
    groups = [*layers, RuleLayer("agent", tuple(agent_rules)), RuleLayer("mode", mode_rules(mode))]
    rows = [_row(rule, layer.name, rule.source or layer.name) for layer in groups for rule in layer.rules]
    rows += [_row(approval.rule, "approval", approval.source) for approval in approvals.list(session=session)]
    return rows


def _row(rule: Rule, layer: str, source: str) -> dict[str, Any]:
    return {
        "permission": rule.permission,
        "pattern": rule.pattern,
        "action": rule.action,
        "layer": layer,
        "source": source,
    }
