"""From what a person typed to the message of a run: commands, skills and prompts expanded, mentions attached.

Nothing is sent when an expansion fails: the run is refused, and the error says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from harness_tui.agent.asking import Asker
from harness_tui.agent.denials import denied_values
from harness_tui.agent.gated_sources import GatedPrompts, GatedResources
from harness_tui.agent.parts import AgentParts
from harness_tui.agent.previews import command_parts
from harness_tui.agent.skill_folders import folder_grants
from harness_tui.core.errors import HarnessError, RefusedError
from harness_tui.core.event_parts import ArgumentsPreview, CommandPreview, CommandRef, RunError
from harness_tui.core.events import Event, Notice, PermissionResolved
from harness_tui.core.ids import new_id
from harness_tui.core.intents import Submit
from harness_tui.core.messages import AssistantMessage, Attachment, UserMessage
from harness_tui.core.paths import is_inside, name_in
from harness_tui.core.record import record
from harness_tui.core.seams import Check, GateCall, Origin
from harness_tui.core.values import AgentDefinition, Rule
from harness_tui.library.expansion import Expansion
from harness_tui.library.mentions import ReadGate


@record
class Composed:
    """A message ready to be sent, or the error that stops it. ``turns`` follow it: the rest of a server's prompt."""

    message: UserMessage
    command: CommandRef | None = None
    agent: str | None = None
    model: str | None = None
    grants: tuple[Rule, ...] = ()
    turns: tuple[UserMessage | AssistantMessage, ...] = ()
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
        return Composed(await self.plain(text, attachments, submit.piped))

    async def plain(self, text: str, attachments: Sequence[Attachment], piped: str | None = None) -> UserMessage:
        """Return a message that is no command, with what it mentions attached, and data below it."""
        more, warnings = await self._parts.library.attach_mentions(
            text,
            read_gate=self._read_gate("person"),
            resources=self._resources("person"),
            agents=[agent.name for agent in self._parts.settings.agents.values() if agent.mode != "primary"],
        )
        for warning in warnings:
            self._publish(Notice("warning", "mention", warning))
        return _with_data(UserMessage(text, (*attachments, *more)), piped)

    async def _expand(self, line: str, submit: Submit) -> Composed:
        expansion = await self._expansion(line)
        if expansion.error == "unknown-command":
            try:
                if await self._parts.late_prompts(line.split(maxsplit=1)[0].removeprefix("/")):
                    expansion = await self._expansion(line)
            except HarnessError as problem:
                kind = "untrusted" if isinstance(problem, RefusedError) else "prompt-failed"
                return Composed(UserMessage(line), error=RunError(kind, str(problem), problem.mend))
        for warning in expansion.warnings:
            self._publish(Notice("warning", "commands", warning))
        if expansion.error is not None:
            error = RunError(expansion.error, expansion.error_text or expansion.error)
            return Composed(UserMessage(line), error=error)
        first, turns = _messages(line, expansion)
        return Composed(
            message=_with_data(
                replace(first, attachments=(*(submit.attachments or ()), *first.attachments)), submit.piped
            ),
            turns=turns,
            command=expansion.command,
            agent=expansion.agent,
            model=expansion.model,
            grants=expansion.grants,
            subtask=expansion.subtask,
        )

    async def _expansion(self, line: str) -> Expansion:
        parts = self._parts
        return await parts.library.expand(
            line,
            agents=parts.settings.agents,
            models=parts.models.known,
            spawner=parts.spawner,
            shell_gate=self._shell_gate,
            read_gate=self._read_gate("call"),
            person_gate=self._read_gate("person"),
            resources=self._resources("call"),
            person_resources=self._resources("person"),
            prompts=GatedPrompts(parts.prompts, self._may_fetch) if parts.prompts is not None else None,
            session=self._session,
            denied=self._skill_denied,
        )

    def _skill_denied(self, name: str) -> bool:
        agents = (self._agent,)
        return bool(denied_values(self._parts.gate, agents, "skill", [name], session=self._session, mode=self._mode))

    def _may_fetch(self, server: str) -> bool:
        """Tell whether a prompt of ``server`` may be fetched: what a person types is, unless a rule denies it."""
        call = self._gate_call("mcp", (Check("mcp", f"{server}_get_prompt"),), "person", ())
        return self._parts.gate.decide(call).action == "allow"

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

    def _resources(self, origin: Origin) -> GatedResources | None:
        """Return the resources of servers as ``origin`` may read them."""
        source = self._parts.resources

        async def decide(server: str, uri: str) -> bool:
            call = self._gate_call("mcp", (Check("mcp", f"{server}_read_resource"),), origin, ())
            decision = self._parts.gate.decide(call)
            if decision.action != "ask":
                return decision.action == "allow"
            preview = ArgumentsPreview({"server": server, "uri": uri})
            return (await self._asker.permission(call, decision, preview, self._run)).allowed

        return GatedResources(source, decide) if source is not None else None

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
        folders = await folder_grants(self._parts, (self._agent,), checks, session=self._session, mode=self._mode)
        call = self._gate_call("read", tuple(checks), origin, folders)
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


def _with_data(message: UserMessage, piped: str | None) -> UserMessage:
    return replace(message, text=f"{message.text}\n\n{piped}") if piped else message


def _messages(line: str, expansion: Expansion) -> tuple[UserMessage, tuple[UserMessage | AssistantMessage, ...]]:
    """Return the message, and what follows it where a server's prompt has several, each in its role.

    A conversation begins and ends with the person: where the server's does not, their line or a word of ours is put.
    An assistant's messages hold no attachments, so that these go to the message after.
    """
    turns = expansion.turns
    if not turns:
        return UserMessage(expansion.message, expansion.attachments), ()
    if turns[0].role == "user":
        first, turns = UserMessage(turns[0].text, turns[0].attachments), turns[1:]
    else:
        first = UserMessage(line)
    found: list[UserMessage | AssistantMessage] = []
    waiting: tuple[Attachment, ...] = ()
    for turn in turns:
        if turn.role == "assistant":
            found.append(AssistantMessage(turn.text))
            waiting = (*waiting, *turn.attachments)
        else:
            found.append(UserMessage(turn.text, (*waiting, *turn.attachments)))
            waiting = ()
    if turns[-1].role == "assistant":
        found.append(UserMessage("Go on from there.", waiting))
    return first, tuple(found)
