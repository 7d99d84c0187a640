"""``harness ps``: the processes that running shells have started."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from harness_tui.cli.common import json_option, print_json, print_line, print_table, root_option

_COLUMNS = ["owner", "pid", "ppid", "started", "rss", "cpu", "restarts", "command"]


@click.command(short_help="The processes that running shells have started.")
@root_option
@json_option
def command(root: Path, as_json: bool) -> int:
    """List servers, commands and jobs of every shell of yours that runs, in whatever folder.

    What a process has started itself is listed below it; in JSON as its tree.
    """
    from harness_tui.children.listing import running_processes
    from harness_tui.config.places import Places

    infos = running_processes(Places.from_environment().ledger)
    if as_json:
        print_json([asdict(info) for info in infos])
    elif not infos:
        print_line("no shell has a process running")
    else:
        rows: list[dict[str, Any]] = []
        for info in infos:
            rows.append(_row(asdict(info)))
            depth = {info.pid: 0}
            for below in info.tree:
                depth[below.pid] = depth[below.ppid] + 1
                rows.append(_row(asdict(below), indent="  " * depth[below.pid]))
        print_table(rows, _COLUMNS)
    return 0


def _row(data: dict[str, Any], indent: str = "") -> dict[str, Any]:
    size, cpu, words = f"{data['rss'] / 2**20:.1f} MiB", f"{data['cpu']:.1f} s", shlex.join(data["command"])
    return data | {"rss": size, "cpu": cpu, "command": indent + words}
