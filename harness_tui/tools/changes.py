"""A change of a file from its plan to its consequences, the same for every tool that changes files.

The plan is made from the bytes that are there, shown as a diff, and carried out only while the same bytes are there.
"""

from __future__ import annotations

import asyncio
import contextlib
import stat
from collections.abc import AsyncGenerator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.events import FileChanged, Notice
from harness_tui.core.paths import digest, name_in
from harness_tui.core.record import record
from harness_tui.core.seams import DiagnosticsSource, EditHooks, ToolContext, ToolResult
from harness_tui.core.text import clean_for_display
from harness_tui.sessions.blobs import BlobStore
from harness_tui.sessions.change_journal import note_change
from harness_tui.tools.diffs import make_diff
from harness_tui.tools.file_ledger import FileLedger
from harness_tui.tools.targets import Target, check_unmoved
from harness_tui.tools.text_file import decode
from harness_tui.tools.verdicts import report_on
from harness_tui.tools.writing import Written, delete_file, read_or_none, remove_folders, replace_file


@record
class PlannedChange:
    """What will be written. ``before`` are the bytes that it was made from, ``None`` for a new file.

    ``summary`` is what the model is told, ``unchanged`` that there is nothing to write, ``gone`` that the file goes, or
    that hooks took it away. ``mode`` are the permission bits of a new file that is to have some of its own.
    """

    target: Target
    before: bytes | None
    after: bytes
    diff: str
    added: int
    removed: int
    summary: str
    unchanged: bool
    gone: bool = False
    mode: int | None = None

    @property
    def before_hash(self) -> str | None:
        """The hash of the bytes that it was made from."""
        return None if self.before is None else digest(self.before)

    @property
    def after_hash(self) -> str | None:
        """The hash of the bytes that it makes."""
        return None if self.gone else digest(self.after)


@record
class Done:
    """A write that was made; ``lost`` says why the bytes could not be kept for an undo."""

    written: Written
    lost: str | None


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

    async def carry_out(self, tool: str, change: PlannedChange, context: ToolContext) -> ToolResult:
        """Write, tell of the change, ask the language servers. Raises ``StalePreviewError`` or ``ToolError``."""
        target = change.target
        check_unmoved(tool, target, context)
        if change.unchanged:
            return ToolResult(f"{target.name} already has exactly this content; nothing was written.")
        async with self.locked((target.path,)):
            write = asyncio.ensure_future(asyncio.to_thread(self.write, change, context))
            try:
                written = await asyncio.shield(write)
            except asyncio.CancelledError:
                # A write cannot be called back: what it did is told before the cancel goes on.
                await asyncio.wait({write})
                if write.exception() is None:
                    self.tell(change, write.result(), context)
                raise
            hooks, change = await self.after_edit(change, written, context)
        if change.gone:
            names = ", ".join(hooks.ran) or "a hook"
            text = f"{target.name} was written, and is not there any more: {names} took it away."
            return ToolResult(text, is_error=True, metadata={"path": target.name, "hooks": list(hooks.ran)})
        report = await report_on(self._diagnostics, target.path, context)
        metadata: dict[str, Any] = {"path": target.name, "diff": change.diff}
        metadata |= {"added": change.added, "removed": change.removed}
        text = change.summary + report.text
        if hooks.ran:
            metadata["hooks"] = list(hooks.ran)
        if hooks.blocked is not None:
            text = f"{text}\nThe file is written, but a hook refuses the change, mend it: {hooks.blocked}"
        return ToolResult(text, is_error=hooks.blocked is not None, metadata=metadata | report.metadata)

    @contextlib.asynccontextmanager
    async def locked(self, paths: Iterable[Path]) -> AsyncGenerator[None]:
        """Hold the changes of ``paths`` by others of this project's calls off; always in the same order."""
        async with contextlib.AsyncExitStack() as stack:
            for path in sorted(set(paths)):
                await stack.enter_async_context(self._locks.setdefault(path, asyncio.Lock()))
            yield

    async def after_edit(
        self, change: PlannedChange, written: Done, context: ToolContext
    ) -> tuple[EditHooks, PlannedChange]:
        """Let formatters run, and tell of the change as the file is after them; a cancel is told of as well."""
        if context.after_edit is None:
            self.tell(change, written, context)
            return EditHooks(), change
        hooks = EditHooks()
        try:
            hooks = await context.after_edit(change.target.path)
        finally:
            # In a thread of its own that nobody cancels: what the hooks did to the file is known in any case.
            look = asyncio.ensure_future(asyncio.to_thread(self._look_again, change, written, context))
            try:
                await asyncio.shield(look)
            finally:
                if not look.done():
                    await asyncio.wait({look})
                change, written = look.result()
                self.tell(change, written, context)
        return hooks, change

    def _look_again(self, change: PlannedChange, written: Done, context: ToolContext) -> tuple[PlannedChange, Done]:
        """Return the change with the bytes that hooks left. Blocks; what cannot be read counts as it was written."""
        try:
            data = read_or_none(change.target.path)
        except HarnessError:
            return change, written
        if data == change.after:
            return change, written
        name = change.target.name
        if data is None:
            diff = make_diff(_text(change.before, name), "", name)
            none_left = replace(written.written, after_mode=None)
            gone = replace(change, diff=diff.text, added=diff.added, removed=diff.removed, gone=True)
            return gone, replace(written, written=none_left)
        texts = (_text(change.before, name), _text(data, name))
        what = change.summary.rpartition(" (+")[0]
        mode = stat.S_IMODE(change.target.path.stat().st_mode)
        done = Done(replace(written.written, after_mode=mode), written.lost or self._keep((data,), context))
        return self.plan(change.target, change.before, data, texts, f"{what}, formatted by hooks"), done

    def write(self, change: PlannedChange, context: ToolContext) -> Done:
        """Keep the bytes of both sides, then write. Blocks."""
        path, before = change.target.path, change.before_hash
        lost = self._keep((change.before, None if change.gone else change.after), context)
        noted = FileChanged(change.target.name, change.added, change.removed, before, change.after_hash)
        _note(noted, context)
        try:
            if change.gone and before is not None:
                written = delete_file(path, before=before)
            else:
                backups = context.session_dir / "backups"
                written = replace_file(path, change.after, before=before, backups=backups, mode=change.mode)
        except BaseException:
            _note(noted, context, failed=True)
            raise
        return Done(written, lost)

    def take_back(self, change: PlannedChange, done: Done, context: ToolContext) -> None:
        """Bring a file back to what it was before :meth:`write`. Blocks. Raises as that does, where it is not that now.

        Nothing need be told of either.
        """
        path, backups = change.target.path, context.session_dir / "backups"
        if change.before is None:
            delete_file(path, before=digest(change.after))
            remove_folders(done.written.folders)
        else:
            replace_file(path, change.before, before=change.after_hash, backups=backups, mode=done.written.before_mode)
        noted = FileChanged(change.target.name, change.added, change.removed, change.before_hash, change.after_hash)
        _note(noted, context, failed=True)

    def _keep(self, contents: tuple[bytes | None, ...], context: ToolContext) -> str | None:
        """Keep bytes for an undo; return why they could not be kept."""
        if self._blobs is None or not context.recorded:
            return None
        try:
            for data in contents:
                if data is not None:
                    self._blobs.put(data)
        except HarnessError as error:
            return str(error)
        return None

    def tell(self, change: PlannedChange, done: Done, context: ToolContext) -> None:
        """Tell of a change that was made; what it made counts as read."""
        after = change.after_hash
        name = change.target.name
        if after is not None:
            self._ledger.record(context.session, change.target.path, after)
        elif change.before is None:
            return  # neither there before nor after: nothing was changed
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


def _note(change: FileChanged, context: ToolContext, *, failed: bool = False) -> None:
    """Note what comes next, for the case that this process is killed before the record knows of it."""
    if context.recorded:
        with contextlib.suppress(OSError):  # without the note the change is made all the same
            note_change(context.session_dir, context.run, change, failed=failed)


def _text(data: bytes | None, name: str) -> str:
    """Return bytes as text for a diff; of a binary file there is none."""
    try:
        return "" if data is None else decode(data, name).for_model()
    except ToolError:
        return ""
