"""Rules and approvals of an open session for people: what counts, from where, and taking it back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from harness_tui.config.settings import RuleLayer
from harness_tui.core.record import record
from harness_tui.core.values import Action, Scope
from harness_tui.permissions.explain import explanation_lines
from harness_tui.permissions.modes import mode_rules
from harness_tui.workspace.explaining import explain_call, read_call
from harness_tui.workspace.workspace import Workspace


@record
class RuleRow:
    """One rule; ``source`` is ``file:line``, or says where else it comes from."""

    permission: str
    pattern: str
    action: Action
    layer: str
    source: str


@record
class ApprovalRow:
    """One approval; ``added`` is RFC 3339 UTC. ``bound``: it holds while the tool is described as it was."""

    scope: Scope
    permission: str
    pattern: str
    added: str
    bound: bool


@record
class PermissionRows:
    """Rules in the order in which they are asked, approvals newest first, and what is wrong with their file."""

    agent: str
    mode: str
    rules: tuple[RuleRow, ...]
    approvals: tuple[ApprovalRow, ...]
    problems: tuple[str, ...]


class SessionPermissions:
    """What the gate goes by in one session. ``agent`` and ``mode`` are those of now."""

    def __init__(self, workspace: Workspace, *, session: str, agent: str, mode: str) -> None:
        self._workspace = workspace
        self._session = session
        self._agent = agent
        self._mode = mode

    async def rows(self) -> PermissionRows:
        """Return everything that counts."""
        workspace, approvals = self._workspace, self._workspace.approvals
        definition = workspace.loaded.settings.agents.get(self._agent)
        layers: Sequence[RuleLayer] = (
            *workspace.gate.layers,
            RuleLayer("agent", definition.permission if definition else ()),
            RuleLayer("mode", mode_rules(self._mode)),
        )
        rules = tuple(
            RuleRow(rule.permission, rule.pattern, rule.action, layer.name, rule.source or layer.name)
            for layer in layers
            for rule in layer.rules
        )
        kept = await asyncio.to_thread(approvals.list, session=self._session)
        rows = tuple(
            ApprovalRow(one.scope, one.rule.permission, one.rule.pattern, one.added, one.fingerprint is not None)
            for one in kept
        )
        problems = await asyncio.to_thread(approvals.problems)
        return PermissionRows(self._agent, self._mode, rules, rows, tuple(str(problem) for problem in problems))

    async def revoke(self, scope: Scope, permission: str, pattern: str) -> int:
        """Take an approval back; return how many there were. Raises ``HarnessError`` when it cannot be written."""
        gone = await asyncio.to_thread(self._workspace.approvals.revoke, permission, pattern, scope=scope)
        return len(gone)

    async def explain(self, text: str) -> Sequence[str]:
        """Return as lines why the call ``text`` (``TOOL {json}`` or ``TOOL value``) is decided as it is.

        Raises ``UsageError``.
        """
        tool, arguments = read_call(text)
        explained = await explain_call(
            self._workspace, tool, arguments, agent=self._agent, mode=self._mode, session=self._session
        )
        return explanation_lines(explained)
