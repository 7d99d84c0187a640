"""The names under which commands and skills are offered, where two of them would have the same one."""

from __future__ import annotations

from dataclasses import replace

from harness_tui.library.command_file import name_key
from harness_tui.library.commands import RESERVED, CommandIndex
from harness_tui.library.completion import Candidate
from harness_tui.library.roots import RANK
from harness_tui.library.skills import SkillIndex


def typed_names(commands: CommandIndex, skills: SkillIndex) -> list[Candidate]:
    """Return what can be typed after ``/``, each under a name that means it and nothing else."""
    known = {
        command.name: Candidate(command.name, command.summary, command.argument_hint, command.scope, "command")
        for command in commands.names.values()
        if not command.hidden and command.header.user_invocable
    }
    for skill in skills.names.values():
        if skill.header.hidden or not skill.header.user_invocable:
            continue
        taken = commands.names.get(name_key(skill.slug))
        name = skill.slug
        if name_key(name) in RESERVED or (taken is not None and RANK[taken.scope] >= RANK[skill.scope]):
            name = f"skill:{skill.slug}"
        elif taken is not None:
            known[f"{taken.scope}:{taken.name}"] = replace(
                known.pop(taken.name, Candidate(taken.name, taken.summary, taken.argument_hint, "", "command")),
                name=f"{taken.scope}:{taken.name}",
            )
        known[name] = Candidate(name, skill.description[:100], skill.argument_hint, skill.scope, "skill")
    return list(known.values())
