"""Prompts of MCP servers as commands: found by name, filled in order, their messages taken verbatim.

A server's text is not ours: nothing in it is a placeholder, a shell part or a mention.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import CommandRef
from harness_tui.core.seams import PromptArgument, PromptSource, PromptSpec
from harness_tui.library.arguments import ArgumentLine, read_line
from harness_tui.library.expansion import Expansion, failed

PREFIX: Final = "mcp"


def prompt_name(spec: PromptSpec) -> str:
    """Return the full name of a prompt as a command, ``mcp:server:prompt``; blanks in names become ``_``."""
    return f"{PREFIX}:{_word(spec.server)}:{_word(spec.name)}"


def find_prompt(name: str, specs: Iterable[PromptSpec]) -> PromptSpec | None:
    """Return the prompt that ``name`` means: ``mcp:server:prompt``, ``server:prompt`` or ``mcp__server__prompt``."""
    wanted = name.replace("/", ":")
    for spec in specs:
        server, prompt = _word(spec.server).replace("/", ":"), _word(spec.name).replace("/", ":")
        if wanted in (f"{PREFIX}:{server}:{prompt}", f"{server}:{prompt}", f"{PREFIX}__{server}__{prompt}"):
            return spec
    return None


def hint(spec: PromptSpec) -> str:
    """Return what is shown for the arguments of a prompt."""
    return " ".join(f"<{item.name}>" if item.required else f"[{item.name}]" for item in spec.arguments)


async def expand_prompt(spec: PromptSpec, args_line: str, source: PromptSource) -> Expansion:
    """Fetch a prompt's messages. Required arguments that are missing stop it before any request."""
    command = CommandRef(prompt_name(spec), f"{PREFIX}:{spec.server}")
    line = read_line(args_line)
    arguments = _arguments(spec.arguments, line)
    missing = [item.name for item in spec.arguments if item.required and not arguments.get(item.name)]
    if missing:
        text = f"/{command.name} needs: {', '.join(missing)} (usage: /{command.name} {hint(spec)})"
        return failed("missing-argument", text, command=command)
    warnings: list[str] = []
    if line.words and not spec.arguments:
        warnings.append(f"/{command.name} takes no arguments: {line.text!r} was left out")
    try:
        messages = await source.get_prompt(spec.server, spec.name, arguments)
    except HarnessError as problem:
        return failed("prompt-failed", str(problem), command=command, warnings=warnings)
    text = "\n\n".join(message.text for message in messages if message.text)
    attachments = tuple(attachment for message in messages for attachment in message.attachments)
    if not text.strip() and not attachments:
        return failed("empty-command", f"/{command.name} gave an empty message", command=command, warnings=warnings)
    return Expansion(message=text, attachments=attachments, warnings=tuple(warnings), command=command)


def _arguments(declared: Sequence[PromptArgument], line: ArgumentLine) -> dict[str, str]:
    """Give each declared argument its word; the last takes the rest."""
    values: dict[str, str] = {}
    for number, item in enumerate(declared, 1):
        if number > len(line.words):
            break
        values[item.name] = line.rest(number) if number == len(declared) else line.word(number)
    return values


def _word(name: str) -> str:
    return "_".join(name.split())
