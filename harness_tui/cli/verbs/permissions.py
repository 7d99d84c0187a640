"""``harness permissions``: the rules that count here, why a call is decided as it is, and revoking approvals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

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
from harness_tui.core.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from harness_tui.config.settings import Settings
    from harness_tui.core.values import AgentDefinition
    from harness_tui.permissions.approvals import Approvals

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
    from harness_tui.permissions.explain import explanation_lines

    explained = run_async(_explain(root, tool, json_argument(arguments), agent, mode))
    if as_json:
        print_json(explained)
        return 0
    for line in explanation_lines(explained):
        print_line(line)
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
    from harness_tui.workspace.explaining import explain_call

    async with opened(root, Flags(agent=agent, mode=mode)) as workspace:
        settings = workspace.loaded.settings
        used = _mode_of(mode, settings.agents.get(settings.agent), settings)
        return await explain_call(workspace, name, arguments, agent=settings.agent, mode=used)
