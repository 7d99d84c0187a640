"""The sessions that are open in a workspace: new ones, recorded ones, and how each ends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from harness_tui.agent.choice import Choice
from harness_tui.agent.history import History
from harness_tui.agent.live import LiveSession
from harness_tui.agent.queue import MessageQueue
from harness_tui.agent.unrecorded import Unrecorded
from harness_tui.core.errors import UsageError
from harness_tui.core.events import Notice, QueueChanged, TodoUpdated, UsageUpdated
from harness_tui.core.ids import new_id
from harness_tui.core.record import record
from harness_tui.sessions.change_journal import recover_changes
from harness_tui.sessions.recorder import Recorder
from harness_tui.sessions.store import root_text
from harness_tui.workspace.upkeep import SessionUpkeep

if TYPE_CHECKING:
    from harness_tui.agent.parts import AgentParts
    from harness_tui.workspace.workspace import Workspace


@record
class _Record:
    """What a recorded session goes on with; ``queue`` is what waited, ``todos`` its list of steps."""

    title: str | None
    history: History
    last_seq: int
    queue: QueueChanged | None
    todos: TodoUpdated | None
    usage: UsageUpdated | None
    calls: int


class OpenSessions:
    """Opens and closes the sessions of ``workspace``."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._live: dict[str, LiveSession] = {}
        self._upkeep = SessionUpkeep(workspace)

    def use_parts(self, parts: AgentParts) -> None:
        """Let every open session go on with other parts."""
        for session in self._live.values():
            session.use_parts(parts)

    async def new(self, *, session_id: str | None = None) -> LiveSession:
        """Create a session."""
        workspace = self._workspace
        info = await asyncio.to_thread(workspace.store.create, workspace.project.root, session_id=session_id, lock=True)
        return self._open(info.session)

    def unrecorded(self) -> LiveSession:
        """Return a session that leaves no record."""
        return self._open(new_id("hand"), recorded=False)

    async def resume(self, session: str) -> LiveSession:
        """Open a recorded session again, repaired. Raises ``HarnessError`` when it is open elsewhere."""
        workspace, store = self._workspace, self._workspace.store
        info = await asyncio.to_thread(store.info, session)
        if not await asyncio.to_thread(store.lock, info.session):
            raise await asyncio.to_thread(store.live_error, info.session)

        def load() -> _Record:
            store.repair(info.session)
            recover_changes(store, info.session, workspace.project.root, workspace.clock)
            stored = store.messages(info.session)
            return _Record(
                info.title,
                History(item.message for item in stored),
                store.open_numbers(info.session),
                store.latest_of(info.session, QueueChanged),
                store.latest_of(info.session, TodoUpdated),
                store.latest_of(info.session, UsageUpdated),
                store.highest_call(info.session),
            )

        try:
            record = await asyncio.to_thread(load)
        except BaseException:
            await asyncio.to_thread(store.unlock, info.session)
            raise
        here = root_text(workspace.project.root)
        if info.root != here:
            text = f"this session was recorded in {info.root}; it goes on in {here}"
            workspace.surroundings.emit(Notice("warning", "sessions", text))
        return self._open(info.session, record)

    async def latest(self) -> str:
        """Return the id of the latest session of this project. Raises ``UsageError`` when there is none."""
        workspace = self._workspace
        info = await asyncio.to_thread(workspace.store.latest, workspace.project.root)
        if info is None:
            raise UsageError("there is no session to continue in this project", mend="leave --continue out")
        return info.session

    def _open(self, session: str, record: _Record | None = None, *, recorded: bool = True) -> LiveSession:
        workspace = self._workspace
        flags = workspace.options.flags
        choice = Choice(
            workspace.parts,
            agent=flags.agent,
            model=flags.model,
            default_model=workspace.model,
            mode=flags.mode,
            title=record.title if record else None,
        )
        live = LiveSession(
            workspace.parts,
            session,
            recorder=Recorder(workspace.store, session) if recorded else Unrecorded(),
            policy=workspace.options.policy,
            choice=choice,
            history=record.history if record else None,
            queue=MessageQueue(record.queue.items) if record and record.queue else None,
            last_seq=record.last_seq if record else 0,
            single_run=workspace.options.single_run,
        )
        if record is not None:
            todos, usage = record.todos, record.usage
            live.take_record(todos.items if todos else (), usage.context_used if usage else None, record.calls)
        self._live[session] = live
        return live

    async def start(self, live: LiveSession) -> None:
        """Announce ``live``, then tell it what it has to know of the surroundings."""
        await self._upkeep.begin()
        await live.start()
        self._workspace.surroundings.join(live.id, live.publish)

    async def close(self, live: LiveSession) -> None:
        """End a session's run, what it left running, and its record."""
        workspace = self._workspace
        workspace.surroundings.leave(live.id)
        self._live.pop(live.id, None)
        await live.close()
        await workspace.forget_session(live.id)
        if live.recorded:
            await asyncio.to_thread(workspace.store.unlock, live.id, seen=live.stream.last_seq)

    async def close_all(self) -> None:
        """Close every open session."""
        for live in tuple(self._live.values()):
            await self.close(live)
        await self._upkeep.end()
