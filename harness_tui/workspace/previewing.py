"""What a line such as ``/review src`` would send, while it is still being typed: nothing runs, nobody is asked.

It takes the very way that a sent line takes; in the place of what runs, asks or fetches stand notes of what would.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from harness_tui.agent.denials import denied_values
from harness_tui.core.messages import Attachment
from harness_tui.core.paths import is_inside, name_in
from harness_tui.core.record import record
from harness_tui.core.resources import ReadableResources, ReadResource
from harness_tui.core.seams import (
    Check,
    GateCall,
    GateDecision,
    Origin,
    PermissionGate,
    PromptMessage,
    PromptSpec,
)
from harness_tui.core.text import clean_for_display
from harness_tui.core.values import Action, AgentDefinition, Rule
from harness_tui.library.prompts import PREFIX

if TYPE_CHECKING:
    from harness_tui.library.expansion import Expansion
    from harness_tui.workspace.workspace import Workspace

SHOWN_CHARS: Final = 300_000
"""As much of the message is handed on; a front end shows less."""

Kind: TypeAlias = Literal["command", "skill", "prompt", "message"]


@record
class ShellPreview:
    """A shell part as its author wrote it, and what the gate says of it now; ``reason`` names the rule."""

    command: str
    decision: Action
    reason: str


@record
class AttachmentPreview:
    """Something that would be attached. ``note`` says what is odd about it: cut, or asked for first."""

    name: str
    kind: str
    bytes: int
    note: str = ""


@record
class Preview:
    """What would be sent. ``agent`` and ``model`` are set where they are others than the session's.

    ``words`` are the arguments that shell parts get; ``error`` is a code, with ``error_text`` as its sentence.
    """

    kind: Kind
    name: str = ""
    source: str = ""
    message: str = ""
    agent: str | None = None
    model: str | None = None
    subtask: bool = False
    attachments: tuple[AttachmentPreview, ...] = ()
    shell: tuple[ShellPreview, ...] = ()
    words: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str | None = None
    error_text: str | None = None


async def preview_line(
    workspace: Workspace, line: str, prompts: Unfetched, *, session: str, agent: str, mode: str
) -> Preview:
    """Return what ``line`` would send in ``session``. Never raises for what was typed, or for what a file says.

    Touches nothing that belongs to the workspace's loop, so that it can run on another one.
    """
    agents = workspace.loaded.settings.agents
    gate = _Rehearsal(workspace.gate, workspace.project.root, agents.get(agent), session=session, mode=mode)
    expansion = await workspace.library.expand(
        line,
        agents=agents,
        models=workspace.models.known,
        shell_gate=gate.shell,
        read_gate=gate.template_read,
        person_gate=gate.person_read,
        resources=Unread(workspace.mcp.resources),
        prompts=prompts,
        session=session,
        stand_in=_output_of,
        denied=gate.denies_skill,
    )
    return _preview(expansion, gate, agents)


def _preview(expansion: Expansion, gate: _Rehearsal, agents: Mapping[str, AgentDefinition]) -> Preview:
    command = expansion.command
    chosen = agents.get(expansion.agent) if expansion.agent else None
    attachments = [
        AttachmentPreview(
            item.path or item.uri or item.kind,
            item.kind,
            item.bytes,
            "cut" if item.truncated else "read when it is sent" if item.kind == "resource" and not item.content else "",
        )
        for item in expansion.attachments
    ]
    attachments += [AttachmentPreview(name, "file", 0, "asks first") for name in gate.asked.values()]
    refused = [f"reading {clean_for_display(str(path), one_line=True)} is not allowed" for path in gate.asked]
    return Preview(
        kind=_kind(expansion),
        name=command.name if command is not None else "",
        source=command.source if command is not None else "",
        message=expansion.message[:SHOWN_CHARS],
        agent=expansion.agent,
        model=expansion.model or (chosen.model if chosen is not None else None),
        subtask=expansion.subtask,
        attachments=tuple(attachments),
        shell=tuple(gate.commands),
        words=gate.words,
        warnings=tuple(text for text in expansion.warnings if not text.endswith(tuple(refused))),
        error=expansion.error,
        error_text=expansion.error_text,
    )


def _kind(expansion: Expansion) -> Kind:
    if expansion.command is None:
        return "message"
    if expansion.command.source.startswith(f"{PREFIX}:"):
        return "prompt"
    return "skill" if expansion.skill is not None else "command"


def _output_of(command: str) -> str:
    return f"[output of: {command.strip()}]"


class _Rehearsal:
    """Asks the gate what it would say, and keeps that; whoever would have to be asked is not."""

    def __init__(
        self, gate: PermissionGate, root: Path, agent: AgentDefinition | None, *, session: str, mode: str
    ) -> None:
        self._gate = gate
        self._root = root
        self._agent = agent
        self._session = session
        self._mode = mode
        self.commands: list[ShellPreview] = []
        self.words: tuple[str, ...] = ()
        self.asked: dict[Path, str] = {}

    def denies_skill(self, name: str) -> bool:
        """Tell whether a rule denies a skill: sent, the line would be refused."""
        agents = (self._agent or AgentDefinition(""),)
        return bool(denied_values(self._gate, agents, "skill", [name], session=self._session, mode=self._mode))

    async def shell(self, commands: Sequence[str], words: Sequence[str], grants: Sequence[Rule], /) -> bool:
        """Note each of ``commands`` with its decision; the expansion goes on, since nothing runs in it."""
        self.words = tuple(words)
        folder = self._root.as_posix()
        for command in commands:
            decision = await self._decide("bash", (Check("bash", command, folder=folder),), "call", tuple(grants))
            self.commands.append(ShellPreview(command, decision.action, _reason(decision)))
        return True

    async def template_read(self, path: Path) -> bool:
        """Decide on a mention that stands in a template."""
        return await self._may_read(path, "call")

    async def person_read(self, path: Path) -> bool:
        """Decide on a mention that was typed."""
        return await self._may_read(path, "person")

    async def _may_read(self, path: Path, origin: Origin) -> bool:
        name = name_in(path, self._root)
        checks = [Check("read", name)]
        if not is_inside(path, self._root):
            checks.append(Check("external_directory", name))
        action = (await self._decide("read", tuple(checks), origin, ())).action
        if action == "ask":
            self.asked[path] = name
        return action == "allow"

    async def _decide(
        self, tool: str, checks: tuple[Check, ...], origin: Origin, grants: tuple[Rule, ...]
    ) -> GateDecision:
        call = GateCall(
            call="preview",
            tool=tool,
            checks=checks,
            session=self._session,
            agent=self._agent.name if self._agent is not None else "",
            mode=self._mode,
            origin=origin,
            grants=grants,
            agent_rules=self._agent.permission if self._agent is not None else (),
        )
        # Reading a shell text takes its time, and what reads it is imported with the first one.
        return await asyncio.to_thread(self._gate.decide, call)


def _reason(decision: GateDecision) -> str:
    same = [part.rule for part in decision.parts if part.decision == decision.action and part.rule]
    return same[0] if same else decision.reason or ""


class Unfetched:
    """A source of prompts that names those of one moment and asks no server for any."""

    def __init__(self, specs: Sequence[PromptSpec]) -> None:
        self._specs = specs

    def prompts(self) -> Sequence[PromptSpec]:
        """Return the prompts of that moment."""
        return self._specs

    async def get_prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> Sequence[PromptMessage]:
        """Say what would be asked for."""
        lines = [f"[the prompt {name} of the server {server}, fetched when it is sent]"]
        lines += [f"{key} = {value}" for key, value in arguments.items()]
        return [PromptMessage("user", "\n".join(lines))]


class Unread:
    """Resources of servers that are named and not read: no server is asked for a preview."""

    def __init__(self, source: ReadableResources) -> None:
        self._source = source

    def resource_named(self, text: str) -> tuple[str, str] | None:
        """Return server and address of ``server:uri``."""
        return self._source.resource_named(text)

    async def read_resource(self, server: str, uri: str, *, images: bool = True) -> ReadResource:
        """Say what would be read."""
        return ReadResource((Attachment("resource", "text/plain", 0, uri=f"{server}:{uri}"),))
