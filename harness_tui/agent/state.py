"""What the parts of one open session share: its stream, its record, its history, its queue, who is asked."""

from __future__ import annotations

from dataclasses import dataclass

from harness_tui.agent.asking import Asker
from harness_tui.agent.choice import Choice
from harness_tui.agent.history import History
from harness_tui.agent.parts import AgentParts
from harness_tui.agent.queue import MessageQueue
from harness_tui.agent.unrecorded import Unrecorded
from harness_tui.core.bus import EventStream
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Event, Notice
from harness_tui.core.seams import AnswerScript
from harness_tui.sessions.recorder import Recorder


@dataclass(slots=True)
class SessionState:
    """One open session. ``parts`` change after trust or configuration did; ``single_run`` is one of ``run``."""

    id: str
    parts: AgentParts
    stream: EventStream
    recorder: Recorder | Unrecorded
    asker: Asker
    history: History
    queue: MessageQueue
    choice: Choice
    single_run: bool = False

    def publish(self, event: Event, run: str | None = None) -> None:
        """Publish an event, in ``run`` or outside any."""
        self.stream.publish(event, run=run)

    def notice(self, text: str, run: str | None = None, *, hint: str | None = None) -> None:
        """Tell the person something that they should know."""
        self.publish(Notice("warning", "session", text, hint), run)

    @property
    def script(self) -> AnswerScript | None:
        """The session's model where it answers in place of a person."""
        try:
            model = self.parts.models.resolve(self.choice.model)
        except HarnessError:
            return None
        return model if isinstance(model, AnswerScript) else None
