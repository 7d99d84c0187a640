"""What a run of a session does: act on a message, make a call by hand, run a command of the person's."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Final

from harness_tui.agent.answer_form import end_in_form
from harness_tui.agent.by_hand import end_of, parse_call, shell_message
from harness_tui.agent.calls import CallRunner
from harness_tui.agent.compaction import Compactor
from harness_tui.agent.compose import Composed, Composer
from harness_tui.agent.hooks import Hooks
from harness_tui.agent.outfit import Outfit
from harness_tui.agent.plans import keep_plan
from harness_tui.agent.run import Run
from harness_tui.agent.run_end import RunEnd
from harness_tui.agent.state import SessionState
from harness_tui.agent.subagents import SubtaskTool, Task
from harness_tui.agent.told import told_specs
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.event_parts import RunError
from harness_tui.core.events import ContextReported, MessageAdded, Notice, RunStarted, StepFinished, TextFinished
from harness_tui.core.ids import new_id
from harness_tui.core.intents import Submit
from harness_tui.core.messages import AssistantMessage, ToolCall, UserMessage
from harness_tui.core.seams import AnswerScript, Model, ModelError, Origin
from harness_tui.core.values import AgentDefinition

_HOOK_ROUNDS: Final = 3
"""How often a hook may hold back the end of one run."""


class Turns:
    """Makes the work of runs; ``run`` is the run's id in each method."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    async def message(self, run: str, submit: Submit) -> RunEnd:
        """Expand a message and let the agent work on it."""
        state = self._state
        agent = state.choice.definition(submit.agent or state.choice.agent)
        if agent is None:
            return self._refuse(run, "unknown-agent", f"there is no agent {submit.agent or state.choice.agent!r}")
        composer = self._composer(run, agent)
        try:
            hand = parse_call(submit.text)
        except HarnessError as error:
            return self._refuse(run, error.code, error.what, error.mend)
        if hand is not None:
            return await self.call(run, *hand, "call")
        state.asker.use_script(state.script)
        composed = await composer.compose(submit)
        if composed.error is not None:
            return self._refuse(run, composed.error.kind, composed.error.message, composed.error.hint)
        named = state.choice.definition(composed.agent)
        agent = named or agent
        try:
            others = agent.model if agent.name != state.choice.agent else None
            name = submit.model or composed.model or others or state.choice.model
            model = await asyncio.to_thread(state.parts.models.resolve, name)
        except UsageError as error:
            return self._refuse(run, "unknown-model", error.placed, error.mend)
        if composed.subtask or (named is not None and named.mode == "subagent"):
            return await self._subtask(run, composed, agent, model)
        return await self.answer(run, composed, agent, model)

    async def answer(self, run: str, composed: Composed, agent: AgentDefinition, model: Model) -> RunEnd:
        """Let ``agent`` work on a message until it is done."""
        state = self._state
        self._start(run, composed, agent, model)
        outfit = Outfit(state, agent)
        compactor = Compactor(state, run, model, agent)
        work = Run(
            state,
            run,
            model=model,
            agent=agent,
            calls=CallRunner(state, run, agent, tools={}, late_tool=outfit.late_tool, grants=composed.grants),
            outfit=outfit,
            compactor=compactor,
            take_steering=lambda: self._take_steering(run, agent),
        )
        end = await self._until_hooks_agree(run, work)
        if end.reason in ("completed", "step_limit"):
            await compactor.when_wanted(outfit)
        if end.reason == "completed" and state.parent is None and agent.start_mode == "plan":
            await keep_plan(state, run)
        return end

    async def call(self, run: str, tool: str, arguments: dict[str, Any], origin: Origin) -> RunEnd:
        """Call a tool by hand, through the same gate."""
        (finish,) = await self._runner_by_hand(run, origin).execute([ToolCall(new_id("hand"), tool, arguments)])
        return end_of(finish)

    async def shell(self, run: str, command: str) -> RunEnd:
        """Run a command that the person typed, and keep its output for the model."""
        runner = self._runner_by_hand(run, "person")
        try:
            await runner.execute([ToolCall(new_id("hand"), "bash", {"command": command})])
        finally:
            if runner.last is not None:  # what a cancelled command has written is told as well
                self._state.publish(MessageAdded(shell_message(command, runner.last), "shell"), run)
        return RunEnd("completed")

    async def compact(self, run: str, focus: str | None) -> RunEnd:
        """Sum up the history because the person wants it."""
        state = self._state
        agent = self._own_agent()
        if not state.history.messages:
            state.publish(Notice("info", "compaction", "there is no history to sum up yet"), run)
            return RunEnd("completed")
        try:
            state.model = model = await asyncio.to_thread(state.parts.models.resolve, state.choice.model)
        except UsageError as error:
            return self._refuse(run, "unknown-model", error.placed, error.mend)
        outfit = Outfit(state, agent)
        specs = told_specs((await outfit.tools()).values())
        try:
            await Compactor(state, run, model, agent).compact(await outfit.system_prompt(), specs, focus)
        except ModelError as error:
            return RunEnd("failed", RunError(error.kind, error.message, error.hint))
        return RunEnd("completed")

    async def report(self) -> ContextReported:
        """Return what the next request would hold."""
        state = self._state
        if state.model is None:  # before the first run: only its limit is wanted, and it need not be known
            with contextlib.suppress(HarnessError):
                state.model = await asyncio.to_thread(state.parts.models.resolve, state.choice.model)
        return await Outfit(self._state, self._own_agent()).report()

    # --- parts of a run --------------------------------------------------------------------------------

    def _start(self, run: str, composed: Composed, agent: AgentDefinition, model: Model) -> None:
        state = self._state
        state.agent, state.model = agent, model
        state.asker.use_script(model if isinstance(model, AnswerScript) else None)
        above = state.parent.call if state.parent is not None else None
        state.publish(RunStarted(agent.name, model.name, state.mode, composed.message, composed.command, above), run)
        state.publish(MessageAdded(composed.message, "prompt"), run)
        for turn in composed.turns:
            state.publish(MessageAdded(turn, "command"), run)
        named = state.choice.name_after(composed.message.text, composed.command.name if composed.command else None)
        if named is not None:
            state.publish(named)

    async def _until_hooks_agree(self, run: str, work: Run) -> RunEnd:
        """Run; where a hook blocks the end, tell the agent why and let it go on, a few times at most."""
        state = self._state
        if state.parent is not None:
            return await work.execute()
        hooks = Hooks(state.parts, lambda event: state.publish(event, run), session=state.id, run=run)
        reason = ""
        for _ in range(_HOOK_ROUNDS):
            end = await work.execute()
            blocked = await hooks.run_finished(end.reason)
            if blocked is None or end.reason != "completed":
                return end
            reason = blocked
            text = f"A hook of the project holds the end of this run back:\n\n{reason}"
            state.publish(MessageAdded(UserMessage(text), "hook"), run)
        return RunEnd("failed", RunError("hook", f"a hook held the end back {_HOOK_ROUNDS} times: {reason}"))

    async def _subtask(self, run: str, composed: Composed, agent: AgentDefinition, model: Model) -> RunEnd:
        """Let a subagent answer a command; what it says is the answer of this run."""
        state, own = self._state, self._own_agent()
        self._start(run, composed, own, model)
        name = f"/{composed.command.name}" if composed.command else agent.name
        tool = SubtaskTool(Task(agent, composed.message.text, name), composed, model, state.parts.subagents.worker)
        runner = CallRunner(state, run, own, tools={"task": tool}, late_tool=state.parts.late_tool, origin="call")
        arguments = {"agent": agent.name, "prompt": composed.message.text, "description": name}
        (finish,) = await runner.execute([ToolCall(new_id("hand"), "task", arguments)])
        end = tool.end
        if end is None:
            return end_of(finish)
        state.publish(TextFinished(end.text), run)
        state.publish(StepFinished(1, AssistantMessage(end.text)), run)
        form = state.parts.answer_form if state.parent is None else None
        if form is not None and end.reason == "completed":
            return await end_in_form(form, end.text, state.parts.spawner, state.parts.project.start)
        return RunEnd(end.reason, RunError("task", end.problem) if end.problem else None)

    async def _take_steering(self, run: str, agent: AgentDefinition) -> bool:
        """Let the messages in that steer the run, with what they mention; tell whether there was one."""
        state = self._state
        taken = await state.arrivals.take(state, run)
        for item in state.queue.steering:
            message = await self._composer(run, agent).plain(item.text, item.attachments or (), item.piped)
            changed = state.queue.take(item)  # not before: nothing is lost when the run is cancelled meanwhile
            if changed is not None:
                state.publish(MessageAdded(message, "steer"), run)
                state.publish(changed)
                taken = True
        return taken

    def _composer(self, run: str, agent: AgentDefinition) -> Composer:
        state = self._state
        return Composer(
            state.parts,
            lambda event: state.publish(event, run),
            state.asker,
            session=state.id,
            run=run,
            agent=agent,
            mode=state.mode,
        )

    def _own_agent(self) -> AgentDefinition:
        choice = self._state.choice
        return choice.definition(choice.agent) or AgentDefinition(choice.agent)

    def _runner_by_hand(self, run: str, origin: Origin) -> CallRunner:
        state = self._state
        state.asker.use_script(state.script)
        tools, late = state.parts.tools(), state.parts.late_tool
        return CallRunner(state, run, self._own_agent(), tools=tools, late_tool=late, origin=origin)

    def _refuse(self, run: str, kind: str, text: str, hint: str | None = None) -> RunEnd:
        self._state.publish(Notice("error", "session", text, hint), run)
        return RunEnd("refused", RunError(kind, text, hint))
