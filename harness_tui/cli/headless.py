"""One run without a screen: what ``run`` and ``demo --headless`` share."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Final

from harness_tui.agent.answer_form import AnswerForm
from harness_tui.agent.live import LiveSession
from harness_tui.cli.asking import ask_at_terminal, policy_of, read_intents
from harness_tui.cli.ending import INTERRUPTED, leave
from harness_tui.cli.output import NO_LIMIT, JsonPrinter, TextPrinter, print_until_finished
from harness_tui.cli.streams import OutputError, discard_output, write_notice
from harness_tui.config.loader import Flags
from harness_tui.core.errors import UsageError
from harness_tui.core.events import RunFinished
from harness_tui.core.intents import Submit
from harness_tui.core.record import record
from harness_tui.core.seams import Model
from harness_tui.library.commands import RESERVED
from harness_tui.models.offline import WAYS_TEXT
from harness_tui.workspace.workspace import OpenOptions, Workspace

UNREAD_S: Final = 5.0
"""How long an interrupted run waits for a reader that takes nothing."""

_USAGE_KINDS = frozenset({"unknown-command", "unknown-agent", "unknown-model", "usage"})


class UnreadOutput(Exception):
    """The run was interrupted, and what it still has to say is not read."""


@record
class RunRequest:
    """What ``harness run`` was asked for. ``session`` is an id, or ``latest``; ``piped`` is data below the message."""

    start: Path
    message: str
    flags: Flags
    ask: str | None = None
    as_json: bool = False
    session: str | None = None
    max_steps: int | None = None
    form: AnswerForm | None = None
    piped: str | None = None


async def run_headless(request: RunRequest) -> int:
    """Run once and return the exit code. Raises ``UsageError`` before anything is started or recorded."""
    _refuse_screen_commands(request.message)
    options = OpenOptions(
        flags=request.flags,
        policy=policy_of(request.ask),
        step_limit=request.max_steps,
        single_run=True,
        answer_form=request.form,
    )
    workspace = await Workspace.open(request.start, options)
    stuck = False
    try:
        await require_model(workspace, request.message)
        if request.session is None:
            live = await workspace.new_session()
        else:
            session = await workspace.latest() if request.session == "latest" else request.session
            live = await workspace.resume(session)
        return await _run(workspace, live, request)
    except UnreadOutput:
        stuck = True
        raise asyncio.CancelledError from None
    finally:
        await workspace.close()
        if stuck:  # a thread writes what nobody reads: the interpreter would wait for it
            write_notice("harness: interrupted; standard output is not read, the end of it is missing\n")
            leave(INTERRUPTED)


async def _run(workspace: Workspace, live: LiveSession, request: RunRequest) -> int:
    text = TextPrinter(live.id, as_json=request.form is not None)
    printer = JsonPrinter() if request.as_json else text
    subscription = live.stream.subscribe(limit=NO_LIMIT)
    stopping: list[asyncio.Task[None]] = []

    def stop() -> None:
        # Nobody reads what the run does any more: it ends as cancelled, and its record says so.
        stopping.append(asyncio.create_task(live.cancel()))

    async def print_all() -> RunFinished | None:
        end = await print_until_finished(subscription, printer, live.id, stop, lambda: live.going_on)
        if not request.as_json:
            await asyncio.to_thread(_finish, text)
        return end

    asking = asyncio.create_task(_asking(live, request.ask))
    printing = asyncio.create_task(print_all())
    try:
        await workspace.start_session(live)
        await live.send(Submit(request.message, piped=request.piped))
        if request.ask == "input":  # not before: what waits on standard input comes after the message of the run
            read_intents(live)
        end = await asyncio.shield(printing)
    except asyncio.CancelledError:
        try:
            await live.cancel()
            await asyncio.wait([printing], timeout=UNREAD_S)
        finally:  # also when a second signal ends the waiting
            if not printing.done():
                raise UnreadOutput from None
        raise
    finally:
        asking.cancel()
    return exit_code(end)


def _finish(text: TextPrinter) -> None:
    try:
        text.finish()
    except OutputError as error:
        if not isinstance(error.cause, BrokenPipeError):
            raise
        discard_output()


async def _asking(live: LiveSession, ask: str | None) -> None:
    if ask != "input" and policy_of(ask) == "person":
        with contextlib.suppress(asyncio.CancelledError):
            await ask_at_terminal(live, live.stream.subscribe(merged=True))


def exit_code(end: RunFinished | None) -> int:
    """Return the exit code of a run's end: completed 0, failed and step limit 1, refused 3, cancelled 130."""
    match end:
        case RunFinished(reason="completed"):
            return 0
        case RunFinished(reason="refused", error=error):
            return 2 if error is not None and error.kind in _USAGE_KINDS else 3
        case RunFinished(reason="cancelled"):
            return 130
        case _:
            return 1


async def require_model(workspace: Workspace, message: str) -> Model | None:
    """Return the model of the run. Raises ``UsageError`` that lists the ways to get one."""
    if message.split(maxsplit=1)[0] == "/call":
        return None
    settings, flags = workspace.loaded.settings, workspace.options.flags
    if flags.agent is not None and flags.agent not in settings.agents:
        known = ", ".join(sorted(settings.agents))
        raise UsageError(f"there is no agent {flags.agent!r}", mend=f"agents: {known}", code="unknown-agent")
    name = await workspace.choose_model()
    if message.startswith("/") and flags.model is None:
        return None  # a command may name a model of its own; the run itself tells when there is none
    if name is None:
        raise UsageError("no model is configured and none was found", mend=WAYS_TEXT, code="no-model")
    return await asyncio.to_thread(workspace.models.resolve, name)


def _refuse_screen_commands(message: str) -> None:
    word = message.split(maxsplit=1)[0] if message.strip() else ""
    name = word.removeprefix("/")
    if word.startswith("/") and name in RESERVED and name != "call":
        raise UsageError(f"/{name} works in the shell only", mend="open it with: harness", code="screen-only")
