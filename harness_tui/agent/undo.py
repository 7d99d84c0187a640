"""Undo and redo of a run, its messages and its files; both are events, and nothing of the record is removed.

Files that something else has changed since are left alone, each for itself. What commands, servers and other programs
did beyond the changes that the record names is not taken back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from harness_tui.agent.state import SessionState
from harness_tui.core.clock import rfc3339
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Notice, RedoApplied, UndoApplied
from harness_tui.core.seams import Clock, DiagnosticsSource
from harness_tui.core.text import clean_for_display
from harness_tui.sessions.blobs import BlobStore
from harness_tui.sessions.change_journal import recover_changes
from harness_tui.sessions.store import SessionStore
from harness_tui.sessions.undo_log import LoggedRun, UndoLog, redo_steps, undo_steps
from harness_tui.tools.restoring import Restored, Restorer

log = logging.getLogger(__name__)


class Undoing:
    """Undo and redo of an open session; nothing else may go on in it meanwhile."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    async def undo(self, run: str | None) -> None:
        """Take back ``run`` and every later one, or the latest that is in force. Raises ``HarnessError``."""
        known = await self._log()
        for logged in known.to_undo(run):
            restored = await asyncio.to_thread(self._restorer().restore, undo_steps(logged))
            await self._tell(UndoApplied, logged, restored)
        await self._read_again()

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
        source, root = state.parts.diagnostics, state.parts.project.root
        for name in restored.paths:
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
