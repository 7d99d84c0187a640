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
from harness_tui.cli.verbs import mcp_changes, mcp_doctor, mcp_reading
from harness_tui.core.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from harness_tui.workspace.workspace import Workspace


@click.group(short_help="MCP servers: list, tools, call, login.")
def command() -> None:
    """MCP servers: list them, list their tools, call one, log in."""


command.add_command(mcp_changes.add)
command.add_command(mcp_changes.remove)
command.add_command(mcp_doctor.doctor)
command.add_command(mcp_doctor.restart)
command.add_command(mcp_doctor.logs)
command.add_command(mcp_reading.resources)
command.add_command(mcp_reading.prompts)


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
        print_line("no MCP server is configured; `harness mcp add` adds one")
    else:
        print_table(rows, ["name", "state", "protocol", "tools", "tokens", "source", "reason"])
        for row in rows:
            if row["state"] == "failed" and row["stderr_tail"]:
                warn(f"{row['name']} wrote to standard error:\n{row['stderr_tail']}")
    return 0


async def _servers(root: Path, start: bool) -> list[dict[str, Any]]:
    from harness_tui.cli.opened import opened
    from harness_tui.core.codec import encode

    async with opened(root) as workspace:
        if start:
            await workspace.start_servers()
        keys = ("name", "state", "reason", "protocol", "transport", "tools", "tokens", "stderr_tail", "source")
        rows = [encode(status) for status in workspace.mcp.status()]
        return [{key: row.get(key) for key in keys} for row in rows]


@command.command("tools")
@click.argument("server", required=False)
@click.option("--no-start", is_flag=True, help="Do not start servers; show what is known.")
@root_option
@json_option
def list_tools(server: str | None, no_start: bool, root: Path, as_json: bool) -> int:
    """List the tools of all servers, or of SERVER; exit code 1 when SERVER cannot tell them."""
    rows, silent = run_async(_tools(root, server, not no_start))
    if as_json:
        print_json(rows)
    elif rows:
        print_table(rows, ["name", "server", "description"])
    elif not silent:
        print_line("no MCP server offers a tool")
    for name, reason in silent.items():
        warn(f"MCP server {name}: {reason}")
    return 1 if server in silent else 0


async def _tools(root: Path, server: str | None, start: bool) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return the tools, and the servers that could not tell theirs with the reason."""
    from harness_tui.cli.opened import opened

    async with opened(root) as workspace:
        if server is not None:
            _require_server(workspace, server)
        if start:
            await workspace.start_servers(server)
        wanted = [status for status in workspace.mcp.status() if server in (None, status.name)]
        silent = {
            status.name: status.reason or f"it is {status.state}"
            for status in wanted
            if status.protocol is None and (server is not None or status.state != "disabled")
        }
        rows = [
            {
                "name": tool.spec.name,
                "server": tool.spec.source.server,
                "description": tool.spec.description,
                "parameters": tool.spec.parameters,
            }
            for tool in workspace.mcp.tools()
            if server is None or tool.spec.source.server == server
        ]
        return rows, silent


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
    from harness_tui.mcp.names import exposed_names
    from harness_tui.workspace.workspace import RESERVED_TOOLS

    async def name_of(workspace: Workspace) -> str:
        _require_server(workspace, server)
        known = workspace.mcp.server_tools(server)
        for one in known:
            if tool in (one.definition.name, one.spec.name):
                return one.spec.name
        if known:
            names = ", ".join(one.definition.name for one in known)
            raise HarnessError(f"{server} has no tool {tool!r}", mend=f"its tools: {names}")
        # Not told yet: the call starts the server and waits for it, as a model's call does.
        return next(iter(exposed_names([(server, tool)], RESERVED_TOOLS)))

    return print_finished(run_async(call_by_hand(root, name_of, json_argument(arguments), ask)), as_json=as_json)


@command.command("login")
@click.argument("server")
@root_option
def login(server: str, root: Path) -> int:
    """Log in to SERVER: prints the page to open, and waits until you are back from it."""
    state, reason = run_async(_login(root, server))
    if state != "ready":
        warn(f"{server}: {reason or state}")
        return 1
    print_line(f"logged in to {server}")
    return 0


async def _login(root: Path, server: str) -> tuple[str, str | None]:
    import asyncio

    from harness_tui.cli.opened import opened
    from harness_tui.core.calls import QuestionReply, QuestionRequest
    from harness_tui.mcp.people import asked_by

    async def show(request: QuestionRequest) -> QuestionReply:
        if request.url is None:
            return QuestionReply("cancel")
        print_line(f"{request.title}. Open this page in your browser:")
        print_line(f"  {request.url}")
        await asyncio.Event().wait()  # the way back from the page ends this
        return QuestionReply("accept")

    async with opened(root) as workspace:
        _require_server(workspace, server)
        if not workspace.loaded.settings.mcp[server].url:
            raise UsageError(f"{server} is started here and has no login", mend="its env holds what it needs")
        with asked_by(show):
            status = await workspace.mcp.restart(server)
        return status.state, status.reason


@command.command("logout")
@click.argument("server")
@root_option
def logout(server: str, root: Path) -> int:
    """Forget the login of SERVER on this machine."""
    from harness_tui.config.places import Places
    from harness_tui.mcp.token_store import TokenStore
    from harness_tui.sessions.audit import AuditLog
    from harness_tui.workspace.logins import forget

    places = Places.from_environment()
    audit = AuditLog(places.audit_file)
    print_line(forget(TokenStore(places.logins_file), server, audit))
    audit.close()
    return 0


@command.command("conformance", hidden=True)
@click.argument("url")
def conformance(url: str) -> int:
    """Drive the server at URL as the official conformance suite wants it."""
    from harness_tui.cli.conformance import run

    return run(url)


def _require_server(workspace: Workspace, server: str) -> None:
    known = sorted(workspace.loaded.settings.mcp)
    if server not in known:
        raise UsageError(f"there is no MCP server {server!r}", mend=f"servers: {', '.join(known) or 'none'}")
