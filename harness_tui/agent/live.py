"""A live session: takes intents, emits events, and owns the one run that goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from harness_tui.agent.asking import Asker
from harness_tui.agent.by_hand import end_of, parse_call, shell_message
from harness_tui.agent.calls import CallRunner, Finish, LateTool
from harness_tui.agent.choice import Choice
from harness_tui.agent.compose import Composed, Composer
from harness_tui.agent.history import History
from harness_tui.agent.outfit import Outfit
from harness_tui.agent.parts import AgentParts, AskPolicy
from harness_tui.agent.queue import MessageQueue
from harness_tui.agent.run import Run, RunEnd
from harness_tui.agent.unrecorded import Unrecorded
from harness_tui.core.bus import EventStream
from harness_tui.core.codec import CodecError
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.event_parts import RunError
from harness_tui.core.events import Event, MessageAdded, Notice, RunFinished, RunStarted, SessionStarted
from harness_tui.core.ids import new_id
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
from harness_tui.core.messages import ToolCall, UserMessage
from harness_tui.core.seams import AnswerScript, Model, Origin, Tool
from harness_tui.core.values import AgentDefinition, Rule
from harness_tui.sessions.recorder import Recorder

log = logging.getLogger(__name__)


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
        self._parts = parts
        self.stream = EventStream(session, clock=parts.clock, last_seq=last_seq)
        self._recorder = recorder
        self.stream.listen(self._recorder.listener)
        self._asker = Asker(self._publish_in, parts.gate, policy)
        self._history = history or History()
        self.stream.listen(self._history.listener)
        self._resumed = last_seq > 0
        self._single_run = single_run
        self._queue = MessageQueue()
        self._activity: asyncio.Task[RunEnd] | None = None
        self._run: str | None = None
        self._moves_on = True
        self.choice = choice

    # --- life --------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Announce the session; a resumed one goes on with the numbers of its record."""
        if not self._resumed:
            self.publish(SessionStarted(root=str(self._parts.project.root), title=self.choice.title))
        self.publish(self.choice.all())
        await self._recorder.commit()

    async def flush(self) -> None:
        """Return when everything published so far is in the record."""
        await self._recorder.commit()

    async def close(self) -> None:
        """Cancel what goes on, write what is left, end all subscriptions. May be called twice."""
        await self.cancel()
        await self._recorder.close()
        self.stream.close()

    @property
    def recorded(self) -> bool:
        """Whether the session leaves a record."""
        return not isinstance(self._recorder, Unrecorded)

    @property
    def busy(self) -> bool:
        """Whether a run goes on. False from its ``run_finished`` on, so that a reader of that may send the next."""
        return self._run is not None

    @property
    def going_on(self) -> bool:
        """Whether a run goes on, or a message waits that starts the next one by itself."""
        return self.busy or (self._moves_on and not self._queue.empty)

    def end_of_input(self) -> None:
        """Nobody will answer any more: requests are refused from now on."""
        self._asker.end_of_input()

    async def idle(self) -> None:
        """Wait until no run goes on."""
        while self._activity is not None and not self._activity.done():
            await asyncio.wait([self._activity])
            await asyncio.sleep(0)

    async def cancel(self) -> None:
        """Cancel what goes on and wait until it has ended."""
        if self._activity is not None and not self._activity.done():
            self._cancel_soon(self._activity)
            await asyncio.wait([self._activity])

    @staticmethod
    def _cancel_soon(activity: asyncio.Task[RunEnd]) -> None:
        # A task that is cancelled before its first step never takes it, and the run would have no end. Callbacks run
        # in order: this one comes after that step.
        asyncio.get_running_loop().call_soon(activity.cancel)

    def use_parts(self, parts: AgentParts) -> None:
        """Go on with other parts from the next run on, after trust or configuration changed."""
        self._parts = parts
        self.choice.use_parts(parts)
        self._asker.use_gate(parts.gate)

    # --- events ------------------------------------------------------------------------------------

    def publish(self, event: Event) -> None:
        """Publish an event of the session, outside any run."""
        self.stream.publish(event)

    def _publish_in(self, event: Event, run: str | None) -> None:
        self.stream.publish(event, run=run)

    def _notice(self, text: str, *, hint: str | None = None) -> None:
        self._publish_in(Notice("warning", "session", text, hint), self._run)

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
                problem = self._asker.answer(intent)
                if problem is not None:
                    self._notice(problem)
            case Cancel(run=run) if run is not None and run != self._run:
                self._notice(f"the run {run!r} does not go on")
            case Cancel():
                if self.busy and self._activity is not None:
                    self._cancel_soon(self._activity)
            case EditQueue(items=items):
                self.publish(self._queue.replace(items))
            case SetSession():
                self._set(intent)
            case CallTool(tool=tool, arguments=arguments):
                self._begin(self._call_by_hand(tool, arguments, "call"))
            case Shell(command=command):
                self._begin(self._shell(command))
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
            self.publish(self._queue.add(submit))
            return
        self._begin(self._message(submit))

    def _set(self, change: SetSession) -> None:
        try:
            self.publish(self.choice.change(change))
        except UsageError as error:
            self._notice(error.placed)

    # --- what goes on --------------------------------------------------------------------------------

    def _begin(self, work: Coroutine[Any, Any, RunEnd]) -> None:
        if self.busy:
            work.close()
            self._notice("a run goes on", hint="wait for its end, or cancel it")
            return
        self._run = new_id("run")
        before = self._activity
        self._activity = asyncio.create_task(self._finishing(self._run, work, before), name=f"harness {self._run}")

    async def _finishing(
        self, run: str, work: Coroutine[Any, Any, RunEnd], before: asyncio.Task[RunEnd] | None
    ) -> RunEnd:
        """Run ``work``; whatever happens, the run ends with exactly one ``run_finished``."""
        try:
            if before is not None:
                await asyncio.wait([before])  # the last run may still be writing its end
            end = await work
        except asyncio.CancelledError:
            work.close()
            end = RunEnd("cancelled")
        except HarnessError as error:
            end = RunEnd("failed", RunError(error.code, error.placed, error.mend))
        except Exception as error:
            log.exception("the run failed")
            end = RunEnd("failed", RunError("internal", f"{type(error).__name__}: {error}", "see the log"))
        self._moves_on = end.reason in ("completed", "step_limit")
        if self._single_run and not (self._moves_on and not self._queue.empty):
            self._tell_unused_answers(run)
            self._tell_unsent(run)
        self._run = None
        self._publish_in(RunFinished(end.reason, end.error), run)
        try:
            await asyncio.shield(self._recorder.commit())
        except HarnessError as error:
            self._publish_in(Notice("error", "sessions", str(error)), None)
        if self._moves_on and not self.busy:
            self._next_from_queue()
        return end

    def _next_from_queue(self) -> None:
        taken = self._queue.take_next()
        if taken is None:
            return
        submit, changed = taken
        self.publish(changed)
        self._submit(submit)

    def _tell_unused_answers(self, run: str) -> None:
        script = self._script
        for answer in script.unused_answers() if script else ():
            text = f"the scripted answer for {answer.kind} {answer.match!r} was not asked for"
            self._publish_in(Notice("warning", "replay", text), run)

    def _tell_unsent(self, run: str) -> None:
        for text in self._queue.texts:
            self._publish_in(Notice("warning", "session", f"the waiting message was not sent: {text}"), run)

    @property
    def _script(self) -> AnswerScript | None:
        try:
            model = self._parts.models.resolve(self.choice.model)
        except HarnessError:
            return None
        return model if isinstance(model, AnswerScript) else None

    async def _message(self, submit: Submit) -> RunEnd:
        run = self._run or ""
        agent = self.choice.definition(submit.agent or self.choice.agent)
        if agent is None:
            return self._refuse("unknown-agent", f"there is no agent {submit.agent or self.choice.agent!r}")
        composer = Composer(
            self._parts,
            lambda event: self._publish_in(event, run),
            self._asker,
            session=self.id,
            run=run,
            agent=agent,
            mode=self.choice.mode,
        )
        try:
            hand = parse_call(submit.text)
        except HarnessError as error:
            return self._refuse(error.code, error.what, error.mend)
        if hand is not None:
            return await self._call_by_hand(*hand, "call")
        self._asker.use_script(self._script)
        composed = await composer.compose(submit)
        if composed.error is not None:
            return self._refuse(composed.error.kind, composed.error.message)
        agent = self.choice.definition(composed.agent) or agent
        try:
            others = agent.model if agent.name != self.choice.agent else None
            name = submit.model or composed.model or others or self.choice.model
            model = await asyncio.to_thread(self._parts.models.resolve, name)
        except UsageError as error:
            return self._refuse("unknown-model", error.placed, error.mend)
        return await self._run_message(run, composed, agent, model)

    async def _run_message(self, run: str, composed: Composed, agent: AgentDefinition, model: Model) -> RunEnd:
        self._asker.use_script(model if isinstance(model, AnswerScript) else None)
        self._publish_in(RunStarted(agent.name, model.name, self.choice.mode, composed.message, composed.command), run)
        self._publish_in(MessageAdded(composed.message, "prompt"), run)
        named = self.choice.name_after(composed.message.text, composed.command.name if composed.command else None)
        if named is not None:
            self.publish(named)
        outfit = self._outfit(agent)
        calls = self._runner(agent, run, tools={}, late=outfit.late_tool, grants=composed.grants)
        work = Run(
            self._parts,
            session=self.id,
            model=model,
            agent=agent,
            history=self._history,
            calls=calls,
            publish=lambda event: self._publish_in(event, run),
            commit=self._recorder.commit,
            take_steering=lambda: self._take_steering(run),
            system=outfit.system_prompt,
            tools=outfit.tools,
        )
        return await work.execute()

    def _take_steering(self, run: str) -> list[UserMessage]:
        taken, changed = self._queue.take_steering()
        for message in taken:
            self._publish_in(MessageAdded(message, "steer"), run)
        if changed is not None:
            self.publish(changed)
        return taken

    def _runner(
        self,
        agent: AgentDefinition,
        run: str | None,
        *,
        tools: dict[str, Tool],
        late: LateTool,
        grants: tuple[Rule, ...] = (),
        origin: Origin = "model",
    ) -> CallRunner:
        return CallRunner(
            self._parts,
            self._publish_in,
            self._asker,
            session=self.id,
            run=run,
            agent=agent,
            mode=lambda: self.choice.mode,
            tools=tools,
            late_tool=late,
            commit=self._recorder.commit,
            grants=grants,
            origin=origin,
        )

    def _outfit(self, agent: AgentDefinition) -> Outfit:
        return Outfit(self._parts, self.id, agent, lambda: self.choice.mode)

    def _refuse(self, kind: str, text: str, hint: str | None = None) -> RunEnd:
        self._publish_in(Notice("error", "session", text, hint), self._run)
        return RunEnd("refused", RunError(kind, text, hint))

    # --- by hand -------------------------------------------------------------------------------------

    async def _call_by_hand(self, tool: str, arguments: dict[str, Any], origin: Origin) -> RunEnd:
        return end_of(await self._execute_by_hand(tool, arguments, origin))

    async def _execute_by_hand(self, tool: str, arguments: dict[str, Any], origin: Origin) -> Finish:
        agent = self.choice.definition(self.choice.agent) or AgentDefinition(self.choice.agent)
        self._asker.use_script(self._script)
        runner = self._runner(agent, self._run, tools=self._parts.tools(), late=self._parts.late_tool, origin=origin)
        (finish,) = await runner.execute([ToolCall(new_id("hand"), tool, arguments)])
        return finish

    async def _shell(self, command: str) -> RunEnd:
        finish = await self._execute_by_hand("bash", {"command": command}, "person")
        message = shell_message(command, finish)
        self._publish_in(MessageAdded(message, "shell"), self._run)
        return RunEnd("completed")
