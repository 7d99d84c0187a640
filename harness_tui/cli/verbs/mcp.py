"""``harness mcp``: MCP servers, their tools, and calls by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness_tui.cli.common import (
    ask_option,
    json_argument,
    json_option,
    print_json,
    print_line,
    print_table,
    root_option,
    run_async,
    warn,
)
from harness_tui.core.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from harness_tui.workspace.workspace import Workspace


@click.group(short_help="MCP servers: list, tools, call.")
def command() -> None:
    """MCP servers: list them, list their tools, call one."""


@command.command("list")
@click.option("--no-start", is_flag=True, help="Do not start servers; show what is known.")
@root_option
@json_option
def list_servers(no_start: bool, root: Path, as_json: bool) -> int:
    """List the servers with state, protocol, tools, and the reason of a failure."""
    rows = run_async(_servers(root, not no_start))
    if as_json:
        print_json(rows)
    elif not rows:
        print_line("no MCP server is configured; add one under mcp: in .harness/config.yaml")
    else:
        print_table(rows, ["name", "state", "protocol", "tools", "source", "reason"])
        for row in rows:
            if row["state"] == "failed" and row["stderr_tail"]:
                warn(f"{row['name']} wrote to standard error:\n{row['stderr_tail']}")
    return 0


async def _servers(root: Path, start: bool) -> list[dict[str, Any]]:
    from harness_tui.core.codec import encode
    from harness_tui.workspace.workspace import OpenOptions, Workspace

    workspace = await Workspace.open(root, OpenOptions(start_servers=False))
    try:
        if start:
            await workspace.start_servers()
        keys = ("name", "state", "reason", "protocol", "transport", "tools", "tokens", "stderr_tail", "source")
        rows = [encode(status) for status in workspace.mcp.status()]
        return [{key: row.get(key) for key in keys} for row in rows]
    finally:
        await workspace.close()


@command.command("tools")
@click.argument("server", required=False)
@click.option("--no-start", is_flag=True, help="Do not start servers; show what is known.")
@root_option
@json_option
def list_tools(server: str | None, no_start: bool, root: Path, as_json: bool) -> int:
    """List the tools of all servers, or of SERVER."""
    rows = run_async(_tools(root, server, not no_start))
    if as_json:
        print_json(rows)
        return 0
    print_table(rows, ["name", "server", "description"])
    return 0


async def _tools(root: Path, server: str | None, start: bool) -> list[dict[str, Any]]:
    from harness_tui.workspace.workspace import OpenOptions, Workspace

    workspace = await Workspace.open(root, OpenOptions(start_servers=False))
    try:
        if server is not None:
            _require_server(workspace, server)
        if start:
            await workspace.start_servers()
        return [
            {
                "name": tool.spec.name,
                "server": tool.spec.source.server,
                "description": tool.spec.description,
                "parameters": tool.spec.parameters,
            }
            for tool in workspace.mcp.tools()
            if server is None or tool.spec.source.server == server
        ]
    finally:
        await workspace.close()


@command.command("call")
@click.argument("server")
@click.argument("tool")
@click.argument("arguments", metavar="JSON", default="{}")
@ask_option
@root_option
@json_option
def call_tool(server: str, tool: str, arguments: str, ask: str | None, root: Path, as_json: bool) -> int:
    """Call TOOL of SERVER, through the same gate as the agent's calls."""
    from harness_tui.cli.by_hand import call_by_hand, print_finished

    async def name_of(workspace: Workspace) -> str:
        _require_server(workspace, server)
        if not workspace.mcp.server_tools(server):
            await workspace.start_servers()
        for known in workspace.mcp.server_tools(server):
            if tool in (known.definition.name, known.spec.name):
                return known.spec.name
        names = ", ".join(known.definition.name for known in workspace.mcp.server_tools(server))
        (status,) = (status for status in workspace.mcp.status() if status.name == server)
        reason = f"it is {status.state}: {status.reason}" if status.reason else f"it is {status.state}"
        raise HarnessError(f"{server} has no tool {tool!r}", mend=f"its tools: {names}" if names else reason)

    return print_finished(run_async(call_by_hand(root, name_of, json_argument(arguments), ask)), as_json=as_json)


def _require_server(workspace: Workspace, server: str) -> None:
    known = sorted(workspace.loaded.settings.mcp)
    if server not in known:
        raise UsageError(f"there is no MCP server {server!r}", mend=f"servers: {', '.join(known) or 'none'}")
