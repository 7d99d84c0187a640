"""``harness sessions undo``: a run of a recorded session is taken back, or put in force again."""

from __future__ import annotations

import os
from pathlib import Path

import click

from harness_tui.cli.common import json_option, print_json, print_line, root_option
from harness_tui.config.places import Places
from harness_tui.core.clock import SystemClock
from harness_tui.core.errors import UsageError
from harness_tui.sessions.blobs import BlobStore
from harness_tui.sessions.store import SessionStore, root_text


@click.command("undo", short_help="Take back a run of a session.")
@click.argument("session")
@click.option("--run", "run", metavar="RUN", help="Take back this run and every later one (default: the latest).")
@click.option("--redo", is_flag=True, help="Put the run in force again that was taken back last.")
@root_option
@json_option
def undo(session: str, run: str | None, redo: bool, root: Path, as_json: bool) -> int:
    """Take back the latest run of SESSION: its messages, and its changes of files.

    A file that something else has changed since is left as it is, and the exit code is 1. Changes that a shell command,
    an MCP server or another program made are not taken back, except where the session's record names them.
    """
    from harness_tui.agent.undo import undo_recorded

    if redo and run is not None:
        raise UsageError("--redo takes no --run", mend="it puts the run in force again that was taken back last")
    places = Places.from_environment()
    store = SessionStore(places.database)
    try:
        info = store.info(session)
        done = undo_recorded(
            store, BlobStore(places.blobs), info.session, _project(info.root, root), SystemClock(), run=run, redo=redo
        )
    finally:
        store.close()
    paths = list(dict.fromkeys(path for event in done for path in event.paths))
    conflicts = list(dict.fromkeys(path for event in done for path in event.conflicts))
    runs = [event.run for event in done]
    if as_json:
        print_json({"session": info.session, "redo": redo, "runs": runs, "paths": paths, "conflicts": conflicts})
        return 1 if conflicts else 0
    print_line(f"{'put in force again' if redo else 'taken back'}: {', '.join(runs)}")
    for path in paths:
        print_line(f"  {path}")
    for path in conflicts:
        print_line(f"  {path}: left as it is, something else changed it since")
    return 1 if conflicts else 0


def _project(recorded: str, root: Path) -> Path:
    """Return the session's project: where it was recorded, or ``--root`` where that is the same or no longer there."""
    from harness_tui.config.project import find_project

    here = find_project(root).root
    place = Path(os.fsdecode(recorded.encode()))
    if root_text(here) == recorded or not place.is_dir():
        return here
    return place
