"""``harness chat``: the same session line by line."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness_tui.cli.common import root_option, run_async
from harness_tui.core.errors import UsageError
from harness_tui.core.record import record

if TYPE_CHECKING:
    from harness_tui.plain.chat import Chat
    from harness_tui.plain.terminal import Terminal


@record
class ChatOptions:
    """What the command line asked for; satisfies ``workspace.front.StartOptions``."""

    agent: str | None = None
    model: str | None = None
    mode: str | None = None
    session: str | None = None
    continue_latest: bool = False


@click.command(name="chat", short_help="The shell line by line, for dumb terminals and screen readers.")
@click.option("--agent", help="The agent to talk to.")
@click.option("--model", help="provider/model, or replay:FILE.")
@click.option("--mode", help="ask, accept-edits or plan.")
@click.option("--session", help="Go on with this session.")
@click.option("--continue", "latest", is_flag=True, help="Go on with the latest session of the project.")
@click.option("--lines", is_flag=True, help="Read plain lines, without history and completion, as TERM=dumb does.")
@root_option
def command(
    agent: str | None,
    model: str | None,
    mode: str | None,
    session: str | None,
    latest: bool,
    lines: bool,
    root: Path,
) -> int:
    """Talk line by line: every line is appended, choices are numbered, nothing is drawn over.

    What is piped in is worked off line by line; the exit code is then that of the last run, as with run.
    """
    if session and latest:
        raise UsageError("--session and --continue do not go together")
    options = ChatOptions(agent, _from_here(model, root), mode, session, latest)
    return run_async(_chat(root, options, plain=lines))


async def _chat(root: Path, options: ChatOptions, *, plain: bool) -> int:
    from harness_tui.cli.headless import exit_code
    from harness_tui.plain.chat import Chat
    from harness_tui.workspace.front import create_backend

    backend = create_backend(root, options)
    terminal = await asyncio.to_thread(_terminal, plain)
    chat = Chat(backend, terminal)
    try:
        _interrupt_by_signal(chat)
        end = await chat.run()
    finally:
        await backend.close()
    return 0 if terminal.interactive or end is None else exit_code(end)


def _terminal(plain: bool) -> Terminal:
    from harness_tui.plain.terminal import standard_terminal

    able = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")
    if plain or not able:
        return standard_terminal()
    from harness_tui.plain.line_editor import LineEditor

    return LineEditor()


def _interrupt_by_signal(chat: Chat) -> None:
    """Let SIGINT cancel the run, not the program."""
    going: set[asyncio.Task[None]] = set()

    def interrupt() -> None:
        task = asyncio.ensure_future(chat.interrupt())
        going.add(task)
        task.add_done_callback(going.discard)

    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt)


def _from_here(model: str | None, root: Path) -> str | None:
    """Return ``model``; the script of ``replay:FILE`` lies relative to the current folder, wherever the chat is."""
    from harness_tui.config.build import absolute_replay

    here = Path.cwd()
    return model if model is None or root.resolve() == here.resolve() else absolute_replay(model, here)
