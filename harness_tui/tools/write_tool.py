"""``write``: a whole file, new or in place of what is there."""

from __future__ import annotations

import asyncio
from typing import Any

from harness_tui.core.errors import ToolError
from harness_tui.core.seams import PreparedCall, ToolContext, ToolResult
from harness_tui.tools.builtin import BuiltinTool
from harness_tui.tools.changes import FileChanges, PlannedChange
from harness_tui.tools.proposals import prepared_change
from harness_tui.tools.targets import Target, find_target
from harness_tui.tools.text_file import TextFile, check_text, decode, uniform_line_end, with_line_end


class WriteTool(BuiltinTool):
    """Writes a file, keeping encoding, byte order mark and line ends of one that exists."""

    name = "write"
    description = (
        "Write a whole file, creating it and its folders where they are missing. An existing file must have been read "
        "before; to change a part of it use edit."
    )
    properties = {  # noqa: RUF012
        "path": {"type": "string", "description": "File to write, relative to the working folder or absolute"},
        "content": {"type": "string", "description": "The whole content"},
    }
    required = ("path", "content")

    def __init__(self, changes: FileChanges) -> None:
        super().__init__()
        self._changes = changes

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Plan the write and show its difference. Raises ``ToolError``."""
        checked = self.checked(arguments)
        target = find_target(self.name, checked["path"], context)
        if target.path.is_dir() or checked["path"].endswith("/"):
            raise ToolError("this is a folder", where=f"write: {target.name}", mend="name a file")
        check_text(checked["content"], target.name)
        before = await self._changes.current(self.name, target, context)
        change = await asyncio.to_thread(self._plan, target, before, checked["content"])
        return prepared_change("Write", change)

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Write the file. Raises ``StalePreviewError`` when it changed meanwhile, or ``ToolError``."""
        change: PlannedChange = prepared.state
        return await self._changes.carry_out(self.name, change, context)

    def _plan(self, target: Target, before: bytes | None, content: str) -> PlannedChange:
        if before is None:
            return self._changes.plan(target, None, content.encode(), ("", content), f"Created {target.name}")
        try:
            old = decode(before, target.name)
        except ToolError:  # a binary file is replaced as a whole
            return self._changes.plan(
                target, before, content.encode(), ("", content), f"Wrote {target.name} in place of a binary file"
            )
        note = f"Wrote {target.name}"
        end = uniform_line_end(old.text)
        if end not in (None, "\n") and "\r" not in content and "\n" in content:
            content = with_line_end(content, end or "\n")
            note += f", keeping its {'CRLF' if end == chr(13) + chr(10) else 'CR'} line ends"
        marked = content.removeprefix("\ufeff")
        after = _encoded(old, marked, target.name)
        return self._changes.plan(target, before, after, (old.for_model(), marked), note)


def _encoded(old: TextFile, content: str, name: str) -> bytes:
    """Return ``content`` in the encoding of the file that it replaces, unless it would be read in another one then."""
    if not old.valid:
        return content.encode()
    try:
        data = old.encode(content)
        if decode(data, name).text == content:
            return data
    except (UnicodeEncodeError, ToolError):  # a character that the encoding does not have, or too little text to tell
        pass
    return content.encode()
