"""What language servers say of a file that a tool has just written: for the model, for people, or for nobody.

The model is told of errors of a fresh verdict, of those that became known later (once, with the next result), and of
nothing else; a person sees every verdict, with its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from harness_tui.core.codec import encode
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import DiagnosticsReported, Notice
from harness_tui.core.record import record
from harness_tui.core.seams import DiagnosticsSource, ToolContext
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.core.values import DiagnosticItem, Verdict

HEADER: Final = "LSP errors detected in this file, please fix:"
LATE_HEADER: Final = "LSP errors detected in other files, or late after earlier edits:"
_SHOWN_ERRORS: Final = 20
_MESSAGE_CHARS: Final = 300


@record
class Report:
    """What is added to a tool's result: ``text`` at the end of its output (with its leading line end), ``metadata``."""

    text: str = ""
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


async def report_on(source: DiagnosticsSource | None, path: Path, context: ToolContext) -> Report:
    """Tell the servers of the new bytes of ``path`` and wait for their verdict, as long as is configured.

    Never raises for a server's failure: the write succeeded whatever a server does.
    """
    if source is None:
        return Report()
    try:
        await source.touch(path)
        verdict = await source.diagnostics(path, None)
    except (HarnessError, OSError) as error:
        context.emit(Notice("warning", "lsp", clean_for_display(f"no diagnostics for {path.name}: {error}")))
        return Report()
    context.emit(
        DiagnosticsReported(
            path=verdict.path,
            verdict=verdict.verdict,
            elapsed_ms=verdict.elapsed_ms,
            servers=tuple(server.name for server in verdict.servers),
            items=verdict.items,
            late=verdict.late,
            reason=verdict.reason,
            by_server=verdict.servers or None,
        )
    )
    # The file's own errors come last: that is where they are looked for.
    text = late_text(source.take_late()) + errors_text(verdict)
    return Report(text, {"diagnostics": encode(verdict)})


def errors_text(verdict: Verdict) -> str:
    """Return the lines for the model: empty unless the verdict is fresh and holds errors."""
    errors = [item for item in verdict.items if item.severity == "error"] if verdict.verdict == "fresh" else []
    return _lines(HEADER, errors)


def late_text(verdicts: Sequence[Verdict]) -> str:
    """Return the lines for the model on errors that became known since the last result; empty without any."""
    return _lines(LATE_HEADER, [item for verdict in verdicts for item in verdict.items if item.severity == "error"])


def _lines(header: str, errors: Sequence[DiagnosticItem]) -> str:
    if not errors:
        return ""
    lines = [
        f"{clean_for_display(item.path, one_line=True)}: L{item.line}: "
        f"{cut_end(clean_for_display(item.message, one_line=True), _MESSAGE_CHARS)}"
        for item in errors[:_SHOWN_ERRORS]
    ]
    if len(errors) > _SHOWN_ERRORS:
        lines.append(f"... and {len(errors) - _SHOWN_ERRORS} more")
    return "\n".join(["", header, *lines])
