"""Looks up what stands in the prompt as it would be sent, once typing pauses, and shows it.

One look at a time: what was typed meanwhile is looked at next, and an answer is shown only while the line that it
belongs to stands in the prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from harness_tui.core.errors import HarnessError
from harness_tui.library.own_commands import find_own, split_command
from harness_tui.tui.prompt.preview import PreviewBox
from harness_tui.tui.prompt.preview_lines import preview_lines, preview_title
from harness_tui.tui.screens.reader import Reader

if TYPE_CHECKING:
    from textual.timer import Timer

    from harness_tui.tui.app import HarnessApp
    from harness_tui.tui.host import Host

PAUSE_S: Final = 0.15


class PreviewRunner:
    """Serves the prompt of ``app``. ``run`` starts work in a group, ``known`` tells whether a command is offered."""

    def __init__(
        self,
        app: HarnessApp,
        host: Host,
        run: Callable[[Coroutine[Any, Any, Any], str], None],
        known: Callable[[str], bool],
    ) -> None:
        self._app = app
        self._host = host
        self._run = run
        self._known = known
        self.box = PreviewBox(app.palette)
        self._wanted = ""
        self._dismissed = ""
        self._looking = False
        self._timer: Timer | None = None
        self._circumstances: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether a preview is shown."""
        return self.box.display

    def typed(self, text: str) -> None:
        """Take what stands in the prompt now; empty where there is nothing to preview."""
        name = _name(text)
        if name != self._dismissed:
            self._dismissed = ""
        whole = self._known(name) or any(character.isspace() for character in text)  # not the beginning of a path
        wanted = text if name and whole and not self._dismissed and self.box.rows else ""
        if wanted == self._wanted:
            return
        self._wanted = wanted
        if not wanted:
            self.box.close()
            return
        self.box.wait()
        if self._timer is None:
            self._timer = self._app.set_interval(PAUSE_S, self._look_soon, pause=True)
        self._timer.reset()
        self._timer.resume()

    def note(self, *circumstances: str) -> None:
        """Take what decides besides the line (session, agent, mode); where it changed the line is looked at again."""
        if circumstances != self._circumstances:
            self._circumstances, self._wanted = circumstances, ""
            self.typed(self._app.prompt.shown_to_previewer)

    def dismiss(self) -> None:
        """Close it, until another command is typed."""
        self._dismissed, self._wanted = _name(self._app.prompt.text), ""
        self.box.close()

    def show_all(self) -> None:
        """Show the whole preview of what stands in the prompt."""
        self._run(self._show_all(), "preview-all")

    def _look_soon(self) -> None:
        if self._timer is not None:
            self._timer.pause()
        if not self._looking and self._wanted:
            self._run(self._look(), "preview")

    async def _look(self) -> None:
        self._looking = True
        try:
            while wanted := self._wanted:
                try:
                    row = await self._host.backend.library.preview(self._app.prompt.expanded)
                except HarnessError:
                    self.box.close()  # the same error is told when it is sent
                    return
                if wanted != self._wanted:
                    continue
                if row.kind == "message" and row.error is None:
                    self.box.close()
                    return
                lines = await asyncio.to_thread(preview_lines, row, self.box.columns, rows=self.box.rows + 1)
                if wanted == self._wanted:
                    self.box.show_lines(preview_title(row, _name(wanted)), lines)
                    return
        finally:
            self._looking = False

    async def _show_all(self) -> None:
        text = self._app.prompt.expanded
        command = split_command(text)
        if not text.strip() or self._host.session is None:
            return
        if text.startswith("!") or (command is not None and find_own(command[0]) is not None):
            self._host.tell("info", "this is done here, and nothing of it is sent to a model")
            return
        row = await self._host.guarded(self._host.backend.library.preview(text))
        if row is not None:
            title = f"{preview_title(row, _name(text) if row.error else '')}: what would be sent"
            self._app.push_screen(Reader(self._app.palette, title, partial(preview_lines, row)))


def _name(text: str) -> str:
    """Return the name of the command that ``text`` is, empty for a message and for an own command."""
    command = split_command(text)
    return command[0] if command is not None and find_own(command[0]) is None else ""
