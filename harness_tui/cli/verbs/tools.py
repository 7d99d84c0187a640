"""``harness tools``: every tool, and any of them by hand, through the same gate as the agent's calls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness_tui.cli.common import (
    ask_option,
    json_argument,
    json_option,
    print_json,
    print_table,
    root_option,
    run_async,
)
from harness_tui.core.text import cut_end

if TYPE_CHECKING:
    from harness_tui.workspace.workspace import Workspace


@click.group(short_help="List tools, or call one by hand.")
def command() -> None:
    """List tools, or call one by hand."""


@command.command("list")
@click.option("--no-start", is_flag=True, help="Do not start MCP servers; show what is known of them.")
@root_option
@json_option
def list_tools(no_start: bool, root: Path, as_json: bool) -> int:
    """List every tool with its source."""
    rows = run_async(_rows(root, not no_start))
    if as_json:
        print_json(rows)
        return 0
    print_table(
        [row | {"description": cut_end(row["description"], 70)} for row in rows],
        ["name", "source", "description"],
    )
    return 0


async def _rows(root: Path, start: bool) -> list[dict[str, Any]]:
    from harness_tui.cli.opened import opened

    async with opened(root) as workspace:
        if start:
            await workspace.start_servers()
        return [
            {
                "name": tool.spec.name,
                "description": tool.spec.description,
                "parameters": tool.spec.parameters,
                "source": tool.spec.source.server or tool.spec.source.kind,
            }
            for tool in workspace.parts.tools().values()
        ]


@command.command("call")
@click.argument("name")
@click.argument("arguments", metavar="JSON", default="{}")
@ask_option
@root_option
@json_option
def call_tool(name: str, arguments: str, ask: str | None, root: Path, as_json: bool) -> int:
    """Call the tool NAME with the arguments JSON (``-`` reads them from standard input)."""
    from harness_tui.cli.by_hand import call_by_hand, print_finished

    async def name_of(_: Workspace) -> str:
        return name

    return print_finished(run_async(call_by_hand(root, name_of, json_argument(arguments), ask)), as_json=as_json)
