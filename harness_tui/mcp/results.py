"""What the answer of a server is for a model and for a person: text within the limits, pictures, facts beside it."""

from __future__ import annotations

import asyncio
from typing import Any, Final, cast

from harness_tui.core.outputs import limit_output
from harness_tui.core.seams import ToolContext, ToolResult
from harness_tui.mcp.content import Rendered, render
from harness_tui.mcp.listing import CallOutcome, ToolDefinition

_STRUCTURED_CHARS: Final = 16_384
_SMALL_CHARS: Final = 16_384
_SMALL_ENTRIES: Final = 32


async def result_of(
    outcome: CallOutcome, context: ToolContext, *, server: str, definition: ToolDefinition
) -> ToolResult:
    """Return the result of a call of ``definition``; a large one is drawn in a thread."""
    if _is_small(outcome):
        return _result(outcome, context, server, definition)
    return await asyncio.to_thread(_result, outcome, context, server, definition)


def _result(outcome: CallOutcome, context: ToolContext, server: str, definition: ToolDefinition) -> ToolResult:
    rendered = render(outcome, folder=context.session_dir / "images", name=context.call)
    limited = limit_output(rendered.text, folder=context.session_dir / "outputs", name=context.call)
    return ToolResult(
        output=limited.text,
        is_error=outcome.is_error,
        metadata=_metadata(outcome, rendered, server, definition),
        attachments=rendered.attachments,
        full_output=limited.path,
        full_bytes=limited.bytes if limited.path is not None else 0,
    )


def _metadata(outcome: CallOutcome, rendered: Rendered, server: str, definition: ToolDefinition) -> dict[str, Any]:
    metadata: dict[str, Any] = {"server": server, "tool": definition.name}
    if rendered.files:
        metadata["files"] = list(rendered.files)
    if outcome.structured is not None and len(str(outcome.structured)) <= _STRUCTURED_CHARS:
        metadata["structured"] = outcome.structured
    if definition.structured and outcome.structured is None and not outcome.is_error:
        metadata["note"] = "the tool declares structured output and returned none"
    return metadata


def _is_small(outcome: CallOutcome) -> bool:
    """Tell whether a result is a little text and nothing else: drawn sooner than a thread takes it up."""
    blocks = outcome.content
    if len(blocks) > _SMALL_ENTRIES or any(block.get("type") != "text" for block in blocks):
        return False
    values: list[Any] = [block.get("text") for block in blocks]
    match outcome.structured:
        case dict() if len(cast(dict[str, Any], outcome.structured)) <= _SMALL_ENTRIES:
            values += cast(dict[str, Any], outcome.structured).values()
        case None | str() | int() | float():
            values.append(outcome.structured)
        case _:
            return False
    if any(isinstance(value, (dict, list)) for value in values):
        return False
    return sum(len(value) for value in values if isinstance(value, str)) <= _SMALL_CHARS
