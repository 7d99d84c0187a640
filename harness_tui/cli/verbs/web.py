"""``harness web``: the shell on a page in a browser, on this machine only."""

from __future__ import annotations

from pathlib import Path

import click

from harness_tui.cli.common import root_option, run_async, warn
from harness_tui.cli.streams import write_result
from harness_tui.core.errors import HarnessError, UsageError


@click.command(short_help="The shell in a browser, on this machine only.")
@root_option
@click.option("--port", default=8484, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--agent", help="The agent of the session.")
@click.option("--model", help="provider/model, or replay:FILE.")
@click.option("--mode", help="ask, accept-edits or plan.")
def command(root: Path, port: int, agent: str | None, model: str | None, mode: str | None) -> int:
    """Serve the shell on loopback and print the address, which holds a token; each page that opens it is a shell.

    Whoever knows the address can do what you can do here: it is for your own browser. Needs the extra `web`.
    """
    from harness_tui.config.build import absolute_replay

    if not root.is_dir():
        raise UsageError(f"{root} is not a folder")
    model = absolute_replay(model, Path.cwd()) if model is not None else None
    return run_async(_serve(root.resolve(), port, {"agent": agent, "model": model, "mode": mode}))


async def _serve(folder: Path, port: int, asked: dict[str, str | None]) -> int:
    try:
        from harness_tui.cli.page_server import PageServer
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the extra `web` is not installed: {error.name} is missing", mend="pip install 'harness-tui[web]'"
        ) from error
    from harness_tui.children.registry import ChildRegistry
    from harness_tui.config.places import Places

    places = Places.from_environment()
    registry = ChildRegistry(places.ledger, logs=places.logs)
    server = PageServer(folder, asked, spawner=registry, host="127.0.0.1", port=port, tell=warn)

    def started() -> None:
        write_result(server.address + "\n", flush=True)  # whoever reads it through a pipe waits for it
        warn("open this address in a browser; Ctrl+C ends the server and its shells")

    try:
        await server.run(started)
    except OSError as error:
        raise HarnessError(
            f"port {port} cannot be served on: {error.strerror or error}", mend="name another: harness web --port 0"
        ) from error
    finally:
        await registry.close()
    return 0
