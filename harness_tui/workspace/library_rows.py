"""Commands and skills for people: what is offered after ``/``, what the browser lists, and what is wrong with files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal

from harness_tui.config.folders import tool_of
from harness_tui.core.events import Notice
from harness_tui.core.record import record
from harness_tui.library.skills import allowed_for, hidden_reason

if TYPE_CHECKING:
    from pathlib import Path

    from harness_tui.config.problems import Problem
    from harness_tui.core.remote_skills import RemoteSkill
    from harness_tui.core.seams import PromptSource
    from harness_tui.core.values import AgentDefinition
    from harness_tui.library.command_file import Command
    from harness_tui.library.diagnostics import Diagnostic
    from harness_tui.library.library import Library
    from harness_tui.library.skill_file import Skill

UNTRUSTED: Final = "untrusted folder: /trust"
_ALL: Final = 1_000_000
_TOLD_ERRORS: Final = 3


@record
class OfferRow:
    """Something that can be typed after ``/``. ``alias_of`` is the name that it stands for; ``reason`` says why it
    cannot be used now."""

    name: str
    description: str
    argument_hint: str
    source: str
    kind: Literal["command", "skill", "prompt"]
    alias_of: str = ""
    reason: str = ""


@record
class FindingRow:
    """Something wrong with a file; ``line`` counts from 1."""

    path: str
    line: int
    code: str
    message: str
    level: Literal["info", "warning", "error"]


@record
class EntryRow:
    """One command or skill file. ``slash`` is what is typed to use it, empty where it cannot be.

    ``hidden_reason`` says why it is not in menus or the model is not told of it, ``shadowed_by`` which file is used in
    its place. ``findings`` are those of the file. ``own``: it can be edited, it does not come with Harness.
    """

    kind: Literal["command", "skill"]
    name: str
    slash: str
    description: str
    argument_hint: str
    source: str
    path: str
    trusted: bool
    usable: bool
    hidden_reason: str | None = None
    shadowed_by: str | None = None
    agent: str | None = None
    model: str | None = None
    findings: tuple[FindingRow, ...] = ()
    own: bool = True


@record
class LibraryRows:
    """Everything at one moment."""

    offers: tuple[OfferRow, ...] = ()
    commands: tuple[EntryRow, ...] = ()
    skills: tuple[EntryRow, ...] = ()
    problems: tuple[FindingRow, ...] = ()


def library_rows(
    library: Library,
    prompts: PromptSource,
    *,
    agent: AgentDefinition | None,
    denied: Callable[[str], bool],
    configuration: Sequence[Problem] = (),
) -> LibraryRows:
    """Return the rows of ``library`` as it was looked at last. Takes a while for thousands of files: use a thread."""
    commands, skills = library.commands(), library.skills()
    known = library.complete("", prompts, limit=_ALL)
    gone = {skill.path for skill in skills if denied(skill.name)}
    slashes: dict[Path, str] = {}
    offers: list[OfferRow] = []
    for item in known:
        if item.kind == "skill" and (skill := library.find_skill(item.name.removeprefix("skill:"))) is not None:
            slashes[skill.path] = item.name
            if skill.path in gone:
                continue
            source = _source(skill)
        elif item.kind == "command" and (command := library.find_command(item.name)) is not None:
            source = _source(command)
        else:
            source = item.source
        offers.append(OfferRow(item.name, item.description, item.argument_hint, source, item.kind))
    offers += _aliases(library, commands)
    offers += _untrusted(commands, skills, {offer.name for offer in offers})
    return LibraryRows(
        tuple(offers),
        tuple(sorted((_command_row(library, item) for item in commands), key=lambda row: row.name)),
        (
            *(_skill_row(item, slashes.get(item.path), agent, denied) for item in skills),
            *(_server_row(item, agent, denied) for item in library.remote.all()),
        ),
        (*map(_finding, library.problems()), *map(_config_finding, configuration)),
    )


def _command_slash(library: Library, command: Command) -> str:
    names = (command.name, f"{command.scope}:{command.name}")
    return next((name for name in names if _means(library, name, command)), "")


def _means(library: Library, name: str, command: Command) -> bool:
    found = library.find_command(name)
    return found is not None and found.path == command.path


def _aliases(library: Library, commands: Sequence[Command]) -> list[OfferRow]:
    return [
        OfferRow(alias, command.summary, command.argument_hint, _source(command), "command", alias_of=command.name)
        for command in commands
        for alias in command.header.aliases
        if not command.hidden and command.header.user_invocable and _means(library, alias, command)
    ]


def _untrusted(commands: Sequence[Command], skills: Sequence[Skill], taken: set[str]) -> list[OfferRow]:
    """Return what trust would add; offered so that nobody wonders where it is."""
    found: dict[str, OfferRow] = {}
    for item in commands:
        if not (item.trusted or item.hidden) and item.header.user_invocable:
            row = OfferRow(item.name, item.summary, item.argument_hint, _source(item), "command", reason=UNTRUSTED)
            found.setdefault(item.name, row)
    for skill in skills:
        if not (skill.trusted or skill.header.hidden) and skill.loaded and skill.header.user_invocable:
            about = skill.description[:100]
            row = OfferRow(skill.slug, about, skill.argument_hint, _source(skill), "skill", reason=UNTRUSTED)
            found.setdefault(skill.slug, row)
    return [row for name, row in found.items() if name not in taken]


def _command_row(library: Library, command: Command) -> EntryRow:
    return EntryRow(
        kind="command",
        name=command.name,
        slash=_command_slash(library, command),
        description=command.summary,
        argument_hint=command.argument_hint,
        source=_source(command),
        path=str(command.path),
        trusted=command.trusted,
        usable=command.error is None,
        hidden_reason=_command_hidden(command),
        shadowed_by=command.shadowed_by,
        agent=command.header.agent,
        model=command.header.model,
        findings=tuple(map(_finding, command.diagnostics)),
        own=command.scope != "bundled",
    )


def _command_hidden(command: Command) -> str | None:
    if command.error is not None:
        return f"cannot be used: {command.error}"
    if not command.trusted:
        return "its folder is not trusted"
    if command.shadowed_by is not None:
        return "another file has its name"
    if not command.header.user_invocable:
        return "its file says user-invocable: false"
    return "its file says hidden: true" if command.hidden else None


def _skill_row(
    skill: Skill, offered: str | None, agent: AgentDefinition | None, denied: Callable[[str], bool]
) -> EntryRow:
    return EntryRow(
        kind="skill",
        name=skill.name,
        slash=offered or _hidden_slash(skill),
        description=skill.description,
        argument_hint=skill.argument_hint,
        source=_source(skill),
        path=str(skill.path),
        trusted=skill.trusted,
        usable=skill.loaded,
        hidden_reason=hidden_reason(skill, agent, denied),
        shadowed_by=skill.shadowed_by,
        agent=skill.header.agent,
        model=skill.header.model,
        findings=tuple(map(_finding, skill.diagnostics)),
        own=skill.scope != "bundled",
    )


def _server_row(skill: RemoteSkill, agent: AgentDefinition | None, denied: Callable[[str], bool]) -> EntryRow:
    """Return the row of a skill of a server: it is loaded by the model alone, and there is no file of it here."""
    reason = skill.problem
    if reason is None and agent is not None and not allowed_for(agent, skill.name):
        reason = f"not for the agent {agent.name}"
    if reason is None and denied(skill.name):
        reason = "denied"
    return EntryRow(
        kind="skill",
        name=skill.name,
        slash="",
        description=skill.description,
        argument_hint="",
        source=f"mcp · {skill.server}",
        path=f"{skill.server}:{skill.uri}",
        trusted=True,
        usable=skill.problem is None,
        hidden_reason=reason,
        own=False,
    )


def _hidden_slash(skill: Skill) -> str:
    """Return what is typed for a skill that is not offered; with ``skill:`` in front it always means this one."""
    able = skill.loaded and skill.trusted and skill.shadowed_by is None and skill.header.user_invocable
    return f"skill:{skill.slug}" if able else ""


def _source(item: Command | Skill) -> str:
    """Return where a file comes from: its scope, with the tool whose folder it lies in where that is another one."""
    tool = "harness" if item.scope == "bundled" else tool_of(item.path)
    return item.scope if tool == "harness" else f"{item.scope} · {tool}"


def _finding(item: Diagnostic) -> FindingRow:
    return FindingRow(item.path, item.line, item.code, item.message, item.level)


def _config_finding(problem: Problem) -> FindingRow:
    path, _, line = (problem.where or "").rpartition(":")
    if not line.isdecimal():
        path, line = problem.where or "", "1"
    text = problem.message + (f"; {problem.mend}" if problem.mend else "")
    return FindingRow(path, int(line), "configuration", text, problem.level)


def library_notices(problems: Sequence[Diagnostic], *, whole: bool) -> list[Notice]:
    """Return what is told of problems at the start: each of them, or for people who have a list of them the first few
    that stop a file, and how many more there are."""
    if whole:
        return [problem.to_notice() for problem in problems]
    told = [problem for problem in problems if problem.level == "error"][:_TOLD_ERRORS]
    notices = [problem.to_notice() for problem in told]
    left = Counter(problem.level for problem in problems if problem not in told and problem.level != "info")
    if left:
        counts = " and ".join(f"{left[level]} {level}{'s' if left[level] != 1 else ''}" for level in left)
        text = f"{counts}{' more' if told else ''} in files of commands and skills"
        notices.append(Notice("warning", "library", text, "/doctor lists them, and harness doctor does"))
    return notices
