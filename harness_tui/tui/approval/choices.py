"""A permission request as a person is asked it: title, preview, numbered choices with exactly what each would store."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from harness_tui.core import events as ev
from harness_tui.core.event_parts import (
    ArgumentsPreview,
    CommandPart,
    CommandPreview,
    DiffPreview,
    Offer,
    OfferedRule,
    UrlPreview,
)
from harness_tui.core.intents import Answer
from harness_tui.core.paths import short
from harness_tui.core.text import clean_for_display
from harness_tui.core.values import Scope
from harness_tui.tui.lines import Line, Span, wrap
from harness_tui.tui.transcript.diff import count_changes, diff_lines

_SCOPES: Final = {
    "session": "Yes, for this session",
    "project": "Yes, always in this project",
    "user": "Yes, always everywhere",
}
_MODES: Final = {"accept-edits": "Yes, and allow edits in this project from here on"}
_MODE_RULES: Final = {
    "accept-edits": "mode accept-edits: edits in the project are not asked about until the mode is changed (Shift+Tab);"
    " protected names are",
}
_WHY: Final = {
    "doom_loop": "The model repeats itself: the same call with the same arguments, several times in a row.",
    "remote_skill": "An MCP server wrote this skill: what it says is put before the model.",
    "skill_code": "The model acts on a skill that an MCP server wrote, and wants to run code.",
    "sampling": "An MCP server wants the model to answer this. What it says goes back to the server.",
}
_NAMES: Final = {"remote_skill": "a skill of a server", "skill_code": "code for a skill of a server"}
_DECISIONS: Final = {"allow": "allowed", "ask": "asks", "deny": "denied"}
_BAR: Final[Line] = (("│ ", "muted"),)


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer. ``rules`` are lines on what it would do, ``offer`` is the offer's place in the request.

    ``verb`` goes before each of them, ``brief`` says them in one line, a path in the project from ``./`` on.
    ``wants_note`` asks for a text first. ``parts`` are the commands that are allowed, all of them for ``None``.
    """

    label: str
    action: Literal["allow", "deny"]
    scope: Scope | None = None
    rules: tuple[str, ...] = ()
    wants_note: bool = False
    offer: int | None = None
    brief: str = ""
    verb: str = ""
    parts: tuple[int, ...] | None = None

    def answer(self, request: str, note: str | None = None) -> Answer:
        """Return the intent."""
        return Answer(request, self.action, scope=self.scope, parts=self.parts, note=note, offer=self.offer)


NO: Final = Choice("No", "deny")
_INSTEAD: Final = Choice("No, and tell the model what to do instead", "deny", wants_note=True)


def choices_for(event: ev.PermissionRequested, root: str = "") -> list[Choice]:
    """Return the numbered choices: once, each offer, no, no with a note."""
    offers = [_offered(offer, place, root) for place, offer in enumerate(event.offers)]
    why = "" if offers else "it cannot be allowed for longer"
    return [Choice("Yes, once", "allow", scope="once", brief=why), *offers, NO, _INSTEAD]


def choices_without(parts: Sequence[CommandPart], left_out: Collection[int]) -> list[Choice]:
    """Return the choices where some parts of a command are not allowed: then the command does not run."""
    kept = tuple(place for place in range(len(parts)) if place not in left_out)
    refused = tuple(_shown(parts[place].command) for place in sorted(left_out))
    label = "No, not with what is not ticked; the model is told"
    told = Choice(label, "allow", scope="once", rules=refused, brief=", ".join(refused), verb="refuses: ", parts=kept)
    return [told, NO, _INSTEAD]


def _offered(offer: Offer, place: int, root: str) -> Choice:
    if offer.mode is not None:
        label = _MODES.get(offer.mode, f"Yes, and go to the mode {_shown(offer.mode)}")
        about = (_MODE_RULES.get(offer.mode, f"mode {_shown(offer.mode)}"),)
        return Choice(label, "allow", scope=offer.scope, rules=about, offer=place, brief=f"mode {_shown(offer.mode)}")
    rules = tuple(_shown(f"{rule.action} {rule.permission} {rule.pattern}") for rule in offer.rules)
    brief = ", ".join(_brief(rule, root) for rule in offer.rules)
    label = _SCOPES[offer.scope]
    return Choice(label, "allow", scope=offer.scope, rules=rules, offer=place, brief=brief, verb="would store: ")


def _brief(rule: OfferedRule, root: str) -> str:
    inside = root.rstrip("/") + "/"
    pattern = rule.pattern
    if root and pattern.startswith(inside):
        pattern = f"./{pattern.removeprefix(inside)}"
    return _shown(f"{rule.action} {rule.permission} {pattern}")


def title_of(event: ev.PermissionRequested, call_title: str) -> str:
    """Return the question in one line."""
    patterns = ", ".join(_shown(pattern) for pattern in event.patterns)
    title = call_title or patterns
    name = _NAMES.get(event.permission, _shown(event.permission))
    return f"Allow {name}: {title}?" if title else f"Allow {name}?"


def why_lines(event: ev.PermissionRequested, width: int) -> list[Line]:
    """Say which rules ask, each with where it stands, and for what."""
    lines: list[Line] = []
    for rule in event.asked_by or ("what asks is not known",):
        text, bracket, place = rule.rpartition(" (")
        shown = f"{text}{bracket}{short(place)}" if bracket else rule
        lines += wrap([("asked by ", "muted"), (_shown(shown), "")], width, rest=(("  ", ""),))
    for pattern in event.patterns:
        lines += wrap([("for ", "muted"), (_shown(pattern), "")], width, rest=(("    ", ""),))
    return [*lines, ()]


def preview_lines(event: ev.PermissionRequested, width: int) -> list[Line]:
    """Draw what would happen, whole: whoever shows it scrolls."""
    lines: list[Line] = []
    if reason := event.reason or _WHY.get(event.permission):
        lines.extend(wrap([(clean_for_display(reason), "warning")], width))
    if event.changes:
        lines.extend(diff_lines(_visible(event.changes), width))
        lines.append((("It would be called with:", "muted"),))
    match event.preview:
        case DiffPreview(path=path, text=text, before_hash=before, files=files):
            if files is None:
                lines.append(_file_line(path, *count_changes(text), new=before is None))
            for file in files or ():
                new, gone = file.before_hash is None, file.after_hash is None
                lines.append(_file_line(file.path, file.added, file.removed, new=new, gone=gone))
            lines.extend(diff_lines(_visible(text), width))
        case CommandPreview(command=command, parts=parts, workdir=workdir):
            lines.extend(_code(command, width))
            if len(parts) == 1 and parts[0].decision != "ask":
                lines.extend(_part_lines(parts, width))
            lines.extend(wrap([("in ", "muted"), (_shown(short(workdir)), "muted")], width))
        case ArgumentsPreview(arguments=arguments):
            lines.extend(argument_lines(arguments, width))
        case UrlPreview(url=url, host=host):
            lines.extend(wrap([("host ", "muted"), (_shown(host), "bold")], width))
            lines.extend(wrap([(_shown(url), "link")], width))
    return lines


def _file_line(path: str, added: int, removed: int, *, new: bool, gone: bool = False) -> Line:
    head = f"{'new file ' if new else 'goes: ' if gone else ''}{_shown(path)}"
    return ((head, "bold"), (f"  +{added}", "added"), (f" -{removed}", "removed"))


def argument_lines(arguments: dict[str, Any], width: int) -> list[Line]:
    """Draw the arguments of a call, one name after the other, texts as they are."""
    if not arguments:
        return [(("no arguments", "muted"),)]
    lines: list[Line] = []
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
        if "\n" in text:
            lines.extend(wrap([(f"{_shown(name)}:", "muted")], width))
            lines.extend(_code(text, width))
        else:
            lines.extend(wrap([(f"{_shown(name)}: ", "muted"), (_visible(text), "")], width, rest=(("  ", ""),)))
    return lines


def _code(text: str, width: int) -> list[Line]:
    return [line for row in _visible(text).split("\n") for line in wrap([(row, "bold")], width, first=_BAR, rest=_BAR)]


def part_text(part: CommandPart) -> tuple[str, str]:
    """Return a command in one line, and what the rules say of it."""
    return _shown(part.command), _DECISIONS[part.decision]


def _part_lines(parts: Sequence[CommandPart], width: int) -> list[Line]:
    signs: dict[str, Span] = {"allow": ("✓ ", "ok"), "ask": ("? ", "warning"), "deny": ("✗ ", "error")}
    lines: list[Line] = []
    for part in parts:
        text, decision = part_text(part)
        spans: list[Span] = [(text, ""), (f"  {decision}", "muted")]
        lines.extend(wrap(spans, width, first=(signs[part.decision],)))
    return lines


def _shown(text: str) -> str:
    return clean_for_display(text, one_line=True, show_invisible=True)


def _visible(text: str) -> str:
    """What a person decides on is shown with its invisible characters."""
    return clean_for_display(text, show_invisible=True)
