"""What a run of a session does: act on a message, make a call by hand, run a command of the person's."""

from __future__ import annotations

import asyncio
from typing import Any

from harness_tui.agent.by_hand import end_of, parse_call, shell_message
from harness_tui.agent.calls import CallRunner, Finish, LateTool
from harness_tui.agent.compose import Composed, Composer
from harness_tui.agent.outfit import Outfit
from harness_tui.agent.run import Run, RunEnd
from harness_tui.agent.state import SessionState
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.event_parts import RunError
from harness_tui.core.events import MessageAdded, Notice, RunStarted
from harness_tui.core.ids import new_id
from harness_tui.core.intents import Submit
from harness_tui.core.messages import ToolCall, UserMessage
from harness_tui.core.seams import AnswerScript, Model, Origin, Tool
from harness_tui.core.values import AgentDefinition, Rule


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
        composer = Composer(
            state.parts,
            lambda event: state.publish(event, run),
            state.asker,
            session=state.id,
            run=run,
            agent=agent,
            mode=state.choice.mode,
        )
        try:
            hand = parse_call(submit.text)
        except HarnessError as error:
            return self._refuse(run, error.code, error.what, error.mend)
        if hand is not None:
            return await self.call(run, *hand, "call")
        state.asker.use_script(state.script)
        composed = await composer.compose(submit)
        if composed.error is not None:
            return self._refuse(run, composed.error.kind, composed.error.message)
        agent = state.choice.definition(composed.agent) or agent
        try:
            others = agent.model if agent.name != state.choice.agent else None
            name = submit.model or composed.model or others or state.choice.model
            model = await asyncio.to_thread(state.parts.models.resolve, name)
        except UsageError as error:
            return self._refuse(run, "unknown-model", error.placed, error.mend)
        return await self._answer(run, composed, agent, model)

    async def call(self, run: str, tool: str, arguments: dict[str, Any], origin: Origin) -> RunEnd:
        """Call a tool by hand, through the same gate."""
        return end_of(await self._execute_by_hand(run, tool, arguments, origin))

    async def shell(self, run: str, command: str) -> RunEnd:
        """Run a command that the person typed, and keep its output for the model."""
        finish = await self._execute_by_hand(run, "bash", {"command": command}, "person")
        self._state.publish(MessageAdded(shell_message(command, finish), "shell"), run)
        return RunEnd("completed")

    async def _answer(self, run: str, composed: Composed, agent: AgentDefinition, model: Model) -> RunEnd:
        state = self._state
        state.asker.use_script(model if isinstance(model, AnswerScript) else None)
        state.publish(RunStarted(agent.name, model.name, state.choice.mode, composed.message, composed.command), run)
        state.publish(MessageAdded(composed.message, "prompt"), run)
        named = state.choice.name_after(composed.message.text, composed.command.name if composed.command else None)
        if named is not None:
            state.publish(named)
        outfit = Outfit(state.parts, state.id, agent, lambda: state.choice.mode)
        calls = self._runner(agent, run, tools={}, late=outfit.late_tool, grants=composed.grants)
        work = Run(
            state.parts,
            session=state.id,
            model=model,
            agent=agent,
            history=state.history,
            calls=calls,
            publish=lambda event: state.publish(event, run),
            commit=state.recorder.commit,
            take_steering=lambda: self._take_steering(run),
            system=outfit.system_prompt,
            tools=outfit.tools,
        )
        return await work.execute()

    def _take_steering(self, run: str) -> list[UserMessage]:
        taken, changed = self._state.queue.take_steering()
        for message in taken:
            self._state.publish(MessageAdded(message, "steer"), run)
        if changed is not None:
            self._state.publish(changed)
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
        state = self._state
        return CallRunner(
            state.parts,
            state.publish,
            state.asker,
            session=state.id,
            run=run,
            agent=agent,
            mode=lambda: state.choice.mode,
            tools=tools,
            late_tool=late,
            commit=state.recorder.commit,
            grants=grants,
            origin=origin,
        )

    async def _execute_by_hand(self, run: str, tool: str, arguments: dict[str, Any], origin: Origin) -> Finish:
        state = self._state
        agent = state.choice.definition(state.choice.agent) or AgentDefinition(state.choice.agent)
        state.asker.use_script(state.script)
        runner = self._runner(agent, run, tools=state.parts.tools(), late=state.parts.late_tool, origin=origin)
        (finish,) = await runner.execute([ToolCall(new_id("hand"), tool, arguments)])
        return finish

    def _refuse(self, run: str, kind: str, text: str, hint: str | None = None) -> RunEnd:
        self._state.publish(Notice("error", "session", text, hint), run)
        return RunEnd("refused", RunError(kind, text, hint))
