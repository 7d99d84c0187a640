"""Fills a template: one pass, values are data.

Order: everything that can refuse the whole (the file itself, its agent, its shell parts) is decided before anything
runs or is read. Nothing that is put in is read again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import CommandRef
from harness_tui.core.record import record
from harness_tui.core.values import Rule
from harness_tui.library.arguments import ArgumentLine, read_line
from harness_tui.library.diagnostics import Diagnostic
from harness_tui.library.dialects import Dialect, keyed_line
from harness_tui.library.expansion import Expansion, ReadGate, ShellGate, Surroundings, failed
from harness_tui.library.forms import VARIABLES
from harness_tui.library.grants import granted
from harness_tui.library.header import Header
from harness_tui.library.lexer import Mention, find_mentions
from harness_tui.library.mentions import MentionReader, inside_only
from harness_tui.library.resource_mentions import ResourceMentions
from harness_tui.library.shell_parts import SHELL_PARTS, SHELL_SECONDS, ShellRunner
from harness_tui.library.template import ShellPart, Template, compile_template, fill

_LARGE_CHARS: Final = 16_384  # more takes longer than the loop may be held
_VARIABLE: Final = re.compile(r"\$\{(" + "|".join(VARIABLES) + r")\}")


@record
class TemplateSource:
    """A template to be filled. ``shell`` tells whether its shell parts count; else they are text.

    ``appendix`` goes after the body as it is (a skill's folder and files). ``skill`` is the skill's name, if it is one.
    ``dialect`` is how its marks are written.
    """

    name: str
    path: str
    header: Header
    body: str
    error: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    shell: bool = True
    appendix: str = ""
    skill: str | None = None
    skill_folder: Path | None = None
    dialect: Dialect = "markdown"


async def expand_template(source: TemplateSource, args_line: str, around: Surroundings) -> Expansion:
    """Return the message of ``source`` with ``args_line``. Never raises for what a file or a person wrote.

    Cancelling stops the shell part that runs, and nothing is sent.
    """
    command = CommandRef(source.name, source.path)
    warnings = [str(item) for item in source.diagnostics]
    stopped = _refusal(source, around)
    if stopped is not None:
        return failed(*stopped, command=command, warnings=warnings)
    header = source.header
    if len(source.body) + len(args_line) > _LARGE_CHARS:
        line, template, missing = await asyncio.to_thread(_read, source, args_line)
    else:
        line, template, missing = _read(source, args_line)
    if missing:
        wanted = ", ".join(f"{name}=..." for name in missing)
        return failed("missing-argument", f"/{source.name} needs {wanted}", command=command, warnings=warnings)
    model = _known_model(header.model, around, warnings)
    rules = _grants(source, around, warnings)
    variables = _variables(source, around)
    outputs: list[str] = []
    if template.shell_parts:
        problem = await _may_run(template, line, rules, around)
        if problem is not None:
            return failed("shell-denied", problem, command=command, warnings=warnings)
        outputs = await _run_all(template, line, variables, header, around, warnings)
    text, mentions = _assemble(template, line, variables, outputs)
    if source.appendix:
        text = text.rstrip() + source.appendix
    if line.text and not template.takes_arguments:
        text = f"{text.strip()}\n\n{line.text}"
    message = text.strip()
    if not message:
        return failed("empty-command", f"/{source.name} gives an empty message", command=command, warnings=warnings)
    reader = MentionReader(around.root, images=around.images)
    gate = around.read_gate or inside_only(around.root)
    named = ResourceMentions(around.resources, images=around.images)
    typed = ResourceMentions(around.person_resources or around.resources, images=around.images)
    await reader.attach(await named.take(mentions), gate)
    await reader.attach(await typed.take(find_mentions(line.text)), around.person_gate or gate)
    return Expansion(
        message=message,
        agent=header.agent,
        model=model,
        subtask=header.subtask,
        attachments=(*reader.attachments, *named.attachments, *typed.attachments),
        warnings=(*warnings, *reader.warnings, *named.warnings, *typed.warnings),
        command=command,
        skill=source.skill,
        grants=rules,
    )


def replace_variables(text: str, variables: Mapping[str, str]) -> str:
    """Return ``text`` with the braced variables of Harness that are known; every other form stays as it is."""
    return _VARIABLE.sub(lambda match: variables.get(match[1], match.group()), text)


def _read(source: TemplateSource, args_line: str) -> tuple[ArgumentLine, Template, tuple[str, ...]]:
    """Return the line, the template, and the names of arguments that must be given and were not."""
    header, dialect = source.header, source.dialect
    names = header.arguments or {}
    missing: tuple[str, ...] = ()
    if dialect == "keyed" and not names:
        line, names, missing = keyed_line(args_line, source.body, header.argument_hint)
    else:
        line = read_line(args_line)
    template = compile_template(source.body, names, hinted=header.hinted, shell=source.shell, dialect=dialect)
    return line, template, missing


def _refusal(source: TemplateSource, around: Surroundings) -> tuple[str, str] | None:
    """Return code and text of what stops ``source`` before anything of it is looked at."""
    if source.error is not None:
        reason = next((str(item) for item in source.diagnostics if item.level == "error"), source.path)
        return source.error, f"/{source.name} cannot be used: {reason}"
    if not source.header.user_invocable:
        return "not-user-invocable", f"/{source.name} is for the model only: {source.path} says user-invocable: false"
    agent = source.header.agent
    if agent is not None and agent not in around.agents:
        known = ", ".join(sorted(around.agents)) or "none"
        return "unknown-agent", f"/{source.name} names the agent {agent!r}, which is not known; known agents: {known}"
    return None


def _known_model(model: str | None, around: Surroundings, warnings: list[str]) -> str | None:
    if model is None or around.models(model) or around.models(model.split("#", 1)[0]):
        return model
    warnings.append(f"the model {model!r} is not known: the session's model is used")
    return None


def _grants(source: TemplateSource, around: Surroundings, warnings: list[str]) -> tuple[Rule, ...]:
    if not around.may_grant:
        return ()
    place = f"{source.path}:{source.header.allowed_tools_line}"
    rules, useless = granted(source.header.allowed_tools, place)
    if useless:
        warnings.append(f"{place}: allowed-tools: these grant nothing here: {', '.join(useless)}")
    return rules


def _variables(source: TemplateSource, around: Surroundings) -> dict[str, str]:
    found = {"PROJECT_DIR": str(around.root)}
    if source.skill_folder is not None:
        found["SKILL_DIR"] = str(source.skill_folder)
    if around.session is not None:
        found["SESSION_ID"] = around.session
    return {f"{owner}_{name}": value for owner in ("HARNESS", "CLAUDE") for name, value in found.items()}


async def _may_run(template: Template, line: ArgumentLine, rules: Sequence[Rule], around: Surroundings) -> str | None:
    """Return why the shell parts may not run, ``None`` when they all may."""
    commands = [part.source.written for part in template.shell_parts]
    if len(commands) > SHELL_PARTS:
        return f"{len(commands)} shell parts are more than the limit of {SHELL_PARTS}: none was run"
    shown = "; ".join(commands)
    if around.shell_gate is None or (around.spawner is None and around.stand_in is None):
        return f"nobody can be asked here whether its shell parts may run: {shown}"
    if await around.shell_gate(commands, line.values, rules):
        return None
    return f"its shell parts were not allowed to run: {shown}"


async def _run_all(
    template: Template,
    line: ArgumentLine,
    variables: Mapping[str, str],
    header: Header,
    around: Surroundings,
    warnings: list[str],
) -> list[str]:
    if around.stand_in is not None:
        return [around.stand_in(part.source.written) for part in template.shell_parts]
    assert around.spawner is not None
    seconds = header.timeout or SHELL_SECONDS
    if around.shell_seconds is not None:
        seconds = min(seconds, around.shell_seconds) if header.timeout else around.shell_seconds
    env = {"ARGUMENTS": line.text, **variables}
    runner = ShellRunner(around.spawner, around.root, line.values, env, seconds)
    outputs: list[str] = []
    for part in template.shell_parts:
        try:
            outputs.append(await runner.run(part.source.command))
        except HarnessError as problem:
            warnings.append(str(problem))
            outputs.append(f"[not run: {problem.what}]")
    return outputs


def _assemble(
    template: Template, line: ArgumentLine, variables: Mapping[str, str], outputs: Sequence[str]
) -> tuple[str, list[str]]:
    """Return the text and the paths that its mentions name."""
    waiting = iter(outputs)
    pieces: list[str] = []
    mentions: list[str] = []
    for token in template.tokens:
        match token:
            case ShellPart():
                pieces.append(next(waiting))
            case Mention(parts=parts, quoted=quoted):
                path = fill(parts, line, template.highest, variables)
                mentions.append(path.removeprefix("@"))
                pieces.append(f'@"{path}"' if quoted else f"@{path}")
            case _:
                pieces.append(fill((token,), line, template.highest, variables))
    return "".join(pieces), mentions


__all__ = [
    "Expansion",
    "ReadGate",
    "ShellGate",
    "Surroundings",
    "TemplateSource",
    "expand_template",
    "replace_variables",
]
