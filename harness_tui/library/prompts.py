"""Prompts of MCP servers as commands: found by name, filled in order, their messages taken verbatim.

A server's text is not ours: nothing in it is a placeholder, a shell part or a mention.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from harness_tui.core.errors import HarnessError, RefusedError
from harness_tui.core.event_parts import CommandRef
from harness_tui.core.limits import TEMPLATE_BYTES
from harness_tui.core.paths import digest
from harness_tui.core.seams import PromptArgument, PromptMessage, PromptSource, PromptSpec
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.library.arguments import ArgumentLine, read_line
from harness_tui.library.expansion import Expansion, failed

PREFIX: Final = "mcp"

_DESCRIPTION_CHARS: Final = 300
_BLANKS: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def prompt_names(specs: Iterable[PromptSpec]) -> dict[str, PromptSpec]:
    """Return the prompts by their full names as commands, ``mcp:server:prompt``; blanks in names become ``_``.

    Of several that would have one name the one that is written so itself has it; the others end in a part of their
    hash, so that each can be reached and none takes the place of another.
    """
    asked = list(specs)
    same: dict[str, list[PromptSpec]] = {}
    for spec in asked:
        same.setdefault(_plain(spec), []).append(spec)
    found: dict[str, PromptSpec] = {}
    for spec in asked:
        name = _plain(spec)
        rivals = same[name]
        first = next((other for other in rivals if f"{PREFIX}:{other.server}:{other.name}" == name), rivals[0])
        if spec is not first:
            mark = digest("\n".join((spec.server, spec.name)).encode("utf-8", "surrogatepass"))
            name = f"{name}-{mark[:6]}"
        found.setdefault(name, spec)
    return found


def find_prompt(name: str, specs: Iterable[PromptSpec]) -> PromptSpec | None:
    """Return the prompt that ``name`` means: ``mcp:server:prompt``, ``server:prompt`` or ``mcp__server__prompt``."""
    wanted = _spelling(name)
    names = prompt_names(specs)
    for full, spec in names.items():
        if wanted in (_spelling(full), _spelling(full.removeprefix(f"{PREFIX}:"))):
            return spec
    if not name.startswith(f"{PREFIX}__"):
        return None
    for full, spec in names.items():
        server = _word(spec.server)
        if wanted == _spelling(f"{PREFIX}__{server}__{full[len(PREFIX) + len(server) + 2 :]}"):
            return spec
    return None


def hint(spec: PromptSpec) -> str:
    """Return what is shown for the arguments of a prompt."""
    names = ((one_line(item.name), item.required) for item in spec.arguments)
    return " ".join(f"<{name}>" if required else f"[{name}]" for name, required in names)


def one_line(text: str) -> str:
    """Return a server's description as it is shown in a list."""
    return cut_end(clean_for_display(text, one_line=True), _DESCRIPTION_CHARS)


async def expand_prompt(spec: PromptSpec, args_line: str, source: PromptSource, *, name: str) -> Expansion:
    """Fetch a prompt's messages; ``name`` is its full name. Missing arguments stop it before any request."""
    command = CommandRef(name, f"{PREFIX}:{spec.server}")
    line = read_line(args_line)
    arguments = _arguments(spec.arguments, line)
    missing = [item.name for item in spec.arguments if item.required and not arguments.get(item.name)]
    if missing:
        text = f"/{name} needs: {', '.join(map(one_line, missing))} (usage: /{name} {hint(spec)})"
        return failed("missing-argument", text, command=command)
    warnings: list[str] = []
    if line.words and not spec.arguments:
        warnings.append(f"/{name} takes no arguments: {line.text!r} was left out")
    try:
        messages = await source.get_prompt(spec.server, spec.name, arguments)
    except RefusedError as problem:
        return failed("prompt-denied", str(problem), command=command, warnings=warnings)
    except HarnessError as problem:
        return failed("prompt-failed", str(problem), command=command, warnings=warnings)
    turns = await asyncio.to_thread(_turns, messages)
    text = "\n\n".join(turn.text for turn in turns if turn.text)
    size = sum(len(turn.text.encode("utf-8", "replace")) for turn in turns)
    if size > TEMPLATE_BYTES:
        what = f"/{name} gave {size} bytes of text, more than the {TEMPLATE_BYTES} that a message may have"
        return failed("prompt-failed", what, command=command, warnings=warnings)
    attachments = tuple(attachment for turn in turns for attachment in turn.attachments)
    if not text.strip() and not attachments:
        return failed("empty-command", f"/{name} gave an empty message", command=command, warnings=warnings)
    return Expansion(
        message=text,
        attachments=attachments,
        warnings=tuple(warnings),
        command=command,
        turns=turns if [turn.role for turn in turns] != ["user"] else (),
    )


def _turns(messages: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    """Return ``messages`` with neighbours of one role as one: a server needs two for a text and its image."""
    turns: list[PromptMessage] = []
    for message in messages:
        message = replace(message, text=message.text.encode("utf-8", "replace").decode("utf-8"))
        if turns and turns[-1].role == message.role:
            last = turns[-1]
            text = "\n\n".join(text for text in (last.text, message.text) if text)
            turns[-1] = replace(last, text=text, attachments=(*last.attachments, *message.attachments))
        elif message.text or message.attachments:
            turns.append(message)
    return tuple(turns)


def _arguments(declared: Sequence[PromptArgument], line: ArgumentLine) -> dict[str, str]:
    """Give each declared argument its word; the last takes the rest."""
    values: dict[str, str] = {}
    for number, item in enumerate(declared, 1):
        if number > len(line.words):
            break
        values[item.name] = line.rest(number) if number == len(declared) else line.word(number)
    return values


def _plain(spec: PromptSpec) -> str:
    return f"{PREFIX}:{_word(spec.server)}:{_word(spec.name)}"


def _word(name: str) -> str:
    """Return a name of a server as one that can be typed."""
    return _BLANKS.sub("_", unicodedata.normalize("NFC", name).strip()) or "_"


def _spelling(name: str) -> str:
    return unicodedata.normalize("NFC", name).replace("/", ":")
