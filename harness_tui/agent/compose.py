"""From what a person typed to the message of a run: commands, skills and prompts expanded, mentions attached.

Nothing is sent when an expansion fails: the run is refused, and the error says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from harness_tui.agent.asking import Asker
from harness_tui.agent.parts import AgentParts
from harness_tui.agent.previews import command_parts
from harness_tui.core.event_parts import ArgumentsPreview, CommandPreview, CommandRef, RunError
from harness_tui.core.events import Event, Notice, PermissionResolved
from harness_tui.core.ids import new_id
from harness_tui.core.intents import Submit
from harness_tui.core.messages import UserMessage
from harness_tui.core.paths import is_inside, name_in
from harness_tui.core.record import record
from harness_tui.core.seams import Check, GateCall, Origin
from harness_tui.core.values import AgentDefinition, Rule
from harness_tui.library.expansion import Expansion
from harness_tui.library.mentions import ReadGate


@record
class Composed:
    """A message ready to be sent, or the error that stops it."""

    message: UserMessage
    command: CommandRef | None = None
    agent: str | None = None
    model: str | None = None
    grants: tuple[Rule, ...] = ()
    subtask: bool = False
    error: RunError | None = None


class Composer:
    """Expands for one run of one session."""

    def __init__(
        self,
        parts: AgentParts,
        publish: Callable[[Event], None],
        asker: Asker,
        *,
        session: str,
        run: str,
        agent: AgentDefinition,
        mode: str,
    ) -> None:
        self._parts = parts
        self._publish = publish
        self._asker = asker
        self._session = session
        self._run = run
        self._agent = agent
        self._mode = mode

    async def compose(self, submit: Submit) -> Composed:
        """Return the message of ``submit``. Never raises for what the person typed."""
        text = submit.text
        attachments = submit.attachments or ()
        if text.startswith("//"):
            text = text[1:]
        elif text.startswith("/"):
            return await self._expand(text, submit)
        more, warnings = await self._parts.library.attach_mentions(text, read_gate=self._read_gate("person"))
        for warning in warnings:
            self._publish(Notice("warning", "mention", warning))
        return Composed(UserMessage(text, (*attachments, *more)))

    async def _expand(self, line: str, submit: Submit) -> Composed:
        library, parts = self._parts.library, self._parts
        expansion: Expansion = await library.expand(
            line,
            agents=parts.settings.agents,
            models=parts.models.known,
            spawner=parts.spawner,
            shell_gate=self._shell_gate,
            read_gate=self._read_gate("call"),
            person_gate=self._read_gate("person"),
            prompts=parts.prompts,
            session=self._session,
        )
        for warning in expansion.warnings:
            self._publish(Notice("warning", "commands", warning))
        if expansion.error is not None:
            error = RunError(expansion.error, expansion.error_text or expansion.error)
            return Composed(UserMessage(line), error=error)
        return Composed(
            message=UserMessage(expansion.message, (*(submit.attachments or ()), *expansion.attachments)),
            command=expansion.command,
            agent=expansion.agent,
            model=expansion.model,
            grants=expansion.grants,
            subtask=expansion.subtask,
        )

    async def _shell_gate(self, commands: Sequence[str], words: Sequence[str], grants: Sequence[Rule], /) -> bool:
        """Decide on all shell parts of a template before any of them runs."""
        folder = self._parts.project.root.as_posix()
        checks = tuple(Check("bash", command, folder=folder) for command in commands)
        call = self._gate_call("bash", checks, "call", tuple(grants))
        decision = self._parts.gate.decide(call)
        if decision.action != "ask":
            self._resolved(call, decision.action == "allow", decision.parts[0].rule if decision.parts else None)
            return decision.action == "allow"
        shown = "\n".join(commands)
        if words:
            shown += f"\n# with the arguments: {' '.join(words)}"
        preview = CommandPreview(
            command=shown,
            parts=command_parts(decision),
            workdir=str(self._parts.project.root),
        )
        outcome = await self._asker.permission(call, decision, preview, self._run)
        return outcome.allowed

    def _read_gate(self, origin: Origin) -> ReadGate:
        async def decide(path: Path) -> bool:
            return await self._may_read(path, origin)

        return decide

    async def _may_read(self, path: Path, origin: Origin) -> bool:
        root = self._parts.project.root
        name = name_in(path, root)
        checks = [Check("read", name)]
        if not is_inside(path, root):
            checks.append(Check("external_directory", name))
        call = self._gate_call("read", tuple(checks), origin, ())
        decision = self._parts.gate.decide(call)
        if decision.action != "ask":
            return decision.action == "allow"
        preview = ArgumentsPreview({"path": name})
        return (await self._asker.permission(call, decision, preview, self._run)).allowed

    def _gate_call(self, tool: str, checks: tuple[Check, ...], origin: Origin, grants: tuple[Rule, ...]) -> GateCall:
        return GateCall(
            call=new_id("part"),
            tool=tool,
            checks=checks,
            session=self._session,
            agent=self._agent.name,
            mode=self._mode,
            origin=origin,
            grants=grants,
            agent_rules=self._agent.permission,
        )

    def _resolved(self, call: GateCall, allowed: bool, rule: str | None) -> None:
        decision = "allow" if allowed else "deny"
        self._publish(PermissionResolved(call=call.call, decision=decision, scope="rule", rule=rule))
