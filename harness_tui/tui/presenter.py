"""Events to models: what the transcript, the status line and the panels show, decided without Textual.

:meth:`Presenter.apply` is cheap and takes every event in order; deltas only pile up there. :meth:`Presenter.flush`
turns what piled up into blocks, once per tick. Foreign text is cleaned here, on its way into the models.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, Literal

from harness_tui.core import events as ev
from harness_tui.core.envelope import Envelope
from harness_tui.core.messages import AssistantMessage, UserMessage
from harness_tui.core.text import clean_for_display
from harness_tui.tui.answers import AnswerLog
from harness_tui.tui.panels.state import PanelState
from harness_tui.tui.run_blocks import RunBlocks
from harness_tui.tui.state import SessionState
from harness_tui.tui.subagents import SubagentLog
from harness_tui.tui.tool_text import ToolLog, seconds_between
from harness_tui.tui.transcript.blocks import (
    NoticeBlock,
    QuestionBlock,
    RunEndBlock,
    SummaryBlock,
    UserBlock,
)
from harness_tui.tui.transcript.model import Block, TranscriptModel

log = logging.getLogger(__name__)

_CHANGES_REQUESTS: Final = (
    ev.RunStarted,
    ev.StepFinished,
    ev.RunFinished,
    ev.ContextCompacted,
    ev.UndoApplied,
    ev.RedoApplied,
    ev.SessionChanged,
    ev.ServerChanged,
)
"""After these the next request is another one."""


class Presenter:
    """Keeps the models of one session. ``monotonic`` gives seconds that never go back."""

    def __init__(self, panels: PanelState | None = None, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.transcript = TranscriptModel()
        self.state = SessionState()
        self.panels = panels or PanelState()
        self._monotonic = monotonic
        self._answers = AnswerLog(self.transcript, self.state)
        self._tools = ToolLog(self.transcript)
        self._subagents = SubagentLog(self.state, self._tools, self.panels)
        self._runs = RunBlocks(self.transcript)
        self._last_seq = 0
        self._replaying = False
        self._since = ""
        self._typed: list[str] = []
        self._run_started_at = ""

    def tell(self, level: Literal["info", "warning", "error"], text: str, hint: str | None = None) -> None:
        """Show a notice of the front end's own, in the transcript and the panel."""
        self.flush()
        notice = ev.Notice(level, "", clean_for_display(text), clean_for_display(hint) if hint else None)
        if level != "info":
            self.panels.add_notice(notice)
        self._add(NoticeBlock(level, "", notice.text, notice.hint))

    # --- input ---------------------------------------------------------------------------------------

    def expect_message(self, typed: str) -> None:
        """Remember what the person typed: a command's message shows it in the place of its expansion."""
        self._typed = [*self._typed[-20:], typed]

    def take_returned(self) -> str | None:
        """Return once what belongs back into the prompt: a message that was refused, or taken back; empty: no more."""
        returned, self._runs.returned = self._runs.returned, None
        return returned

    def replay(self, history: list[Envelope], since: str = "") -> None:
        """Take the record of a session. Nothing in it can be answered any more, and no run of it goes on.

        The panels take only what happened from ``since`` (RFC 3339, UTC) on: states of earlier processes are history.
        """
        self._replaying, self._since = True, since
        self._answers.replaying = True
        for envelope in history:
            self.apply(envelope)
        self.flush()
        self._replaying = self._answers.replaying = False
        self.state.requests.clear()
        self._tools.end_all("interrupted")
        self._end_run()

    def apply(self, envelope: Envelope) -> None:
        """Take one event. What was seen before (by its number) is left out."""
        if self.state.session and envelope.session != self.state.session:
            self._subagents.take(envelope)
            return
        if envelope.seq <= self._last_seq:
            return
        self._last_seq = envelope.seq
        self.state.last_event = self._monotonic()
        try:
            self._take(envelope)
        except Exception as error:  # what one event brings never ends the session, nor hides the rest of a record
            log.exception("the event %d, %s, cannot be shown", envelope.seq, envelope.event.type)
            self.tell("error", f"{envelope.event.type} cannot be shown: {type(error).__name__}: {error}")

    def _take(self, envelope: Envelope) -> None:
        match envelope.event:
            case ev.TextDelta(text=text):
                self._answers.text(text)
            case ev.ReasoningDelta(text=text):
                self._answers.reason(text, envelope.time)
            case _:
                self.flush()
                self._runs.begin(envelope)
                self._apply(envelope)
                self._runs.end(envelope)
                if isinstance(envelope.event, _CHANGES_REQUESTS):
                    self.panels.context_old = True

    @property
    def last_seq(self) -> int:
        """The number of the last event that was taken."""
        return self._last_seq

    # --- the events of this session ------------------------------------------------------------------

    def _apply(self, envelope: Envelope) -> None:
        match envelope.event:
            case ev.RunStarted() | ev.RunFinished() | ev.StepFinished() | ev.ModelRetried():
                self._apply_run(envelope, envelope.event)
            case ev.TextFinished(text=text):
                self._answers.finish_text(text)
            case ev.ReasoningFinished(text=text):
                self._answers.finish_reasoning(text, envelope.time)
            case ev.ToolStarted() | ev.ToolProgress() | ev.ToolFinished() | ev.FileChanged():
                self._apply_tool(envelope, envelope.event)
            case ev.PermissionRequested() | ev.PermissionResolved() | ev.QuestionAsked() | ev.QuestionAnswered():
                self._apply_request(envelope)
            case ev.SessionStarted() | ev.SessionChanged() | ev.UsageUpdated() | ev.QueueChanged():
                self._apply_session(envelope)
            case ev.DiagnosticsReported() | ev.ServerChanged() | ev.Notice():
                self._apply_surroundings(envelope.event, past=self._replaying and envelope.time < self._since)
            case ev.MessageAdded() | ev.ContextCompacted() | ev.UndoApplied() | ev.RedoApplied():
                self._apply_record(envelope.event)
            case ev.ContextReported() as event:
                self.panels.take_context(event)
            case ev.TodoUpdated(items=items):
                self.panels.take_todos(items)
            case _:
                pass

    def _apply_surroundings(self, event: ev.Event, *, past: bool) -> None:
        match event:
            case ev.DiagnosticsReported():
                self._tools.report(event)
                if not past:
                    self.panels.report(event)
            case ev.ServerChanged() if not past:
                self.panels.change_server(event)
            case ev.Notice():
                if not past:
                    self.panels.add_notice(event)
                hint = clean_for_display(event.hint) if event.hint else None
                source = clean_for_display(event.source, one_line=True)
                self._add(NoticeBlock(event.level, source, clean_for_display(event.text), hint))
            case _:
                pass

    def _apply_record(self, event: ev.Event) -> None:
        match event:
            case ev.MessageAdded(message=AssistantMessage(text=text)):  # of a server's prompt
                self._answers.finish_text(text)
            case ev.MessageAdded(message=UserMessage(text=text), origin=origin):
                if origin not in ("prompt", "compaction", "shell"):
                    self._add(UserBlock(clean_for_display(text), origin=origin))
            case ev.ContextCompacted():
                head = f"History summed up: {event.before:,} to about {event.after:,} tokens"
                lists = (("Kept", event.kept), ("Left out", event.omitted))
                told = [f"{what}: {', '.join(names)}" for what, names in lists if names]
                self._add(SummaryBlock(head, clean_for_display("\n\n".join([*told, event.summary]))))
                self.state.context_used = event.after
            case ev.UndoApplied() | ev.RedoApplied():
                self._add(self._runs.turn(event, past=self._replaying))
                self.panels.set_undone(event.run, isinstance(event, ev.UndoApplied))
            case _:
                pass

    def _apply_session(self, envelope: Envelope) -> None:
        state = self.state
        match envelope.event:
            case ev.SessionStarted() as event:
                state.session, state.root, state.title = envelope.session, event.root, event.title
            case ev.SessionChanged() as event:
                if event.model and state.model and event.model != state.model:
                    name = clean_for_display(event.model, one_line=True)
                    self._add(NoticeBlock("info", "", f"the model is {name} from now on", None))
                state.title = event.title or state.title
                state.agent = event.agent or state.agent
                state.model = event.model or state.model
                state.mode = event.mode or state.mode
            case ev.UsageUpdated() as event:
                state.context_used = event.context_used
                state.context_limit = event.context_limit or state.context_limit
                state.cost += event.cost or 0.0
            case ev.QueueChanged(items=items):
                state.queue = items
            case _:
                pass

    def _apply_run(self, envelope: Envelope, event: ev.Event) -> None:
        state = self.state
        match event:
            case ev.RunStarted():
                state.running, state.run, state.activity = True, envelope.run, "waiting for the model"
                state.agent, state.model, state.mode = event.agent, event.model, event.mode
                state.run_started = self._monotonic()
                self._run_started_at = envelope.time
                self._tools.calls = 0
                block = self._user_block(event)
                self._add(block)
                if envelope.run is not None:
                    self.panels.changes.begin(envelope.run, block.typed.partition("\n")[0], envelope.time)
            case ev.StepFinished():
                state.activity = "waiting for the model"
            case ev.ModelRetried():
                kind = clean_for_display(event.kind, one_line=True)
                state.activity = f"trying again in {event.wait_s:.0f} s ({kind})"
                text = f"{event.message} Attempt {event.attempt}, again in {event.wait_s:.1f} s."
                self._add(NoticeBlock("warning", kind, clean_for_display(text, one_line=True)))
            case ev.RunFinished():
                if event.reason == "refused" and not state.running and self._typed:
                    self._runs.returned = self._typed[0]
                self._tools.end_all("cancelled" if event.reason == "cancelled" else "ended")
                self._end_run()
                if self._run_started_at or not self._told_already():
                    self._add(self._end_block(event, envelope.time))
                self._run_started_at, self._tools.calls = "", 0
            case _:
                pass

    def _apply_tool(self, envelope: Envelope, event: ev.Event) -> None:
        match event:
            case ev.ToolStarted():
                self._begin_by_hand(envelope)
                self._tools.start(event, envelope.time, by_hand=not self._run_started_at)
                self.state.titles[envelope.session, event.call] = clean_for_display(event.title, one_line=True)
                self.state.activity = f"running {clean_for_display(event.tool, one_line=True)}"
            case ev.ToolProgress():
                self._tools.progress(event)
            case ev.ToolFinished():
                self._tools.finish(event, envelope.time)
                self.state.drop_request(call=(envelope.session, event.call))
                self.state.titles.pop((envelope.session, event.call), None)
            case ev.FileChanged():
                self._tools.file_changed(event)
                self.panels.change_file(envelope.run, event, envelope.time)
            case _:
                pass

    def _told_already(self) -> bool:
        """Whether what ended without a start is explained: a call by hand by its result, a refusal by a notice."""
        last = next(reversed(self.transcript.blocks), None)
        return bool(self._tools.calls) or (isinstance(last, NoticeBlock) and last.level == "error")

    def _begin_by_hand(self, envelope: Envelope) -> None:
        """A call that a person makes starts no run, but it goes on, can be cancelled, and makes messages wait."""
        if not self.state.running and not self._replaying:
            self.state.running, self.state.run = True, envelope.run
            self.state.run_started = self._monotonic()

    def _apply_request(self, envelope: Envelope) -> None:
        session, moment = envelope.session, envelope.time
        match envelope.event:
            case ev.PermissionRequested() as event:
                self.state.add_request(event, session)
                self._tools.wait(event)
            case ev.PermissionResolved() as event:
                self.state.drop_request(request=event.request, call=(session, event.call))
                self._tools.resolve(event, moment)
            case ev.QuestionAsked() as event:
                self.state.add_request(event, session)
                source, title = clean_for_display(event.source, one_line=True), clean_for_display(event.title)
                self._add(QuestionBlock(event.request, source, title))
            case ev.QuestionAnswered() as event:
                self.state.drop_request(request=event.request)
                self._answer_question(event)
            case _:
                pass

    def flush(self) -> None:
        """Turn the deltas that piled up into blocks."""
        self._answers.flush()

    # --- blocks --------------------------------------------------------------------------------------

    def _add(self, block: Block) -> None:
        self.transcript.add(block)

    def _user_block(self, event: ev.RunStarted) -> UserBlock:
        text = clean_for_display(event.message.text)
        names = tuple(
            clean_for_display(item.path or item.uri or item.kind, one_line=True) for item in event.message.attachments
        )
        typed = self._typed.pop(0) if self._typed else None
        if event.command is None:
            return UserBlock(text, attachments=names)
        name = clean_for_display(f"/{event.command.name}", one_line=True)
        shown = clean_for_display(typed) if typed and typed.startswith("/") else name
        source = clean_for_display(event.command.source, one_line=True)
        return UserBlock(shown, sent=text, source=source, attachments=names)

    def _end_block(self, event: ev.RunFinished, moment: str) -> RunEndBlock:
        error = event.error
        return RunEndBlock(
            event.reason,
            text=clean_for_display(error.message) if error else "",
            hint=clean_for_display(error.hint) if error and error.hint else None,
            seconds=seconds_between(self._run_started_at, moment),
            calls=self._tools.calls,
        )

    def _end_run(self) -> None:
        self._answers.end()
        self.state.running, self.state.run, self.state.activity = False, None, ""
        self.panels.end_tasks()
        self.state.requests.clear()
        self._typed.clear()

    def _answer_question(self, event: ev.QuestionAnswered) -> None:
        for block in reversed(self.transcript.blocks):
            if isinstance(block, QuestionBlock) and block.request == event.request:
                values = ", ".join(f"{key}: {value}" for key, value in (event.content or {}).items())
                block.answer = clean_for_display(values or event.action, one_line=True)
                self.transcript.touch(block)
                return
