"""``todo``: the agent's list of steps, whole at every call."""

from __future__ import annotations

from typing import Any

from harness_tui.core.errors import ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.events import TodoUpdated
from harness_tui.core.seams import PreparedCall, ToolContext, ToolResult
from harness_tui.core.values import TodoItem
from harness_tui.tools.builtin import BuiltinTool

_MARKS = {"pending": "[ ]", "active": "[>]", "done": "[x]"}


class TodoTool(BuiltinTool):
    """Keeps one list per session."""

    name = "todo"
    description = (
        "Keep the list of steps of a longer task, which the person sees. Give the whole list each time; work on one "
        "active item, and mark it done as soon as it is."
    )
    properties = {  # noqa: RUF012
        "items": {
            "type": "array",
            "description": "The whole list, in order; empty clears it",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "Stays the same as long as the step does"},
                    "text": {"type": "string", "description": "The step, in a few words"},
                    "state": {"type": "string", "enum": ["pending", "active", "done"]},
                },
                "required": ["id", "text", "state"],
                "additionalProperties": False,
            },
        }
    }
    required = ("items",)

    def __init__(self) -> None:
        super().__init__()
        self._lists: dict[str, tuple[TodoItem, ...]] = {}

    def items(self, session: str) -> tuple[TodoItem, ...]:
        """Return the list of ``session``."""
        return self._lists.get(session, ())

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Check the list. Raises ``ToolError``."""
        checked = self.checked(arguments)
        items = tuple(TodoItem(item["id"], item["text"], item["state"]) for item in checked["items"])
        ids = [item.id for item in items]
        twice = sorted({each for each in ids if ids.count(each) > 1})
        if twice:
            raise ToolError(f"these ids are used twice: {', '.join(twice)}", where=self.name, mend="give each its own")
        count = len(items)
        title = f"Plan {count} step{'' if count == 1 else 's'}"
        return PreparedCall(title=title, checks=(), preview=ArgumentsPreview(checked), state=items)

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Replace the list and tell of it."""
        items: tuple[TodoItem, ...] = prepared.state
        self._lists[context.session] = items
        context.emit(TodoUpdated(items))
        done = sum(item.state == "done" for item in items)
        lines = [f"{_MARKS[item.state]} {item.id}: {item.text}" for item in items]
        return ToolResult("\n".join([f"{done} of {len(items)} done", *lines]) if items else "The list is empty.")

    def forget(self, session: str) -> None:
        """Drop the list of a closed session."""
        self._lists.pop(session, None)
