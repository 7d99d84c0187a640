"""What an agent is given in a session: its tools, its skills, its system prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from harness_tui.agent.parts import AgentParts
from harness_tui.agent.prompt import build_parts, instruction_files, join
from harness_tui.core.patterns import matches
from harness_tui.core.seams import Check, GateCall, Tool
from harness_tui.core.values import AgentDefinition


class Outfit:
    """The tools and the system prompt of ``agent``; both are made anew at every step.

    ``mode`` returns the session's present mode.
    """

    def __init__(self, parts: AgentParts, session: str, agent: AgentDefinition, mode: Callable[[], str]) -> None:
        self._parts = parts
        self._session = session
        self._agent = agent
        self._mode = mode

    def tools(self) -> dict[str, Tool]:
        """Return the tools that the agent has now; the skill tool names only the skills that it may load."""
        found = {name: tool for name, tool in self._parts.tools().items() if offered(self._agent, name)}
        if "skill" in found:
            narrowed = self._parts.library.skill_tool(self._agent, self._skill_denied)
            if narrowed is None:
                del found["skill"]
            else:
                found["skill"] = narrowed
        return found

    async def late_tool(self, name: str) -> Tool | None:
        """Return a tool that is not known yet, once its server has started; ``None`` when no server could have it.

        Raises ``ToolError`` with the reason why the server is not ready.
        """
        return await self._parts.late_tool(name) if offered(self._agent, name) else None

    async def system_prompt(self) -> str:
        """Return the system prompt as it is now: instruction files and skills are looked at again."""
        return await asyncio.to_thread(self._build_prompt)

    def _build_prompt(self) -> str:
        parts, project = self._parts, self._parts.project
        return join(
            build_parts(
                self._agent,
                root=project.root,
                cwd=project.start,
                clock=parts.clock,
                instructions=instruction_files(project.root, project.start, parts.places.config),
                trusted=parts.trusted,
                catalogue=parts.library.catalogue(self._agent, self._skill_denied),
            )
        )

    def _skill_denied(self, name: str) -> bool:
        call = GateCall(
            call="catalogue",
            tool="skill",
            checks=(Check("skill", name),),
            session=self._session,
            agent=self._agent.name,
            mode=self._mode(),
            agent_rules=self._agent.permission,
        )
        return self._parts.gate.decide(call).action == "deny"


def offered(agent: AgentDefinition, tool: str) -> bool:
    """Tell whether ``agent`` has ``tool``: the last entry of its ``tools`` whose name or pattern fits decides."""
    answer = True
    for pattern, value in agent.tools.items():
        if isinstance(value, bool) and matches(pattern, tool):
            answer = value
    return answer
