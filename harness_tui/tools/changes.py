"""A change of a file from its plan to its consequences, the same for ``write`` and ``edit``.

The plan is made from the bytes that are there, shown as a diff, and carried out only while the same bytes are there.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.event_parts import DiffPreview
from harness_tui.core.events import FileChanged, Notice
from harness_tui.core.paths import digest, name_in
from harness_tui.core.seams import DiagnosticsSource, PreparedCall, ToolContext, ToolResult
from harness_tui.core.text import clean_for_display
from harness_tui.sessions.blobs import BlobStore
from harness_tui.tools.builtin import title_of
from harness_tui.tools.diffs import make_diff
from harness_tui.tools.file_ledger import FileLedger
from harness_tui.tools.targets import Target, check_unmoved
from harness_tui.tools.verdicts import report_on
from harness_tui.tools.writing import Written, read_or_none, replace_file


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What will be written. ``before`` are the bytes that it was made from, ``None`` for a new file.

    ``summary`` is what the model is told, ``unchanged`` that there is nothing to write.
    """

    target: Target
    before: bytes | None
    after: bytes
    diff: str
    added: int
    removed: int
    summary: str
    unchanged: bool

    @property
    def before_hash(self) -> str | None:
        """The hash of the bytes that it was made from."""
        return None if self.before is None else digest(self.before)


class FileChanges:
    """Plans and carries out changes of files, one at a time per path.

    ``blobs`` keeps the bytes before and after each change, so that it can be undone; without it none can.
    """

    def __init__(
        self, ledger: FileLedger, diagnostics: DiagnosticsSource | None, blobs: BlobStore | None = None
    ) -> None:
        self._ledger = ledger
        self._diagnostics = diagnostics
        self._blobs = blobs
        self._locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    async def current(self, tool: str, target: Target, context: ToolContext) -> bytes | None:
        """Return the bytes of the file, ``None`` when there is none; checks that the model has read them.

        Only the model must have read a file before: a person who calls a tool knows what they do.
        """
        try:
            data = await asyncio.to_thread(read_or_none, target.path)
        except HarnessError as error:
            what = "this is a folder" if target.path.is_dir() else error.what
            raise ToolError(what, where=f"{tool}: {target.name}", mend=error.mend, code=error.code) from error
        if data is None or context.origin != "model":
            return data
        seen = self._ledger.seen(context.session, target.path)
        if seen is None:
            raise ToolError(
                "the file exists and was not read", where=target.name, mend="read it first", code="not-read"
            )
        if seen != digest(data):
            raise ToolError(
                "the file changed since it was read", where=target.name, mend="read it again", code="changed-since-read"
            )
        return data

    def plan(
        self, target: Target, before: bytes | None, after: bytes, texts: tuple[str, str], what: str
    ) -> PlannedChange:
        """Return the plan to replace the bytes ``before`` by ``after``; ``texts`` are both as text. Blocks."""
        diff = make_diff(*texts, target.name, created=before is None)
        return PlannedChange(
            target=target,
            before=before,
            after=after,
            diff=diff.text,
            added=diff.added,
            removed=diff.removed,
            summary=f"{what} (+{diff.added} -{diff.removed})",
            unchanged=before == after,
        )

    def prepared(self, verb: str, change: PlannedChange) -> PreparedCall:
        """Return the call for the gate, with the diff to show."""
        return PreparedCall(
            title=title_of(verb, change.target.name),
            checks=change.target.checks("edit"),
            preview=DiffPreview(change.target.name, change.diff, change.before_hash),
            state=change,
        )

    async def carry_out(self, tool: str, change: PlannedChange, context: ToolContext) -> ToolResult:
        """Write, tell of the change, ask the language servers. Raises ``StalePreviewError`` or ``ToolError``."""
        target = change.target
        check_unmoved(tool, target, context)
        if change.unchanged:
            return ToolResult(f"{target.name} already has exactly this content; nothing was written.")
        lock = self._locks.setdefault(target.path, asyncio.Lock())
        async with lock:
            write = asyncio.ensure_future(asyncio.to_thread(self._write, change, context))
            try:
                written = await asyncio.shield(write)
            except asyncio.CancelledError:
                # A write cannot be called back: what it did is told before the cancel goes on.
                await asyncio.wait({write})
                if write.exception() is None:
                    self._tell(change, write.result(), context)
                raise
            self._tell(change, written, context)
        report = await report_on(self._diagnostics, target.path, context)
        metadata = {"path": target.name, "diff": change.diff, "added": change.added, "removed": change.removed}
        return ToolResult(change.summary + report.text, metadata=metadata | report.metadata)

    def _write(self, change: PlannedChange, context: ToolContext) -> _Done:
        """Keep the bytes of both sides, then write. Blocks."""
        lost: str | None = None
        if self._blobs is not None and context.recorded:
            try:
                for data in (change.before, change.after):
                    if data is not None:
                        self._blobs.put(data)
            except HarnessError as error:
                lost = str(error)
        written = replace_file(
            change.target.path, change.after, before=change.before_hash, backups=context.session_dir / "backups"
        )
        return _Done(written, lost)

    def _tell(self, change: PlannedChange, done: _Done, context: ToolContext) -> None:
        after = digest(change.after)
        name = change.target.name
        self._ledger.record(context.session, change.target.path, after)
        root = context.root.resolve()
        context.emit(
            FileChanged(
                path=name,
                added=change.added,
                removed=change.removed,
                before=change.before_hash,
                after=after,
                before_mode=done.written.before_mode,
                after_mode=done.written.after_mode,
                folders=tuple(name_in(folder, root) for folder in done.written.folders) or None,
            )
        )
        if done.lost is not None:
            text = f"the change of {name} cannot be undone: {done.lost}"
            context.emit(Notice("warning", "undo", clean_for_display(text, one_line=True)))


@dataclass(frozen=True, slots=True)
class _Done:
    """A write that was made; ``lost`` says why the bytes could not be kept for an undo."""

    written: Written
    lost: str | None
