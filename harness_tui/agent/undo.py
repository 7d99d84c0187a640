"""Undo and redo of a run, its messages and its files; both are events, and nothing of the record is removed.

Files that something else has changed since are left alone, each for itself. What commands, servers and other programs
did beyond the changes that the record names is not taken back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from harness_tui.agent.run_end import RunEnd
from harness_tui.agent.state import SessionState
from harness_tui.core.clock import rfc3339
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import FileChanged, MessageAdded, Notice, RedoApplied, UndoApplied
from harness_tui.core.messages import UserMessage
from harness_tui.core.seams import Clock, DiagnosticsSource
from harness_tui.core.text import clean_for_display
from harness_tui.sessions.blobs import BlobStore
from harness_tui.sessions.change_journal import recover_changes
from harness_tui.sessions.store import SessionStore
from harness_tui.sessions.undo_log import FileStep, LoggedRun, UndoLog, redo_steps, undo_steps
from harness_tui.tools.restoring import Restored, Restorer

log = logging.getLogger(__name__)

_BROUGHT_BACK: Final = "I brought these files back to what they were before, so read them again:"


class Undoing:
    """Undo and redo of an open session; nothing else may go on in it meanwhile."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    async def undo(self, run: str | None, *, files: bool = True) -> None:
        """Take back ``run`` and every later one, or the latest that is in force; without ``files`` what was said alone.

        Raises ``HarnessError``.
        """
        known = await self._log()
        for logged in known.to_undo(run):
            steps = undo_steps(logged) if files else []
            restored = await asyncio.to_thread(self._restorer().restore, steps)
            await self._tell(UndoApplied, logged, restored)
        await self._read_again()

    async def bring_files_back(self, made: str, run: str | None) -> RunEnd:
        """Bring the files back to what they were before ``run``, as changes of the run ``made``; what was said stays.

        Raises ``HarnessError``.
        """
        runs = (await self._log()).to_undo(run)
        # What was written is recorded, whoever cancels meanwhile.
        return await asyncio.shield(self._bring_back(made, runs))

    async def _bring_back(self, made: str, runs: Sequence[LoggedRun]) -> RunEnd:
        state, paths = self._state, dict[str, None]()
        for logged in runs:
            steps = undo_steps(logged)
            restored = await asyncio.to_thread(self._restorer().restore, steps)
            for step in steps:
                if step.path in restored.paths:
                    state.publish(_as_change(step, logged), made)
                    paths[step.path] = None
            for notice in _notices(logged, restored):
                state.publish(notice)
        if not paths:
            raise HarnessError("no file was brought back: there is none, or each was changed since", code="nothing")
        names = ", ".join(paths)
        state.publish(MessageAdded(UserMessage(f"{_BROUGHT_BACK} {names}"), "shell"), made)
        state.publish(Notice("info", "undo", clean_for_display(f"Files as they were before: {names}", one_line=True)))
        await state.recorder.commit()
        await self._touch_all(paths)
        return RunEnd("completed")

    async def redo(self) -> None:
        """Put the run that was taken back last in force again. Raises ``HarnessError``."""
        logged = (await self._log()).to_redo()
        restored = await asyncio.to_thread(self._restorer().restore, redo_steps(logged))
        await self._tell(RedoApplied, logged, restored)
        await self._read_again()

    async def _log(self) -> UndoLog:
        if not self._state.recorded:
            raise HarnessError("this session leaves no record: nothing can be undone", code="nothing")
        await self._state.recorder.commit()
        return await asyncio.to_thread(self._state.parts.store.undo_log, self._state.id)

    def _restorer(self) -> Restorer:
        parts = self._state.parts
        return Restorer(parts.blobs, parts.project.root, parts.places.session_dir(self._state.id) / "backups")

    async def _tell(self, kind: type[UndoApplied | RedoApplied], logged: LoggedRun, restored: Restored) -> None:
        state = self._state
        state.publish(_event(kind, logged, restored), logged.run)
        for notice in _notices(logged, restored):
            state.publish(notice)
        await state.recorder.commit()
        await self._touch_all(restored.paths)

    async def _touch_all(self, paths: Iterable[str]) -> None:
        source, root = self._state.parts.diagnostics, self._state.parts.project.root
        for name in paths:
            if source is not None and (root / name).is_file():
                await _touch(source, root / name)

    async def _read_again(self) -> None:
        state = self._state
        stored = await asyncio.to_thread(state.parts.store.messages, state.id)
        state.history.reset(item.message for item in stored)
        state.look_at_history()


async def _touch(source: DiagnosticsSource, path: Path) -> None:
    try:
        await source.touch(path)
    except (HarnessError, OSError) as error:
        log.info("no diagnostics after an undo of %s: %s", path, error)


def undo_recorded(
    store: SessionStore, blobs: BlobStore, session: str, root: Path, clock: Clock, *, run: str | None, redo: bool
) -> Sequence[UndoApplied | RedoApplied]:
    """Undo or redo in a session that nobody has open, in its project ``root``; returns what was recorded.

    Raises ``HarnessError`` when there is nothing to take back, or a process has the session open. Blocks.
    """
    done: list[UndoApplied | RedoApplied] = []
    with store.locked(session):
        store.repair(session)
        recover_changes(store, session, root, clock)
        known = store.undo_log(session)
        restorer = Restorer(blobs, root, store.folder(session) / "backups")
        for logged in [known.to_redo()] if redo else known.to_undo(run):
            restored = restorer.restore(redo_steps(logged) if redo else undo_steps(logged))
            event = _event(RedoApplied if redo else UndoApplied, logged, restored)
            last, time = store.last_seq(session), rfc3339(clock.now())
            told = [(event, logged.run), *((notice, None) for notice in _notices(logged, restored))]
            store.append(session, [Envelope(last + n, time, session, each, of) for n, (each, of) in enumerate(told, 1)])
            done.append(event)
    return done


def _as_change(step: FileStep, logged: LoggedRun) -> FileChanged:
    """Return the change that taking ``step`` back was; its lines are those of the run, the other way round."""
    done = [change for _, change in logged.files if change.path == step.path]
    return FileChanged(
        step.path,
        added=sum(change.removed for change in done),
        removed=sum(change.added for change in done),
        before=step.old,
        after=step.new,
        before_mode=step.old_mode,
        after_mode=step.new_mode,
    )


def _event(kind: type[UndoApplied | RedoApplied], logged: LoggedRun, restored: Restored) -> UndoApplied | RedoApplied:
    return kind(logged.run, tuple(restored.paths), tuple(restored.conflicts))


def _notices(logged: LoggedRun, restored: Restored) -> list[Notice]:
    told = [
        Notice("warning", "undo", clean_for_display(f"{path} was left as it is: {reason}", one_line=True))
        for path, reason in restored.conflicts.items()
    ]
    if logged.outside:
        told.append(Notice("info", "undo", "what commands and MCP servers did in this run stays as it is"))
    return told
