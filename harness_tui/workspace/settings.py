"""The configuration for a settings screen: each value with its place, changed in the person's file or the project's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness_tui.config.edit import remove_value, set_value
from harness_tui.config.loader import load
from harness_tui.config.setting_list import Setting, list_settings, read_setting
from harness_tui.config.settings import TuiSettings
from harness_tui.config.theme_files import ThemeFile, read_theme_files
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.paths import short
from harness_tui.workspace.workspace import Workspace

SCREEN: Final = ("theme", "tui")
"""What concerns the screen alone: a change of it starts nothing anew."""

LOG_BYTES: Final = 200_000


class WorkspaceSettings:
    """Reads and writes the settings of ``workspace``."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def screen(self) -> TuiSettings:
        """How the screen is to look and behave."""
        return self._workspace.loaded.settings.tui

    @property
    def theme(self) -> str | None:
        """The name of the theme that is configured."""
        return self._workspace.loaded.settings.theme

    async def themes(self) -> Sequence[ThemeFile]:
        """Return the person's own themes."""
        return await asyncio.to_thread(read_theme_files, self._workspace.places)

    async def rows(self) -> Sequence[Setting]:
        """Return every setting with its value and where that comes from."""
        return await asyncio.to_thread(list_settings, self._workspace.loaded.origins)

    def target(self, *, project: bool) -> str:
        """Return the file that is written to."""
        workspace = self._workspace
        return str(workspace.project.root / ".harness" / "config.yaml" if project else workspace.places.config_file)

    async def change(self, key: str, text: str, *, project: bool) -> str:
        """Set a setting to what ``text`` means, take it up, and return the file.

        Raises ``UsageError`` for what is no such value, ``HarnessError`` where it cannot be written or does not count.
        """
        setting = await self._find(key)
        value = read_setting(setting, text)
        workspace, path = self._workspace, Path(self.target(project=project))
        owner = workspace.project if project else None
        await asyncio.to_thread(set_value, path, setting.keys, value, places=workspace.places, project=owner)
        await self._take_up(setting)
        now = await self._find(key)
        if now.value != value and Path(now.source.rpartition(":")[0] or now.source) != path:
            mend = "change it there, or choose the other file" if now.source else "trust the folder first (/trust)"
            raise HarnessError(f"{key} is written, but does not count", where=now.source or str(path), mend=mend)
        return short(path)

    async def reset(self, key: str, *, project: bool) -> bool:
        """Take a setting out of the file; return whether it was there."""
        setting = await self._find(key)
        workspace = self._workspace
        path, owner = Path(self.target(project=project)), workspace.project if project else None
        gone = await asyncio.to_thread(remove_value, path, setting.keys, places=workspace.places, project=owner)
        if gone:
            await self._take_up(setting)
        return gone

    async def _find(self, key: str) -> Setting:
        found = next((row for row in await self.rows() if row.key == key), None)
        if found is None or found.kind == "file":
            raise UsageError(f"{key} is not set here", mend="write it in the file")
        return found

    async def _take_up(self, setting: Setting) -> None:
        workspace = self._workspace
        if setting.keys[0] not in SCREEN:
            await workspace.reload()
            return
        flags, environ = workspace.options.flags, workspace.options.environ
        workspace.loaded = await asyncio.to_thread(
            load, workspace.project, workspace.places, flags, environ, workspace.trust
        )

    async def log(self) -> str:
        """Return the end of the program's own log, empty where nothing was written."""
        return await asyncio.to_thread(_tail, self._workspace.places.logs / "harness.log")


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_BYTES))
            return file.read(LOG_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
