"""The ``lsp`` tool: what a compiler knows of a symbol, asked by its name.

Models miscount lines and columns, so a symbol is named by its text, its file and, where that is not enough, a part of
its line.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.limits import TOOL_OUTPUT_BYTES, TOOL_OUTPUT_LINES
from harness_tui.core.paths import name_in
from harness_tui.core.record import record
from harness_tui.core.seams import Check, PreparedCall, ToolContext, ToolResult
from harness_tui.core.text import clean_for_display, cut_middle
from harness_tui.core.values import SourceRef, ToolSpec
from harness_tui.lsp.queries import METHODS, Place, Queries, Servers
from harness_tui.lsp.report import one_line
from harness_tui.lsp.rpc import PeerClosedError
from harness_tui.lsp.symbols import Symbol
from harness_tui.lsp.tool import checks_of, existing_file

ANSWER_S: Final = 30.0
_PLACES: Final = 100
_ARGUMENTS: Final = ("operation", "symbol", "path", "line")
_SPEC: Final = ToolSpec(
    name="lsp",
    description=(
        "Ask a language server about a symbol: where it is defined, where it is used, what it is, who calls it. The "
        "symbol is named as it is written (total, or Shelf.total), with the file in which it stands; line narrows it "
        "to a line that holds that text, or to a line number. symbols without a symbol lists what a file defines; "
        "symbols without a path looks for a name in the whole project."
    ),
    parameters={
        "type": "object",
        "properties": {
            "operation": {"type": "string", "enum": list(METHODS), "description": "What to ask."},
            "symbol": {"type": "string", "description": "The name; not needed for symbols of a file."},
            "path": {"type": "string", "description": "A file in which the symbol stands."},
            "line": {"type": "string", "description": "A part of the line on which it stands, or its number."},
        },
        "required": ["operation"],
        "additionalProperties": False,
    },
    source=SourceRef("lsp"),
    read_only=True,
)


@record
class _Question:
    operation: str
    symbol: str
    path: Path | None
    line: str | None


class QueryTool:
    """The tool; ``servers`` answer."""

    def __init__(self, servers: Servers) -> None:
        self._queries = Queries(servers)

    @property
    def spec(self) -> ToolSpec:
        """Name, description, parameters."""
        return _SPEC

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Check the arguments. Raises ``ToolError`` for what is missing or unknown."""
        question = await _question(arguments, context)
        about = question.symbol or (one_line(name_in(question.path, context.root)) if question.path else "")
        title = f"Ask for {question.operation.replace('_', ' ')} of {one_line(about, 80)}"
        checks = checks_of(question.path, context.root) if question.path is not None else [Check("read", ".")]
        return PreparedCall(title, tuple(dict.fromkeys(checks)), ArgumentsPreview(arguments), question)

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Ask, and list what was found. Raises ``ToolError`` when no server can answer."""
        question = cast(_Question, prepared.state)
        try:
            async with asyncio.timeout(ANSWER_S):
                text, count = await self._answer(question)
        except TimeoutError as error:
            raise ToolError(
                f"the language server has not answered after {ANSWER_S:g} s",
                where="lsp",
                mend="it may still be reading the project: ask again, or use grep",
            ) from error
        except HarnessError as error:
            what = f"the language server {error.what}" if isinstance(error, PeerClosedError) else error.what
            raise ToolError(what, where=error.where, mend=error.mend) from error
        cut = cut_middle(text, max_bytes=TOOL_OUTPUT_BYTES, max_lines=TOOL_OUTPUT_LINES)
        return ToolResult(cut.text, metadata={"count": count})

    async def _answer(self, question: _Question) -> tuple[str, int]:
        path = question.path
        if path is None:
            return _places(
                await self._queries.find(question.symbol), f"nothing in the project is called {_q(question)}"
            )
        match question.operation:
            case "symbols":
                outline = await self._queries.outline(path)
                if question.symbol:
                    outline = [entry for entry in outline if question.symbol.casefold() in entry.name.casefold()]
                return _outline(outline), len(outline)
            case "hover":
                text = await self._queries.hover(path, question.symbol, question.line)
                return clean_for_display(text) or f"the server says nothing about {_q(question)}", int(bool(text))
            case operation:
                places = await self._queries.places(operation, path, question.symbol, question.line)
                return _places(places, f"no {operation.replace('_', ' ')} of {_q(question)} found")


def _q(question: _Question) -> str:
    return one_line(question.symbol, 80)


async def _question(arguments: dict[str, Any], context: ToolContext) -> _Question:
    unknown = sorted(set(arguments) - set(_ARGUMENTS))
    if unknown:
        raise ToolError(
            f"unknown arguments: {', '.join(unknown)}", where="lsp", mend=f"known are {', '.join(_ARGUMENTS)}"
        )
    operation = arguments.get("operation")
    if not isinstance(operation, str) or operation not in METHODS:
        raise ToolError("operation is missing or unknown", where="lsp", mend=f"one of {', '.join(METHODS)}")
    values: dict[str, str] = {}
    for name in ("symbol", "path", "line"):
        value = arguments.get(name)
        if name == "line" and isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is not None and not isinstance(value, str):
            raise ToolError(f"{name} must be text", where="lsp")
        values[name] = value or ""
    symbol = values["symbol"].strip()
    if not symbol and (operation != "symbols" or not values["path"]):
        raise ToolError("symbol is missing", where="lsp", mend="give the name as it is written in the file")
    if not values["path"] and operation != "symbols":
        raise ToolError(
            "path is missing", where="lsp", mend="give a file in which the symbol stands; symbols finds it by name"
        )
    path = await asyncio.to_thread(existing_file, values["path"], context) if values["path"] else None
    return _Question(operation, symbol, path, values["line"] or None)


def _places(places: list[Place], nothing: str) -> tuple[str, int]:
    lines = [
        f"{one_line(place.path, 1000)}:{place.line}:{place.column}:"
        + (f" [{one_line(place.what, 120)}]" if place.what else "")
        + (f" {one_line(place.text, 200)}" if place.text else "")
        for place in places[:_PLACES]
    ]
    if len(places) > _PLACES:
        lines.append(f"... and {len(places) - _PLACES} more")
    return "\n".join(lines) or nothing, len(places)


def _outline(outline: list[Symbol]) -> str:
    lines = [
        f"{'  ' * (len(entry.names) - 1)}{entry.kind} {one_line(entry.name, 120)}"
        + (f" {one_line(entry.detail, 120)}" if entry.detail else "")
        + f"  L{entry.line + 1}"
        + (f"-{entry.last_line + 1}" if entry.last_line > entry.line else "")
        for entry in outline
    ]
    return "\n".join(lines) or "no symbols"
