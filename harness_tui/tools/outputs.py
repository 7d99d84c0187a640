"""The limit on what a built-in tool gives back, with the whole kept in the session's folder."""

from __future__ import annotations

import asyncio
from typing import Any

from harness_tui.core.outputs import limit_output
from harness_tui.core.seams import ToolContext, ToolResult


async def limited_result(
    text: str, context: ToolContext, *, notes: str = "", is_error: bool = False, metadata: dict[str, Any] | None = None
) -> ToolResult:
    """Return a result within the limits: ``text``, then ``notes`` (never cut) on lines of their own.

    The whole text goes to ``outputs/{call}.txt`` of the session when it is cut.
    """
    folder = context.session_dir / "outputs"
    cut = await asyncio.to_thread(limit_output, text, folder=folder, name=context.call, notes=notes)
    return ToolResult(
        cut.text,
        is_error=is_error,
        metadata=metadata or {},
        full_output=cut.path,
        full_bytes=cut.bytes if cut.path is not None else 0,
    )
