"""Keeps the person's sessions within their room, once per shell, after the session that it opened is locked."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Notice
from harness_tui.core.limits import MIB

if TYPE_CHECKING:
    from harness_tui.workspace.workspace import Workspace

log = logging.getLogger(__name__)


class SessionUpkeep:
    """Tidies up for ``workspace``. A run waits for it, so that its stream tells; a shell does not."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Begin, at the first call; what was done is told by a notice."""
        if self._task is not None:
            return
        self._task = asyncio.create_task(self._tidy(), name="session upkeep")
        if self._workspace.options.single_run:
            await self._task

    async def end(self) -> None:
        """Wait until nothing is removed any more."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _tidy(self) -> None:
        from harness_tui.sessions.upkeep import Limits, tidy

        workspace = self._workspace
        room = workspace.loaded.settings.sessions
        limits = Limits(room.total_mb * MIB, room.session_mb * MIB)
        try:
            done = await asyncio.to_thread(tidy, workspace.store, workspace.blobs, limits)
        except (HarnessError, OSError) as error:  # the run itself tells of a database that cannot be used
            log.warning("sessions could not be tidied up: %s", error)
            return
        if done.text:
            hint = "sessions.total_mb and sessions.session_mb set the limits, 'harness sessions pin' keeps one"
            workspace.notice(Notice("warning" if done.above else "info", "sessions", done.text, hint))
