"""An agent of another tool as the fragment of a file, checked like one of ours; its faults are no errors."""

from __future__ import annotations

from dataclasses import replace

from harness_tui.config.document import Document, KeyPath
from harness_tui.config.fragment import Fragment
from harness_tui.config.migration.agent_files import AgentFile
from harness_tui.config.problems import Problem
from harness_tui.config.validation import validate_agent


def agent_fragment(agent: AgentFile) -> Fragment:
    """Return the fragment of ``agent``: one entry of ``agents``, or the reason why it cannot be used."""
    lines: dict[KeyPath, int] = {(key,): line for key, line in agent.lines.items()}
    rules = range(len(agent.values.get("permission", ())))
    lines |= {("permission", index): lines.get(("permission",), 1) for index in rules}
    fragment = validate_agent(Document(agent.path, agent.values, lines), agent.name, agent.prompt)
    errors = dict(fragment.errors)
    if agent.error is not None:
        errors[("agents", agent.name)] = agent.error
    problems = tuple(map(_softened, (*agent.problems, *fragment.problems)))
    return replace(fragment, errors=errors, problems=problems, dialect="plain")


def _softened(problem: Problem) -> Problem:
    return replace(problem, level="warning") if problem.level == "error" else problem
