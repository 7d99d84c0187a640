"""Requests to a person: the single source of truth for what waits for an answer.

An answer comes from a replay script, from ``--ask``, or from whichever front end sends the ``answer`` intent first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, TypeAlias, cast

from harness_tui.agent.parts import AskPolicy
from harness_tui.agent.previews import with_decisions
from harness_tui.core.calls import DONE
from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import CommandPreview, Offer, Preview
from harness_tui.core.events import (
    Event,
    Notice,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
)
from harness_tui.core.ids import new_id
from harness_tui.core.intents import Answer
from harness_tui.core.record import record
from harness_tui.core.seams import (
    AnswerScript,
    GateCall,
    GateDecision,
    PermissionGate,
    Proposal,
    QuestionReply,
    QuestionRequest,
    ScriptedAnswer,
)
from harness_tui.core.values import Rule, Scope

NEVER_BY_POLICY: Final = frozenset({"doom_loop", "sampling", "skill_code"})
"""What ``--ask allow`` does not cover."""

_UNALTERABLE: Final = "This cannot be altered before it is allowed: what it was is shown here."


@record
class Again:
    """What a request is asked about anew: what would be done now, and why."""

    preview: Preview
    reason: str = "It changed while you looked: this is what would be done now."
    proposal: Proposal | None = None


LookAgain: TypeAlias = Callable[[Answer], Awaitable[Again | None]]
"""Looks whether what an answer allows can be done as it was shown, or as the answer alters it: ``None``, or what is to
be asked instead. Raises ``HarnessError`` if nothing can be done."""


@record
class Outcome:
    """How an ask ended. ``by_person`` tells a person's no from a policy's, ``content`` is what a script put there."""

    allowed: bool
    by_person: bool = False
    note: str | None = None
    content: dict[str, Any] | None = None


class Asker:
    """Asks, waits, and resolves exactly once.

    ``publish`` emits an event of the session in the given run, ``set_mode`` changes the session's mode.
    """

    def __init__(
        self,
        publish: Callable[[Event, str | None], None],
        gate: PermissionGate,
        policy: AskPolicy,
        script: AnswerScript | None = None,
        *,
        set_mode: Callable[[str], None],
    ) -> None:
        self._publish = publish
        self._gate = gate
        self._policy: AskPolicy = policy
        self._set_mode = set_mode
        self._script = script
        self._pending: dict[str, asyncio.Future[Answer | None]] = {}
        self._proposals: dict[str, Proposal] = {}
        self._subagents: list[Asker] = []

    def for_subagent(self, publish: Callable[[Event, str | None], None]) -> Asker:
        """Return who asks for a subagent: the same person, policy and script, in events of the subagent's session."""
        asker = Asker(publish, self._gate, self._policy, self._script, set_mode=self._set_mode)
        asker._pending, asker._proposals = self._pending, self._proposals
        self._subagents.append(asker)
        return asker

    def drop_subagent(self, asker: Asker) -> None:
        """Forget a subagent that has ended."""
        self._subagents.remove(asker)

    @property
    def can_ask(self) -> bool:
        """Whether a request could be answered by anything but a refusal."""
        return self._policy == "person" or self._script is not None

    def use_gate(self, gate: PermissionGate) -> None:
        """Store approvals with ``gate`` from now on."""
        self._gate = gate

    def use_script(self, script: AnswerScript | None) -> None:
        """Look at ``script`` before anybody is asked."""
        self._script = script

    def answer(self, answer: Answer) -> str | None:
        """Resolve a request. Returns a sentence when the answer does not fit, and changes nothing then."""
        future = self._pending.get(answer.request)
        if future is None or future.done():
            return f"nothing waits for an answer under {answer.request!r}"
        future.set_result(answer)
        return None

    def proposal(self, request: str) -> Proposal | None:
        """Return what a request that waits would write, ``None`` where there is nothing to alter."""
        return self._proposals.get(request)

    def end_of_input(self) -> None:
        """Nobody will answer any more: what waits and what comes is refused."""
        self._policy = "refuse"
        for asker in self._subagents:
            asker._policy = "refuse"
        for future in self._pending.values():
            if not future.done():
                future.set_result(None)

    async def permission(
        self,
        call: GateCall,
        decision: GateDecision,
        preview: Preview,
        run: str | None,
        *,
        look_again: LookAgain | None = None,
        proposal: Proposal | None = None,
    ) -> Outcome:
        """Ask about ``call``, whose decision is ``ask``. Publishes the request and its resolution.

        What a person allows is what was shown: where ``look_again`` finds another thing by then, it is asked about
        anew, and nothing of the first answer counts. What it raises is raised here, once the call is resolved.
        """
        asked = [part.check for part in decision.parts if part.decision == "ask"] or list(call.checks)
        reason = decision.reason
        while True:
            requested = PermissionRequested(
                request=new_id("req"),
                call=call.call,
                permission=asked[0].permission,
                patterns=tuple(check.value for check in asked),
                preview=with_decisions(preview, decision),
                offers=decision.offers,
                reason=reason,
                changes=decision.changes,
                asked_by=_rules_of(decision) or None,
            )
            self._publish(requested, run)
            scripted = self._scripted(requested)
            if scripted is None and self._policy != "person":
                allowed = self._policy == "allow" and not any(check.permission in NEVER_BY_POLICY for check in asked)
                return self._by_policy(call, requested, allowed, run)
            if proposal is not None:
                self._proposals[requested.request] = proposal
            try:
                if scripted is not None:
                    answer: Answer | None = _answer_of(requested.request, scripted)
                else:
                    answer = await self._wait(requested.request)
                again = await _look(answer, preview, look_again)
            except asyncio.CancelledError:
                self._refuse(call, requested, "the run was cancelled", run)
                raise
            except HarnessError as error:
                self._refuse(call, requested, f"it changed while it was looked at: {error.placed}", run)
                raise
            finally:
                self._proposals.pop(requested.request, None)
            if again is None:
                return await self._resolve(call, requested, answer, run)
            preview, reason, proposal = again.preview, again.reason, again.proposal

    def _scripted(self, requested: PermissionRequested) -> ScriptedAnswer | None:
        """Return the script's answer; of a server that wants the model one of the kind ``sampling`` comes first."""
        if self._script is None:
            return None
        kinds = ("sampling", "permission") if requested.permission == "sampling" else ("permission",)
        found = (self._script.take_answer(kind, requested.patterns[0]) for kind in kinds)
        return next((answer for answer in found if answer is not None), None)

    def _refuse(self, call: GateCall, requested: PermissionRequested, note: str, run: str | None) -> None:
        self._publish(PermissionResolved(call.call, "deny", "once", request=requested.request, note=note), run)

    async def _wait(self, request: str) -> Answer | None:
        future: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._pending[request] = future
        try:
            return await future
        finally:
            self._pending.pop(request, None)

    def _by_policy(self, call: GateCall, requested: PermissionRequested, allowed: bool, run: str | None) -> Outcome:
        note = None if allowed else "nobody can be asked (--ask)"
        self._publish(
            PermissionResolved(
                call=call.call,
                decision="allow" if allowed else "deny",
                scope="policy",
                request=requested.request,
                note=note,
            ),
            run,
        )
        return Outcome(allowed, note=note)

    async def _resolve(
        self, call: GateCall, requested: PermissionRequested, answer: Answer | None, run: str | None
    ) -> Outcome:
        if answer is None:
            return self._by_policy(call, requested, False, run)
        allowed = answer.action in ("allow", "accept")
        note = answer.note
        left_out = _parts_left_out(requested.preview, answer.parts) if allowed else []
        if left_out:
            allowed, note = False, f"not allowed: {', '.join(left_out)}"
        scope: Scope = "once"
        if allowed and (answer.offer is not None or answer.scope not in (None, "once")):
            scope = await self._store(call, requested, answer, run)
        self._publish(
            PermissionResolved(
                call=call.call,
                decision="allow" if allowed else "deny",
                scope=scope,
                request=requested.request,
                note=note,
                edited=tuple(edit.path for edit in answer.edits) if allowed and answer.edits else None,
            ),
            run,
        )
        return Outcome(allowed, by_person=True, note=note, content=answer.content)

    async def _store(self, call: GateCall, requested: PermissionRequested, answer: Answer, run: str | None) -> Scope:
        offer = _offer_of(requested, answer)
        if offer is not None and offer.mode is not None:
            self._set_mode(offer.mode)
            text = f"the session is in the mode {offer.mode} from here on"
            self._publish(Notice("info", "permissions", text, "Shift+Tab or /mode changes it"), run)
            return offer.scope
        if offer is None:
            wider = f"for the {answer.scope}" if answer.scope else "as it was answered"
            text = f"this call cannot be allowed {wider}; it was allowed once"
            self._publish(Notice("warning", "permissions", text), run)
            return "once"
        rules = [Rule(rule.permission, rule.pattern, rule.action) for rule in offer.rules]
        try:
            # fsync and a file lock: not on the event loop
            await asyncio.to_thread(self._gate.remember, call, offer.scope, rules)
        except HarnessError as error:
            text = f"the approval could not be kept, so it counts once: {error}"
            self._publish(Notice("warning", "permissions", text), run)
            return "once"
        return offer.scope

    async def question(self, request: QuestionRequest, run: str | None) -> QuestionReply:
        """Ask questions, a form or a page of a tool or server, and return the reply."""
        number = new_id("req")
        self._publish(
            QuestionAsked(
                request=number,
                source=request.source,
                title=request.title,
                questions=request.questions,
                schema=request.schema,
                url=request.url,
            ),
            run,
        )
        value = request.source if request.kind in ("sampling", "auth") else request.title
        scripted = self._script.take_answer(request.kind, value) if self._script else None
        if scripted is not None:
            answer: Answer | None = _answer_of(number, scripted)
        elif self._policy == "person":
            try:
                answer = await self._wait(number)
            except asyncio.CancelledError as cancelled:
                self._publish(QuestionAnswered(number, "accept" if cancelled.args == (DONE,) else "cancel"), run)
                raise
        else:
            answer = None
        reply = _reply_of(answer)
        self._publish(QuestionAnswered(request=number, action=reply.action, content=reply.content or None), run)
        return reply


async def _look(answer: Answer | None, preview: Preview, look_again: LookAgain | None) -> Again | None:
    if answer is None or answer.action not in ("allow", "accept"):
        return None
    if look_again is None:
        return Again(preview, _UNALTERABLE) if answer.edits else None
    return await look_again(answer)


def _rules_of(decision: GateDecision) -> tuple[str, ...]:
    """Return the rules that ask, each once."""
    asking = (part for part in decision.parts if part.decision == "ask")
    return tuple(dict.fromkeys(f"{part.rule} ({part.source})" for part in asking))


def _answer_of(request: str, scripted: ScriptedAnswer) -> Answer:
    action = cast(Literal["allow", "deny", "accept", "decline", "cancel"], scripted.action)
    scope = cast("Scope | None", scripted.scope)
    return Answer(request=request, action=action, scope=scope, content=scripted.content, note=scripted.note)


def _offer_of(requested: PermissionRequested, answer: Answer) -> Offer | None:
    if answer.offer is not None:
        return requested.offers[answer.offer] if 0 <= answer.offer < len(requested.offers) else None
    return next((offer for offer in requested.offers if offer.scope == answer.scope), None)


def _reply_of(answer: Answer | None) -> QuestionReply:
    match answer:
        case None:
            return QuestionReply("cancel", nobody=True)
        case Answer(action="accept" | "allow", content=content):
            empty: dict[str, Any] = {}
            return QuestionReply("accept", content or empty)
        case Answer(action="cancel"):
            return QuestionReply("cancel")
        case _:
            return QuestionReply("decline")


def _parts_left_out(preview: Preview, parts: tuple[int, ...] | None) -> list[str]:
    if parts is None or not isinstance(preview, CommandPreview):
        return []
    return [part.command for index, part in enumerate(preview.parts) if index not in parts]
