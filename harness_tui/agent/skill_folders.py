"""Reading in the folder of a skill needs no question: the skill's text names its files, and says to read them.

It is about reading alone, about real paths, and about skills that the agent may load: a link that leads out of the
folder, a write, and a denied skill are decided as everything else is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness_tui.agent.denials import denied_values
from harness_tui.agent.parts import AgentParts
from harness_tui.core.paths import is_inside
from harness_tui.core.patterns import escape
from harness_tui.core.seams import Check
from harness_tui.core.values import AgentDefinition, Rule
from harness_tui.library.skill_file import Skill
from harness_tui.library.skills import hidden_reason

_READING: Final = frozenset({"read", "external_directory"})


async def folder_grants(
    parts: AgentParts, agents: Sequence[AgentDefinition], checks: Sequence[Check], *, session: str, mode: str
) -> tuple[Rule, ...]:
    """Return the allow rules that ``checks`` get from the folders of skills outside the project; mostly none.

    ``agents`` are the one at work and those above it: each must be able to load the skill.
    """
    outside = sorted({check.value for check in checks if check.value.startswith("/")})
    if not outside or any(check.permission not in _READING for check in checks):
        return ()
    found = await asyncio.to_thread(_skills, parts, outside)
    names = [skill.name for skill in found.values() if not any(hidden_reason(skill, agent) for agent in agents)]
    denied = denied_values(parts.gate, agents, "skill", names, session=session, mode=mode)
    return tuple(
        Rule("external_directory", escape(path), "allow", f"skill {skill.name}")
        for path, skill in found.items()
        if skill.name in names and skill.name not in denied
    )


def _skills(parts: AgentParts, paths: Sequence[str]) -> dict[str, Skill]:
    """Return those of ``paths`` that lie in the folder of a skill, with it. Blocking."""
    found = {path: parts.library.holding(Path(path)) for path in paths}
    return {path: skill for path, skill in found.items() if skill is not None and _opens(parts, skill)}


def _opens(parts: AgentParts, skill: Skill) -> bool:
    # A project's own link must not open what lies outside it, nobody's the whole home folder.
    return skill.scope != "project" and not is_inside(parts.places.config, skill.folder.resolve())
