"""``harness acp``: an agent for editors, on the Agent Client Protocol."""

from __future__ import annotations

import click

from harness_tui.cli.common import run_async
from harness_tui.core.errors import UsageError


@click.command(name="acp", short_help="An agent for editors (Agent Client Protocol).")
@click.option("--agent", help="The agent of new sessions.")
@click.option("--model", help="provider/model, or replay:FILE.")
@click.option("--mode", help="ask, accept-edits or plan.")
def command(agent: str | None, model: str | None, mode: str | None) -> int:
    """Speak the Agent Client Protocol on standard input and output; editors start this program by themselves."""
    import sys
    from pathlib import Path

    from harness_tui.config.build import absolute_replay
    from harness_tui.config.loader import Flags

    if sys.stdin.isatty():
        raise UsageError(
            "this is a program for editors, which speak to it through pipes", mend="open the shell: harness"
        )
    from harness_tui.acp.agent import serve

    model = absolute_replay(model, Path.cwd()) if model is not None else None
    return run_async(serve(Flags(model=model, agent=agent, mode=mode)))
