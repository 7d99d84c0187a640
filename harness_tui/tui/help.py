"""The help's text, made from the tables that the program itself uses, so that it cannot lag behind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.binding import Binding, BindingType

from harness_tui.library.own_commands import OWN_COMMANDS
from harness_tui.tui.keymap import KeyAction
from harness_tui.tui.lines import Line, Span, cells, wrap
from harness_tui.tui.panels.side import CHANGE_KEYS, DIAGNOSTIC_KEYS, PANEL_KEYS, PROCESS_KEYS
from harness_tui.tui.prompt.field import PROMPT_KEYS
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.library import LIBRARY_KEYS
from harness_tui.tui.screens.offers import OFFER_KEYS
from harness_tui.tui.screens.permissions import PERMISSION_KEYS
from harness_tui.tui.screens.queue import QUEUE_KEYS
from harness_tui.tui.screens.review import REVIEW_KEYS
from harness_tui.tui.transcript.view import TranscriptView

_NAMES = {
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "enter": "Enter",
    "space": "Space",
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}
_REQUEST_KEYS = (
    ("1 … 9, 0", "Choose an answer"),
    ("↑ ↓ Enter", "Choose the marked answer"),
    ("Space", "Tick a part of a command, or not: without it the command does not run, and the model is told"),
    ("PgUp PgDn, Home End", "Scroll what would happen"),
    ("v", "Review a change of files on the whole screen: take parts out, edit it, allow it"),
    ("w", "Show which rules ask, and where they stand"),
    ("Esc", "No"),
)


def help_lines(actions: Sequence[KeyAction], width: int) -> Sequence[Line]:
    """Return the help at a width: keys of the app, the prompt, requests, lists and the transcript, then commands.

    ``actions`` have the keys that count now.
    """
    everywhere = [(key_names(",".join(one.keys)), one.text) for one in actions if one.binding]
    in_prompt = [(key_names(",".join(one.keys)), one.text) for one in actions if not one.binding]
    names = [(one.name, key_names(",".join(one.keys)) or "no key") for one in actions]
    lines: list[Line] = []
    _section(lines, "Prompt", [*PROMPT_KEYS, *in_prompt], width)
    _section(lines, "Everywhere", everywhere, width)
    _section(lines, "Waiting messages (Alt+Q)", QUEUE_KEYS, width)
    _section(lines, "When something waits for you", _REQUEST_KEYS, width)
    _section(lines, "Review of a change", REVIEW_KEYS, width)
    _section(lines, "Transcript (Tab goes there)", keys_of(TranscriptView.BINDINGS), width)
    _section(lines, "Lists", keys_of(RowList.BINDINGS), width)
    _section(lines, "Side panel (F2)", PANEL_KEYS, width)
    _section(lines, "Changes and todos (in the side panel)", CHANGE_KEYS, width)
    _section(lines, "Diagnostics (/lsp)", DIAGNOSTIC_KEYS, width)
    _section(lines, "Servers (/mcp) and processes (/ps)", PROCESS_KEYS, width)
    _section(lines, "Tools and resources of MCP servers (/mcp tools, /mcp resources)", OFFER_KEYS, width)
    _section(lines, "Skills, commands, problems (/skills /commands /doctor)", LIBRARY_KEYS, width)
    _section(lines, "Permissions (/permissions)", PERMISSION_KEYS, width)
    commands = [
        (f"/{own.name} {own.hint}".strip(), own.description + (f" ({own.missing})" if own.missing else ""))
        for own in OWN_COMMANDS
    ]
    _section(lines, "Commands", commands, width)
    _section(lines, "Names of actions, for keys of your own (tui.keys in /config)", names, width)
    more = "Your own commands and skills are offered when you type / in the prompt. !command runs a shell command."
    lines.extend(wrap([(more, "muted")], width))
    return lines


def key_lines(rows: Sequence[tuple[str, str]], width: int) -> Sequence[Line]:
    """Return keys with what they do, for a screen that has its own."""
    lines: list[Line] = []
    _section(lines, "Keys", rows, width)
    return lines


def keys_of(bindings: Iterable[BindingType]) -> list[tuple[str, str]]:
    """Return ``(keys, description)`` of bindings that have a description."""
    found = [binding for binding in bindings if isinstance(binding, Binding) and binding.description]
    return [(key_names(binding.key), binding.description) for binding in found]


def key_names(keys: str) -> str:
    """Return ``ctrl+b,f2`` as ``Ctrl+B, F2``; a letter alone stays as it is typed."""
    return ", ".join(
        "+".join(
            _NAMES.get(part, part if part == key and len(part) == 1 else part.capitalize()) for part in key.split("+")
        )
        for key in keys.split(",")
    )


def _section(lines: list[Line], title: str, rows: Sequence[tuple[str, str]], width: int) -> None:
    lines.append(((title, "heading"),))
    column = min(max((cells(keys) for keys, _ in rows), default=0), width // 2) + 4
    for keys, text in rows:
        head: list[Span] = [("  ", ""), (keys, "bold")]
        pad = max(1, column - cells(keys) - 2)
        lines.extend(
            wrap([(text, "")], width, first=(*head, (" " * pad, "")), rest=((" " * min(column, width // 2), ""),))
        )
    lines.append(())
