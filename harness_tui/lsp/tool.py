"""The ``diagnostics`` tool: ask the language servers about a file, or about every file that is open.

It always says the verdict word. "Unknown" and "skipped" are answers of their own and never mean that a file is clean.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol, cast

from harness_tui.core.codec import encode
from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.events import DiagnosticsReported
from harness_tui.core.limits import TOOL_OUTPUT_BYTES, TOOL_OUTPUT_LINES
from harness_tui.core.paths import is_inside, name_in, resolve
from harness_tui.core.record import record
from harness_tui.core.seams import Check, PreparedCall, ToolContext, ToolResult
from harness_tui.core.text import cut_middle
from harness_tui.core.values import SourceRef, ToolSpec, Verdict
from harness_tui.lsp.report import one_line, verdict_text

_SPEC: Final = ToolSpec(
    name="diagnostics",
    description=(
        "Ask the language servers what is wrong with a file as it is on disk now: errors and warnings with line and "
        "column. Without a path, every file that is open in a language server is checked. The answer starts with a "
        "verdict: fresh or unchanged (the list is true), unknown (nobody answered in time: it does not mean clean) or "
        "skipped (no language server for this file)."
    ),
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file to check; without it all open files are checked."}
        },
        "additionalProperties": False,
    },
    source=SourceRef("lsp"),
    read_only=True,
)


class Checker(Protocol):
    """The part of the pool that the tool needs."""

    async def diagnostics(self, path: Path, wait: float | None = None) -> Verdict:
        """Return the verdict on ``path``."""
        ...

    def open_paths(self) -> list[Path]:
        """Return the files that are open in a server."""
        ...


@record
class _Plan:
    paths: tuple[Path, ...]


class DiagnosticsTool:
    """The tool; ``checker`` answers."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker

    @property
    def spec(self) -> ToolSpec:
        """Name, description, parameters."""
        return _SPEC

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Check the arguments. Raises ``ToolError`` for an unknown one, or a path that is no file."""
        unknown = sorted(set(arguments) - {"path"})
        if unknown:
            raise ToolError(f"unknown arguments: {', '.join(unknown)}", where="diagnostics", mend="known is path")
        path: object = arguments.get("path")
        if path is None or path == "":
            paths = tuple(self._checker.open_paths())
            title = "Check the open files"
        elif isinstance(path, str):
            paths = (await asyncio.to_thread(existing_file, path, context),)
            title = f"Check {one_line(name_in(paths[0], context.root))}"
        else:
            raise ToolError("path must be text", where="diagnostics")
        checks = [check for place in paths for check in checks_of(place, context.root)]
        return PreparedCall(title, tuple(dict.fromkeys(checks)), ArgumentsPreview(arguments), _Plan(paths))

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Ask about every path at the same time; the verdicts are reported as events too."""
        plan = cast(_Plan, prepared.state)
        if not plan.paths:
            return ToolResult("No file is open in a language server yet: give a path.", metadata={"diagnostics": []})
        verdicts = await asyncio.gather(*(self._checker.diagnostics(path) for path in plan.paths))
        for verdict in verdicts:
            context.emit(reported(verdict))
        return ToolResult(_text(verdicts), metadata={"diagnostics": [encode(verdict) for verdict in verdicts]})


def reported(verdict: Verdict) -> DiagnosticsReported:
    """Return ``verdict`` as an event."""
    return DiagnosticsReported(
        path=verdict.path,
        verdict=verdict.verdict,
        elapsed_ms=verdict.elapsed_ms,
        servers=tuple(server.name for server in verdict.servers),
        items=verdict.items,
        late=verdict.late,
        reason=verdict.reason,
        by_server=verdict.servers or None,
    )


def _text(verdicts: Sequence[Verdict]) -> str:
    text = "\n".join(verdict_text(verdict) for verdict in verdicts)
    return cut_middle(text, max_bytes=TOOL_OUTPUT_BYTES, max_lines=TOOL_OUTPUT_LINES).text


def existing_file(text: str, context: ToolContext) -> Path:
    """Return the file that ``text`` names. Raises ``ToolError`` when it is none."""
    try:
        path = resolve(text, context.cwd)
    except HarnessError as error:
        raise ToolError(error.what, where=error.where or "diagnostics") from error
    if path.is_dir():
        raise ToolError("this is a folder", where=text, mend="give a file, or no path for all open files")
    if not path.exists():
        raise ToolError("there is no such file", where=text, mend="glob finds files by name")
    return path


def checks_of(path: Path, root: Path) -> list[Check]:
    """Return what has to be decided before ``path`` is looked at."""
    try:
        real, real_root = resolve(path, root), resolve(root, root)
    except HarnessError:
        real, real_root = path, root
    name = name_in(real, real_root)
    checks = [Check("read", name)]
    if not is_inside(real, real_root):
        checks.append(Check("external_directory", name))
    return checks
