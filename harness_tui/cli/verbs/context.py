"""``harness context``: what the next request would hold, part by part, without making one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from harness_tui.cli.common import json_option, print_json, print_table, root_option, run_async

if TYPE_CHECKING:
    from harness_tui.core.events import ContextReported


@click.command(short_help="What a request is made of: tokens part by part.")
@click.option("--session", metavar="ID", help="The next request of this session, instead of a new one.")
@click.option("--agent", metavar="NAME", help="As this agent.")
@click.option("--model", metavar="NAME", help="For this model: its limit.")
@click.option("--no-start", is_flag=True, help="Do not start MCP servers; count what is known of their tools.")
@root_option
@json_option
def command(
    session: str | None, agent: str | None, model: str | None, no_start: bool, root: Path, as_json: bool
) -> int:
    """Tell what the next request would hold: the tokens of each part are estimates."""
    report = run_async(_report(root, session, agent, model, not no_start))
    data = _encoded(report)
    if as_json:
        print_json(data)
        return 0
    rows = [part | {"tokens": f"~{part['tokens']:,}"} for part in data["parts"]]
    print_table(rows, ["name", "items", "tokens", "title"])
    of = f" of {report.limit:,}" if report.limit else ""
    click.echo(f"about {report.total:,}{of} tokens")
    return 0


async def _report(
    root: Path, session: str | None, agent: str | None, model: str | None, start: bool
) -> ContextReported:
    from harness_tui.cli.opened import opened
    from harness_tui.config.loader import Flags

    async with opened(root, Flags(agent=agent, model=model)) as workspace:
        if start:
            await workspace.start_servers()
        if model is None:
            await workspace.choose_model()
        live = await (workspace.unrecorded_session() if session is None else workspace.resume(session))
        return await live.report()


def _encoded(report: ContextReported) -> dict[str, Any]:
    from harness_tui.core.codec import encode

    return cast(dict[str, Any], encode(report))
