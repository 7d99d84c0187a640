"""Answers for verbs that can ask: intents as JSON lines on standard input, or questions at a terminal."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from harness_tui.agent.live import LiveSession
from harness_tui.agent.parts import AskPolicy
from harness_tui.cli.streams import write_notice
from harness_tui.core.bus import Subscription
from harness_tui.core.events import PermissionRequested, QuestionAsked
from harness_tui.core.text import clean_for_display

_LINE_BYTES = 65_536
"""More than a terminal gives as one line."""


def policy_of(ask: str | None, *, at_terminal: bool | None = None) -> AskPolicy:
    """Return who is asked for an ``--ask`` value; without one a person at a terminal, else nobody."""
    if at_terminal is None:
        at_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    match ask:
        case "allow":
            return "allow"
        case "refuse":
            return "refuse"
        case "input":
            return "person"
        case _:
            return "person" if at_terminal else "refuse"


def read_intents(live: LiveSession, lines: Callable[[], str] | None = None) -> None:
    """Hand every JSON line of standard input to ``live`` as an intent; the end of input refuses what waits."""
    loop = asyncio.get_running_loop()
    next_line = lines or sys.stdin.readline

    def take(line: str) -> None:
        if not line:
            live.end_of_input()
            return
        try:
            data: Any = json.loads(line)
        except (ValueError, RecursionError) as error:  # malformed, too deep, or a number too long
            data = {"intent": None, "error": str(error)}
        keep.append(asyncio.ensure_future(live.send_json(data)))

    def read() -> None:
        while True:
            line = next_line()
            if line and not line.strip():
                continue
            try:
                loop.call_soon_threadsafe(take, line)
            except RuntimeError:  # the loop is closed: the run is over
                return
            if not line:
                return

    keep: list[asyncio.Future[None]] = []
    threading.Thread(target=read, name="intents", daemon=True).start()


class StderrLines:
    """Asks on standard error, so that results alone are on standard output, and reads from standard input."""

    def write(self, text: str) -> None:
        """Show lines, made safe for a terminal."""
        write_notice(clean_for_display(text) + "\n")

    async def read_line(self, prompt: str) -> str | None:
        """Read one line of the terminal; ``None`` at its end. No thread waits for it, which nothing could stop."""
        write_notice(prompt)
        loop = asyncio.get_running_loop()
        descriptor = sys.stdin.fileno()
        line: asyncio.Future[bytes] = loop.create_future()

        def ready() -> None:
            if line.done():
                return
            try:
                line.set_result(os.read(descriptor, _LINE_BYTES))
            except OSError:  # the terminal is gone
                line.set_result(b"")

        loop.add_reader(descriptor, ready)
        try:
            data = await line
        finally:
            loop.remove_reader(descriptor)
        return data.decode("utf-8", "replace").rstrip("\r\n") if data else None


async def ask_at_terminal(live: LiveSession, subscription: Subscription) -> None:
    """Ask about every request on standard error and read the answer from the terminal."""
    lines = StderrLines()
    async for envelope in subscription:
        match envelope.event:
            case PermissionRequested() as request:
                from harness_tui.plain.requests import answer_permission

                await live.send(await answer_permission(request, lines))
            case QuestionAsked() as question:
                from harness_tui.plain.forms import answer_question

                await live.send(await answer_question(question, lines))
            case _:
                continue
