"""Results that an earlier process of a session waited for: work that a server went on with is not lost with the shell.

The calls themselves have long been answered, as interrupted. What comes of them is a message of its own, at the next
step of a run, and stays on disk until it stands in the record.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from harness_tui.core.calls import QuestionReply, QuestionRequest, ToolContext, ToolResult
from harness_tui.core.events import MessageAdded, Notice
from harness_tui.core.late_results import LateResults, LateWork
from harness_tui.core.messages import UserMessage
from harness_tui.core.text import clean_for_display

if TYPE_CHECKING:
    from harness_tui.agent.state import SessionState

WAIT_S: Final = {True: 10.0, False: 3.0}
"""How long the first request of a run waits for such results: without a person who looks on, and with one."""


class Arrivals:
    """What a session waits for, and what came and is not in a message yet."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Task[None]] = set()
        self._come: list[tuple[LateWork, ToolResult]] = []

    async def begin(self, state: SessionState) -> None:
        """Go on with what an earlier process of the session left behind."""
        source, folder = state.parts.late_results, state.parts.places.session_dir(state.id)
        if source is None or not state.recorded:
            return
        for work in await asyncio.to_thread(source.left_over, folder):
            name = clean_for_display(f"{work.call} of {work.tool}", one_line=True)
            text = f"the MCP server {work.server} was still at work on the call {name}: its result is waited for"
            state.publish(Notice("info", "mcp", clean_for_display(text, one_line=True)))
            task = asyncio.create_task(self._follow(source, work, state), name=f"task:{work.call}")
            self._waiting.add(task)
            task.add_done_callback(self._waiting.discard)

    async def _follow(self, source: LateResults, work: LateWork, state: SessionState) -> None:
        result = await source.result(work, _context(state, work))
        self._come.append((work, result))
        how = "failed" if result.is_error else "is there"
        text = clean_for_display(f"the result of the call {work.call} of {work.tool} {how}", one_line=True)
        state.publish(Notice("info", "mcp", text, "the model gets it with its next request"))

    async def wait(self, *, headless: bool) -> None:
        """Wait a while for what is still to come."""
        if self._waiting:
            await asyncio.wait(self._waiting, timeout=WAIT_S[headless])

    async def take(self, state: SessionState, run: str) -> bool:
        """Put what came into messages; tell whether there was any."""
        come, self._come = self._come, []
        for work, result in come:
            state.publish(MessageAdded(_message(work, result), "task"), run)
        if come and state.parts.late_results is not None:
            await state.recorder.commit()
            folder = state.parts.places.session_dir(state.id)
            for work, _ in come:
                await asyncio.to_thread(state.parts.late_results.delivered, work, folder)
        return bool(come)

    async def close(self) -> None:
        """Stop waiting; what is not in a message is found again when the session is opened again."""
        waiting = tuple(self._waiting)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def _message(work: LateWork, result: ToolResult) -> UserMessage:
    how = "It failed" if result.is_error else "It has its result now"
    head = (
        f"The call {work.call} of the tool {work.tool} was interrupted when the shell ended, but the MCP server"
        f" {work.server} went on with it. {how}:"
    )
    return UserMessage(f"{head}\n\n{result.output}", attachments=result.attachments)


def _context(state: SessionState, work: LateWork) -> ToolContext:
    async def ask(request: QuestionRequest) -> QuestionReply:
        if request.sampling is not None:
            return QuestionReply("cancel", nobody=True)  # no run, so no model that is at work
        return await state.asker.question(request, None)

    parts = state.parts
    return ToolContext(
        session=state.id,
        run=None,
        call=work.call,
        agent=state.choice.agent,
        root=parts.project.root,
        cwd=parts.project.start,
        session_dir=parts.places.session_dir(state.id),
        origin="model",
        emit=state.publish,
        ask=ask if state.asker.can_ask else None,
        recorded=state.recorded,
    )
