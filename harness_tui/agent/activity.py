"""What goes on in a session: one run at a time, each with exactly one end, and the waiting messages after it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from harness_tui.agent.run_end import RunEnd
from harness_tui.agent.state import SessionState
from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import RunError
from harness_tui.core.events import Notice, RunFinished
from harness_tui.core.ids import new_id
from harness_tui.core.intents import Submit

log = logging.getLogger(__name__)


class Activity:
    """Owns the task of the run that goes on. ``submit`` starts a run with the next waiting message."""

    def __init__(self, state: SessionState, submit: Callable[[Submit], None]) -> None:
        self._state = state
        self._submit = submit
        self._task: asyncio.Task[RunEnd] | None = None
        self._steady: asyncio.Task[RunEnd] | None = None
        self.run: str | None = None
        self._moves_on = True

    @property
    def busy(self) -> bool:
        """Whether a run goes on. False from its ``run_finished`` on, so that a reader of that may send the next."""
        return self.run is not None

    @property
    def going_on(self) -> bool:
        """Whether a run goes on, or a message waits that starts the next one by itself."""
        return self.busy or (self._moves_on and self._state.queue.moving)

    def begin(self, work: Callable[[str], Coroutine[Any, Any, RunEnd]]) -> str | None:
        """Start what ``work`` makes of the run's id, and return that; refused with a notice while another goes on."""
        if self.busy:
            self._state.notice("a run goes on", self.run, hint="wait for its end, or cancel it")
            return None
        self.run = run = new_id("run")
        self._task = asyncio.create_task(self._finishing(run, work(run), self._task), name=f"harness {run}")
        return run

    def aside(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do something that is no run, after the last one has ended and before the next one begins.

        It is not cancelled: who closes the session waits for its end.
        """
        self._task = self._steady = asyncio.create_task(self._aside(work, self._task), name="beside the run")

    async def _aside(
        self, work: Callable[[], Coroutine[Any, Any, None]], before: asyncio.Task[RunEnd] | None
    ) -> RunEnd:
        if before is not None:
            await asyncio.wait([before])
        try:
            await work()
        except HarnessError as error:
            self._state.notice(error.placed, hint=error.mend)
        except Exception as error:
            log.exception("what a person asked for failed")
            self._state.notice(f"{type(error).__name__}: {error}", hint="see the log")
        return RunEnd("completed")

    async def ended(self) -> RunEnd:
        """Wait for the end of the run that was begun last, and return it. A cancel of the waiting leaves it alone."""
        if self._task is None:
            raise RuntimeError("no run was begun")
        await asyncio.wait([self._task])
        return self._task.result()

    async def idle(self) -> None:
        """Wait until no run goes on."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])
            await asyncio.sleep(0)

    async def cancel(self) -> None:
        """Cancel what goes on and wait until it has ended."""
        if self._task is not None and not self._task.done():
            if self._task is not self._steady:
                self._cancel_soon(self._task)
            await asyncio.wait([self._task])

    def cancel_soon(self) -> None:
        """Cancel the run that goes on, if there is one; returns at once."""
        if self.busy and self._task is not None:
            self._cancel_soon(self._task)

    @staticmethod
    def _cancel_soon(task: asyncio.Task[RunEnd]) -> None:
        # A task that is cancelled before its first step never takes it, and the run would have no end. Callbacks run
        # in order: this one comes after that step.
        asyncio.get_running_loop().call_soon(task.cancel)

    async def _finishing(
        self, run: str, work: Coroutine[Any, Any, RunEnd], before: asyncio.Task[RunEnd] | None
    ) -> RunEnd:
        """Run ``work``; whatever happens, the run ends with exactly one ``run_finished``."""
        state = self._state
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
        if state.single_run and not (self._moves_on and state.queue.moving):
            self._tell_unused_answers(run)
            self._tell_unsent(run)
        self.run = None
        state.publish(RunFinished(end.reason, end.error, end.output), run)
        try:
            await asyncio.shield(state.recorder.commit())
        except HarnessError as error:
            state.publish(Notice("error", "sessions", str(error)))
        if self._moves_on and not self.busy:
            self._next_from_queue()
        return end

    def _next_from_queue(self) -> None:
        taken = self._state.queue.take_next()
        if taken is None:
            return
        submit, changed = taken
        self._state.publish(changed)
        self._submit(submit)

    def _tell_unused_answers(self, run: str) -> None:
        script = self._state.script
        for answer in script.unused_answers() if script else ():
            text = f"the scripted answer for {answer.kind} {answer.match!r} was not asked for"
            self._state.publish(Notice("warning", "replay", text), run)

    def _tell_unsent(self, run: str) -> None:
        for text in self._state.queue.texts:
            self._state.notice(f"the waiting message was not sent: {text}", run)
