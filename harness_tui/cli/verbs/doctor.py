"""``harness doctor``: everything that is wrong, each with its place and its remedy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness_tui.cli.common import json_option, print_json, print_line, root_option, run_async

if TYPE_CHECKING:
    from harness_tui.workspace.workspace import Workspace


@click.command(name="doctor", short_help="Everything that is wrong, and how to mend it.")
@click.option("--no-start", is_flag=True, help="Do not start MCP servers to see whether they work.")
@root_option
@json_option
def command(no_start: bool, root: Path, as_json: bool) -> int:
    """Look at configuration, trust, commands, skills, models and servers. Exit code 1 when anything is an error."""
    rows = run_async(_examine(root, not no_start))
    if as_json:
        print_json(rows)
    elif not rows:
        print_line("nothing is wrong")
    else:
        for row in rows:
            print_line(f"{row['level']}: {row['where']}: {row['message']}")
            if row["mend"]:
                print_line(f"  {row['mend']}")
    return 1 if any(row["level"] == "error" for row in rows) else 0


async def _examine(root: Path, start: bool) -> list[dict[str, Any]]:
    from harness_tui.workspace.workspace import OpenOptions, Workspace

    workspace = await Workspace.open(root, OpenOptions(start_servers=False))
    try:
        if start:
            await workspace.start_servers()
        return [*_of_files(workspace), *_of_servers(workspace), *(await _of_models(workspace))]
    finally:
        await workspace.close()


def _row(level: str, code: str, where: str, message: str, mend: str | None) -> dict[str, Any]:
    return {"level": level, "code": code, "where": where, "message": message, "mend": mend}


def _of_files(workspace: Workspace) -> list[dict[str, Any]]:
    rows = [problem.to_json() for problem in workspace.loaded.problems]
    for finding in workspace.library.problems():
        rows.append(_row(finding.level, finding.code, f"{finding.path}:{finding.line}", finding.message, None))
    for fault in workspace.approvals.problems():
        rows.append(_row("warning", fault.code, fault.where or "approvals", fault.what, fault.mend))
    trust = workspace.loaded.trust
    if trust.has_something and not trust.trusted:
        text = "this folder brings commands, servers or rules along, and is not trusted: none of them is used"
        rows.append(_row("warning", "untrusted", str(workspace.project.root), text, "harness trust"))
    return rows


def _of_servers(workspace: Workspace) -> list[dict[str, Any]]:
    rows = [
        _row(
            "error",
            "mcp-failed",
            status.source or status.name,
            f"MCP server {status.name}: {status.reason}",
            status.mend or f"harness mcp doctor {status.name}",
        )
        for status in workspace.mcp.status()
        if status.state in ("failed", "needs_auth")
    ]
    for status in workspace.lsp.status():
        if status.state in ("crashed", "disabled") and status.reason:
            rows.append(_row("warning", "lsp", status.name, f"language server {status.name}: {status.reason}", None))
    return rows


async def _of_models(workspace: Workspace) -> list[dict[str, Any]]:
    import asyncio

    from harness_tui.models.faults import model_faults

    faults = await asyncio.to_thread(model_faults, workspace.loaded.settings, workspace.models)
    rows = [fault.to_json() for fault in faults]
    if await workspace.choose_model() is None:
        mend = (
            "harness auth add PROVIDER keeps a key; a key in the environment, a server on this machine or 'model' in"
            " config.yaml do as well; harness models list shows what there is"
        )
        rows.append(_row("warning", "no-model", "models", "no model is configured and none was found", mend))
    return rows
