"""One session that an editor has open: its workspace, its stream on the way to the editor, and the prompt that runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import acp
from acp import schema

from harness_tui.acp.content import read_prompt
from harness_tui.acp.requests import ask_permission, ask_question
from harness_tui.acp.subagents import SubagentSteps
from harness_tui.acp.updates import Updates
from harness_tui.agent.live import LiveSession
from harness_tui.core import events as ev
from harness_tui.core.bus import LaggedError
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError
from harness_tui.core.intents import Answer, Cancel, SetSession, Submit
from harness_tui.workspace.workspace import Workspace

log = logging.getLogger(__name__)

_STOPS: dict[str, schema.StopReason] = {
    "completed": "end_turn",
    "cancelled": "cancelled",
    "step_limit": "max_turn_requests",
    "refused": "end_turn",
}


class EditorSession:
    """Sends a session's events to ``client`` from :meth:`begin` on; :meth:`prompt` runs one turn at a time."""

    def __init__(self, client: Any, workspace: Workspace, live: LiveSession) -> None:
        self.workspace = workspace
        self.live = live
        self._client = client
        self._updates = Updates(workspace.project.root, self._content)
        self._subagents = SubagentSteps()
        self._reading: asyncio.Task[None] | None = None
        self._ended: asyncio.Future[ev.RunFinished] | None = None
        self._asking: dict[str, asyncio.Task[None]] = {}

    @property
    def id(self) -> str:
        """The session's identifier."""
        return self.live.id

    async def begin(self) -> None:
        """Start the session and its way to the editor."""
        subscription = self.live.stream.subscribe(limit=2**62)
        await self.workspace.start_session(self.live)

        async def read() -> None:
            try:
                async for envelope in subscription:
                    if envelope.session == self.id:
                        await self._take(envelope.event, envelope.run)
                    else:
                        await self._take_foreign(envelope)
            except LaggedError as error:
                log.warning("the editor was too slow: %s", error)

        self._reading = asyncio.create_task(read(), name=f"acp {self.id}")

    async def replay(self) -> None:
        """Send the record up to now, as it would have come."""
        store, root = self.workspace.store, self.workspace.project.root
        await self.live.flush()
        updates = Updates(root, self._content, replaying=True)
        for envelope in await asyncio.to_thread(lambda: list(store.events(self.id))):
            for update in updates.of(envelope.event, envelope.run):
                await self._client.session_update(session_id=self.id, update=update)

    async def prompt(self, blocks: list[Any]) -> schema.PromptResponse:
        """Run one turn and return how it ended. Raises ``acp.RequestError``."""
        if self._ended is not None:
            raise acp.RequestError.invalid_request({"message": "a prompt of this session is being worked on"})
        try:
            text, attachments = read_prompt(blocks)
        except ValueError as error:
            raise acp.RequestError.invalid_params({"message": str(error)}) from error
        if not text.strip() and not attachments:
            raise acp.RequestError.invalid_params({"message": "the prompt is empty"})
        self._ended = asyncio.get_running_loop().create_future()
        try:
            await self.live.send(Submit(text, attachments or None))
            end = await self._ended
        finally:
            self._ended = None
        if end.reason == "failed" or (end.reason == "refused" and end.error is not None):
            message = f"{end.reason}: {end.error.message}" if end.error else end.reason
            hint = end.error.hint if end.error else None
            raise acp.RequestError(-32603, message, {"hint": hint} if hint else None)
        return schema.PromptResponse(stop_reason=_STOPS[end.reason])

    async def cancel(self) -> None:
        """End the turn that runs; it is answered as cancelled."""
        await self.live.send(Cancel())

    async def set_mode(self, mode: str) -> None:
        """Change the mode of the session."""
        await self.live.send(SetSession(mode=mode))

    async def close(self) -> None:
        """End the session and its workspace."""
        try:
            await self.workspace.close()
        finally:
            if self._reading is not None:
                await asyncio.wait([self._reading])
            for task in self._asking.values():
                task.cancel()
            if self._ended is not None and not self._ended.done():
                self._ended.set_result(ev.RunFinished("cancelled"))

    # --- the stream --------------------------------------------------------------------------------

    async def _take(self, event: ev.Event, run: str | None) -> None:
        self._take_request(event, getattr(event, "call", ""))
        for update in self._updates.of(event, run):
            await self._tell(update)
        if isinstance(event, ev.RunFinished) and self._ended is not None and not self._ended.done():
            self._ended.set_result(event)

    async def _take_foreign(self, envelope: Envelope) -> None:
        """An event of a subagent: the editor is asked what it asks, and shown its steps under its call."""
        call = f"{envelope.session}/{getattr(envelope.event, 'call', '')}"
        self._take_request(envelope.event, call, self._subagents.title(envelope))
        update = self._subagents.update_of(envelope)
        if update is not None:
            await self._tell(update)

    def _take_request(self, event: ev.Event, call: str, title: str | None = None) -> None:
        match event:
            case ev.PermissionRequested(request=request):
                root = self.workspace.project.root
                asking = ask_permission(self._client, self.id, root, event, call_id=call, title=title)
                self._ask(request, asking)
            case ev.QuestionAsked(request=request):
                self._ask(request, ask_question(self._client, self.id, event))
            case ev.PermissionResolved(request=str(request)) | ev.QuestionAnswered(request=request):
                asked = self._asking.pop(request, None)
                if asked is not None:
                    asked.cancel()  # a cancelled turn answers what waits: the editor need not
            case _:
                pass

    async def _tell(self, update: Any) -> None:
        try:
            await self._client.session_update(session_id=self.id, update=update)
        except (ConnectionError, OSError, RuntimeError) as error:  # the editor is gone: the end of its input closes us
            log.info("an update could not be sent: %s", error)

    def _ask(self, request: str, asking: Coroutine[Any, Any, Answer]) -> None:
        async def answer() -> None:
            try:
                reply = await asking
            except (acp.RequestError, ConnectionError, OSError, ValueError) as error:
                log.info("the editor did not answer: %s", error)
                reply = Answer(request, "deny")
            await self.live.send(reply)

        self._asking[request] = asyncio.create_task(answer(), name=f"acp asks {request}")

    def _content(self, key: str) -> str | None:
        try:
            return self.workspace.blobs.get(key).decode("utf-8")
        except (HarnessError, UnicodeDecodeError):
            return None


def folder_of(cwd: str) -> Path:
    """Return the folder of a request. Raises ``acp.RequestError``."""
    path = Path(cwd)
    if not path.is_absolute() or not path.is_dir():
        raise acp.RequestError.invalid_params({"message": f"cwd is no absolute path of a folder: {cwd}"})
    return path
