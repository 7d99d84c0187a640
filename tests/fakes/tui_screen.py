"""What stands on the screen of an app under test, and how to wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from harness_tui.tui.app import HarnessApp


async def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until ``condition`` holds; fail the test when it does not in time."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def screen_text(app: HarnessApp) -> str:
    """Return what stands on the screen, row by row."""
    rows = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in row).rstrip() for row in rows)
