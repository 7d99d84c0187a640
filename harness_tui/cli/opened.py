"""A workspace for one verb: faults in the configuration are told, and whatever happens, it is closed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from harness_tui.cli.common import warn_problems
from harness_tui.config.loader import Flags
from harness_tui.workspace.workspace import OpenOptions, Workspace


@asynccontextmanager
async def opened(root: Path, flags: Flags | None = None) -> AsyncGenerator[Workspace]:
    """Open the workspace of ``root`` with no server started, and close it at the end."""
    workspace = await Workspace.open(root, OpenOptions(flags=flags or Flags(), start_servers=False))
    try:
        warn_problems(workspace.loaded.problems)
        yield workspace
    finally:
        await workspace.close()
