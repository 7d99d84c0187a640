"""The limit on what a built-in tool gives back, with the whole kept in the session's folder."""

from __future__ import annotations

import asyncio
from typing import Any

from harness_tui.core.outputs import Limited, limit_output
from harness_tui.core.seams import ToolContext, ToolResult


async def limited(text: str, context: ToolContext) -> Limited:
    """Return ``text`` within the limits; the whole goes to ``outputs/{call}.txt`` of the session when it is cut."""
    folder = context.session_dir / "outputs"
    return await asyncio.to_thread(limit_output, text, folder=folder, name=context.call)


async def limited_result(
    text: str, context: ToolContext, *, notes: str = "", is_error: bool = False, metadata: dict[str, Any] | None = None
) -> ToolResult:
    """Return a result with ``text`` within the limits, and ``notes`` (never cut) on a line of their own after it."""
    cut = await limited(text, context)
    output = cut.text
    if notes:
        output += ("" if not output or output.endswith("\n") else "\n") + notes
    return ToolResult(
        output,
        is_error=is_error,
        metadata=metadata or {},
        full_output=cut.path,
        full_bytes=cut.bytes if cut.path is not None else 0,
    )
