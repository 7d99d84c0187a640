"""The tool ``task``: an agent lets another one do a part of the work, in a session of its own.

A subagent has the rules, the tools and the mode of its own agent and those of the session that it works for, whichever
are narrower. Its events go to its own record, and to whoever reads the session above it. It starts no further ones.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from harness_tui.agent.compose import Composed
from harness_tui.agent.run_end import EndReason
from harness_tui.core.errors import ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.limits import TOOL_OUTPUT_BYTES, TOOL_OUTPUT_LINES
from harness_tui.core.record import record
from harness_tui.core.seams import Check, Model, PreparedCall, ToolContext, ToolResult
from harness_tui.core.text import clean_for_display, cut_end, cut_middle
from harness_tui.core.values import AgentDefinition, ToolSpec

_TITLE_CHARS: Final = 100
_ABOUT: Final = (
    "Let another agent do a part of the work in a session of its own; you get its last message. It knows nothing of"
    " this conversation: put everything that it needs into prompt, and say what to answer with. Several calls in one"
    " answer run side by side. With session it goes on with what an earlier task of this conversation did."
)


@record
class Task:
    """What a subagent is to do. ``session`` is that of an earlier task to go on with."""

    agent: AgentDefinition
    prompt: str
    title: str
    session: str | None = None


@record
class TaskEnd:
    """How a subagent's run ended: ``reason`` as in ``run_finished``, ``text`` its last message."""

    session: str
    reason: EndReason
    text: str
    problem: str | None = None


class Worker(Protocol):
    """Runs subagents for the session ``session``."""

    async def work(
        self, task: Task, *, run: str | None, call: str, composed: Composed | None = None, model: Model | None = None
    ) -> TaskEnd:
        """Run ``task`` to its end; ``composed`` is its message where that is more than a text.

        Raises ``ToolError`` when it cannot begin; a cancel ends the subagent first.
        """
        ...


class TaskTool:
    """Implements ``core.seams.Tool``. ``agents`` returns those that may be started, ``worker`` finds a session's."""

    def __init__(self, agents: Callable[[], Sequence[AgentDefinition]], worker: Callable[[str], Worker | None]) -> None:
        self.agents = agents
        self._worker = worker

    def narrowed(self, agents: Sequence[AgentDefinition]) -> TaskTool:
        """Return this tool with these agents alone."""
        return TaskTool(lambda: agents, self._worker)

    @property
    def spec(self) -> ToolSpec:
        """The tool with the agents that exist now."""
        agents = self.agents()
        about = "\n".join(f"- {agent.name}: {agent.description or 'no description'}" for agent in agents)
        properties = {
            "agent": {"type": "string", "enum": [agent.name for agent in agents], "description": "Who does it"},
            "prompt": {"type": "string", "description": "The whole task, and what the answer must hold"},
            "description": {"type": "string", "description": "The task in three to six words, for the person"},
            "session": {"type": "string", "description": "Session of an earlier task to go on with"},
        }
        parameters = {
            "type": "object",
            "properties": properties,
            "required": ["agent", "prompt"],
            "additionalProperties": False,
        }
        return ToolSpec("task", f"{_ABOUT}\nAgents:\n{about}", parameters, parallel=True)

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Check the arguments. Raises ``ToolError`` that names the agents there are."""
        known = ("agent", "prompt", "description", "session")
        unknown = sorted(arguments.keys() - set(known))
        if unknown:
            raise ToolError(
                f"unknown arguments: {', '.join(unknown)}", where="task", mend=f"known are {', '.join(known)}"
            )
        texts = {name: _text(arguments, name, required=name in known[:2]) for name in known}
        agents = {agent.name: agent for agent in self.agents()}
        agent = agents.get(texts["agent"])
        if agent is None:
            names = ", ".join(agents) or "there are none"
            raise ToolError(f"no agent {texts['agent']!r} can be started", where="task", mend=f"agents: {names}")
        about = texts["description"] or texts["prompt"].strip().splitlines()[0]
        title = cut_end(clean_for_display(about, one_line=True), _TITLE_CHARS)
        task = Task(agent, texts["prompt"], title, texts["session"] or None)
        return PreparedCall(
            title=cut_end(f"{agent.name}: {title}", _TITLE_CHARS),
            checks=(Check("task", agent.name),),
            preview=ArgumentsPreview(arguments),
            state=task,
        )

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Let the subagent work and return its last message. Raises ``ToolError`` when it cannot begin."""
        task: Task = prepared.state
        worker = self._worker(context.session)
        if worker is None:
            raise ToolError("this session can start no other agent", where="task")
        return result_of(task, await worker.work(task, run=context.run, call=context.call))


class SubtaskTool:
    """The tool ``task`` for one command that a person typed: any agent, the whole message. ``end`` is how it ended."""

    def __init__(self, task: Task, composed: Composed, model: Model, worker: Callable[[str], Worker | None]) -> None:
        self._task = task
        self._composed = composed
        self._model = model
        self._worker = worker
        self.end: TaskEnd | None = None

    @property
    def spec(self) -> ToolSpec:
        """A tool that no model is told of."""
        return ToolSpec("task", "", {"type": "object"})

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Say who does it."""
        title = cut_end(f"{self._task.agent.name}: {self._task.title}", _TITLE_CHARS)
        return PreparedCall(title, (Check("task", self._task.agent.name),), ArgumentsPreview(arguments))

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Let the subagent answer. Raises ``ToolError`` when it cannot begin."""
        worker = self._worker(context.session)
        if worker is None:
            raise ToolError("this session can start no other agent", where="task")
        self.end = await worker.work(
            self._task, run=context.run, call=context.call, composed=self._composed, model=self._model
        )
        return result_of(self._task, self.end)


def result_of(task: Task, end: TaskEnd) -> ToolResult:
    """Return what the calling agent is told of a subagent's end."""
    text = cut_middle(end.text, max_bytes=TOOL_OUTPUT_BYTES - 512, max_lines=TOOL_OUTPUT_LINES - 8).text
    state = end.reason if end.problem is None else f"{end.reason}: {end.problem}"
    head = f'<task session="{end.session}" agent="{html.escape(task.agent.name)}" state="{html.escape(state)}">'
    body = text or "(it ended without a message)"
    metadata = {"session": end.session, "agent": task.agent.name, "reason": end.reason}
    return ToolResult(f"{head}\n{body}\n</task>", is_error=end.reason != "completed", metadata=metadata)


def _text(arguments: dict[str, Any], name: str, *, required: bool) -> str:
    value = arguments.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value.strip()):
        raise ToolError(f"{name} is missing or no text", where="task", mend=f"give {name} as text")
    return value
