"""``read``: a file as numbered lines, an image or PDF as what it is, a folder as its entries."""

from __future__ import annotations

import asyncio
import base64
import difflib
from pathlib import Path
from typing import Any, Final

from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.events import Notice
from harness_tui.core.limits import MIB, TOOL_OUTPUT_BYTES, TOOL_OUTPUT_LINES
from harness_tui.core.messages import Attachment
from harness_tui.core.paths import digest
from harness_tui.core.seams import DiagnosticsSource, PreparedCall, ToolContext, ToolResult
from harness_tui.core.text import clean_for_display
from harness_tui.tools.builtin import BuiltinTool, title_of
from harness_tui.tools.file_ledger import FileLedger
from harness_tui.tools.list_tool import list_folder
from harness_tui.tools.reading import Window, load, numbered, walk, window_of
from harness_tui.tools.targets import Target, check_unmoved, find_target

IMAGE_BYTES: Final = 5 * MIB
"""The largest image that is sent to a model."""

PDF: Final = "application/pdf"
PDF_BYTES: Final = 10 * MIB
"""The largest PDF that is sent to a model."""

_ATTACHED: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", PDF),
)
_NEIGHBOURS: Final = 2_000


class ReadTool(BuiltinTool):
    """Reads a file; what a session has read it may edit."""

    name = "read"
    description = (
        "Read a file as numbered lines; an image or PDF is attached, a folder is listed. At most 2000 lines or 50 KiB "
        "at once: give offset (first line, from 1) and limit to read on."
    )
    properties = {  # noqa: RUF012
        "path": {"type": "string", "description": "File to read, relative to the working folder or absolute"},
        "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1"},
        "limit": {"type": "integer", "minimum": 1, "description": "Number of lines, at most 2000"},
    }
    required = ("path",)
    read_only = True

    def __init__(self, ledger: FileLedger, diagnostics: DiagnosticsSource | None) -> None:
        super().__init__()
        self._ledger = ledger
        self._diagnostics = diagnostics
        self._warming: set[asyncio.Task[None]] = set()

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Resolve the path. Raises ``ToolError``."""
        checked = self.checked(arguments)
        target = find_target(self.name, checked["path"], context)
        return PreparedCall(
            title=title_of("Read", target.name),
            checks=target.checks("read"),
            preview=ArgumentsPreview(checked),
            state=(target, checked.get("offset", 1), min(checked.get("limit", TOOL_OUTPUT_LINES), TOOL_OUTPUT_LINES)),
        )

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Read. Raises ``ToolError``."""
        target, offset, limit = prepared.state
        check_unmoved(self.name, target, context)
        result, content = await asyncio.to_thread(_read, target, offset, limit)
        if result is None:
            return await list_folder(self.name, target, context, offset=offset, limit=limit)
        if content is not None:
            self._ledger.record(context.session, target.path, content)
        if not result.attachments:
            self._warm_up(target, context)
        return result

    async def close(self) -> None:
        """End what still warms up."""
        for task in list(self._warming):
            task.cancel()
        await asyncio.gather(*self._warming, return_exceptions=True)

    def _warm_up(self, target: Target, context: ToolContext) -> None:
        # The file will probably be edited: its server starts now, and nobody waits for it.
        if self._diagnostics is None:
            return
        task = asyncio.create_task(_touch(self._diagnostics, target, context), name=f"warm up {target.name}")
        self._warming.add(task)
        task.add_done_callback(self._warming.discard)


async def _touch(source: DiagnosticsSource, target: Target, context: ToolContext) -> None:
    try:
        await source.touch(target.path)
    except (HarnessError, OSError) as error:
        text = f"no language server for {target.name}: {error}"
        context.emit(Notice("warning", "lsp", clean_for_display(text, one_line=True)))


def _read(target: Target, offset: int, limit: int) -> tuple[ToolResult | None, str | None]:
    """Return the result and the hash of the bytes, which is ``None`` for a large file; no result for a folder."""
    where = f"read: {target.name}"
    if target.path.is_dir():
        return None, None
    if not target.path.exists():
        raise _missing(target, where)
    data = load(target.path, where)
    if data is None:
        try:
            window = walk(target.path, where, offset=offset, limit=limit)
        except OSError as error:
            raise ToolError(error.strerror or str(error), where=where, code="unreadable") from error
        note = "[the file is too large to be edited with edit or write]"
        return text_result(target, window, where, note), None
    mime = _attached_type(data)
    if mime is not None:
        return _attached(target, data, mime, where), digest(data)
    return text_result(target, window_of(data, where, offset=offset, limit=limit), where), digest(data)


def text_result(target: Target, window: Window, where: str, note: str | None = None) -> ToolResult:
    """Return lines of a file as the model gets them. Raises ``ToolError`` for a place past the end."""
    if window.total == 0:
        return ToolResult("[the file is empty]", metadata={"path": target.name, "lines": 0})
    if not window.lines:
        raise ToolError(f"line {window.first} is past the end: the file has {window.total} lines", where=where)
    text, count, cut = numbered(window)
    output = "\n".join([text, *_notes(window, count, cut, note)])
    while count > 1 and not _is_within_limits(output):
        text, count, cut = numbered(window, most=count - 1)  # fewer lines, until there is room for the notes
        output = "\n".join([text, *_notes(window, count, cut, note)])
    last = window.first + count - 1
    metadata = {"path": target.name, "first": window.first, "last": last, "lines": window.total}
    return ToolResult(output, metadata=metadata)


def _is_within_limits(output: str) -> bool:
    return len(output.encode("utf-8", "replace")) <= TOOL_OUTPUT_BYTES and output.count("\n") < TOOL_OUTPUT_LINES


def _notes(window: Window, count: int, cut: int, note: str | None) -> list[str]:
    last = window.first + count - 1
    notes: list[str] = []
    if window.total is None or last < window.total:
        of = f" of {window.total}" if window.total is not None else ""
        notes.append(f"[lines {window.first} to {last}{of}; read on with offset {last + 1}]")
    if cut:
        notes.append(f"[{cut} long line{' was' if cut == 1 else 's were'} cut]")
    if not window.valid:
        notes.append("[the file is not UTF-8: what could not be decoded is shown as \ufffd]")
    if note is not None:
        notes.append(note)
    return notes


def _attached_type(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for magic, mime in _ATTACHED if data.startswith(magic)), None)


def _attached(target: Target, data: bytes, mime: str, where: str) -> ToolResult:
    is_pdf = mime == PDF
    what, limit = ("PDF", PDF_BYTES) if is_pdf else ("image", IMAGE_BYTES)
    if len(data) > limit:
        raise ToolError(
            f"the {what} has {len(data)} bytes, more than the limit of {limit}", where=where, code="too-large"
        )
    content = base64.b64encode(data).decode()
    attachment = Attachment("resource" if is_pdf else "image", mime, len(data), path=target.name, content=content)
    return ToolResult(
        f"[{what} {target.name}, {mime}, {len(data)} bytes]", metadata={"path": target.name}, attachments=(attachment,)
    )


def _missing(target: Target, where: str) -> ToolError:
    near = difflib.get_close_matches(target.path.name, _names_in(target.path.parent), n=3, cutoff=0.6)
    if near:
        folder = target.name[: -len(target.path.name)]
        mend = "similar names there: " + ", ".join(clean_for_display(folder + name, one_line=True) for name in near)
    elif not target.path.parent.is_dir():
        mend = "its folder does not exist either"
    else:
        mend = "use glob or list to find it"
    return ToolError("there is no such file", where=where, mend=mend, code="not-found")


def _names_in(folder: Path) -> list[str]:
    try:
        return [entry.name for entry, _ in zip(folder.iterdir(), range(_NEIGHBOURS), strict=False)]
    except OSError:
        return []
