"""Whether a call may run: the gate's decision, a person's answer where it asks, and the record of both."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from harness_tui.agent.asking import LookAgain, Outcome
from harness_tui.agent.doom_loop import RepeatGuard
from harness_tui.agent.hooks import Hooks
from harness_tui.agent.skill_folders import folder_grants
from harness_tui.agent.state import SessionState
from harness_tui.agent.told import definition_text
from harness_tui.core.events import PermissionResolved
from harness_tui.core.messages import ToolCall
from harness_tui.core.record import record
from harness_tui.core.seams import Check, GateCall, GateDecision, Origin, PreparedCall, Tool
from harness_tui.core.values import Action, AgentDefinition, Rule

_RUNS_CODE: Final = frozenset({"bash"})
"""Permissions of calls that run code on this machine."""
_STRICTNESS: Final[dict[Action, int]] = {"allow": 0, "ask": 1, "deny": 2}


@record
class Admission:
    """How the gate left a call. ``refusal`` is what the model is told where it may not run.

    ``shown``: a person decided on its preview. ``ends_run``: they said no without a note.
    """

    refusal: str | None = None
    shown: bool = False
    ends_run: bool = False


class Admitter:
    """Takes the calls of one run of one session through the gate."""

    def __init__(
        self,
        state: SessionState,
        run: str | None,
        agent: AgentDefinition,
        hooks: Hooks,
        *,
        grants: tuple[Rule, ...] = (),
        origin: Origin = "model",
    ) -> None:
        self._state = state
        self._run = run
        self._agent = agent
        self._hooks = hooks
        self._grants = grants
        self._origin: Origin = origin
        self._repeats = RepeatGuard()

    def grant(self, rules: Sequence[Rule]) -> None:
        """Take allow rules for the rest of the run, of a trusted file that was loaded."""
        self._grants = (*self._grants, *(rule for rule in rules if rule not in self._grants))

    async def admit(self, call: ToolCall, tool: Tool, prepared: PreparedCall, look_again: LookAgain) -> Admission:
        """Decide on a prepared call; where there is something to decide, exactly one ``permission_resolved`` tells it.

        Raises what ``look_again`` raises: the call was allowed, and can no longer be what was shown.
        """
        checks = prepared.checks
        if self._origin == "model" and self._repeats.is_repeated(call, polls=prepared.polls):
            checks = (*checks, Check("doom_loop", call.tool))
        checks = (*self._acting(checks), *checks)  # first: whoever is asked is told of the skill before all else
        state = self._state
        agents = (self._agent, *state.above)
        folders = await folder_grants(state.parts, agents, checks, session=state.approvals, mode=state.mode)
        gate_call = self._gate_call(call, tool, checks, folders)
        decision = strictest_of(self._state, gate_call) if checks else None
        if decision is None or decision.action != "deny":
            blocked = await self._before_tool(call, gated=decision is not None)
            if blocked is not None:
                return self._blocked(call, checks, *blocked)
        if decision is None:
            return Admission()
        outcome = await self._resolve(gate_call, decision, prepared, look_again)
        self._audit(call, checks, outcome.allowed, "person" if outcome.by_person else "rule or policy")
        if outcome.allowed:
            return Admission(shown=outcome.by_person)
        ends_run = outcome.by_person and not outcome.note
        return Admission(_refusal_text(decision, outcome), shown=outcome.by_person, ends_run=ends_run)

    def _acting(self, checks: Sequence[Check]) -> list[Check]:
        """Return what a command needs besides, while the model acts on skills of servers: leave to run code for each.

        A subagent acts on what the session above it does: its task may have been written by the skill.
        """
        if self._origin != "model" or all(check.permission not in _RUNS_CODE for check in checks):
            return []
        activations, parent = self._state.parts.library.activations, self._state.parent
        sessions = [self._state.id] if parent is None else [self._state.id, parent.session]
        skills = dict.fromkeys(skill for session in sessions for skill in activations.of_servers(session))
        return [Check("skill_code", skill) for skill in skills]

    async def _before_tool(self, call: ToolCall, *, gated: bool) -> tuple[str, str] | None:
        try:
            return await self._hooks.before_tool(call.tool, call.arguments)
        except asyncio.CancelledError:
            if gated:
                note = "the run was cancelled"
                self._state.publish(
                    PermissionResolved(call=call.call, decision="deny", scope="once", note=note), self._run
                )
            raise

    def _blocked(self, call: ToolCall, checks: tuple[Check, ...], reason: str, rule: str) -> Admission:
        """A hook refuses the call: told as the decision of a rule is."""
        resolved = PermissionResolved(call=call.call, decision="deny", scope="rule", rule=rule, note=reason)
        self._state.publish(resolved, self._run)
        self._audit(call, checks, False, rule)
        return Admission(f"Refused by the {rule}: {reason}")

    def _audit(self, call: ToolCall, checks: tuple[Check, ...], allowed: bool, by: str) -> None:
        self._state.parts.audit.record(
            "permission",
            session=self._state.id,
            run=self._run,
            call=call.call,
            tool=call.tool,
            checks=[[check.permission, check.value] for check in checks],
            decision="allow" if allowed else "deny",
            by=by,
        )

    def _gate_call(self, call: ToolCall, tool: Tool, checks: tuple[Check, ...], folders: tuple[Rule, ...]) -> GateCall:
        return GateCall(
            call=call.call,
            tool=call.tool,
            checks=checks,
            session=self._state.approvals,
            agent=self._agent.name,
            mode=self._state.mode,
            origin=self._origin,
            fingerprint=tool.spec.fingerprint,
            definition=definition_text(tool.spec),
            grants=(*self._grants, *folders),
            agent_rules=self._agent.permission,
        )

    async def _resolve(
        self, call: GateCall, decision: GateDecision, prepared: PreparedCall, look_again: LookAgain
    ) -> Outcome:
        if decision.action == "ask":
            asker = self._state.asker
            return await asker.permission(
                call, decision, prepared.preview, self._run, look_again=look_again, proposal=prepared.proposal
            )
        allowed = decision.action == "allow"
        part = next((part for part in decision.parts if part.decision == decision.action), None)
        rule = f"{part.rule} ({part.source})" if part is not None else None
        resolved = PermissionResolved(
            call=call.call, decision="allow" if allowed else "deny", scope=decision.scope, rule=rule
        )
        self._state.publish(resolved, self._run)
        return Outcome(allowed)


def strictest_of(state: SessionState, call: GateCall) -> GateDecision:
    """Return the strictest of what the agent of ``call`` and those above it may do; on a tie the agent's own."""
    decision = state.parts.gate.decide(call)
    for agent in state.above:
        as_that = replace(call, agent=agent.name, agent_rules=agent.permission)
        other = state.parts.gate.decide(as_that)
        if _STRICTNESS[other.action] > _STRICTNESS[decision.action]:
            decision = other
    return decision


def _refusal_text(decision: GateDecision, outcome: Outcome) -> str:
    denied: list[Any] = [part for part in decision.parts if part.decision == "deny"]
    if denied:
        part = denied[0]
        return f"Refused by the rule {part.rule} ({part.source}): {part.check.permission} {part.check.value}"
    if outcome.by_person:
        return f"The person refused this call: {outcome.note}" if outcome.note else "The person refused this call."
    asked = [part.check for part in decision.parts if part.decision == "ask"]
    shown = ", ".join(f"{check.permission} {check.value}" for check in asked)
    return f"Not permitted: {shown}. No rule allows it and {outcome.note or 'nobody can be asked'}."
