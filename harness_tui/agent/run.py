"""One run: a message, then requests and calls in turn until the model is done, or something ends it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any

from harness_tui.agent.answer_form import ROUNDS, end_in_form
from harness_tui.agent.calls import CallRunner
from harness_tui.agent.compaction import Compactor
from harness_tui.agent.outfit import Outfit
from harness_tui.agent.retries import ATTEMPTS, tried_again, wait_after
from harness_tui.agent.run_end import RunEnd
from harness_tui.agent.state import SessionState
from harness_tui.agent.told import told_specs
from harness_tui.core.event_parts import RunError
from harness_tui.core.events import (
    Event,
    MessageAdded,
    ModelRetried,
    Notice,
    ReasoningDelta,
    ReasoningFinished,
    StepFinished,
    TextDelta,
    TextFinished,
    UsageUpdated,
)
from harness_tui.core.limits import STEP_LIMIT
from harness_tui.core.messages import AssistantMessage, ToolCall, UserMessage
from harness_tui.core.seams import (
    CallChunk,
    Finished,
    Model,
    ModelError,
    ModelSettings,
    ReasoningChunk,
    TextChunk,
    Tool,
    Usage,
)
from harness_tui.core.values import AgentDefinition, ToolSpec

log = logging.getLogger(__name__)


class _Answer:
    """What has come of one answer so far."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.calls: list[ToolCall] = []
        self.finished: Finished | None = None

    def message(self, *, cut: bool) -> AssistantMessage:
        return AssistantMessage(
            text="".join(self.text),
            reasoning="".join(self.reasoning),
            calls=() if cut else tuple(self.calls),
            cut=cut or None,
            opaque=self.finished.opaque if self.finished else None,
        )

    @property
    def empty(self) -> bool:
        return not (self.text or self.reasoning)


class Run:
    """The loop of one run.

    ``outfit`` is what the agent has at each step, ``take_steering`` lets messages in that a person wants at the next
    step and tells whether there were any, ``compactor`` makes room in the model's context.
    """

    def __init__(
        self,
        state: SessionState,
        run: str,
        *,
        model: Model,
        agent: AgentDefinition,
        calls: CallRunner,
        outfit: Outfit,
        compactor: Compactor,
        take_steering: Callable[[], Awaitable[bool]],
    ) -> None:
        self._state = state
        self._run = run
        self._model = model
        self._agent = agent
        self._calls = calls
        self._outfit = outfit
        self._compactor = compactor
        self._take_steering = take_steering
        self._form = state.parts.answer_form if state.parent is None else None

    async def execute(self) -> RunEnd:
        """Run until the end. Cancelling the task ends it with every call answered and the partial text kept."""
        parts = self._state.parts
        await parts.wait_for_servers()
        await self._state.arrivals.wait(headless=self._state.single_run)
        limit = parts.step_limit or self._agent.steps or STEP_LIMIT
        form = self._form
        rounds = 0
        for step in range(1, limit + 1):
            await self._take_steering()
            tools = await self._outfit.tools() if not rounds else {}
            self._calls.use_tools(tools)
            try:
                message = await self._step(step, tools)
            except ModelError as error:
                return RunEnd("failed", RunError(error.kind, error.message, error.hint))
            if not message.calls:
                if await self._take_steering():
                    continue
                if form is None:
                    return RunEnd("completed")
                end = await end_in_form(form, message.text, parts.spawner, parts.project.start)
                if end.error is None or rounds == ROUNDS:
                    return end
                rounds += 1
                self._publish(MessageAdded(UserMessage(form.mending(end.error.message)), "schema"))
                continue
            finishes = await self._calls.execute(message.calls)
            await self._commit()
            if any(finish.refused for finish in finishes):
                return RunEnd("refused")
        return RunEnd("step_limit", RunError("step_limit", f"stopped after {limit} steps", "send a message to go on"))

    async def _step(self, step: int, tools: dict[str, Tool]) -> AssistantMessage:
        system = await self._outfit.system_prompt()
        if self._form is not None:
            system = f"{system}\n\n{self._form.instruction}"
        specs = told_specs(tools.values())
        await self._compactor.before_request(system, specs, self._outfit.messages())
        schema = self._form.schema if self._form is not None and not specs else None
        try:
            return await self._request(step, system, specs, schema)
        except ModelError as error:
            if error.kind == "request" and schema is not None:
                schema = None  # this provider does not know schemas, or not this one: it was asked for in words too
            elif error.kind != "context" or not await self._compactor.after_overflow(system, specs):
                raise
        return await self._request(step, system, specs, schema)

    async def _request(
        self, step: int, system: str, specs: Sequence[ToolSpec], schema: dict[str, Any] | None
    ) -> AssistantMessage:
        settings = ModelSettings(
            system=system,
            agent=self._agent.name,
            temperature=self._agent.temperature,
            reasoning_effort=self._agent.reasoning_effort,
            session=self._state.id,
            subagent=self._state.parent is not None,
            output_schema=schema,
            calls=self._state.calls,
        )
        for attempt in range(1, ATTEMPTS + 1):
            answer = _Answer()
            try:
                async with aclosing(self._model.stream(self._outfit.messages(), specs, settings)) as stream:
                    async for event in stream:
                        self._take(answer, event)
            except ModelError as error:
                await self._failed(step, answer, error, attempt)
                continue
            except BaseException:  # a cancel, or a fault of the adapter: what was shown stays
                self._keep_partial(step, answer)
                raise
            return await self._finish(step, answer)
        raise AssertionError("the last attempt raises")

    def _publish(self, event: Event) -> None:
        self._state.publish(event, self._run)

    async def _commit(self) -> None:
        await self._state.recorder.commit()

    def _take(self, answer: _Answer, event: TextChunk | ReasoningChunk | CallChunk | Finished) -> None:
        match event:
            case TextChunk(text):
                if answer.reasoning and not answer.text:
                    self._publish(ReasoningFinished("".join(answer.reasoning)))
                answer.text.append(text)
                self._publish(TextDelta(text))
            case ReasoningChunk(text):
                answer.reasoning.append(text)
                self._publish(ReasoningDelta(text))
            case CallChunk(call):
                answer.calls.append(call)
            case Finished():
                answer.finished = event

    async def _finish(self, step: int, answer: _Answer) -> AssistantMessage:
        self._close_texts(answer)
        message = answer.message(cut=False)
        self._publish(StepFinished(step, message))
        finished = answer.finished or Finished()
        if finished.usage != Usage():
            self._publish(self._usage(finished.usage))
            used = finished.usage.input + finished.usage.output
            self._state.meter.count(used, len(self._outfit.messages()))
        if finished.reason == "length":
            self._publish(Notice("warning", "model", "the answer was cut at the model's limit of output tokens"))
        elif not (message.text or message.calls):
            hint = "send the message again, or take another model (/model, --model)"
            self._publish(Notice("warning", "model", f"{self._model.name} gave an empty answer", hint))
        for note in finished.notes:
            self._publish(Notice("info", "model", note))
        try:
            await self._commit()
        except BaseException as error:  # a cancel, or a record that cannot be written: the calls get their results
            self._calls.leave_out(message.calls, error)
            raise
        return message

    async def _failed(self, step: int, answer: _Answer, error: ModelError, attempt: int) -> None:
        """Close what was shown, then wait for the next attempt, or keep the partial answer and raise."""
        if not tried_again(error, attempt):
            self._keep_partial(step, answer)
            raise error
        self._close_texts(answer)
        wait = wait_after(error, attempt)
        self._publish(ModelRetried(kind=error.kind, message=error.message, attempt=attempt, wait_s=wait))
        await asyncio.sleep(wait)

    def _keep_partial(self, step: int, answer: _Answer) -> None:
        if answer.empty:
            return
        self._close_texts(answer)
        message = answer.message(cut=True)
        self._publish(StepFinished(step, message))

    def _close_texts(self, answer: _Answer) -> None:
        if answer.reasoning and not answer.text:
            self._publish(ReasoningFinished("".join(answer.reasoning)))
        if answer.text:
            self._publish(TextFinished("".join(answer.text)))

    def _usage(self, usage: Usage) -> UsageUpdated:
        return UsageUpdated(
            input=usage.input,
            output=usage.output,
            reasoning=usage.reasoning,
            cache_read=usage.cache_read,
            cache_write=usage.cache_write,
            cost=usage.cost,
            context_used=usage.input + usage.output,
            context_limit=self._model.context_limit,
        )
