"""Events of ours as updates of the protocol: text, reasoning, calls with their diffs, plans, modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import acp
from acp import schema

from harness_tui.core import events as ev
from harness_tui.core.messages import AssistantMessage, UserMessage
from harness_tui.core.redaction import redact, redact_data

KINDS: Final[dict[str, schema.ToolKind]] = {
    "read": "read",
    "write": "edit",
    "edit": "edit",
    "rename": "edit",
    "quick_fix": "edit",
    "list": "search",
    "glob": "search",
    "grep": "search",
    "bash": "execute",
    "bash_output": "execute",
    "bash_kill": "execute",
    "webfetch": "fetch",
    "diagnostics": "read",
    "lsp": "read",
    "task": "think",
    "todo": "think",
}
_PRIORITY: Final = "medium"
_STATUS: Final[dict[str, schema.PlanEntryStatus]] = {
    "pending": "pending",
    "active": "in_progress",
    "done": "completed",
}
_SHOWN_CHARS: Final = 100_000


class Updates:
    """Turns the events of one session into updates. ``root`` is the project, ``content`` gives a kept text by hash.

    ``replaying`` a record sends what a person said too, and whole texts instead of deltas.
    """

    def __init__(self, root: Path, content: Callable[[str], str | None], *, replaying: bool = False) -> None:
        self._root = root
        self._content = content
        self._replaying = replaying
        self._open: list[str] = []
        self._diffs: dict[str, list[Any]] = {}
        self._prompts: set[str | None] = set()

    def of(self, event: ev.Event, run: str | None) -> Iterator[Any]:
        """Yield the updates of ``event``; none for what an editor has no place for."""
        match event:
            case ev.TextDelta(text=text) if not self._replaying:
                yield acp.update_agent_message_text(redact(text))
            case ev.TextFinished(text=text) if self._replaying:
                yield acp.update_agent_message_text(redact(text))
            case ev.ReasoningDelta(text=text) if not self._replaying:
                yield acp.update_agent_thought_text(redact(text))
            case ev.ReasoningFinished(text=text) if self._replaying:
                yield acp.update_agent_thought_text(redact(text))
            case ev.RunStarted(message=message) if self._replaying:
                self._prompts.add(run)
                yield acp.update_user_message_text(redact(message.text))
            case ev.MessageAdded(message=UserMessage(text=text), origin=origin) if self._replaying:
                if origin != "prompt" or run not in self._prompts:
                    yield acp.update_user_message_text(redact(text))
            case ev.MessageAdded(message=AssistantMessage(text=text)) if text:  # of a server's prompt
                yield acp.update_agent_message_text(redact(text))
            case ev.TodoUpdated(items=items):
                yield acp.update_plan(
                    acp.plan_entry(i.text, priority=_PRIORITY, status=_STATUS[i.state]) for i in items
                )
            case ev.SessionChanged(mode=str(mode)) if not self._replaying:
                yield schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=mode)
            case ev.Notice(level="warning" | "error" as level, source=source, text=text) if not self._replaying:
                yield acp.update_agent_thought_text(redact(f"{level}: {source}: {text}\n"))
            case _:
                yield from self._of_call(event)

    def _of_call(self, event: ev.Event) -> Iterator[Any]:
        match event:
            case ev.ToolStarted(call=call, tool=tool, title=title, arguments=arguments):
                self._open.append(call)
                yield acp.start_tool_call(
                    call,
                    redact(title),
                    kind=KINDS.get(tool, "other"),
                    status="pending",
                    locations=self._locations(arguments),
                    raw_input=redact_data(arguments),
                )
            case ev.PermissionResolved(call=call, decision="allow"):
                yield acp.update_tool_call(call, status="in_progress")
            case ev.FileChanged() if self._open:
                diff = self._diff(event)
                if diff is not None:
                    self._diffs.setdefault(self._open[-1], []).append(diff)
            case ev.ToolFinished(call=call, output=output, is_error=is_error):
                if call in self._open:
                    self._open.remove(call)
                content = self._diffs.pop(call, [])
                if output and (is_error or not content):
                    content.append(acp.tool_content(acp.text_block(redact(output[:_SHOWN_CHARS]))))
                yield acp.update_tool_call(call, status="failed" if is_error else "completed", content=content)
            case _:
                return

    def _locations(self, arguments: dict[str, Any]) -> list[schema.ToolCallLocation] | None:
        path = arguments.get("path")
        if not isinstance(path, str) or not path:
            return None
        line = arguments.get("offset")
        number = line if isinstance(line, int) and line > 0 else None
        return [schema.ToolCallLocation(path=str(self._root / path), line=number)]

    def _diff(self, change: ev.FileChanged) -> Any:
        old = self._content(change.before) if change.before else None
        new = self._content(change.after) if change.after else ""
        if new is None or (change.before and old is None):
            return None
        return acp.tool_diff_content(str(self._root / change.path), new, old)
