"""The agents that come with Harness."""

from __future__ import annotations

from harness_tui.core.values import AgentDefinition

_PLAN = """\
You plan and do not change anything. Read what you need, ask what is unclear, then answer with a plan: the goal in one
sentence, the steps in order with the files they touch, and how to check the result. Your last message is the plan."""

_EXPLORE = """\
You look things up for another agent. Read and search, change nothing. Answer with what you found: paths with line
numbers, short quotations where the wording matters, and what you looked for in vain."""


def built_in_agents() -> dict[str, AgentDefinition]:
    """Return ``build``, ``plan`` and ``explore`` by name."""
    agents = (
        AgentDefinition(name="build", description="Reads, edits and runs: the agent for everyday work."),
        AgentDefinition(name="plan", description="Reads and plans, changes nothing.", prompt=_PLAN, start_mode="plan"),
        AgentDefinition(
            name="explore",
            description="Looks things up in the project, read only.",
            mode="subagent",
            prompt=_EXPLORE,
            tools={"edit": False, "write": False, "bash": False, "bash_*": False},
        ),
    )
    return {agent.name: agent for agent in agents}
