"""``harness mcp resources`` and ``harness mcp prompts``: what servers offer besides tools, and one resource read."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness_tui.cli.common import json_option, print_json, print_line, print_table, root_option, run_async, warn
from harness_tui.core.errors import HarnessError, RefusedError, UsageError

if TYPE_CHECKING:
    from harness_tui.core.resources import ReadResource
    from harness_tui.workspace.workspace import Workspace


@click.command("resources")
@click.argument("server", required=False)
@click.argument("uri", required=False)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write what is read to this file.")
@click.option("--no-start", is_flag=True, help="Do not start servers; show what is known.")
@root_option
@json_option
def resources(
    server: str | None, uri: str | None, output: Path | None, no_start: bool, root: Path, as_json: bool
) -> int:
    """List the resources of all servers, or of SERVER; with URI read that one."""
    if server is not None and uri is not None:
        read = run_async(_read(root, server, uri))
        return _print_read(read, output, as_json=as_json)
    if output is not None:
        raise UsageError("--output goes with the URI of one resource", mend="harness mcp resources SERVER URI")
    rows = run_async(_resources(root, server, not no_start))
    if as_json:
        print_json(rows)
    elif rows:
        print_table(rows, ["server", "uri", "name", "mime", "description"])
    else:
        print_line("no MCP server offers a resource")
    return 0


async def _resources(root: Path, server: str | None, start: bool) -> list[dict[str, Any]]:
    from harness_tui.cli.opened import opened

    async with opened(root) as workspace:
        await _begin(workspace, server, start=start)
        source = workspace.mcp.resources
        rows: list[dict[str, Any]] = [
            {
                "server": item.server,
                "uri": item.uri,
                "name": item.name,
                "mime": item.mime,
                "size": item.size,
                "description": item.description,
                "template": False,
            }
            for item in source.resources()
        ]
        rows += [
            {
                "server": item.server,
                "uri": item.uri_template,
                "name": item.name,
                "mime": item.mime,
                "size": None,
                "description": item.description,
                "template": True,
            }
            for item in source.templates()
        ]
        return [row for row in rows if server in (None, row["server"])]


async def _read(root: Path, server: str, uri: str) -> ReadResource:
    from harness_tui.cli.opened import opened
    from harness_tui.core.ids import new_id
    from harness_tui.core.seams import Check, GateCall

    async with opened(root) as workspace:
        await _begin(workspace, server, start=False)
        settings = workspace.loaded.settings
        call = GateCall(
            call=new_id("hand"),
            tool="mcp",
            checks=(Check("mcp", f"{server}_read_resource"),),
            session="",
            agent=settings.agent,
            mode=settings.mode,
            origin="person",
        )
        decision = workspace.gate.decide(call)
        if decision.action != "allow":
            raise RefusedError(f"reading it is not allowed: {decision.reason}", where=f"{server}:{uri}")
        return await workspace.mcp.resources.read_resource(server, uri)


def _print_read(read: ReadResource, output: Path | None, *, as_json: bool) -> int:
    for note in read.notes:
        warn(note)
    if output is not None:
        return _write(read, output)
    if as_json:
        print_json(
            [
                {"uri": item.uri, "mime": item.mime, "bytes": item.bytes, "kind": item.kind, "content": item.content}
                for item in read.attachments
            ]
        )
    else:
        for item in read.attachments:
            binary = _is_binary(item.kind, item.mime)
            print_line(f"[{item.mime}, {item.bytes} bytes: --output FILE writes it]" if binary else item.content or "")
    return 0 if read.attachments or not read.notes else 1


def _write(read: ReadResource, output: Path) -> int:
    if len(read.attachments) != 1:
        raise HarnessError(f"it has {len(read.attachments)} parts that can be written, not one", where=str(output))
    (item,) = read.attachments
    if item.truncated:
        warn(f"only the beginning of {item.bytes} bytes was kept")
    text = item.content or ""
    try:
        output.write_bytes(base64.b64decode(text) if _is_binary(item.kind, item.mime) else text.encode())
    except OSError as error:
        raise HarnessError(f"cannot be written: {error.strerror or error}", where=str(output)) from error
    print_line(f"wrote {output}")
    return 0


def _is_binary(kind: str, mime: str) -> bool:
    return kind == "image" or mime == "application/pdf"


@click.command("prompts")
@click.argument("server", required=False)
@click.option("--no-start", is_flag=True, help="Do not start servers; show what is known.")
@root_option
@json_option
def prompts(server: str | None, no_start: bool, root: Path, as_json: bool) -> int:
    """List the prompts of all servers, or of SERVER, with the command that each of them is."""
    rows = run_async(_prompts(root, server, not no_start))
    if as_json:
        print_json(rows)
    elif rows:
        shown = [row | {"arguments": " ".join(item["name"] for item in row["arguments"])} for row in rows]
        print_table(shown, ["command", "arguments", "description"])
    else:
        print_line("no MCP server offers a prompt")
    return 0


async def _prompts(root: Path, server: str | None, start: bool) -> list[dict[str, Any]]:
    from harness_tui.cli.opened import opened
    from harness_tui.library.prompts import prompt_names

    async with opened(root) as workspace:
        await _begin(workspace, server, start=start)
        return [
            {
                "command": f"/{name}",
                "server": spec.server,
                "name": spec.name,
                "description": spec.description,
                "arguments": [
                    {"name": item.name, "description": item.description, "required": item.required}
                    for item in spec.arguments
                ],
            }
            for name, spec in prompt_names(workspace.mcp.prompts()).items()
            if server in (None, spec.server)
        ]


async def _begin(workspace: Workspace, server: str | None, *, start: bool) -> None:
    """Start what is asked of, and warn of each server that cannot tell what it has."""
    known = sorted(workspace.loaded.settings.mcp)
    if server is not None and server not in known:
        raise UsageError(f"there is no MCP server {server!r}", mend=f"servers: {', '.join(known) or 'none'}")
    if not start:
        return
    await workspace.start_servers(server)
    for status in workspace.mcp.status():
        if server in (None, status.name) and status.state in ("failed", "needs_auth"):
            warn(f"MCP server {status.name}: {status.reason}")
