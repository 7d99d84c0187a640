"""Why a call would be decided as it would be: what a tool says of it, put to the gate without asking anybody."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from harness_tui.core.errors import ToolError, UsageError
from harness_tui.core.paths import resolve
from harness_tui.core.seams import Check, GateCall, Tool, ToolContext
from harness_tui.permissions.explain import explain

if TYPE_CHECKING:
    from harness_tui.workspace.workspace import Workspace

_VALUES: Final[Mapping[str, str]] = {
    "doom_loop": "tool",
    "external_directory": "path",
    "remote_skill": "name",
    "sampling": "server",
    "skill": "name",
    "skill_code": "name",
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

_MAIN_ARGUMENT: Final = {"bash": "command", **dict.fromkeys(_PATH_TOOLS, "path"), **_VALUES}
"""What stands after a tool's name where no JSON does."""


def read_call(text: str) -> tuple[str, dict[str, Any]]:
    """Read ``TOOL {json}``, or ``TOOL value`` for the one argument that matters: a command, a path, a URL, a name.

    Raises ``UsageError``.
    """
    tool, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if not tool:
        raise UsageError("no call is named", mend="write a tool and what it is to do: bash git status")
    if not rest:
        return tool, {}
    if rest.startswith("{"):
        try:
            data = json.loads(rest)
        except (ValueError, RecursionError) as error:
            if tool != "bash":  # a group of commands begins so as well
                raise UsageError(f"the arguments are no JSON: {error}", where=tool) from error
        else:
            if isinstance(data, dict):
                return tool, cast(dict[str, Any], data)
    if (name := _MAIN_ARGUMENT.get(tool)) is None:
        raise UsageError("the arguments are no JSON object", where=tool, mend=f'write {tool} {{"name": "value"}}')
    return tool, {name: rest}


async def explain_call(
    workspace: Workspace, name: str, arguments: dict[str, Any], *, agent: str, mode: str, session: str = "explain"
) -> dict[str, Any]:
    """Return what :func:`harness_tui.permissions.explain.explain` says of a call of the tool ``name`` by hand.

    The approvals of ``session`` count. Raises ``UsageError`` for an unknown tool, or arguments that it cannot use.
    """
    definition = workspace.loaded.settings.agents.get(agent)
    tool = workspace.parts.tools().get(name)
    call = GateCall(
        call="explain",
        tool=name,
        checks=await _checks(workspace, tool, name, arguments),
        session=session,
        agent=agent,
        mode=mode,
        origin="call",
        fingerprint=tool.spec.fingerprint if tool else None,
        agent_rules=definition.permission if definition else (),
    )
    return explain(workspace.gate, call)


async def _checks(workspace: Workspace, tool: Tool | None, name: str, arguments: dict[str, Any]) -> tuple[Check, ...]:
    """Return what the gate would decide: what the tool itself says, else what its name and arguments say."""
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
        if name == "task":  # which agent it goes to decides, what it is told does not
            return _value_checks(name, _VALUES[name], arguments, workspace)
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
    value = arguments.get(key)
    if not isinstance(value, str) or not value:
        raise UsageError(f"{key} is missing or no text", where=permission, mend=f'write {{"{key}": "..."}}')
    if permission == "external_directory":
        value = resolve(value, workspace.project.start).as_posix()
    return (Check(permission, value),)


def _context(workspace: Workspace) -> ToolContext:
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
