"""An agent as a file of ours: front matter and prompt."""

from __future__ import annotations

from pathlib import Path

from harness_tui.config.agents import built_in_agents
from harness_tui.config.front_matter import read_front_matter_text
from harness_tui.config.migration.agent_files import AgentFile
from harness_tui.config.rewrite import flow
from harness_tui.config.validation import validate_agent

_ORDER = ("description", "mode", "start_mode", "model", "steps", "temperature", "reasoning_effort", "tools")


def agent_text(agent: AgentFile) -> str:
    """Return the text of the file. Raises ``ValueError`` with the reason when there can be none."""
    values = agent.values
    if "{env:" in str(values.get("description", "")) or "{file:" in str(values.get("description", "")):
        raise ValueError("its description holds a placeholder")
    built_in = agent.name in built_in_agents()
    lines = ["---"]
    for key in _ORDER:
        if key in values and not (built_in and key == "mode" and "mode" not in agent.lines):
            lines.append(f"{key}: {flow(values[key])}")
    rules = values.get("permission", ())
    if rules:
        lines += ["permission:", *(f"  - {flow(rule)}" for rule in rules)]
    text = "\n".join([*lines, "---", agent.prompt, ""])
    matter = read_front_matter_text(text, Path(f"{agent.name}.md"))
    fragment = validate_agent(matter.document, agent.name, matter.body)
    if fragment.problems:
        raise ValueError(fragment.problems[0].message)
    return text
