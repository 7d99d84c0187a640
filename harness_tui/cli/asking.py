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
from harness_tui.cli.common import warn
from harness_tui.cli.streams import write_notice
from harness_tui.core.bus import Subscription
from harness_tui.core.codec import encode
from harness_tui.core.event_parts import CommandPreview
from harness_tui.core.events import PermissionRequested, QuestionAsked
from harness_tui.core.intents import Answer
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


async def ask_at_terminal(live: LiveSession, subscription: Subscription) -> None:
    """Ask about every request on standard error and read the answer from the terminal."""
    async for envelope in subscription:
        match envelope.event:
            case PermissionRequested() as request:
                await live.send(await _permission(request))
            case QuestionAsked() as question:
                from harness_tui.cli.forms import answer_at_terminal

                await live.send(await answer_at_terminal(question, _read_line))
            case _:
                continue


async def _permission(request: PermissionRequested) -> Answer:
    warn(f"permission needed: {request.permission} {', '.join(request.patterns)}")
    if request.reason:
        write_notice(clean_for_display(request.reason, one_line=True) + "\n")
    if request.changes:
        write_notice(clean_for_display(request.changes, show_invisible=True) + "\n")
    preview = encode(request.preview)
    shown = preview.get("text") or preview.get("command") or preview.get("url") or preview.get("arguments")
    write_notice(clean_for_display(shown if isinstance(shown, str) else json.dumps(shown)).rstrip() + "\n")
    asked = _parts_asked(request)
    _show_parts(request)
    choices = ["allow once", *(_offer(request, index) for index in range(len(request.offers))), "no"]
    if len(asked) > 1:
        choices.append("no, only some of its commands")
    no = 2 + len(request.offers)
    for number, text in enumerate(choices, 1):
        write_notice(f"  {number} {clean_for_display(text, one_line=True)}\n")
    while True:
        answer = (await _read_line(f"1-{len(choices)}, or what to do instead: ")).strip()
        if not answer.isdecimal():
            return Answer(request.request, "deny", note=answer or None)
        match int(answer):
            case 1:
                return Answer(request.request, "allow")
            case chosen if chosen == no:
                return Answer(request.request, "deny")
            case chosen if no < chosen <= len(choices):
                return Answer(request.request, "allow", parts=await _ticked(request, asked))
            case chosen if 1 < chosen < no:
                # By its place: several offers may have the same scope.
                return Answer(request.request, "allow", scope=request.offers[chosen - 2].scope, offer=chosen - 2)
            case _:
                write_notice(f"there is no {answer}\n")


def _parts_asked(request: PermissionRequested) -> list[int]:
    """Return the places of those commands of a compound one that nothing allows yet."""
    preview = request.preview
    if not isinstance(preview, CommandPreview):
        return []
    return [index for index, part in enumerate(preview.parts) if part.decision == "ask"]


def _show_parts(request: PermissionRequested) -> None:
    preview = request.preview
    if not isinstance(preview, CommandPreview) or len(preview.parts) < 2:
        return
    for part in preview.parts:
        word = "asks" if part.decision == "ask" else "allowed"
        write_notice(f"  {word:7} {clean_for_display(part.command, one_line=True)}\n")


async def _ticked(request: PermissionRequested, asked: list[int]) -> tuple[int, ...]:
    """Ask for each command that asks whether it may run; one that may not denies the whole, and the model is told."""
    preview = request.preview
    assert isinstance(preview, CommandPreview)
    ticked = [index for index in range(len(preview.parts)) if index not in asked]
    for index in asked:
        command = clean_for_display(preview.parts[index].command, one_line=True)
        answer = (await _read_line(f"may this run: {command} (y/n): ")).strip().casefold()
        if answer in ("y", "yes"):
            ticked.append(index)
    return tuple(sorted(ticked))


def _offer(request: PermissionRequested, index: int) -> str:
    offer = request.offers[index]
    if offer.mode is not None:
        return f"allow, and go on in the mode {offer.mode}"
    rules = ", ".join(f"{rule.permission} {rule.pattern}" for rule in offer.rules)
    return f"allow for the {offer.scope}: {rules}"


async def _read_line(prompt: str) -> str:
    """Read one line of the terminal; empty at its end. No thread waits for it, which nothing could stop."""
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
        return (await line).decode("utf-8", "replace")
    finally:
        loop.remove_reader(descriptor)
