"""``harness mcp doctor``, ``restart`` and ``logs``: what is wrong with a server, and what it wrote."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness_tui.cli.common import json_option, print_json, print_line, root_option, run_async
from harness_tui.core.errors import UsageError

if TYPE_CHECKING:
    from harness_tui.mcp.diagnosis import Diagnosis
    from harness_tui.workspace.workspace import Workspace


@click.command("doctor")
@click.argument("server", required=False)
@root_option
@json_option
def doctor(server: str | None, root: Path, as_json: bool) -> int:
    """Start all servers, or SERVER, and explain what is wrong and how to mend it; exit code 1 when one fails."""
    return _report(run_async(_diagnosed(root, server)), as_json=as_json)


@click.command("restart")
@click.argument("server")
@root_option
@json_option
def restart(server: str, root: Path, as_json: bool) -> int:
    """Start SERVER afresh and say how that went; one that a session runs is restarted there with /mcp restart."""
    return _report(run_async(_diagnosed(root, server)), as_json=as_json)


@click.command("logs")
@click.argument("server")
@root_option
def logs(server: str, root: Path) -> int:
    """Print the last of what SERVER wrote to its standard error, in every session."""
    text = run_async(_log(root, server))
    print_line(text.rstrip("\n") if text else f"{server} has written nothing to its standard error")
    return 0


def _report(found: list[Diagnosis], *, as_json: bool) -> int:
    from harness_tui.core.codec import encode

    if as_json:
        print_json([encode(one) for one in found])
    elif not found:
        print_line("no MCP server is configured; `harness mcp add` adds one")
    else:
        for one in sorted(found, key=lambda one: (not one.ok, one.name)):
            for line in one.lines():
                print_line(line)
    return 0 if all(one.ok for one in found) else 1


async def _diagnosed(root: Path, server: str | None) -> list[Diagnosis]:
    from harness_tui.cli.opened import opened

    async with opened(root) as workspace:
        names = [server] if server is not None else sorted(workspace.loaded.settings.mcp)
        for name in names:
            _require(workspace, name)
        return list(await asyncio.gather(*(workspace.mcp.diagnose(name) for name in names)))


async def _log(root: Path, server: str) -> str:
    from harness_tui.cli.opened import opened

    async with opened(root) as workspace:
        _require(workspace, server)
        return await workspace.processes.output(f"mcp:{server}", None)


def _require(workspace: Workspace, server: str) -> None:
    known = sorted(workspace.loaded.settings.mcp)
    if server not in known:
        raise UsageError(f"there is no MCP server {server!r}", mend=f"servers: {', '.join(known) or 'none'}")
