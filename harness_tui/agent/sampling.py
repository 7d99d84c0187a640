"""A server wants the session's model to answer something: asked about with all that it says, answered, told, recorded.

What goes to the model is what the server sent, and nothing of the session; what comes back goes to the server and not
into the session. No policy allows it, only a person, a rule or a script.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, Final

from harness_tui.agent.admission import strictest_of
from harness_tui.agent.asking import Outcome
from harness_tui.agent.state import SessionState
from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.events import Event, Notice, PermissionResolved, UsageUpdated
from harness_tui.core.ids import new_id
from harness_tui.core.seams import (
    Check,
    Finished,
    GateCall,
    GateDecision,
    Model,
    ModelError,
    ModelSettings,
    QuestionReply,
    QuestionRequest,
    SamplingRequest,
    TextChunk,
    Usage,
)
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.core.tracing import current_trace
from harness_tui.core.values import AgentDefinition

MAX_TOKENS: Final = 8_192
"""As many tokens as a server may have in one answer, whatever it wants."""
_CHARS_A_TOKEN: Final = 12
"""A text of more characters is cut, should a provider pass over the limit of tokens."""
_SHOWN: Final = 2_000


async def sample(
    state: SessionState,
    agent: AgentDefinition,
    request: QuestionRequest,
    run: str | None,
    publish: Callable[[Event], None],
) -> QuestionReply:
    """Ask, let the model answer, and return its text. Never raises but for a cancel."""
    asked = request.sampling
    assert asked is not None
    outcome = await _allowed(state, agent, request.source, asked, run, publish)
    if not outcome.allowed:
        _audit(state, request.source, "refused", Usage())
        return QuestionReply("decline")
    if outcome.content is not None and isinstance(outcome.content.get("text"), str):
        _audit(state, request.source, "scripted", Usage())
        return QuestionReply("accept", {"model": "script", "stop": "stop", **outcome.content})
    try:
        model = state.model or await asyncio.to_thread(state.parts.models.resolve, state.choice.model)
        text, finished = await _answer(state, agent, model, asked)
        if not text:
            raise HarnessError("the answer is empty", where=model.name)
    except (HarnessError, ModelError) as error:
        what = clean_for_display(f"the MCP server {request.source} got no answer of the model: {error}", one_line=True)
        publish(Notice("warning", "mcp", cut_end(what, _SHOWN)))
        _audit(state, request.source, "failed", Usage())
        return QuestionReply("cancel")
    _tell(state, model, request.source, text, finished.usage, publish)
    stop = finished.reason or "stop"
    return QuestionReply("accept", {"text": text, "model": model.name, "stop": stop})


async def _allowed(
    state: SessionState,
    agent: AgentDefinition,
    server: str,
    asked: SamplingRequest,
    run: str | None,
    publish: Callable[[Event], None],
) -> Outcome:
    call = GateCall(
        call=new_id("smp"),
        tool="sampling",
        checks=(Check("sampling", server),),
        session=state.approvals,
        agent=agent.name,
        mode=state.mode,
        agent_rules=agent.permission,
    )
    decision = strictest_of(state, call)
    if decision.action == "ask":
        return await state.asker.permission(call, decision, ArgumentsPreview(_shown(server, asked)), run)
    allowed = decision.action == "allow"
    publish(PermissionResolved(call.call, "allow" if allowed else "deny", decision.scope, rule=_rule(decision)))
    return Outcome(allowed)


def _rule(decision: GateDecision) -> str | None:
    part = next((part for part in decision.parts if part.decision == decision.action), None)
    return f"{part.rule} ({part.source})" if part is not None else None


def _shown(server: str, asked: SamplingRequest) -> dict[str, Any]:
    """Return all that the model would be sent, as a person decides on it."""
    messages: list[dict[str, Any]] = []
    for message in asked.messages:
        shown: dict[str, Any] = {"role": message.role, "text": message.text}
        attached = [f"{item.mime}, {item.bytes} bytes" for item in getattr(message, "attachments", ())]
        messages.append(shown | ({"attached": attached} if attached else {}))
    given: dict[str, Any] = {"server": server, "max_tokens": min(asked.max_tokens, MAX_TOKENS), "messages": messages}
    return given | ({"system": asked.system} if asked.system else {})


async def _answer(
    state: SessionState, agent: AgentDefinition, model: Model, asked: SamplingRequest
) -> tuple[str, Finished]:
    tokens = min(asked.max_tokens, MAX_TOKENS)
    settings = ModelSettings(
        system=asked.system,
        agent=agent.name,
        purpose="internal",
        temperature=asked.temperature,
        max_output_tokens=tokens,
        session=state.id,
        subagent=state.parent is not None,
    )
    text: list[str] = []
    length = 0
    finished = Finished()
    async with aclosing(model.stream(asked.messages, (), settings)) as stream:
        async for event in stream:
            match event:
                case TextChunk(piece):
                    text.append(piece)
                    length += len(piece)
                    if length > tokens * _CHARS_A_TOKEN:
                        finished = Finished(reason="length")
                        break
                case Finished():
                    finished = event
                case _:
                    pass
    return "".join(text)[: tokens * _CHARS_A_TOKEN], finished


def _tell(
    state: SessionState, model: Model, server: str, text: str, usage: Usage, publish: Callable[[Event], None]
) -> None:
    shown = cut_end(clean_for_display(text, one_line=True), _SHOWN)
    publish(Notice("info", "mcp", f"the MCP server {server} got this answer of {model.name}: {shown}"))
    if usage != Usage():
        publish(
            UsageUpdated(
                input=usage.input,
                output=usage.output,
                reasoning=usage.reasoning,
                cache_read=usage.cache_read,
                cache_write=usage.cache_write,
                cost=usage.cost,
                context_used=state.meter.counted or 0,
                context_limit=model.context_limit,
            )
        )
    _audit(state, server, "answered", usage)


def _audit(state: SessionState, server: str, result: str, usage: Usage) -> None:
    state.parts.audit.record(
        "mcp_sampling",
        session=state.id,
        server=server,
        result=result,
        input=usage.input,
        output=usage.output,
        trace=current_trace(),
    )
