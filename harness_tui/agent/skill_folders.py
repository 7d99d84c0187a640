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
from harness_tui.agent.state import SessionState
from harness_tui.core.paths import is_inside
from harness_tui.core.patterns import escape
from harness_tui.core.seams import Check
from harness_tui.core.values import AgentDefinition, Rule
from harness_tui.library.skill_file import Skill
from harness_tui.library.skills import hidden_reason

_READING: Final = frozenset({"read", "external_directory"})


async def folder_grants(state: SessionState, agent: AgentDefinition, checks: Sequence[Check]) -> tuple[Rule, ...]:
    """Return the allow rules that ``checks`` get from the folders of skills outside the project; mostly none."""
    outside = {check.value for check in checks if check.value.startswith("/")}
    if not outside or any(check.permission not in _READING for check in checks):
        return ()
    return await asyncio.to_thread(_grants, state, agent, sorted(outside))


def _grants(state: SessionState, agent: AgentDefinition, paths: Sequence[str]) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    for path in paths:
        skill = state.parts.library.holding(Path(path))
        if skill is not None and _may_load(state, agent, skill):
            rules.append(Rule("external_directory", escape(path), "allow", f"skill {skill.name}"))
    return tuple(rules)


def _may_load(state: SessionState, agent: AgentDefinition, skill: Skill) -> bool:
    folder = skill.folder.resolve()
    # A project's own link must not open what lies outside it, nobody's the whole home folder.
    if skill.scope == "project" or is_inside(state.parts.places.config, folder):
        return False
    agents = (agent, *state.above)
    if any(hidden_reason(skill, limited) is not None for limited in agents):
        return False
    gate = state.parts.gate
    return not denied_values(gate, agents, "skill", [skill.name], session=state.approvals, mode=state.mode)
