"""What configuration does to the screen: taken up at the start and at each change, and the screens that change it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from harness_tui.core.text import clean_for_display
from harness_tui.tui.appearance import find_theme, known_themes
from harness_tui.tui.host import Host
from harness_tui.tui.keymap import Keymap
from harness_tui.tui.lines import Line, wrap
from harness_tui.tui.screens.reader import Reader
from harness_tui.tui.themes import BUILT_IN, Theme, own_theme

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp

Run = Callable[[Coroutine[Any, Any, Any]], None]


class SettingsRunner:
    """Takes settings up for ``app``, and shows and changes them."""

    def __init__(self, app: HarnessApp, host: Host, run: Run) -> None:
        self._app = app
        self._host = host
        self._run = run
        self.keymap = Keymap(app)

    async def take_up(self) -> None:
        """Look and behave as it is configured; what cannot be is told. The next first frame is made from it."""
        access, look = self._host.backend.settings, self._app.appearance
        screen = access.screen
        look.use_ascii(screen.ascii)
        for name, text in self.keymap.use(screen.keys).items():
            self._host.tell("warning", f"tui.keys.{name}: {text}", "F1 lists actions and their keys")
        theme = find_theme(access.theme, await self.themes())
        if theme is None:
            self._host.tell("warning", f"there is no theme {access.theme!r}", "/theme shows those that there are")
            theme = BUILT_IN[0]
        look.use_theme(theme)
        for problem in (*theme.problems, look.refusal(theme)):
            if problem:
                self._host.tell("warning", f"theme {theme.name}: {problem}", theme.source or None)
        values = look.start_values(ascii_only=screen.ascii, mouse=screen.mouse)
        plain = values["theme"] == BUILT_IN[0].name and not screen.ascii and screen.mouse
        kept = await self._host.backend.screen_values()
        if kept.get("look") != (None if plain else values):  # most people need no file for the first frame
            await self._host.backend.keep_screen_value("look", None if plain else values)

    async def command(self, name: str, argument: str) -> None:
        """Run one of the own commands about the screen."""
        match name:
            case "theme":
                await self.choose_theme(argument)
            case "config":
                self.show_settings(argument)
            case _:
                await self.show_log()

    async def themes(self) -> list[Theme]:
        """Return every theme that there is."""
        files = await self._host.backend.settings.themes()
        own = [own_theme(file.name, file.base, file.colors, file.path, file.problem) for file in files]
        return known_themes(own)

    async def choose_theme(self, name: str) -> None:
        """Take the theme of a name, or the one that the person picks; it is kept in their own file."""
        themes = await self.themes()
        look = self._app.appearance
        if not name:
            from harness_tui.tui.screens.themes import ThemePicker

            picker = ThemePicker(self._app.palette, themes, look.theme, look.use_theme, look.refusal)
            picked = await self._app.push_screen_wait(picker)
            if picked is None:
                return
            name = picked
        if find_theme(name, themes) is None:
            self._host.tell("warning", f"there is no theme {name!r}", "/theme shows those that there are")
            return
        await self._host.guarded(self._host.backend.settings.change("theme", name, project=False))
        await self._host.guarded(self.take_up())

    def show_settings(self, wanted: str) -> None:
        """Show every setting."""
        from harness_tui.tui.screens.settings import SettingsScreen

        def changed(key: str) -> None:
            if key == "theme" or key.startswith("tui."):
                self._run(self._host.guarded(self.take_up()))

        self._app.push_screen(SettingsScreen(self._app.palette, self._host.backend, changed, wanted))

    async def show_log(self) -> None:
        """Show the program's own log, from its end."""
        text = await self._host.backend.settings.log() or "Nothing was written to the log."

        def at(width: int) -> list[Line]:
            rows = text.rstrip("\n").split("\n")
            return [line for row in rows for line in wrap([(clean_for_display(row), "")], width)]

        self._app.push_screen(Reader(self._app.palette, "Log of the program", at, at_end=True))
