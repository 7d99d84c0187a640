"""The library for verbs: opened without a workspace, and lines expanded behind the same gate as everywhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import click

from harness_tui.agent.denials import denied_values
from harness_tui.agent.gated_sources import GatedPrompts, GatedResources, MayRead
from harness_tui.agent.parts import AskPolicy
from harness_tui.cli.asking import policy_of
from harness_tui.cli.common import warn_problems
from harness_tui.config.bundled import bundled
from harness_tui.config.loader import Loaded, load
from harness_tui.config.places import Places
from harness_tui.config.project import Project, find_project
from harness_tui.config.settings import Settings
from harness_tui.config.trust import TrustStore
from harness_tui.core.errors import HarnessError, RefusedError
from harness_tui.core.ids import new_id
from harness_tui.core.paths import is_inside, name_in
from harness_tui.core.record import record
from harness_tui.core.remote_skills import RemoteSkill
from harness_tui.core.seams import Check, GateCall, Origin, PermissionGate
from harness_tui.core.text import clean_for_display
from harness_tui.core.values import AgentDefinition, Rule
from harness_tui.library.expansion import Expansion, ReadGate, Surroundings, failed
from harness_tui.library.library import Library
from harness_tui.library.one_file import expand_file
from harness_tui.mcp.manifest import known_skills
from harness_tui.permissions.approvals import Approvals
from harness_tui.permissions.gate import Gate


@record
class Opened:
    """A project with its configuration and its library, read but with nothing started."""

    project: Project
    places: Places
    loaded: Loaded
    library: Library


def open_library(root: Path) -> Opened:
    """Read the library of the project of ``root``; faults in configuration are warned of."""
    places = Places.from_environment()
    project = find_project(root)
    loaded = load(project, places)
    library = Library(
        project,
        places,
        trusted=loaded.trust.usable,
        bundled_commands=bundled("commands"),
        bundled_skills=bundled("skills"),
        covers=partial(TrustStore(places).covers, project),
    )
    library.refresh()
    warn_problems(loaded.problems)
    return Opened(project, places, loaded, library)


def denied_skills(opened: Opened) -> set[str]:
    """Return the names of the skills that a rule denies the configured agent."""
    settings, project = opened.loaded.settings, opened.project
    gate = Gate(settings.rules, Approvals(opened.places, project.root), root=project.root, cwd=project.start)
    agent = settings.agents.get(settings.agent) or AgentDefinition(settings.agent)
    names = [skill.name for skill in (*opened.library.skills(), *server_skills(opened))]
    return denied_values(gate, [agent], "skill", names, session="", mode=settings.mode)


def server_skills(opened: Opened) -> list[RemoteSkill]:
    """Return the skills of MCP servers as these told them last; none is started."""
    settings, places = opened.loaded.settings, opened.places
    return known_skills(settings.mcp, places.manifests, opened.project.root)


def model_known(settings: Settings, name: str, start: Path) -> bool:
    """Tell whether ``name`` is a configured model, or one that a provider offers."""
    provider, _, model = name.partition("/")
    configured = settings.providers.get(provider)
    if configured is not None:
        names = {*configured.models, *(alias for limits in configured.models.values() for alias in limits.aliases)}
        if model in names:
            return True
    from harness_tui.config.places import Places
    from harness_tui.models.registry import ModelRegistry

    places = Places.from_environment()
    return ModelRegistry(settings, project_start=start, environ=os.environ, places=places).known(name)


class VerbGate:
    """Lets the rules decide; what they leave open is asked at the terminal, or answered by a policy."""

    def __init__(
        self, gate: PermissionGate, settings: Settings, root: Path, *, shell: AskPolicy, reads: AskPolicy
    ) -> None:
        self._gate = gate
        self._settings = settings
        self._root = root
        self._policies: dict[str, AskPolicy] = {"bash": shell, "read": reads}
        self.refused = False

    async def shell(self, commands: Sequence[str], words: Sequence[str], grants: Sequence[Rule], /) -> bool:
        """Decide on all shell parts of a template."""
        checks = tuple(Check("bash", command, folder=self._root.as_posix()) for command in commands)
        shown = [f"run: {command}" for command in commands]
        if words:
            shown.append(f"with the arguments: {' '.join(words)}")
        allowed = self._decide("bash", checks, "call", shown, tuple(grants))
        self.refused = self.refused or not allowed
        return allowed

    def reads(self, origin: Origin) -> ReadGate:
        """Return the gate of mentions: those of a template (``call``), or those that a person typed."""

        async def may_read(path: Path) -> bool:
            name = name_in(path, self._root)
            checks = [Check("read", name)]
            if not is_inside(path, self._root):
                checks.append(Check("external_directory", name))
            return self._decide("read", tuple(checks), origin, [f"read: {name}"], ())

        return may_read

    def reads_resources(self, origin: Origin) -> MayRead:
        """Return the gate of mentions that name a resource of a server."""

        async def may_read(server: str, uri: str) -> bool:
            checks = (Check("mcp", f"{server}_read_resource"),)
            return self._decide("read", checks, origin, [f"read the resource: {server}:{uri}"], ())

        return may_read

    def denies_skill(self, name: str) -> bool:
        """Tell whether a rule denies a skill."""
        return self._gate.decide(self._call("skill", (Check("skill", name),), "person", ())).action == "deny"

    def may_fetch(self, server: str) -> bool:
        """Tell whether a prompt of ``server`` may be fetched; what a person types is, unless a rule denies it."""
        checks = (Check("mcp", f"{server}_get_prompt"),)
        return self._gate.decide(self._call("mcp", checks, "person", ())).action == "allow"

    def _call(self, tool: str, checks: tuple[Check, ...], origin: Origin, grants: tuple[Rule, ...]) -> GateCall:
        agent = self._settings.agents.get(self._settings.agent)
        return GateCall(
            call=new_id("part"),
            tool=tool,
            checks=checks,
            session="",
            agent=self._settings.agent,
            mode=self._settings.mode,
            origin=origin,
            grants=grants,
            agent_rules=agent.permission if agent is not None else (),
        )

    def _decide(
        self, tool: str, checks: tuple[Check, ...], origin: Origin, shown: list[str], grants: tuple[Rule, ...]
    ) -> bool:
        action = self._gate.decide(self._call(tool, checks, origin, grants)).action
        if action != "ask":
            return action == "allow"
        policy = self._policies[tool]
        if policy != "person":
            return policy == "allow"
        for line in shown:
            click.echo(clean_for_display(line), err=True)
        return click.confirm("Allow it?", default=False, err=True)


async def expand_by_file(
    file: Path, args_line: str, root: Path, *, shell: Literal["allow", "deny"] | None, seconds: float | None
) -> Expansion:
    """Expand a command file that counts as trusted, with ``root`` as the project. Raises ``UsageError``."""
    places, folder = Places.from_environment(), root.resolve()
    settings = load(Project(folder, folder), places).settings
    gate = Gate(settings.rules, Approvals(places, folder), root=folder, cwd=folder)
    answer: AskPolicy = policy_of({"allow": "allow", "deny": "refuse"}.get(shell or ""))
    asked = VerbGate(gate, settings, folder, shell=answer, reads=policy_of(None))
    return await _expand_file(file, args_line, folder, settings, asked, places, seconds)


async def _expand_file(
    file: Path, args_line: str, root: Path, settings: Settings, asked: VerbGate, places: Places, seconds: float | None
) -> Expansion:
    from harness_tui.children.registry import ChildRegistry

    children = ChildRegistry(places.ledger)
    try:
        around = Surroundings(
            root=root,
            agents=settings.agents,
            models=lambda name: model_known(settings, name, root),
            spawner=children,
            shell_gate=asked.shell,
            read_gate=asked.reads("call"),
            person_gate=asked.reads("person"),
            may_grant=True,
            shell_seconds=seconds,
        )
        return await expand_file(file, args_line, around)
    finally:
        await children.close()


async def expand_line(line: str, root: Path, ask: str | None) -> tuple[Expansion, bool]:
    """Expand ``/name args`` in the workspace of ``root``; also tell whether a permission stopped it."""
    from harness_tui.workspace.workspace import OpenOptions, Workspace

    policy = policy_of(ask)
    workspace = await Workspace.open(root, OpenOptions(policy=policy, start_servers=False))
    try:
        settings = workspace.loaded.settings
        asked = VerbGate(workspace.gate, settings, workspace.project.root, shell=policy, reads=policy)
        prompts = GatedPrompts(workspace.mcp, asked.may_fetch)

        async def expand() -> Expansion:
            return await workspace.library.expand(
                line,
                agents=settings.agents,
                models=workspace.models.known,
                spawner=workspace.children,
                shell_gate=asked.shell,
                read_gate=asked.reads("call"),
                person_gate=asked.reads("person"),
                resources=GatedResources(workspace.mcp.resources, asked.reads_resources("call")),
                person_resources=GatedResources(workspace.mcp.resources, asked.reads_resources("person")),
                prompts=prompts,
                denied=asked.denies_skill,
            )

        expansion = await expand()
        if expansion.error == "unknown-command":
            try:
                if await workspace.mcp.late_prompts(line.split(maxsplit=1)[0].removeprefix("/")):
                    expansion = await expand()
            except RefusedError as problem:
                expansion = failed("untrusted", str(problem))
            except HarnessError as problem:
                expansion = failed("prompt-failed", str(problem))
        return expansion, asked.refused
    finally:
        await workspace.close()


def expansion_json(expansion: Expansion) -> dict[str, Any]:
    """Return the object that ``commands expand --json`` prints; ``message`` is null when there was an error."""
    return {
        "message": expansion.message if expansion.error is None else None,
        "agent": expansion.agent,
        "model": expansion.model,
        "subtask": expansion.subtask,
        "attachments": [item.path or item.uri or "" for item in expansion.attachments],
        "warnings": list(expansion.warnings),
        "error": expansion.error,
    }
