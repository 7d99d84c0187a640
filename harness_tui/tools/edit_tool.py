"""``edit``: exact replacements in a file, all of them or none."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from harness_tui.core.errors import ToolError
from harness_tui.core.seams import PreparedCall, ToolContext, ToolResult
from harness_tui.tools.arguments import fail
from harness_tui.tools.builtin import BuiltinTool
from harness_tui.tools.changes import FileChanges, PlannedChange
from harness_tui.tools.matching import Edit, apply_edit
from harness_tui.tools.proposals import prepared_change
from harness_tui.tools.targets import Target, find_target
from harness_tui.tools.text_file import TextFile, decode, visible

_OLD: Final = {"type": "string", "description": "Text to replace, exactly as in the file and only once in it"}
_NEW: Final = {"type": "string", "description": "Text to put in its place"}
_ALL: Final = {"type": "boolean", "description": "Replace every occurrence"}


class EditTool(BuiltinTool):
    """Replaces text in a file and changes no other byte of it."""

    name = "edit"
    description = (
        "Replace text in a file that was read before. Give old and new, or several such pairs as edits, which are done "
        "in order, all or none. old must be found exactly once unless replace_all is set, and is empty only for a new "
        "or empty file."
    )
    properties = {  # noqa: RUF012
        "path": {"type": "string", "description": "File to change, relative to the working folder or absolute"},
        "old": _OLD,
        "new": _NEW,
        "replace_all": _ALL,
        "edits": {
            "type": "array",
            "description": "Several replacements, instead of old and new",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"old": _OLD, "new": _NEW, "replace_all": _ALL},
                "required": ["old", "new"],
                "additionalProperties": False,
            },
        },
    }
    required = ("path",)

    def __init__(self, changes: FileChanges) -> None:
        super().__init__()
        self._changes = changes

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Plan the edit and show its difference. Raises ``ToolError`` with the lines of the matches."""
        checked = self.checked(arguments)
        target = find_target(self.name, checked["path"], context)
        edits = self._edits(checked, target)
        before = await self._changes.current(self.name, target, context)
        if before is None and (edits[0].old or target.path.is_dir()):
            raise ToolError("there is no such file", where=f"edit: {target.name}", mend="use write to create it")
        change = await asyncio.to_thread(self._plan, target, before, edits)
        return prepared_change("Edit", change)

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Write the file. Raises ``StalePreviewError`` when it changed meanwhile, or ``ToolError``."""
        change: PlannedChange = prepared.state
        return await self._changes.carry_out(self.name, change, context)

    def _edits(self, checked: dict[str, Any], target: Target) -> list[Edit]:
        single = [name for name in ("old", "new", "replace_all") if name in checked]
        if "edits" in checked:
            if single:
                raise fail(self.name, f"give either edits or {', '.join(single)}")
            return [
                Edit(item["old"], item["new"], item.get("replace_all", False), f"{target.name}: edits[{index}]")
                for index, item in enumerate(checked["edits"])
            ]
        missing = [name for name in ("old", "new") if name not in checked]
        if missing:
            raise fail(self.name, f"{' and '.join(missing)} missing; give old and new, or edits")
        return [Edit(checked["old"], checked["new"], checked.get("replace_all", False), target.name)]

    def _plan(self, target: Target, before: bytes | None, edits: Sequence[Edit]) -> PlannedChange:
        file = decode(before, target.name) if before is not None else TextFile("", b"", "utf-8", True)
        text, count = file.text, 0
        tolerant: list[str] = []
        for edit in edits:
            file.check_insert(edit.new, edit.where)
            applied = apply_edit(text, edit)
            text, count = applied.text, count + applied.count
            if applied.tolerant_line is not None:
                tolerant.append(str(applied.tolerant_line))
        what = f"Edited {target.name}: {count} replacement{'' if count == 1 else 's'}"
        if before is None:
            what = f"Created {target.name}"
        if tolerant:
            what += f"; tolerant match (other blanks than in old) at line {', '.join(tolerant)}"
        after = file.encode(text)
        return self._changes.plan(target, before, after, (file.for_model(), visible(text)), what)
