"""A live session: takes intents, emits events, and owns the one run that goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from harness_tui.agent.activity import Activity
from harness_tui.agent.asking import Asker
from harness_tui.agent.choice import Choice
from harness_tui.agent.history import History
from harness_tui.agent.ledger import known_switch
from harness_tui.agent.parts import AgentParts, AskPolicy
from harness_tui.agent.plans import hand_over_text
from harness_tui.agent.queue import MessageQueue
from harness_tui.agent.run_end import RunEnd
from harness_tui.agent.state import SessionState
from harness_tui.agent.turns import Turns
from harness_tui.agent.undo import Undoing
from harness_tui.agent.unrecorded import Unrecorded
from harness_tui.core.bus import EventStream
from harness_tui.core.calls import QuestionReply, QuestionRequest
from harness_tui.core.codec import CodecError
from harness_tui.core.errors import UsageError
from harness_tui.core.events import ContextReported, Event, Notice, SessionStarted
from harness_tui.core.intents import (
    Answer,
    CallTool,
    Cancel,
    Compact,
    EditQueue,
    HandOver,
    Intent,
    Redo,
    ReportContext,
    SetSession,
    Shell,
    Submit,
    Undo,
    intent_from_json,
)
from harness_tui.core.seams import ProposedFile
from harness_tui.core.values import TodoItem
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
        queue: MessageQueue | None = None,
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
            queue=queue or MessageQueue(),
            choice=choice,
            single_run=single_run,
        )
        self._state.listen()
        self._children = parts.subagents.open(self._state)
        self._resumed = last_seq > 0
        self._turns = Turns(self._state)
        self._activity = Activity(self._state, self._submit)
        self._undoing = Undoing(self._state)

    # --- life --------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Announce the session; a resumed one goes on with the numbers of its record."""
        if not self._resumed:
            self.publish(SessionStarted(root=str(self._state.parts.project.root), title=self.choice.title))
        self.publish(self.choice.all())
        if self._resumed:
            await self._state.arrivals.begin(self._state)
        if not self._state.queue.empty:
            self._tell_held()
        await self.flush()

    def take_record(self, todos: tuple[TodoItem, ...], used: int | None, calls: int) -> None:
        """Take from a record what a session keeps in mind beside its messages: its list of steps, how full it is.

        ``used`` are the tokens of the last request as its provider counted them, ``calls`` is the highest number of a
        call ``c{n}``.
        """
        state = self._state
        state.look_at_history()
        state.working.todos = todos
        state.calls = calls
        if used is not None:
            state.meter.count(used, len(state.history.messages))

    def _tell_held(self) -> None:
        queue = self._state.queue
        self.publish(queue.told())
        count = len(queue.texts)
        text = "a message waits" if count == 1 else f"{count} messages wait"
        hint = "take them back into the prompt to send them; none is sent by itself"
        self.publish(Notice("info", "session", f"{text} from before this session was opened again", hint))

    async def flush(self) -> None:
        """Return when everything published so far is in the record."""
        await self._state.recorder.commit()

    async def close(self) -> None:
        """Cancel what goes on, write what is left, end all subscriptions. May be called twice."""
        await self.cancel()
        await self._state.arrivals.close()
        self._state.parts.subagents.close(self.id)
        await self._state.recorder.close()
        self.stream.close()

    @property
    def recorded(self) -> bool:
        """Whether the session leaves a record."""
        return self._state.recorded

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

    async def ask(self, request: QuestionRequest) -> QuestionReply:
        """Put something to the person that belongs to no call: the page of a login."""
        return await self._state.asker.question(request, None)

    def _publish_in(self, event: Event, run: str | None) -> None:
        self.stream.publish(event, run=run)

    def _notice(self, text: str, *, hint: str | None = None) -> None:
        self._state.notice(text, self._activity.run, hint=hint)

    # --- intents -----------------------------------------------------------------------------------

    async def proposal(self, request: str) -> Sequence[ProposedFile]:
        """Return the files of a request that waits, as they are and as they would be, for who alters them.

        Empty where there is nothing to alter. Raises ``ToolError`` for what is no plain text.
        """
        proposal = self._state.asker.proposal(request)
        return () if proposal is None else await asyncio.to_thread(proposal.files)

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
            case Cancel(run=run) if run is not None and self._children.cancel(run):
                pass
            case Cancel(run=run) if run is not None and run != self._activity.run:
                self._notice(f"the run {run!r} does not go on")
            case Cancel():
                self._activity.cancel_soon()
            case CallTool(tool=tool, arguments=arguments):
                self._begin(lambda run: self._turns.call(run, tool, arguments, "call"))
            case Shell(command=command):
                self._begin(lambda run: self._turns.shell(run, command))
            case Compact(focus=focus):
                self._compact(focus)
            case _:
                await self._tend(intent)

    async def _tend(self, intent: Intent) -> None:
        """Take an intent that is about the session rather than about a run."""
        match intent:
            case EditQueue(items=items):
                self.publish(self._state.queue.replace(items))
            case SetSession():
                self._set(intent)
            case ReportContext(part=part, on=on):
                await self._report(part, on=on)
            case HandOver(agent=agent):
                await self._hand_over(agent)
            case Undo() | Redo() if self.busy:
                self._notice("a run goes on", hint="wait for its end, or cancel it")
            case Undo(run=run, only="files"):
                self._begin(lambda made: self._undoing.bring_files_back(made, run))
            case Undo(run=run, only=only):
                self._activity.aside(lambda: self._undoing.undo(run, files=only is None))
            case Redo():
                self._activity.aside(self._undoing.redo)
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

    def _compact(self, focus: str | None) -> None:
        if not self.busy:
            self._begin(lambda run: self._turns.compact(run, focus))
            return
        self._state.wanted_focus = focus or ""
        self.publish(Notice("info", "compaction", "the history is summed up before the next step"))

    async def _report(self, part: str | None, *, on: bool) -> None:
        if part is not None and not known_switch(part):
            self._notice(f"there is no part {part!r} of a request", hint="see the names in context_reported")
            return
        if part is not None:
            (self._state.off.discard if on else self._state.off.add)(part)
            self._state.look_at_skills()
        self.publish(await self.report())

    async def report(self) -> ContextReported:
        """Return what the next request would hold, part by part."""
        return await self._turns.report()

    async def _hand_over(self, agent: str) -> None:
        text = await hand_over_text(self._state)
        if text is None:
            self._notice("there is no plan to hand over", hint="let the agent plan make one: /agent plan")
            return
        if self.busy:
            self._notice("a run goes on", hint="wait for its end, or cancel it")
            return
        try:
            self.publish(self.choice.change(SetSession(agent=agent)))
        except UsageError as error:
            self._notice(error.placed)
            return
        self._submit(Submit(text))

    def _begin(self, work: Callable[[str], Coroutine[Any, Any, RunEnd]]) -> None:
        self._activity.begin(work)

    def _set(self, change: SetSession) -> None:
        try:
            self.publish(self.choice.change(change))
        except UsageError as error:
            self._notice(error.placed, hint=error.mend)
