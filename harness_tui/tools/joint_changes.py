"""Changes of several files that are one: one diff, one decision, all files or none, one undo.

Others find out what is to be changed (a language server that renames a symbol); here it is planned from the bytes that
are there, and written with the means of ``edit`` and ``write``. A process that is killed between two files leaves the
change half made; what was made is noted, so that an undo takes it back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from harness_tui.core.errors import HarnessError, StalePreviewError, ToolError
from harness_tui.core.event_parts import DiffPreview, PreviewFile
from harness_tui.core.limits import TOOL_OUTPUT_BYTES, TOOL_OUTPUT_LINES
from harness_tui.core.paths import digest
from harness_tui.core.record import record
from harness_tui.core.seams import Check, DiagnosticsSource, FileChange, PreparedCall, ToolContext, ToolResult
from harness_tui.core.text import clean_for_display, cut_end, cut_middle
from harness_tui.tools.changes import Done, FileChanges, PlannedChange
from harness_tui.tools.diffs import make_diff
from harness_tui.tools.proposals import ChangeProposal
from harness_tui.tools.splicing import splice
from harness_tui.tools.targets import Target, check_unmoved, find_target
from harness_tui.tools.text_file import TextFile, decode
from harness_tui.tools.verdicts import Report, report_on
from harness_tui.tools.writing import read_or_none

_FILES: Final = 500
_REPORTED: Final = 20
"""Of so many files the verdict is waited for, side by side; the servers are told of all."""
_NAMED: Final = 50
_TITLE_CHARS: Final = 100


@record
class JointPlan:
    """What will be written; the first is the file that the call is about."""

    changes: tuple[PlannedChange, ...]
    diff: str

    @property
    def size(self) -> tuple[int, int]:
        """How many lines are added and removed."""
        return sum(change.added for change in self.changes), sum(change.removed for change in self.changes)


class JointChanges:
    """Satisfies ``core.seams.FileChanger`` over the changes of the file tools."""

    def __init__(self, changes: FileChanges, diagnostics: DiagnosticsSource | None) -> None:
        self._changes = changes
        self._diagnostics = diagnostics

    async def prepare(
        self, tool: str, title: str, files: Sequence[FileChange], context: ToolContext, checks: Sequence[Check] = ()
    ) -> PreparedCall:
        """Plan the change. Raises ``StalePreviewError`` or ``ToolError``."""
        if len(files) > _FILES:
            raise ToolError(f"the change touches {len(files)} files, more than {_FILES}", where=tool)
        plan = await asyncio.to_thread(self._plan, tool, files, context)
        targets = [change.target for change in plan.changes]
        decided = [*checks, *(check for target in targets for check in target.checks("edit"))]
        shown = cut_end(clean_for_display(title, one_line=True), _TITLE_CHARS)
        return _call(shown, tuple(dict.fromkeys(decided)), plan)

    async def run(self, tool: str, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Write all files or none, tell of them, ask the language servers."""
        plan: JointPlan = prepared.state
        for change in plan.changes:
            check_unmoved(tool, change.target, context)
        async with self._changes.locked(change.target.path for change in plan.changes):
            write = asyncio.ensure_future(asyncio.to_thread(self._write, plan, context))
            try:
                written = await asyncio.shield(write)
            except asyncio.CancelledError:
                # It cannot be called back: what was written is told before the cancel goes on.
                await asyncio.wait({write})
                if write.exception() is None:
                    self._tell(write.result(), context)
                raise
            except _HalfDoneError as error:
                self._tell(error.left, context)
                raise
            changes, ran, blocked = await self._after(written, context)
        return await self._result(plan, changes, ran, blocked, context)

    # --- planning ------------------------------------------------------------------------------------

    def _plan(self, tool: str, files: Sequence[FileChange], context: ToolContext) -> JointPlan:
        """Read every file and make its new bytes. Blocks."""
        made = [change for file in files for change in self._plan_file(tool, file, context)]
        changes = [change for change in made if not change.unchanged]
        if not changes:
            raise ToolError("nothing would change", where=tool)
        taken: set[Path] = set()
        for change in changes:
            if change.target.path in taken:
                raise ToolError("the change names this file twice", where=change.target.name)
            taken.add(change.target.path)
        return JointPlan(tuple(changes), _diff_of(changes))

    def _plan_file(self, tool: str, file: FileChange, context: ToolContext) -> list[PlannedChange]:
        target = find_target(tool, str(file.path), context)
        before = self._bytes_of(tool, file, target)
        old = TextFile("", b"", "utf-8", True) if before is None else decode(before, target.name)
        if old.encoding != "utf-8" or not old.valid:
            raise ToolError("the file is not UTF-8", where=target.name, mend="convert it first", code="encoding")
        for change in file.changes:
            old.check_insert(change.text, target.name)
        text = splice(old.text, file.changes, target.name)
        after = old.encode(text)
        if file.moved_to is None:
            return [self._changes.plan(target, before, after, (old.text, text), target.name)]
        if before is None:
            raise ToolError("a file cannot be created and moved at once", where=target.name)
        mode = _movable(file.path, target)
        goal = find_target(tool, str(file.moved_to), context)
        if goal.path.exists() or goal.path.is_symlink():
            raise ToolError("there is a file already", where=goal.name, mend=f"move {goal.name} away first")
        return [
            PlannedChange(goal, None, after, *_lines(old.text, text, target.name, goal.name), "", False, mode=mode),
            PlannedChange(target, before, b"", "", 0, 0, f"moved to {goal.name}", False, gone=True),
        ]

    def _bytes_of(self, tool: str, file: FileChange, target: Target) -> bytes | None:
        try:
            before = read_or_none(target.path)
        except HarnessError as error:
            raise ToolError(error.what, where=f"{tool}: {target.name}", mend=error.mend, code=error.code) from error
        if before is not None and file.before is None:
            raise ToolError("there is a file already", where=target.name)
        if (None if before is None else digest(before)) != file.before:
            raise StalePreviewError("the file changed meanwhile", where=target.name, mend="prepare the call again")
        return before

    # --- writing -------------------------------------------------------------------------------------

    def _write(self, plan: JointPlan, context: ToolContext) -> list[tuple[PlannedChange, Done]]:
        """Write every file; after a failure none is left changed. Blocks."""
        for change in plan.changes:  # most failures are found before anything is written
            present = read_or_none(change.target.path)
            if (None if present is None else digest(present)) != change.before_hash:
                raise StalePreviewError("the file changed meanwhile", where=change.target.name)
        written: list[tuple[PlannedChange, Done]] = []
        try:
            # What is created comes first and what goes comes last: no text is ever nowhere.
            for change in sorted(plan.changes, key=lambda change: (change.gone, change.before is not None)):
                written.append((change, self._changes.write(change, context)))
        except BaseException as error:
            left = self._take_back(written, context)
            if left:
                raise _HalfDoneError(error, left) from error
            raise
        order = [change.target.path for change in plan.changes]
        return sorted(written, key=lambda item: order.index(item[0].target.path))

    def _take_back(
        self, written: Sequence[tuple[PlannedChange, Done]], context: ToolContext
    ) -> list[tuple[PlannedChange, Done]]:
        """Undo what was written, the last first; return what could not be."""
        left: list[tuple[PlannedChange, Done]] = []
        for change, done in reversed(written):
            try:
                self._changes.take_back(change, done, context)
            except HarnessError:
                left.append((change, done))
        return left

    def _tell(self, written: Iterable[tuple[PlannedChange, Done]], context: ToolContext) -> None:
        for change, done in written:
            self._changes.tell(change, done, context)

    async def _after(
        self, written: Sequence[tuple[PlannedChange, Done]], context: ToolContext
    ) -> tuple[list[PlannedChange], dict[str, None], list[str]]:
        """Let formatters run on each file; return the changes as they are then, who ran, and who refuses what."""
        changes: list[PlannedChange] = []
        ran: dict[str, None] = {}
        blocked: list[str] = []
        rest = list(written)
        try:
            while rest:
                change, done = rest.pop(0)
                if change.gone:
                    self._changes.tell(change, done, context)
                    changes.append(change)
                    continue
                hooks, after = await self._changes.after_edit(change, done, context)
                changes.append(after)
                ran |= dict.fromkeys(hooks.ran)
                blocked += [f"{change.target.name}: {hooks.blocked}"] if hooks.blocked is not None else []
        finally:
            self._tell(rest, context)  # after a cancel: they were written all the same
        return changes, ran, blocked

    # --- the result ----------------------------------------------------------------------------------

    async def _result(
        self,
        plan: JointPlan,
        changes: Sequence[PlannedChange],
        ran: dict[str, None],
        blocked: Sequence[str],
        context: ToolContext,
    ) -> ToolResult:
        final = JointPlan(tuple(changes), _diff_of(changes))
        if ran:
            plan = final
        added, removed = final.size
        reports = await self._reports(changes, context)
        lines = [f"Changed {_count(len(changes))} (+{added} -{removed})"]
        lines += [f"{change.target.name} {_what(change)}" for change in changes[:_NAMED]]
        lines += [f"... and {len(changes) - _NAMED} more"] if len(changes) > _NAMED else []
        text = "\n".join(lines) + "".join(report.text for report in reports)
        metadata: dict[str, Any] = {
            "path": changes[0].target.name,
            "diff": plan.diff,
            "added": added,
            "removed": removed,
            "files": [change.target.name for change in changes],
            "diagnostics": [found for report in reports if (found := report.metadata.get("diagnostics")) is not None],
        }
        if ran:
            metadata["hooks"] = list(ran)
        if blocked:
            text += f"\nThe files are written, but a hook refuses the change, mend it: {'; '.join(blocked)}"
        return ToolResult(text, is_error=bool(blocked), metadata=metadata)

    async def _reports(self, changes: Sequence[PlannedChange], context: ToolContext) -> Sequence[Report]:
        source = self._diagnostics
        if source is None:
            return ()
        there = [change.target.path for change in changes if not change.gone]
        rest = [change.target.path for change in changes if change.gone] + there[_REPORTED:]
        # Everything is told before anything is asked: a verdict on one file must not miss the change of another.
        await asyncio.gather(*(source.touch(path) for path in (*rest, *there[:_REPORTED])), return_exceptions=True)
        return await asyncio.gather(*(report_on(source, path, context) for path in there[:_REPORTED]))


def _call(title: str, checks: tuple[Check, ...], plan: JointPlan) -> PreparedCall:
    def rebuild(changes: Sequence[PlannedChange]) -> PreparedCall:
        return _call(title, checks, JointPlan(tuple(changes), _diff_of(changes)))

    return PreparedCall(title, checks, _preview(plan), plan, proposal=ChangeProposal(plan.changes, rebuild))


class _HalfDoneError(ToolError):
    """A change failed in the middle, and ``left`` could not be taken back: somebody else has changed it since."""

    def __init__(self, cause: BaseException, left: list[tuple[PlannedChange, Done]]) -> None:
        names = ", ".join(change.target.name for change, _ in left)
        super().__init__(f"{cause}; these files are changed all the same: {names}", mend="undo takes them back")
        self.left = left


def _movable(path: Path, target: Target) -> int:
    """Return the permission bits of a file that is to get another path. Raises ``ToolError`` for links."""
    status = target.path.stat()
    if path.is_symlink() or status.st_nlink > 1:
        raise ToolError("the file is a link, or has several names", where=target.name, mend="move it by hand")
    return status.st_mode & 0o7777


def _lines(before: str, after: str, name: str, goal: str) -> tuple[str, int, int]:
    diff = make_diff(before, after, goal)
    moved = f"moved from {clean_for_display(name, one_line=True)}\n"
    return moved + diff.text, diff.added, diff.removed


def _diff_of(changes: Sequence[PlannedChange]) -> str:
    """Return the diffs of all files as one text; of a single file its own."""
    shown = [change for change in changes if not change.gone]
    if len(changes) == 1 and shown:
        return shown[0].diff
    parts = [f"diff {clean_for_display(change.target.name, one_line=True)}\n{change.diff}" for change in shown]
    return cut_middle("".join(parts), max_bytes=TOOL_OUTPUT_BYTES, max_lines=TOOL_OUTPUT_LINES).text


def _preview(plan: JointPlan) -> DiffPreview:
    first = plan.changes[0]
    if len(plan.changes) == 1:
        return DiffPreview(first.target.name, plan.diff, first.before_hash)
    files = tuple(
        PreviewFile(change.target.name, change.added, change.removed, change.before_hash, change.after_hash)
        for change in plan.changes
    )
    return DiffPreview(first.target.name, plan.diff, first.before_hash, files=files)


def _count(number: int) -> str:
    return f"{number} file{'' if number == 1 else 's'}"


def _what(change: PlannedChange) -> str:
    if change.gone:
        return change.summary or "went"
    return f"(+{change.added} -{change.removed})" + (", new" if change.before is None else "")
