"""``harness lsp``: language servers, and the diagnostics of files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from harness_tui.cli.common import json_option, print_json, print_line, print_table, root_option, run_async
from harness_tui.core.errors import UsageError
from harness_tui.core.values import Verdict


@click.group(short_help="Language servers: list, check files, doctor.")
def command() -> None:
    """Language servers: list them, check files, and say which ones would serve a file."""


@command.command("list")
@root_option
@json_option
def list_servers(root: Path, as_json: bool) -> int:
    """List the language servers that are known, found or not."""
    rows = run_async(_servers(root))
    if as_json:
        print_json(rows)
        return 0
    print_table(rows, ["name", "state", "extensions", "root", "reason"])
    return 0


async def _servers(root: Path) -> list[dict[str, Any]]:
    from harness_tui.cli.opened import opened
    from harness_tui.core.codec import encode

    async with opened(root) as workspace:
        keys = ("name", "state", "reason", "root", "command", "extensions")
        rows = [encode(status) for status in await asyncio.to_thread(workspace.lsp.status)]
        return [{key: row.get(key) for key in keys} for row in rows]


@command.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--wait", type=click.FloatRange(min=0), help="Seconds to wait for each verdict [default: 120].")
@click.option("--trace", is_flag=True, help="Print the messages of each server to standard error, the last ones.")
@root_option
@json_option
def check(files: tuple[Path, ...], wait: float | None, trace: bool, root: Path, as_json: bool) -> int:
    """Print the diagnostics of FILES; exit code 1 with any error, or where a verdict is not known."""
    rows, messages = run_async(_check(files, root, wait))
    for name, text in messages.items() if trace else ():
        click.echo(f"=== {name}\n{text}", err=True)
    if as_json:
        print_json(rows)
    else:
        for row in rows:
            _print(row)
    bad = any(row["verdict"] == "unknown" or _errors(row) for row in rows)
    return 1 if bad else 0


@command.command("doctor")
@click.argument("file", type=click.Path(path_type=Path))
@root_option
@json_option
def doctor(file: Path, root: Path, as_json: bool) -> int:
    """Say which servers would serve FILE, why the others would not, and what to install; exit code 1 without any."""
    rows = run_async(_explained(file, root))
    if as_json:
        print_json(rows)
    elif not rows:
        print_line(f"{file}: no language server knows files of this name; an entry of lsp.servers adds one")
    else:
        shown = [row | {"serves": "yes" if row["serves"] else "no"} for row in rows]
        print_table(shown, ["name", "serves", "reason", "install"])
    return 0 if any(row["serves"] for row in rows) else 1


async def _explained(file: Path, root: Path) -> list[dict[str, Any]]:
    from harness_tui.cli.opened import opened
    from harness_tui.core.codec import encode

    async with opened(root) as workspace:
        path = workspace.project.start / file
        return [encode(entry) for entry in await asyncio.to_thread(workspace.lsp.explain, path)]


_LONGEST_WAIT_S = 120.0


async def _check(
    files: tuple[Path, ...], root: Path, wait: float | None
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return the verdicts, and the last messages of each server that was asked."""
    from harness_tui.cli.opened import opened

    async with opened(root) as workspace:
        paths = [_existing(workspace.project.start / file) for file in files]
        await asyncio.gather(*(workspace.lsp.touch(path) for path in paths))
        limit = _LONGEST_WAIT_S if wait is None else wait
        verdicts = await asyncio.gather(*(workspace.lsp.diagnostics(path, limit) for path in paths))
        names = sorted({server.name for verdict in verdicts for server in verdict.servers})
        return [report(verdict) for verdict in verdicts], {name: workspace.lsp.trace(name) for name in names}


def _existing(path: Path) -> Path:
    # A misspelt name must not pass as a file without errors.
    if not path.is_file():
        raise UsageError("this is a folder" if path.is_dir() else "there is no such file", where=str(path))
    return path.resolve()


def report(verdict: Verdict) -> dict[str, Any]:
    """Return the fields of ``diagnostics_reported`` for a verdict."""
    from harness_tui.core.codec import encode
    from harness_tui.core.events import DiagnosticsReported

    event = DiagnosticsReported(
        path=verdict.path,
        verdict=verdict.verdict,
        elapsed_ms=verdict.elapsed_ms,
        servers=tuple(server.name for server in verdict.servers),
        items=verdict.items,
        late=verdict.late,
        reason=verdict.reason,
        by_server=verdict.servers or None,
    )
    return {"type": event.type} | encode(event)


def _errors(row: dict[str, Any]) -> bool:
    return any(item["severity"] == "error" for item in row["items"])


def _print(row: dict[str, Any]) -> None:
    reason = f": {row['reason']}" if row.get("reason") else ""
    print_line(f"{row['path']}: {row['verdict']}, {len(row['items'])} item(s), {row['elapsed_ms']} ms{reason}")
    for item in row["items"]:
        code = f" [{item['code']}]" if item.get("code") else ""
        source = f" ({item['source']})" if item.get("source") else ""
        place = f"{item['path']}:{item['line']}:{item['column']}"
        print_line(f"  {place}: {item['severity']}: {' '.join(item['message'].split())}{code}{source}")
