"""``harness demo``: a tour on a scratch project, in the shell or without a screen."""

from __future__ import annotations

import click

from harness_tui.cli.common import json_option, run_async


@click.command(name="demo", short_help="A tour on a scratch project.")
@click.option("--headless", is_flag=True, help="Without a screen; every approval is answered by the script.")
@json_option
def command(headless: bool, as_json: bool) -> int:
    """Play a tour on a scratch project: a command, a skill, an MCP server, a language server, a broken server.

    Everything is real but the model, which plays a script. The project is temporary, and your own configuration,
    sessions and trust are not touched.
    """
    from harness_tui.cli.demo import MESSAGE, scene

    if headless or as_json:
        from harness_tui.cli.headless import RunRequest, run_headless
        from harness_tui.config.loader import Flags

        with scene(answers=True) as demo:
            flags = Flags(model=f"replay:{demo.script}")
            request = RunRequest(start=demo.project, message=MESSAGE, flags=flags, ask="refuse", as_json=as_json)
            return run_async(run_headless(request))
    from harness_tui.tui.run import Options, run

    with scene(answers=False) as demo:
        return run(demo.project, options=Options(model=f"replay:{demo.script}", message=MESSAGE))
