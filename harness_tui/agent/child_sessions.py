"""The sessions of subagents: opened below a session, run once, closed again; a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from harness_tui.agent.activity import Activity
from harness_tui.agent.choice import Choice
from harness_tui.agent.compose import Composed
from harness_tui.agent.history import History
from harness_tui.agent.parts import AgentParts
from harness_tui.agent.queue import MessageQueue
from harness_tui.agent.run_end import RunEnd
from harness_tui.agent.state import ParentLink, SessionState
from harness_tui.agent.subagents import Task, TaskEnd, TaskTool, Worker
from harness_tui.agent.turns import Turns
from harness_tui.agent.unrecorded import Unrecorded
from harness_tui.core.bus import EventStream
from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.event_parts import Parent
from harness_tui.core.events import Event, SessionStarted
from harness_tui.core.ids import new_id
from harness_tui.core.limits import SUBAGENTS_AT_ONCE
from harness_tui.core.messages import AssistantMessage, Message, UserMessage
from harness_tui.core.seams import Model, Tool
from harness_tui.core.values import AgentDefinition
from harness_tui.sessions.change_journal import recover_changes
from harness_tui.sessions.recorder import Recorder


class Subagents:
    """The ``ToolSource`` of ``task`` for a whole workspace: knows which session has which worker."""

    def __init__(self) -> None:
        self._workers: dict[str, ChildSessions] = {}
        self._agents: tuple[AgentDefinition, ...] = ()
        self._tool = TaskTool(lambda: self._agents, self.worker)

    def use_agents(self, agents: Sequence[AgentDefinition]) -> None:
        """Take the agents of the configuration; those that are for others may be started."""
        self._agents = tuple(agent for agent in agents if agent.mode != "primary")

    def tools(self) -> Sequence[Tool]:
        """Return ``task``, or nothing where there is no agent for it."""
        return [self._tool] if self._agents else []

    def open(self, state: SessionState) -> ChildSessions:
        """Let a session start subagents."""
        self._workers[state.id] = made = ChildSessions(state)
        return made

    def close(self, session: str) -> None:
        """Forget a session."""
        self._workers.pop(session, None)

    def worker(self, session: str) -> Worker | None:
        """Return who starts subagents for a session."""
        return self._workers.get(session)


class ChildSessions:
    """Runs subagents for one session."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._at_once = asyncio.Semaphore(SUBAGENTS_AT_ONCE)
        self._running: dict[str, Activity] = {}
        self._busy: set[str] = set()

    def cancel(self, run: str) -> bool:
        """Cancel the subagent whose run is ``run``; false when there is none."""
        activity = self._running.get(run)
        if activity is None:
            return False
        activity.cancel_soon()
        return True

    async def work(
        self, task: Task, *, run: str | None, call: str, composed: Composed | None = None, model: Model | None = None
    ) -> TaskEnd:
        """Run ``task`` to its end; ``composed`` is its message where that is more than a text.

        Raises ``ToolError`` when it cannot begin. A cancel ends the subagent first.
        """
        async with self._at_once:
            if task.session is not None and task.session in self._busy:
                raise ToolError("that task is still being worked on", where=f"task: {task.session}")
            model = model or await self._model(task.agent)
            child = await self._open(task, run, call, model)
            self._busy.add(child.id)
            try:
                message = composed or Composed(UserMessage(task.prompt))
                return await self._finish(child, task, message, model)
            finally:
                self._busy.discard(child.id)
                await asyncio.shield(self._close(child))

    async def _finish(self, child: SessionState, task: Task, message: Composed, model: Model) -> TaskEnd:
        activity = Activity(child, lambda submit: None)
        begun = len(child.history.messages)
        turns = Turns(child)
        run = activity.begin(lambda run: turns.answer(run, message, task.agent, model)) or ""
        self._running[run] = activity
        try:
            end = await activity.ended()
        except asyncio.CancelledError:
            await asyncio.shield(activity.cancel())
            raise
        finally:
            self._running.pop(run, None)
        text = _last_text(child.history.messages[begun:] or child.history.messages)
        return TaskEnd(child.id, end.reason, text, _problem(end))

    async def _model(self, agent: AgentDefinition) -> Model:
        parent = self._state
        if agent.model is None and parent.model is not None:
            return parent.model
        try:
            return await asyncio.to_thread(parent.parts.models.resolve, agent.model or parent.choice.model)
        except HarnessError as error:
            raise ToolError(error.what, where=f"task: {agent.name}", mend=error.mend) from error

    # --- life ----------------------------------------------------------------------------------------

    async def _open(self, task: Task, run: str | None, call: str, model: Model) -> SessionState:
        parent = self._state
        session, history, last_seq, calls = await self._record(task, run, call)
        parts = replace(parent.parts, step_limit=None)
        link = Parent(parent.id, run or "", call)
        stream = EventStream(session, clock=parts.clock, last_seq=last_seq)

        def publish(event: Event, within: str | None) -> None:
            stream.publish(event, run=within)

        child = SessionState(
            id=session,
            parts=parts,
            stream=stream,
            recorder=Recorder(parts.store, session) if parent.recorded else Unrecorded(),
            asker=parent.asker.for_subagent(publish),
            history=history,
            queue=MessageQueue(),
            choice=_choice(parts, task, model),
            parent=ParentLink(parent.id, link, (self._agent_above(),), lambda: parent.mode),
            off=parent.off,
            calls=calls,
        )
        child.listen()
        child.look_at_history()
        stream.listen(parent.stream.forward)
        if not last_seq:
            child.publish(SessionStarted(root=str(parts.project.root), title=task.title, parent=link))
        child.publish(replace(child.choice.all(), mode=child.mode))
        return child

    def _agent_above(self) -> AgentDefinition:
        state = self._state
        return state.agent or state.choice.definition(state.choice.agent) or AgentDefinition(state.choice.agent)

    async def _record(self, task: Task, run: str | None, call: str) -> tuple[str, History, int, int]:
        parent = self._state
        store = parent.parts.store
        if not parent.recorded:
            if task.session is not None:
                raise ToolError("an earlier task can be gone on with in a recorded session only", where="task")
            return new_id("sub"), History(), 0, 0
        if task.session is None:
            link = Parent(parent.id, run or "", call)
            root = parent.parts.project.root
            info = await asyncio.to_thread(store.create, root, title=task.title, parent=link, lock=True)
            return info.session, History(), 0, 0
        return await asyncio.to_thread(self._resume, task.session)

    def _resume(self, session: str) -> tuple[str, History, int, int]:
        store, where = self._state.parts.store, f"task: {session}"
        try:
            info = store.info(session)
        except HarnessError as error:
            raise ToolError("there is no such task", where=where, mend="leave session out") from error
        if info.parent is None or info.parent.session != self._state.id:
            raise ToolError("this is no task of this conversation", where=where, mend="leave session out")
        if not store.lock(info.session):
            raise ToolError("that task is being worked on in another program", where=where)
        store.repair(info.session)
        recover_changes(store, info.session, self._state.parts.project.root, self._state.parts.clock)
        history = History(item.message for item in store.messages(info.session))
        return info.session, history, store.open_numbers(info.session), store.highest_call(info.session)

    async def _close(self, child: SessionState) -> None:
        parent = self._state
        parent.asker.drop_subagent(child.asker)
        try:
            await child.recorder.close()
        finally:
            child.stream.close()
            await parent.parts.forget_session(child.id)
            if parent.recorded:
                await asyncio.to_thread(parent.parts.store.unlock, child.id, seen=child.stream.last_seq)


def _choice(parts: AgentParts, task: Task, model: Model) -> Choice:
    agent = task.agent
    return Choice(parts, agent=agent.name, model=model.name, mode=agent.start_mode or "ask", title=task.title)


def _last_text(messages: Sequence[Message]) -> str:
    said = (message for message in reversed(messages) if isinstance(message, AssistantMessage) and message.text)
    return next((message.text for message in said), "")


def _problem(end: RunEnd) -> str | None:
    if end.error is not None:
        return end.error.message
    return None
