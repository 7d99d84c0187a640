"""``harness run``: one headless run."""

from __future__ import annotations

import os
import select
import stat
import sys
from pathlib import Path

import click

from harness_tui.cli.common import ask_option, json_option, root_option, run_async, warn
from harness_tui.core.errors import UsageError
from harness_tui.core.limits import MIB

_STDIN_BYTES = 4 * MIB
_STDIN_WAIT_S = 3.0


@click.command(name="run", short_help="One run without a screen.")
@click.argument("message", nargs=-1)
@click.option("--agent", help="The agent of this run.")
@click.option("--model", help="provider/model, or replay:FILE.")
@click.option("--mode", help="ask, accept-edits or plan.")
@click.option("--session", help="Go on with this session.")
@click.option("--continue", "latest", is_flag=True, help="Go on with the latest session of the project.")
@click.option(
    "--output-schema",
    "schema",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The answer must be JSON that is valid for this JSON Schema.",
)
@click.option("--max-steps", type=click.IntRange(min=1), help="Stop after this many model requests.")
@ask_option
@root_option
@json_option
def command(
    message: tuple[str, ...],
    agent: str | None,
    model: str | None,
    mode: str | None,
    session: str | None,
    latest: bool,
    schema: Path | None,
    max_steps: int | None,
    ask: str | None,
    root: Path,
    as_json: bool,
) -> int:
    """Send MESSAGE, which may be ``/name args``, and print the answer; piped input is appended.

    With --json every event is a line. Exit codes: 0 completed, 1 failed, 2 wrong usage, 3 refused, 130 interrupted.
    """
    from harness_tui.agent.answer_form import load_form
    from harness_tui.cli.headless import RunRequest, run_headless
    from harness_tui.config.loader import Flags

    if session and latest:
        raise UsageError("--session and --continue do not go together")
    if ask == "input" and not as_json:
        raise UsageError("--ask input needs --json: the requests to answer are in the stream")
    # An argument that is not UTF-8 arrives as lone surrogates, which no file and no request can hold.
    text = " ".join(message).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    piped = _piped(waits=not text.strip()) if ask != "input" else None
    if not text.strip():
        text, piped = piped or "", None
    if not text.strip():
        raise UsageError("there is no message", mend='harness run "what to do", or pipe it in')
    if piped and text.split(maxsplit=1)[0] == "/call":
        warn("what is piped in is not used: /call takes its arguments on the command line")
    if schema is not None and text.split(maxsplit=1)[0] == "/call":
        raise UsageError("--output-schema is about a model's answer, and /call asks none")
    request = RunRequest(
        start=root,
        message=text,
        flags=Flags(model=_from_here(model, root), agent=agent, mode=mode),
        ask=ask,
        as_json=as_json,
        session="latest" if latest else session,
        max_steps=max_steps,
        form=load_form(schema) if schema is not None else None,
        piped=piped,
    )
    return run_async(run_headless(request))


def _from_here(model: str | None, root: Path) -> str | None:
    """Return ``model``; the script of ``replay:FILE`` lies relative to the current folder, wherever the run starts."""
    from harness_tui.config.build import absolute_replay

    here = Path.cwd()
    return model if model is None or root.resolve() == here.resolve() else absolute_replay(model, here)


def _piped(*, waits: bool) -> str | None:
    """Return what is piped in, ``None`` for nothing. A pipe that stays open and silent is waited for if ``waits``."""
    try:
        descriptor = sys.stdin.fileno()
        kind = os.fstat(descriptor).st_mode
    except (AttributeError, OSError, ValueError):
        return None
    if not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
        return None
    if not waits and not stat.S_ISREG(kind) and not select.select([descriptor], [], [], _STDIN_WAIT_S)[0]:
        warn(f"standard input stayed open and gave nothing within {_STDIN_WAIT_S:.0f} s; going on without it")
        return None
    piped = sys.stdin.buffer.read(_STDIN_BYTES + 1)
    if len(piped) > _STDIN_BYTES:
        raise UsageError(f"standard input is larger than {_STDIN_BYTES} bytes", mend="write it to a file and name that")
    return piped.decode("utf-8-sig", "replace").rstrip("\n") or None
