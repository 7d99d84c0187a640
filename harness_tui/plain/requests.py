"""Permission requests, line by line: what would happen, then numbered choices with exactly what each would store."""

from __future__ import annotations

import json

from harness_tui.core.codec import encode
from harness_tui.core.event_parts import CommandPreview
from harness_tui.core.events import PermissionRequested
from harness_tui.core.intents import Answer
from harness_tui.core.text import clean_for_display
from harness_tui.plain.terminal import Lines


async def answer_permission(request: PermissionRequested, lines: Lines) -> Answer:
    """Ask whether a call may be made. The end of the input is a no, a text a no that the model is told."""
    lines.write(f"permission needed: {request.permission} {', '.join(map(_line, request.patterns))}")
    if request.reason:
        lines.write(clean_for_display(request.reason, one_line=True))
    if request.changes:
        lines.write(clean_for_display(request.changes, show_invisible=True))
    preview = encode(request.preview)
    shown = preview.get("text") or preview.get("command") or preview.get("url") or preview.get("arguments")
    text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
    lines.write(clean_for_display(text, show_invisible=True).rstrip())
    asked = _parts_asked(request)
    _show_parts(request, lines)
    choices = ["allow once", *(_offer(request, index) for index in range(len(request.offers))), "no"]
    if len(asked) > 1:
        choices.append("no, only some of its commands")
    no = 2 + len(request.offers)
    for number, text in enumerate(choices, 1):
        lines.write(f"  {number} {_line(text)}")
    while True:
        answer = (await lines.read_line(f"1-{len(choices)}, or what to do instead: ") or "").strip()
        if not answer.isdecimal():
            return Answer(request.request, "deny", note=answer or None)
        match int(answer):
            case 1:
                return Answer(request.request, "allow")
            case chosen if chosen == no:
                return Answer(request.request, "deny")
            case chosen if no < chosen <= len(choices):
                return Answer(request.request, "allow", parts=await _ticked(request, asked, lines))
            case chosen if 1 < chosen < no:
                # By its place: several offers may have the same scope.
                return Answer(request.request, "allow", scope=request.offers[chosen - 2].scope, offer=chosen - 2)
            case _:
                lines.write(f"there is no {answer}")


def _parts_asked(request: PermissionRequested) -> list[int]:
    """Return the places of those commands of a compound one that nothing allows yet."""
    preview = request.preview
    if not isinstance(preview, CommandPreview):
        return []
    return [index for index, part in enumerate(preview.parts) if part.decision == "ask"]


def _show_parts(request: PermissionRequested, lines: Lines) -> None:
    preview = request.preview
    if not isinstance(preview, CommandPreview) or len(preview.parts) < 2:
        return
    for part in preview.parts:
        word = "asks" if part.decision == "ask" else "allowed"
        lines.write(f"  {word:7} {_line(part.command)}")


async def _ticked(request: PermissionRequested, asked: list[int], lines: Lines) -> tuple[int, ...]:
    """Ask for each command that asks whether it may run; one that may not denies the whole, and the model is told."""
    preview = request.preview
    assert isinstance(preview, CommandPreview)
    ticked = [index for index in range(len(preview.parts)) if index not in asked]
    for index in asked:
        command = _line(preview.parts[index].command)
        answer = (await lines.read_line(f"may this run: {command} (y/n): ") or "").strip().casefold()
        if answer in ("y", "yes"):
            ticked.append(index)
    return tuple(sorted(ticked))


def _offer(request: PermissionRequested, index: int) -> str:
    offer = request.offers[index]
    if offer.mode is not None:
        return f"allow, and go on in the mode {offer.mode}"
    rules = ", ".join(f"{rule.permission} {rule.pattern}" for rule in offer.rules)
    return f"allow for the {offer.scope}: {rules}"


def _line(text: str) -> str:
    return clean_for_display(text, one_line=True, show_invisible=True)
