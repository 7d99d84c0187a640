"""What rules deny an agent altogether: skills and agents that it is not even told of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness_tui.core.seams import Check, GateCall, PermissionGate
from harness_tui.core.values import AgentDefinition


def denied_values(
    gate: PermissionGate,
    agents: Iterable[AgentDefinition],
    permission: str,
    values: Sequence[str],
    *,
    session: str,
    mode: str,
) -> set[str]:
    """Return those of ``values`` that a rule denies any of ``agents``: all are decided in one look at the rules."""
    found: set[str] = set()
    if not values:
        return found
    for agent in agents:
        call = GateCall(
            call="catalogue",
            tool=permission,
            checks=tuple(Check(permission, value) for value in values),
            session=session,
            agent=agent.name,
            mode=mode,
            agent_rules=agent.permission,
        )
        found |= {part.check.value for part in gate.decide(call).parts if part.decision == "deny"}
    return found
