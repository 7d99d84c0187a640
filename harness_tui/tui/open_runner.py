"""The command palette and jump mode: what they offer, and what choosing does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Final

from harness_tui.core import intents as it
from harness_tui.library.own_commands import find_own
from harness_tui.tui.host import Host
from harness_tui.tui.palette_entries import Entry, entries_at_once, entries_later
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.jump import JumpScreen, Target
from harness_tui.tui.screens.palette import CommandPalette

if TYPE_CHECKING:
    from textual.widget import Widget

    from harness_tui.tui.app import HarnessApp
    from harness_tui.tui.settings_runner import SettingsRunner

Own = Callable[[str], Awaitable[None]]
"""Runs an own command without arguments."""


_MOST_BLOCKS: Final = 14
_MOST_ROWS: Final = 10


class OpenRunner:
    """Opens both over ``app``; ``run_own`` runs an own command by its name."""

    def __init__(self, app: HarnessApp, host: Host, settings: SettingsRunner, run_own: Own) -> None:
        self._app, self._host, self._settings, self._run_own = app, host, settings, run_own

    async def open(self, what: str) -> None:
        """Open one of them; over another screen neither is."""
        if len(self._app.screen_stack) > 1:
            return
        if what == "jump":
            self._jump()
            return
        known = entries_at_once(self._settings.keymap.actions(), self._host)
        screen = CommandPalette(self._app.palette, known, lambda: entries_later(self._host, self._settings))
        chosen = await self._app.push_screen_wait(screen)
        if chosen is not None:
            await self._host.guarded(self._do(screen.entries[int(chosen)]))

    async def _do(self, entry: Entry) -> None:
        value = entry.value
        match entry.kind:
            case "action":
                await self._app.run_action(value)
            case "own":
                own = find_own(value)
                if own is not None and own.hint.startswith(("tool", "<")):
                    self._app.insert_prompt(f"/{value} ")
                else:
                    await self._run_own(value)
            case "write":
                self._app.insert_prompt(value)
            case "session":
                await self._app.use_session(self._host.backend.resume(value))
            case "model":
                await self._host.send(it.SetSession(model=value))
            case "agent":
                await self._host.send(it.SetSession(agent=value))
            case "theme":
                await self._settings.choose_theme(value)
            case "setting":
                self._settings.show_settings(value)

    # --- jump mode -----------------------------------------------------------------------------------

    def _jump(self) -> None:
        targets = [target for widget in self._app.screen.focus_chain for target in self._targets_of(widget)]
        if targets:
            self._app.push_screen(JumpScreen(targets))

    def _targets_of(self, widget: Widget) -> list[Target]:
        region = widget.content_region
        if not region.width or not region.height:
            return []
        view = self._app.transcript
        if widget is view:
            blocks = view.blocks_in_sight()[-_MOST_BLOCKS:]
            return [Target(region.x, region.y + row, partial(view.mark_block, block)) for row, block in blocks]
        if isinstance(widget, RowList):
            rows = widget.rows_in_sight()[:_MOST_ROWS]
            return [Target(region.x, region.y + row, partial(_go_to_row, widget, key)) for row, key in rows]
        return [Target(region.x, region.y, widget.focus)]


def _go_to_row(rows: RowList, key: Hashable) -> None:
    rows.focus()
    rows.mark(key)
