"""What an agent is given in a session: its tools, its skills, its system prompt, its history."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from harness_tui.agent.deferred import Divided, divide
from harness_tui.agent.denials import denied_values
from harness_tui.agent.instructions import InstructionFile, instruction_files
from harness_tui.agent.ledger import SKILLS, measure, prompt_switch, sent, tool_switch, total
from harness_tui.agent.prompt import PromptPart, build_parts, join
from harness_tui.agent.state import SessionState, may_import
from harness_tui.agent.subagents import TaskTool
from harness_tui.core.events import ContextReported, Notice
from harness_tui.core.messages import Message
from harness_tui.core.patterns import matches
from harness_tui.core.remote_skills import RemoteSkill
from harness_tui.core.seams import Tool
from harness_tui.core.text import clean_for_display
from harness_tui.core.values import AgentDefinition
from harness_tui.library.catalogue import budget_for, catalogue_text
from harness_tui.library.skill_file import Skill
from harness_tui.library.skills import allowed_for

_MANY: Final = 100
"""More tools than this are looked at in a thread."""


class Outfit:
    """What ``agent`` has in a session; all of it is made anew at every step, and what is switched off is left out.

    A step begins with :meth:`tools`: the skills that it finds are those of the prompt of that step as well.
    """

    def __init__(self, state: SessionState, agent: AgentDefinition) -> None:
        self._state = state
        self._agent = agent
        self._skills: list[Skill | RemoteSkill] = []

    # --- tools ---------------------------------------------------------------------------------------

    async def tools(self) -> dict[str, Tool]:
        """Return the tools that the agent has now; ``skill`` and ``task`` name only what it may load and start."""
        return (await self._divided(await self._all_tools())).sent

    async def _divided(self, tools: Mapping[str, Tool]) -> Divided:
        """Return what is sent of the tools that are not switched off, and what waits to be found."""
        state = self._state
        on = {name: tool for name, tool in tools.items() if tool_switch(tool) not in state.off}
        limit = state.model.context_limit if state.model is not None else None
        work = partial(divide, on, self.messages(), state.parts.settings.tool_search, limit)
        return await asyncio.to_thread(work) if len(on) > _MANY else work()

    async def _all_tools(self) -> dict[str, Tool]:
        state = self._state
        self._skills = await asyncio.to_thread(self._find_skills)
        found = {name: tool for name, tool in state.parts.tools().items() if self._offered(name)}
        if "skill" in found:
            own = [skill for skill in self._skills if isinstance(skill, Skill)]
            narrowed = state.parts.library.skill_tool(own, self._may_load)
            if narrowed is None:
                del found["skill"]
            else:
                found["skill"] = narrowed
        task = found.get("task")
        if isinstance(task, TaskTool):
            agents = [] if state.parent is not None else list(task.agents())
            denied = self._denied("task", [agent.name for agent in agents])
            agents = [agent for agent in agents if agent.name not in denied]
            if agents:
                found["task"] = task.narrowed(agents)
            else:
                del found["task"]
        return found

    def _offered(self, tool: str) -> bool:
        return all(offered(agent, tool) for agent in (self._agent, *self._state.above))

    async def late_tool(self, name: str) -> Tool | None:
        """Return a tool that is not known yet, once its server has started; ``None`` when no server could have it.

        Raises ``ToolError`` with the reason why the server is not ready.
        """
        if not self._offered(name):
            return None
        tool = await self._state.parts.late_tool(name)
        return tool if tool is not None and tool_switch(tool) not in self._state.off else None

    # --- prompt and history --------------------------------------------------------------------------

    async def system_prompt(self) -> str:
        """Return the system prompt as it is now: instruction files and skills are looked at again."""
        parts = await self._prompt_parts()
        return join([part for part in parts if prompt_switch(part) not in self._state.off])

    async def _prompt_parts(self) -> list[PromptPart]:
        parts, files = await asyncio.to_thread(self._read)
        state = self._state
        state.nested.in_prompt = frozenset(file.name for file in files)
        for file in files:
            if file.problem is not None and file.name not in state.told:
                state.told.add(file.name)
                name = clean_for_display(file.name, one_line=True)
                state.publish(Notice("warning", "instructions", f"{name}: {file.problem}"))
        return parts

    def _read(self) -> tuple[list[PromptPart], list[InstructionFile]]:
        state = self._state
        parts, project = state.parts, state.parts.project
        patterns, may_read = parts.settings.instructions, may_import(state, self._agent)
        files = instruction_files(project.root, project.start, parts.places, patterns, may_read)
        made = build_parts(
            self._agent,
            root=project.root,
            cwd=project.start,
            clock=parts.clock,
            instructions=files,
            trusted=parts.trusted,
            catalogue=catalogue_text(self._skills, budget=self._room_for_skills()),
        )
        return made, files

    def _room_for_skills(self) -> int:
        model = self._state.model
        return budget_for(model.context_limit if model is not None else None)

    def _find_skills(self) -> list[Skill | RemoteSkill]:
        """Return the skills that the agent and those above it may load, the library looked at again. Blocking."""
        library = self._state.parts.library
        library.refresh()
        if not self._offered("skill"):
            return []
        able = [*library.offered(self._agent), *library.remote.offered()]
        skills = [skill for skill in able if self._is_for(skill.name)]
        denied = self._denied("skill", [skill.name for skill in skills])
        return [skill for skill in skills if skill.name not in denied]

    def _is_for(self, skill: str) -> bool:
        return all(allowed_for(agent, skill) for agent in (self._agent, *self._state.above))

    def _may_load(self, skill: str) -> bool:
        """Tell whether a skill of a server, which its list need not name, may be loaded."""
        return self._is_for(skill) and not self._denied("skill", [skill])

    def messages(self) -> tuple[Message, ...]:
        """Return what a model is sent of the history."""
        return sent(self._state.history.messages, self._state.off)

    async def report(self) -> ContextReported:
        """Return what the next request would hold."""
        state = self._state
        tools = await self._all_tools()
        divided = await self._divided(tools)
        off = [tool for tool in tools.values() if tool_switch(tool) in state.off]
        prompt = await self._prompt_parts()
        parts = measure(
            prompt,
            [*divided.sent.values(), *off],
            state.history.messages,
            state.off,
            deferred=divided.deferred.values(),
        )
        limit = state.model.context_limit if state.model is not None else None
        return ContextReported(parts, total(parts), state.meter.counted, limit)

    # --- what is denied ------------------------------------------------------------------------------

    def _denied(self, permission: str, values: Sequence[str]) -> set[str]:
        state = self._state
        agents = (self._agent, *state.above)
        return denied_values(state.parts.gate, agents, permission, values, session=state.approvals, mode=state.mode)


_EDITS_TOO: Final = frozenset({"rename", "quick_fix"})
"""Tools that change files as ``edit`` does: an agent that was not given that one does not get these."""


def offered(agent: AgentDefinition, tool: str) -> bool:
    """Tell whether ``agent`` has ``tool``: the last entry of its ``tools`` whose name or pattern fits decides.

    Where none fits it is there, unless it changes files and ``edit`` is not there.
    """
    answer = tool not in _EDITS_TOO or offered(agent, "edit")
    for pattern, value in agent.tools.items():
        if matches(pattern, tool):
            answer = value if isinstance(value, bool) else True  # a list of skills: the tool, for those
    return answer


__all__ = ["SKILLS", "Outfit", "offered"]
