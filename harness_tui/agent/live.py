"""A live session: takes intents, emits events, and owns the one run that goes on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from harness_tui.agent.activity import Activity
from harness_tui.agent.asking import Asker
from harness_tui.agent.choice import Choice
from harness_tui.agent.history import History
from harness_tui.agent.parts import AgentParts, AskPolicy
from harness_tui.agent.queue import MessageQueue
from harness_tui.agent.run import RunEnd
from harness_tui.agent.state import SessionState
from harness_tui.agent.turns import Turns
from harness_tui.agent.unrecorded import Unrecorded
from harness_tui.core.bus import EventStream
from harness_tui.core.codec import CodecError
from harness_tui.core.errors import UsageError
from harness_tui.core.events import Event, SessionStarted
from harness_tui.core.intents import (
    Answer,
    CallTool,
    Cancel,
    EditQueue,
    Intent,
    Redo,
    SetSession,
    Shell,
    Submit,
    Undo,
    intent_from_json,
)
from harness_tui.sessions.recorder import Recorder


class LiveSession:
    """One session that is open in this process.

    Subscribe to :attr:`stream` before :meth:`start`, so that nothing is missed; then :meth:`send` intents.
    """

    def __init__(
        self,
        parts: AgentParts,
        session: str,
        *,
        recorder: Recorder | Unrecorded,
        policy: AskPolicy,
        choice: Choice,
        history: History | None = None,
        last_seq: int = 0,
        single_run: bool = False,
    ) -> None:
        self.id = session
        self.stream = EventStream(session, clock=parts.clock, last_seq=last_seq)
        self.choice = choice
        self._state = SessionState(
            id=session,
            parts=parts,
            stream=self.stream,
            recorder=recorder,
            asker=Asker(self._publish_in, parts.gate, policy, set_mode=lambda mode: self._set(SetSession(mode=mode))),
            history=history or History(),
            queue=MessageQueue(),
            choice=choice,
            single_run=single_run,
        )
        self.stream.listen(recorder.listener)
        self.stream.listen(self._state.history.listener)
        self._resumed = last_seq > 0
        self._turns = Turns(self._state)
        self._activity = Activity(self._state, self._submit)

    # --- life --------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Announce the session; a resumed one goes on with the numbers of its record."""
        if not self._resumed:
            self.publish(SessionStarted(root=str(self._state.parts.project.root), title=self.choice.title))
        self.publish(self.choice.all())
        await self.flush()

    async def flush(self) -> None:
        """Return when everything published so far is in the record."""
        await self._state.recorder.commit()

    async def close(self) -> None:
        """Cancel what goes on, write what is left, end all subscriptions. May be called twice."""
        await self.cancel()
        await self._state.recorder.close()
        self.stream.close()

    @property
    def recorded(self) -> bool:
        """Whether the session leaves a record."""
        return not isinstance(self._state.recorder, Unrecorded)

    @property
    def busy(self) -> bool:
        """Whether a run goes on. False from its ``run_finished`` on, so that a reader of that may send the next."""
        return self._activity.busy

    @property
    def going_on(self) -> bool:
        """Whether a run goes on, or a message waits that starts the next one by itself."""
        return self._activity.going_on

    def end_of_input(self) -> None:
        """Nobody will answer any more: requests are refused from now on."""
        self._state.asker.end_of_input()

    async def idle(self) -> None:
        """Wait until no run goes on."""
        await self._activity.idle()

    async def cancel(self) -> None:
        """Cancel what goes on and wait until it has ended."""
        await self._activity.cancel()

    def use_parts(self, parts: AgentParts) -> None:
        """Go on with other parts from the next run on, after trust or configuration changed."""
        self._state.parts = parts
        self.choice.use_parts(parts)
        self._state.asker.use_gate(parts.gate)

    # --- events ------------------------------------------------------------------------------------

    def publish(self, event: Event) -> None:
        """Publish an event of the session, outside any run."""
        self.stream.publish(event)

    def _publish_in(self, event: Event, run: str | None) -> None:
        self.stream.publish(event, run=run)

    def _notice(self, text: str, *, hint: str | None = None) -> None:
        self._state.notice(text, self._activity.run, hint=hint)

    # --- intents -----------------------------------------------------------------------------------

    async def send_json(self, data: Any) -> None:
        """Take an intent as JSON data; one that does not fit is answered by a notice."""
        try:
            intent = intent_from_json(data)
        except CodecError as error:
            self._notice(f"an intent does not fit: {error}")
            return
        await self.send(intent)

    async def send(self, intent: Intent) -> None:
        """Take an intent. Returns at once: what it starts goes on in its own task."""
        match intent:
            case Submit():
                self._submit(intent)
            case Answer():
                problem = self._state.asker.answer(intent)
                if problem is not None:
                    self._notice(problem)
            case Cancel(run=run) if run is not None and run != self._activity.run:
                self._notice(f"the run {run!r} does not go on")
            case Cancel():
                self._activity.cancel_soon()
            case EditQueue(items=items):
                self.publish(self._state.queue.replace(items))
            case SetSession():
                self._set(intent)
            case CallTool(tool=tool, arguments=arguments):
                self._begin(lambda run: self._turns.call(run, tool, arguments, "call"))
            case Shell(command=command):
                self._begin(lambda run: self._turns.shell(run, command))
            case Undo() | Redo():
                self._notice("undo is not part of this version")
            case _:
                self._notice(f"this version does not know the intent {intent.intent}")

    def _submit(self, submit: Submit) -> None:
        if not submit.text.strip() and not submit.attachments:
            self._notice("the message is empty")
            return
        if self.busy and submit.when == "now":
            self._notice("a run goes on", hint="queue the message, steer the run with it, or cancel the run")
            return
        if self.busy:
            self.publish(self._state.queue.add(submit))
            return
        self._begin(lambda run: self._turns.message(run, submit))

    def _begin(self, work: Callable[[str], Coroutine[Any, Any, RunEnd]]) -> None:
        self._activity.begin(work)

    def _set(self, change: SetSession) -> None:
        try:
            self.publish(self.choice.change(change))
        except UsageError as error:
            self._notice(error.placed)
