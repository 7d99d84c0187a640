"""Executes the calls of one step: prepare, gate, run, and exactly one result per call.

Calls run in order; only neighbouring read-only calls run side by side. Whatever happens, each call gets its
``tool_finished``: an unknown tool, malformed arguments, a refusal, a crash of the tool, a cancel.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from harness_tui.agent.admission import Admitter
from harness_tui.agent.asking import Again
from harness_tui.agent.hooks import Hooks
from harness_tui.agent.sampling import sample
from harness_tui.agent.state import SessionState, may_import
from harness_tui.core.errors import HarnessError, RefusedError, StalePreviewError, ToolError
from harness_tui.core.event_parts import DiffPreview, Truncation
from harness_tui.core.events import Event, ToolFinished, ToolProgress, ToolStarted
from harness_tui.core.intents import Answer
from harness_tui.core.limits import TOOL_OUTPUT_LINES
from harness_tui.core.messages import ToolCall, ToolMessage
from harness_tui.core.record import record
from harness_tui.core.seams import (
    CallCancelled,
    Origin,
    PreparedCall,
    QuestionReply,
    QuestionRequest,
    Tool,
    ToolContext,
    ToolResult,
)
from harness_tui.core.text import cut_end, cut_middle
from harness_tui.core.values import AgentDefinition, Rule, SourceRef

log = logging.getLogger(__name__)

LateTool: TypeAlias = Callable[[str], Awaitable[Tool | None]]
"""Waits for the server of a tool that is not known yet; ``None`` when no server could have it."""

_STALE_RETRIES = 3
_PARTIAL_BYTES = 20_000
_RENEWED = (
    "The file was changed by somebody else after you read it; the person saw your change against its new content and"
    " allowed it. Read it again before you rely on the rest of it."
)
_CANCELLED_BEFORE = "Cancelled by the person before it ran."


@record
class Finish:
    """The result of one call.

    ``refused`` tells that a person said no without a note, which ends the run; ``denied`` that anybody or anything said
    no: a person, a rule, a policy, a folder that is not trusted.
    """

    message: ToolMessage
    refused: bool = False
    denied: bool = False


@dataclass(slots=True)
class _Admitted:
    """A call that may run.

    ``output`` is what it has told so far, ``shown`` that a person decided on its preview, ``renewed`` that it was
    prepared anew for that because the file had changed, ``altered`` what the model is told where they changed it,
    ``running`` that its effect may have begun, ``partial`` what the tool says came of it until it was cancelled.
    """

    call: ToolCall
    tool: Tool
    prepared: PreparedCall
    context: ToolContext
    output: list[str]
    shown: bool = False
    renewed: bool = False
    altered: str = ""
    running: bool = False
    partial: ToolResult | None = None


class CallRunner:
    """Runs calls for one run of one session. ``last`` is the latest result, also that of a call that was cancelled."""

    def __init__(
        self,
        state: SessionState,
        run: str | None,
        agent: AgentDefinition,
        *,
        tools: Mapping[str, Tool],
        late_tool: LateTool,
        grants: tuple[Rule, ...] = (),
        origin: Origin = "model",
    ) -> None:
        self._state = state
        self._run = run
        self._agent = agent
        self._tools = tools
        self._late_tool = late_tool
        self._origin: Origin = origin
        self._hooks = Hooks(state.parts, self._publish, session=state.id, run=run)
        self._admitter = Admitter(state, run, agent, self._hooks, grants=grants, origin=origin)
        self._begun: set[int] = set()
        self._finished: set[int] = set()
        self.last: Finish | None = None

    def use_tools(self, tools: Mapping[str, Tool]) -> None:
        """Take the tools of the next step."""
        self._tools = tools

    async def execute(self, calls: Sequence[ToolCall]) -> list[Finish]:
        """Run ``calls`` and return one result for each, in order."""
        # By identity, not by name: a provider may give two calls the same id, and each still gets its result.
        self._begun, self._finished = set(), set()
        finishes: list[Finish] = []
        index = 0
        try:
            while index < len(calls):
                group = self._group(calls, index)
                finishes += await self._run_group(group)
                index += len(group)
                if index < len(calls):
                    await self._state.recorder.commit()  # what is done must not be called interrupted after a crash
                if any(finish.refused for finish in finishes):
                    break
        except BaseException as error:  # a cancel, or a fault of ours: no call is left without its result
            self._finish_rest(calls, error)
            raise
        while len(finishes) < len(calls):
            call = calls[len(finishes)]
            finishes.append(self._finish_unrun(call, "Not run: the person refused an earlier call of this step."))
        return finishes

    def leave_out(self, calls: Sequence[ToolCall], why: BaseException) -> None:
        """Give each of ``calls`` a result that says that it did not run: ``why`` came before them."""
        self._begun, self._finished = set(), set()
        self._finish_rest(calls, why)

    def _finish_rest(self, calls: Sequence[ToolCall], why: BaseException) -> None:
        cancelled = isinstance(why, asyncio.CancelledError)
        text = _CANCELLED_BEFORE if cancelled else f"Not run: the run failed ({why})."
        for call in calls:
            if id(call) not in self._finished:
                self._finish_unrun(call, text)

    def _group(self, calls: Sequence[ToolCall], index: int) -> Sequence[ToolCall]:
        end = index + 1
        kind = self._beside(calls[index])
        if kind is not None:
            while end < len(calls) and self._beside(calls[end]) == kind:
                end += 1
        return calls[index:end]

    def _beside(self, call: ToolCall) -> str | None:
        """Return what a call may run beside: calls for which this is the same; ``None`` for one that runs alone."""
        tool = self._tools.get(call.tool)
        if tool is None:
            return None
        return "read-only" if tool.spec.read_only else call.tool if tool.spec.parallel else None

    async def _run_group(self, group: Sequence[ToolCall]) -> list[Finish]:
        entered: list[_Admitted | Finish] = []
        try:
            for call in group:
                entered.append(await self._admit(call))
            return list(await asyncio.gather(*(self._complete(item) for item in entered)))
        except asyncio.CancelledError:
            for item in entered:
                if isinstance(item, _Admitted) and id(item.call) not in self._finished:
                    self._finish_cancelled(item)
            raise

    # --- before the effect -----------------------------------------------------------------------

    async def _admit(self, call: ToolCall) -> _Admitted | Finish:
        """Prepare a call and take it through the gate; give its result at once when it may not run."""
        try:
            tool = self._tools.get(call.tool) or await self._late_tool(call.tool)
        except HarnessError as error:
            return self._finish_unrun(call, str(error), denied=isinstance(error, RefusedError))
        if tool is None:
            return self._finish_unrun(call, f"There is no tool {call.tool!r}. Tools: {', '.join(sorted(self._tools))}.")
        if call.raw is not None:
            text = f"The arguments are not a JSON object. Send them again, whole. Received: {cut_end(call.raw, 200)}"
            return self._finish_unrun(call, text)
        output: list[str] = []
        context = self._context(call, output)
        try:
            prepared = await tool.prepare(call.arguments, context)
        except HarnessError as error:
            return self._finish_unrun(call, str(error))
        except Exception as error:
            log.exception("preparing %s failed", call.tool)
            return self._finish_unrun(call, f"{call.tool} failed: {type(error).__name__}: {error}")
        self._start(call, tool, prepared.title)
        item = _Admitted(call, tool, prepared, context, output)
        try:
            admission = await self._admitter.admit(call, tool, prepared, partial(self._look_again, item))
        except HarnessError as error:  # a person allowed it, and it cannot be done any more
            return self._finish(call, ToolResult(str(error), is_error=True))
        if admission.refusal is not None:
            result = ToolResult(admission.refusal, is_error=True)
            return self._finish(call, result, refused=admission.ends_run, denied=True)
        item.shown = admission.shown
        return item

    def _context(self, call: ToolCall, output: list[str]) -> ToolContext:
        def emit(event: Event) -> None:
            if isinstance(event, ToolProgress) and event.output_delta:
                output.append(event.output_delta)
            self._publish(event)

        async def ask(request: QuestionRequest) -> QuestionReply:
            if request.sampling is not None:
                return await sample(self._state, self._agent, request, self._run, self._publish)
            return await self._state.asker.question(request, self._run)

        return ToolContext(
            session=self._state.id,
            run=self._run,
            call=call.call,
            agent=self._agent.name,
            root=self._state.parts.project.root,
            cwd=self._state.parts.project.start,
            session_dir=self._state.parts.places.session_dir(self._state.id),
            origin=self._origin,
            emit=emit,
            ask=ask if self._state.asker.can_ask else None,
            after_edit=self._hooks.after_edit if self._state.parts.settings.hooks.after_edit else None,
            recorded=self._state.recorded,
        )

    async def _look_again(self, item: _Admitted, answer: Answer) -> Again | None:
        """Prepare a change anew whose diff a person has allowed; return the diff when it is another one by now.

        A person who looks at the diff need not have read the file, so the call is prepared as theirs. What they
        altered takes the place of what was proposed.
        """
        if not isinstance(item.prepared.preview, DiffPreview):
            return _unalterable(item) if answer.edits else None
        try:
            prepared = await item.tool.prepare(item.call.arguments, replace(item.context, origin="call"))
        except HarnessError:
            raise
        except Exception as error:
            log.exception("preparing %s again failed", item.call.tool)
            raise ToolError(f"{item.call.tool} failed: {type(error).__name__}: {error}") from error
        if prepared.checks != item.prepared.checks:
            raise ToolError("the path leads to another file than the one that was shown", where=item.prepared.title)
        if prepared.preview != item.prepared.preview:
            item.prepared, item.renewed = prepared, True
            return Again(prepared.preview, proposal=prepared.proposal)
        return await self._alter(item, {edit.path: edit.text for edit in answer.edits}) if answer.edits else None

    async def _alter(self, item: _Admitted, edits: Mapping[str, str | None]) -> Again | None:
        """Put what the person altered into the call; return why that cannot be, as another question."""
        proposal = item.prepared.proposal
        if proposal is None:
            return _unalterable(item)
        try:
            amended = await asyncio.to_thread(proposal.amended, edits)
        except HarnessError as error:
            return Again(item.prepared.preview, f"What you wrote cannot be used: {error}", proposal)
        item.prepared, item.altered = amended.prepared, amended.told
        return None

    # --- the effect ------------------------------------------------------------------------------

    async def _complete(self, item: _Admitted | Finish) -> Finish:
        if isinstance(item, Finish):
            return item
        item.running = True
        for _ in range(_STALE_RETRIES):
            try:
                result = await self._run_tool(item.tool, item.prepared, item.context)
                self._admitter.grant(result.grants)
                if item.renewed and self._origin == "model" and not result.is_error:
                    result = replace(result, output=f"{result.output}\n{_RENEWED}")
                if item.altered and self._origin == "model" and not result.is_error:
                    result = replace(result, output=f"{result.output}\n{item.altered}")
                return self._finish(item.call, await self._with_instructions(item.call.tool, result))
            except StalePreviewError as error:
                problem = await self._prepare_again(item, error)
            except CallCancelled as error:
                item.partial = error.result
                raise
            if problem is not None:
                return self._finish(item.call, ToolResult(problem, is_error=True))
        text = "The file keeps changing while it is being edited. Read it again and try once more."
        return self._finish(item.call, ToolResult(text, is_error=True))

    async def _prepare_again(self, item: _Admitted, error: StalePreviewError) -> str | None:
        """Look at a file that changed since the call was prepared; return why the call may not go on.

        What a person has seen and allowed was another change than the one that would be made now: it is not made, and
        the model may ask again.
        """
        if item.shown:
            return f"{error.what}: what was approved no longer fits, so nothing was written. Read it and try again."
        checks = item.prepared.checks
        try:
            item.prepared = await item.tool.prepare(item.call.arguments, item.context)
        except HarnessError as problem:
            return str(problem)
        return None if item.prepared.checks == checks else f"{error.what}. Read it again and try once more."

    async def _run_tool(self, tool: Tool, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        try:
            return await tool.run(prepared, context)
        except StalePreviewError:
            raise
        except HarnessError as error:
            return ToolResult(str(error), is_error=True)
        except Exception as error:
            log.exception("%s failed", tool.spec.name)
            return ToolResult(f"{tool.spec.name} failed: {type(error).__name__}: {error}", is_error=True)

    async def _with_instructions(self, tool: str, result: ToolResult) -> ToolResult:
        """Append the instruction files of the folders that a file lies in, where the model was not sent them yet."""
        if result.is_error or self._origin != "model":
            return result
        parts, nested = self._state.parts, self._state.nested
        project = parts.project
        text = await nested.for_result(
            tool,
            result.metadata,
            root=project.root,
            start=project.start,
            trusted=parts.trusted,
            may_read=may_import(self._state, self._agent),
        )
        return result if text is None else replace(result, output=f"{result.output}\n\n{text}")

    # --- the result ------------------------------------------------------------------------------

    def _finish(self, call: ToolCall, result: ToolResult, *, refused: bool = False, denied: bool = False) -> Finish:
        self._finished.add(id(call))
        truncated = Truncation(result.full_output, result.full_bytes) if result.full_output else None
        self._publish(
            ToolFinished(
                call=call.call,
                tool=call.tool,
                output=result.output,
                is_error=result.is_error,
                metadata=result.metadata,
                truncated=truncated,
                attachments=result.attachments or None,
            )
        )
        message = ToolMessage(call.call, call.tool, result.output, result.is_error, result.attachments)
        self.last = Finish(message, refused, denied)
        return self.last

    def _start(self, call: ToolCall, tool: Tool | None, title: str) -> None:
        self._begun.add(id(call))
        source = tool.spec.source if tool is not None else SourceRef("builtin")
        self._publish(ToolStarted(call.call, call.tool, title, call.arguments, source))

    def _finish_unrun(self, call: ToolCall, text: str, *, denied: bool = False) -> Finish:
        if id(call) not in self._begun:
            self._start(call, self._tools.get(call.tool), call.tool)
        return self._finish(call, ToolResult(text, is_error=True), denied=denied)

    def _finish_cancelled(self, item: _Admitted) -> Finish:
        if not item.running:
            return self._finish_unrun(item.call, _CANCELLED_BEFORE)
        if item.partial is not None:
            return self._finish(item.call, item.partial)
        partial = cut_middle("".join(item.output), max_bytes=_PARTIAL_BYTES, max_lines=TOOL_OUTPUT_LINES).text
        text = "Cancelled by the person while it ran; its effect is unknown."
        if partial:
            text = f"{text} Output so far:\n{partial}"
        return self._finish(item.call, ToolResult(text, is_error=True, metadata={"cancelled": True}))

    def _publish(self, event: Event) -> None:
        self._state.publish(event, self._run)


def _unalterable(item: _Admitted) -> Again:
    return Again(item.prepared.preview, "This call cannot be altered: it is asked about as it is.")
