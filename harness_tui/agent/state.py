"""What the parts of one open session share: its stream, its record, its history, its queue, who is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from harness_tui.agent.arrivals import Arrivals
from harness_tui.agent.asking import Asker
from harness_tui.agent.choice import Choice
from harness_tui.agent.history import History
from harness_tui.agent.instruction_imports import MayRead, readable_without_asking
from harness_tui.agent.ledger import sent
from harness_tui.agent.nested_instructions import NestedInstructions
from harness_tui.agent.parts import AgentParts
from harness_tui.agent.queue import MessageQueue
from harness_tui.agent.tokens import ContextMeter
from harness_tui.agent.unrecorded import Unrecorded
from harness_tui.agent.working_set import WorkingSet, loaded_skills
from harness_tui.core.bus import EventStream
from harness_tui.core.envelope import Envelope
from harness_tui.core.event_parts import Parent
from harness_tui.core.events import Event, Notice, RunFinished, RunStarted
from harness_tui.core.record import record
from harness_tui.core.seams import AnswerScript, Model
from harness_tui.core.values import AgentDefinition
from harness_tui.sessions.recorder import Recorder


@record
class ParentLink:
    """The session that a subagent works for, and the call. ``agents`` are its agents, whose limits hold here too."""

    session: str
    call: Parent
    agents: tuple[AgentDefinition, ...]
    mode: Callable[[], str]


@dataclass(slots=True)
class SessionState:
    """One open session. ``parts`` change after trust or configuration did; ``single_run`` is one of ``run``.

    ``calls`` is the highest number of a call ``c{n}`` in its record; ``wanted_focus`` is what a person wants the
    history summed up for, while a run goes on; ``model`` and ``agent`` are those of the last run. ``off`` are the
    parts of requests that are switched off, ``told`` what the person was told once already.
    """

    id: str
    parts: AgentParts
    stream: EventStream
    recorder: Recorder | Unrecorded
    asker: Asker
    history: History
    queue: MessageQueue
    choice: Choice
    single_run: bool = False
    parent: ParentLink | None = None
    working: WorkingSet = field(default_factory=WorkingSet)
    meter: ContextMeter = field(default_factory=ContextMeter)
    off: set[str] = field(default_factory=set[str])
    told: set[str] = field(default_factory=set[str])
    nested: NestedInstructions = field(default_factory=NestedInstructions)
    arrivals: Arrivals = field(default_factory=Arrivals)
    calls: int = 0
    wanted_focus: str | None = None
    model: Model | None = None
    agent: AgentDefinition | None = None

    def listen(self) -> None:
        """Let everything that follows the session's events listen to its stream."""
        for listener in (
            self.recorder.listener,
            self.history.listener,
            self.working.listener,
            self.nested.listener,
            self._follow_skills,
        ):
            self.stream.listen(listener)

    def look_at_history(self) -> None:
        """Find in the messages what is kept in mind beside them: files, instructions, skills. Drop what was before."""
        messages = self.history.messages
        self.meter.forget()
        self.working.take(messages)
        self.nested.take(messages)
        self.look_at_skills()

    def skills(self) -> list[tuple[str, str]]:
        """Return name and text of the skills that stand in the messages, in their order."""
        return loaded_skills(self.history.messages, self.parts.library.name_in)

    def look_at_skills(self) -> None:
        """Take from the messages that a model is sent, and from nothing else, which skills are loaded."""
        loaded = loaded_skills(sent(self.history.messages, self.off), self.parts.library.name_in)
        self.parts.library.activations.take(self.id, loaded)

    def _follow_skills(self, envelope: Envelope) -> None:
        """A skill may have been typed; what a cancelled call gave, or one by hand, stands in no message."""
        match envelope.event:
            case RunStarted() | RunFinished():
                self.look_at_skills()
            case _:
                pass

    @property
    def mode(self) -> str:
        """The mode that counts now. A subagent has that of its parent, and plans where either plans."""
        if self.parent is None:
            return self.choice.mode
        above = self.parent.mode()
        return "plan" if "plan" in (self.choice.mode, above) else above

    @property
    def above(self) -> tuple[AgentDefinition, ...]:
        """The agents whose limits hold besides those of the session's own."""
        return self.parent.agents if self.parent is not None else ()

    @property
    def approvals(self) -> str:
        """The session whose approvals count: a subagent has no others than its parent."""
        return self.parent.session if self.parent is not None else self.id

    def publish(self, event: Event, run: str | None = None) -> None:
        """Publish an event, in ``run`` or outside any."""
        self.stream.publish(event, run=run)

    def notice(self, text: str, run: str | None = None, *, hint: str | None = None) -> None:
        """Tell the person something that they should know."""
        self.publish(Notice("warning", "session", text, hint), run)

    @property
    def recorded(self) -> bool:
        """Whether the session leaves a record."""
        return not isinstance(self.recorder, Unrecorded)

    @property
    def script(self) -> AnswerScript | None:
        """The session's model where it answers in place of a person."""
        return self.parts.models.script(self.choice.model)


def may_import(state: SessionState, agent: AgentDefinition) -> MayRead:
    """Return what tells whether an instruction file may take in a file of the project for ``agent``."""
    agents = (agent, *state.above)
    root = state.parts.project.root
    return readable_without_asking(state.parts.gate, agents, root, session=state.approvals, mode=state.mode)
