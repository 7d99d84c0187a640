"""Notices that commands or skills changed while nobody uses them, so that what is shown keeps up by itself.

It looks at the files as every use does, at a pace that costs two thousandths of the time at most: every two seconds for
the usual few dozen, seldom for thousands. So it works for folders that come and go, for links and on network mounts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from harness_tui.workspace.workspace import Workspace

PAUSE_S: Final = 2.0
LONGEST_PAUSE_S: Final = 60.0
_SHARE: Final = 0.002


def pause_after(seconds: float) -> float:
    """Return how long to wait after a look that took ``seconds`` of processor time."""
    return min(LONGEST_PAUSE_S, max(PAUSE_S, seconds / _SHARE))


async def library_changes(workspace: Workspace) -> AsyncIterator[None]:
    """Yield each time that commands, skills or what is wrong with them changed since it yielded last. Never ends.

    Skills of servers are among them: they come when a server has started, and go with its entry.
    """
    seen = workspace.library, workspace.library.version, workspace.library.remote.all()
    pause = PAUSE_S
    while True:
        await asyncio.sleep(pause)
        pause = pause_after(await asyncio.to_thread(_look, workspace))
        now = workspace.library, workspace.library.version, workspace.library.remote.all()
        if now != seen:
            seen = now
            yield


def _look(workspace: Workspace) -> float:
    start = time.thread_time()
    workspace.library.refresh()
    return time.thread_time() - start
