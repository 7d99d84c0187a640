"""What subagents do, as the person sees it: steps under the call that they work for, requests, who works now."""

from __future__ import annotations

from harness_tui.core import events as ev
from harness_tui.core.envelope import Envelope
from harness_tui.core.text import clean_for_display
from harness_tui.tui.panels.state import PanelState
from harness_tui.tui.panels.tasks import TaskRow
from harness_tui.tui.state import SessionState
from harness_tui.tui.tool_text import ToolLog


class SubagentLog:
    """Takes the events of other sessions than the present one."""

    def __init__(self, state: SessionState, tools: ToolLog, panels: PanelState) -> None:
        self._state = state
        self._tools = tools
        self._panels = panels

    def take(self, envelope: Envelope) -> None:
        """Take one event of a subagent: its requests are the person's business, the rest is progress of the call."""
        state, session = self._state, envelope.session
        match envelope.event:
            case ev.SessionStarted(parent=parent) if parent is not None:
                self._tools.adopt(session, parent.call)
            case ev.RunStarted() as event if event.parent is not None and envelope.run is not None:
                self._tools.adopt(session, event.parent.call)
                title = state.titles.get((event.parent.session, event.parent.call), "")
                row = TaskRow(session, envelope.run, event.agent, title or event.agent, envelope.time)
                self._panels.begin_task(row)
            case ev.RunFinished() if envelope.run is not None:
                self._panels.end_task(envelope.run)
            case ev.PermissionRequested() | ev.QuestionAsked() as event:
                state.add_request(event, session)
                self._panels.tell_task(session, "waits for you")
            case ev.PermissionResolved(request=request) | ev.QuestionAnswered(request=request):
                state.drop_request(request=request)
                self._panels.tell_task(session, "")
            case ev.ToolStarted(call=call, title=title):
                shown = state.titles[session, call] = clean_for_display(title, one_line=True)
                self._tools.child_step(session, call, shown)
                self._panels.tell_task(session, shown)
            case ev.FileChanged() as event:
                self._panels.change_file(state.run, event, envelope.time)
            case ev.UsageUpdated(cost=cost):
                state.cost += cost or 0.0
            case ev.ToolFinished(call=call, is_error=failed):
                self._tools.child_step_done(session, call, failed=failed)
                state.drop_request(call=(session, call))
                state.titles.pop((session, call), None)
            case _:
                pass
