"""``harness permissions``: the rules that count here, why a call is decided as it is, and revoking approvals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from harness_tui.cli.common import (
    fail,
    json_argument,
    json_option,
    print_json,
    print_line,
    print_table,
    root_option,
    run_async,
    warn,
    warn_problems,
)
from harness_tui.core.errors import HarnessError, ToolError, UsageError

if TYPE_CHECKING:
    from harness_tui.config.settings import Settings
    from harness_tui.core.seams import Check, Tool, ToolContext
    from harness_tui.core.values import AgentDefinition
    from harness_tui.permissions.approvals import Approvals
    from harness_tui.workspace.workspace import Workspace

_VALUES: Final[Mapping[str, str]] = {
    "doom_loop": "tool",
    "external_directory": "path",
    "sampling": "server",
    "skill": "name",
    "task": "agent",
    "webfetch": "url",
}
"""Permissions that are explained by their own name where no tool has it: the argument that is their value."""

_PATH_TOOLS: Final[Mapping[str, Literal["read", "edit"]]] = {
    "edit": "edit",
    "glob": "read",
    "grep": "read",
    "list": "read",
    "read": "read",
    "write": "edit",
}

_VALUE_CHARS: Final = 500

_agent = click.option("--agent", metavar="A", default=None, help="Decide as for this agent.")
_mode = click.option("--mode", metavar="M", default=None, help="Decide as in this mode.")


@click.group(short_help="List rules and approvals, explain a decision.")
def command() -> None:
    """List rules and approvals, explain a decision, revoke an approval."""


@command.command("list")
@_agent
@_mode
@root_option
@json_option
def list_rules(agent: str | None, mode: str | None, root: Path, as_json: bool) -> int:
    """List every rule and kept approval, in the order in which they are asked."""
    from harness_tui.config.loader import Flags, load
    from harness_tui.config.places import Places
    from harness_tui.config.project import find_project
    from harness_tui.permissions.approvals import Approvals
    from harness_tui.permissions.explain import rule_rows

    project, places = find_project(root), Places.from_environment()
    loaded = load(project, places, Flags(agent=agent, mode=mode))
    warn_problems(loaded.problems)
    definition = loaded.settings.agents.get(loaded.settings.agent)
    rows = rule_rows(
        loaded.settings.rules,
        Approvals(places, project.root, report=_warn),
        agent_rules=definition.permission if definition else (),
        mode=_mode_of(mode, definition, loaded.settings),
    )
    if as_json:
        print_json(rows)
    else:
        print_table(rows, ["permission", "pattern", "action", "layer", "source"])
    return 0


@command.command("explain")
@click.argument("tool")
@click.argument("arguments", metavar="JSON", default="{}")
@_agent
@_mode
@root_option
@json_option
def explain_call(tool: str, arguments: str, agent: str | None, mode: str | None, root: Path, as_json: bool) -> int:
    """Say how a call of TOOL with the arguments JSON would be decided, and by which rule. Nothing is done or asked.

    Where no tool has the name, it may be a permission: webfetch {"url"}, task {"agent"}, doom_loop {"tool"},
    external_directory {"path"}, sampling {"server"}.
    """
    from harness_tui.core.text import cut_end

    explained = run_async(_explain(root, tool, json_argument(arguments), agent, mode))
    if as_json:
        print_json(explained)
        return 0
    print_line(explained["decision"] + (f": {explained['reason']}" if "reason" in explained else ""))
    for part in explained["parts"]:
        value = cut_end(part["value"], _VALUE_CHARS)
        print_line(f"\n{part['permission']} {value}: {part['decision']} by {part['rule']} ({part['source']})")
        for layer in part["layers"]:
            print_line(f"  {layer['layer']}: {layer['decision']} by {layer['rule']} ({layer['source']})")
    return 0


@command.command("revoke")
@click.argument("permission", required=False)
@click.argument("pattern", required=False)
@click.option("--scope", type=click.Choice(["project", "user"]), default=None, help="Only approvals of this scope.")
@click.option("--all", "everything", is_flag=True, help="Every kept approval of this project and of the user.")
@root_option
@json_option
def revoke(
    permission: str | None,
    pattern: str | None,
    scope: Literal["project", "user"] | None,
    everything: bool,
    root: Path,
    as_json: bool,
) -> int:
    """Take back kept approvals: those of PERMISSION with PATTERN as they stand in the list, or all of PERMISSION."""
    if permission is None and not everything:
        fail(UsageError("nothing is named", mend="name a permission and a pattern, or use --all"))
    if permission is not None and everything:
        fail(UsageError("--all goes without a permission", mend="leave one of them out"))
    gone = _approvals(root).revoke(permission, pattern, scope=scope)
    rows = [{"permission": one.rule.permission, "pattern": one.rule.pattern, "scope": one.scope} for one in gone]
    if as_json:
        print_json(rows)
    elif rows:
        print_table(rows, ["permission", "pattern", "scope"])
    if not rows and not everything:
        wanted = " ".join(word for word in (permission, pattern) if word)
        fail(HarnessError("no kept approval fits", where=wanted, mend="see harness permissions list"))
    return 0


def _approvals(root: Path) -> Approvals:
    from harness_tui.config.places import Places
    from harness_tui.config.project import find_project
    from harness_tui.permissions.approvals import Approvals

    return Approvals(Places.from_environment(), find_project(root).root, report=_warn)


def _warn(error: HarnessError) -> None:
    warn(str(error))


def _mode_of(mode: str | None, agent: AgentDefinition | None, settings: Settings) -> str:
    return mode or (agent.start_mode if agent else None) or settings.mode


async def _explain(
    root: Path, name: str, arguments: dict[str, Any], agent: str | None, mode: str | None
) -> dict[str, Any]:
    from harness_tui.cli.opened import opened
    from harness_tui.config.loader import Flags
    from harness_tui.core.seams import GateCall
    from harness_tui.permissions.explain import explain

    async with opened(root, Flags(agent=agent, mode=mode)) as workspace:
        settings = workspace.loaded.settings
        definition = settings.agents.get(settings.agent)
        tool = workspace.parts.tools().get(name)
        call = GateCall(
            call="explain",
            tool=name,
            checks=await _checks(workspace, tool, name, arguments),
            session="explain",
            agent=settings.agent,
            mode=_mode_of(mode, definition, settings),
            origin="call",
            fingerprint=tool.spec.fingerprint if tool else None,
            agent_rules=definition.permission if definition else (),
        )
        return explain(workspace.gate, call)


async def _checks(workspace: Workspace, tool: Tool | None, name: str, arguments: dict[str, Any]) -> tuple[Check, ...]:
    """Return what the gate would decide: what the tool itself says, else what its name and arguments say."""
    from harness_tui.core.seams import Check

    if tool is None:
        key = _VALUES.get(name)
        if key is not None:
            return _value_checks(name, key, arguments, workspace)
        if any(name.startswith(f"{server}_") for server in workspace.loaded.settings.mcp):
            return (Check("mcp", name),)
        known = ", ".join(sorted({*workspace.parts.tools(), *_VALUES}))
        raise UsageError(f"there is no tool {name!r}", mend=f"known are {known}")
    context = _context(workspace)
    try:
        return (await tool.prepare(arguments, context)).checks
    except ToolError as error:
        if name == "webfetch" and error.code == "egress-blocked":
            # The network policy comes after the rules, and has a say of its own; here the rules are explained.
            from harness_tui.egress.urls import read_url

            return (Check(name, str(read_url(arguments["url"]))),)
        command, path = arguments.get("command"), arguments.get("path")
        if name == "bash" and isinstance(command, str) and "workdir" not in arguments:
            # A text that the tool would not run at all is explained too: nothing in it may be allowed.
            return (Check("bash", command, folder=workspace.project.start.as_posix()),)
        if name not in _PATH_TOOLS or not isinstance(path, str):
            raise UsageError(error.what, where=error.where or name, mend=error.mend, code=error.code) from error
        # The file need not exist, nor the text to replace be in it, for the rules to be explained.
        from harness_tui.tools.targets import find_target

        return find_target(name, path, context).checks(_PATH_TOOLS[name])


def _value_checks(permission: str, key: str, arguments: dict[str, Any], workspace: Workspace) -> tuple[Check, ...]:
    from harness_tui.core.paths import resolve
    from harness_tui.core.seams import Check

    value = arguments.get(key)
    if not isinstance(value, str) or not value:
        raise UsageError(f"{key} is missing or no text", where=permission, mend=f'write {{"{key}": "..."}}')
    if permission == "external_directory":
        value = resolve(value, workspace.project.start).as_posix()
    return (Check(permission, value),)


def _context(workspace: Workspace) -> ToolContext:
    from harness_tui.core.seams import ToolContext

    return ToolContext(
        session="explain",
        run=None,
        call="explain",
        agent=workspace.loaded.settings.agent,
        root=workspace.project.root,
        cwd=workspace.project.start,
        session_dir=workspace.places.session_dir("explain"),
        origin="call",
        emit=lambda _: None,
    )
