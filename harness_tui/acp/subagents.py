"""What subagents do, for an editor: their steps as the content of the call that they work for."""

from __future__ import annotations

from typing import Any, Final

import acp

from harness_tui.core import events as ev
from harness_tui.core.envelope import Envelope
from harness_tui.core.redaction import redact

_SHOWN: Final = 50
"""Steps of one subagent that are shown, the latest."""


class SubagentSteps:
    """Follows the subagents of one session."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._steps: dict[str, dict[str, str]] = {}
        self._titles: dict[tuple[str, str], str] = {}

    def title(self, envelope: Envelope) -> str | None:
        """Return the title of the subagent's call that an event is about."""
        return self._titles.get((envelope.session, getattr(envelope.event, "call", "")))

    def update_of(self, envelope: Envelope) -> Any:
        """Return the update of the call that the subagent works for, ``None`` where there is nothing new to show."""
        session = envelope.session
        match envelope.event:
            case ev.RunStarted(parent=parent) if parent is not None:
                self._calls[session] = parent.call
                self._steps[parent.call] = {}
                return None
            case ev.ToolStarted(call=call, title=title):
                self._titles[session, call] = redact(title)
                return self._shown(session, call, f"… {redact(title)}")
            case ev.ToolFinished(call=call, is_error=failed):
                title = self._titles.pop((session, call), call)
                return self._shown(session, call, f"{'✗' if failed else '✓'} {title}")
            case ev.RunFinished():
                self._steps.pop(self._calls.pop(session, ""), None)
                return None
            case _:
                return None

    def _shown(self, session: str, step: str, line: str) -> Any:
        call = self._calls.get(session)
        if call is None:
            return None
        steps = self._steps.setdefault(call, {})
        steps[step] = line
        text = "\n".join(list(steps.values())[-_SHOWN:])
        return acp.update_tool_call(call, status="in_progress", content=[acp.tool_content(acp.text_block(text))])
