"""What the own slash commands do. Imported with the host, after the first frame."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

from harness_tui.core import intents as it
from harness_tui.core.text import clean_for_display
from harness_tui.library.own_commands import MODES, OwnCommand, find_own
from harness_tui.tui.help import help_lines
from harness_tui.tui.host import Host
from harness_tui.tui.lines import Line, ListRow, two_ends
from harness_tui.tui.screens.models import ModelPicker
from harness_tui.tui.screens.picker import Picker
from harness_tui.tui.screens.reader import Reader
from harness_tui.tui.server_commands import server_command
from harness_tui.tui.session_runner import SessionRunner
from harness_tui.tui.settings_runner import SettingsRunner

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp
    from harness_tui.tui.panels.library import View

_VALUES: Final = frozenset({"agent", "call", "copy", "export", "mode", "model", "theme"})
_ASK_AGAIN_S: Final = 5.0


class SlashRunner:
    """Runs own commands for the app."""

    def __init__(
        self,
        app: HarnessApp,
        host: Host,
        refresh_library: Callable[[], Awaitable[None]],
        settings: SettingsRunner,
    ) -> None:
        self._app = app
        self._host = host
        self._refresh_library = refresh_library
        self._asked: dict[str, float] = {}
        self._sessions = SessionRunner(app, host, self._pick)
        self._settings = settings

    async def run(self, command: OwnCommand, arguments: str) -> None:
        """Run one command."""
        if command.missing:
            self._host.tell("warning", f"/{command.name} is {command.missing}")
            return
        if arguments and not command.hint:  # rather the beginning of a text: nothing is closed or started for it
            text = f"/{command.name} takes nothing behind it, and nothing was done"
            self._host.tell("warning", text, "leave the rest out, or begin with // to send it as a message")
            self._app.insert_prompt(f"/{command.name} {arguments}")
            return
        match command.name:
            case "help":
                self.show_help()
            case "quit":
                self._app.leave()
            case "new":
                await self._app.use_session(self._host.backend.new_session())
            case "mcp" | "lsp":
                await server_command(self._app, self._host, command.name, arguments)
            case "skills" | "commands":
                await self._show_library(command.name, arguments)
            case "doctor":
                await self._show_library("problems", arguments)
            case "ps":
                self._app.show_panel("processes")
            case "editor":
                self._app.want_editor()
            case "trust":
                await self._app.ask_trust(asked=True)
            case _:
                await self._run_with_arguments(command.name, arguments)

    async def run_named(self, name: str) -> None:
        """Run an own command by its name, without arguments."""
        own = find_own(name)
        if own is not None:
            await self.run(own, "")

    async def _run_with_arguments(self, name: str, arguments: str) -> None:
        match name:
            case "resume" | "fork" | "export":
                await self._sessions.run(name, arguments)
            case "model" | "agent" | "mode":
                await {"model": self._set_model, "agent": self._set_agent, "mode": self._set_mode}[name](arguments)
            case "theme" | "config" | "logs":
                await self._settings.command(name, arguments)
            case "call":
                await self._call(arguments)
            case "compact":
                await self._host.send(it.Compact(arguments or None))
            case "context":
                self._app.show_panel("context")
            case "undo":
                await self._host.send(it.Undo(arguments or None))
            case "redo":
                await self._host.send(it.Redo())
            case "permissions":
                await self._show_permissions(arguments)
            case "copy" | "find" | "rewind" if self._app.reading is not None:
                await self._app.reading.command(name, arguments)
            case _:
                self._host.tell("warning", f"/{name} does nothing here")

    # --- screens -------------------------------------------------------------------------------------

    def show_help(self) -> None:
        """Show keys and commands."""
        actions = self._settings.keymap.actions()
        self._app.push_screen(Reader(self._app.palette, "Help", lambda width: help_lines(actions, width)))

    async def _pick(self, title: str, rows: Sequence[tuple[str, str, str]], empty: str) -> str | None:
        """Let the person choose one of ``(key, left, right)``."""

        def at(width: int) -> list[ListRow]:
            return [ListRow((_two(left, right, width),), key) for key, left, right in rows]

        return await self._app.push_screen_wait(Picker(self._app.palette, title, at, empty=empty))

    async def _show_library(self, view: View, arguments: str) -> None:
        """Show commands, skills or what is wrong with files; what is chosen there goes into the prompt."""
        from harness_tui.tui.screens.library import LibraryScreen

        screen = LibraryScreen(self._app.palette, self._host, view, self._refresh_library, wanted=arguments)
        chosen = await self._app.push_screen_wait(screen)
        if chosen is not None:
            self._app.insert_prompt(chosen)

    # --- values of own commands ----------------------------------------------------------------------

    def has_values(self, name: str) -> bool:
        """Tell whether it is worth asking what can stand behind ``/name``: it takes a value, nobody asked just now."""
        now = time.monotonic()
        if name not in _VALUES or now - self._asked.get(name, -_ASK_AGAIN_S) < _ASK_AGAIN_S:
            return False
        self._asked[name] = now
        return True

    async def values(self, name: str) -> Sequence[tuple[str, str]]:
        """Return what can stand behind ``/name``, and what is said of each."""
        backend = self._host.backend
        match name:
            case "agent":
                return [(agent.name, agent.description) for agent in await backend.agents()]
            case "model":
                models = [model for model in await backend.models() if model.available]
                return [(model.name, ", ".join(model.aliases)) for model in models if not model.name.endswith("/*")]
            case "call":
                return [(tool, "") for tool in await backend.tools()]
            case "copy":
                return [("answer", "the last answer"), ("code", "its last code block"), ("block", "what is marked")]
            case "theme":
                return [(theme.name, theme.about) for theme in await self._settings.themes()]
            case "export":
                return [("md", "Markdown"), ("json", "every event"), ("html", "a page")]
            case _:
                return MODES

    async def _show_permissions(self, arguments: str) -> None:
        from harness_tui.tui.screens.permissions import PermissionsScreen

        word, _, call = arguments.partition(" ")
        screen = PermissionsScreen(self._app.palette, self._host.backend, explain=call if word == "explain" else None)
        if word not in ("", "explain"):
            self._host.tell(
                "warning", f"/permissions {word} is not known", "write /permissions explain bash git status"
            )
            return
        self._app.push_screen(screen)

    # --- session -------------------------------------------------------------------------------------

    async def _set_model(self, name: str) -> None:
        if not name:
            picker = ModelPicker(self._app.palette, self._host.backend, self._host.presenter.state.model)
            name = await self._app.push_screen_wait(picker) or ""
        if name.endswith("/*"):
            self._app.insert_prompt(f"/model {name.removesuffix('*')}")
        elif name:
            await self._host.send(it.SetSession(model=name))

    async def _set_agent(self, name: str) -> None:
        if not name:
            agents = await self._host.backend.agents()
            rows = [(agent.name, agent.name, agent.description) for agent in agents]
            name = await self._pick("Choose the agent", rows, "No agent.") or ""
        if name:
            await self._host.send(it.SetSession(agent=name))

    async def _set_mode(self, name: str) -> None:
        if not name:
            name = await self._pick("Choose the mode", [(m, m, about) for m, about in MODES], "") or ""
        if name:
            await self._host.send(it.SetSession(mode=name))

    async def hand_over(self) -> None:
        """Let the agent build carry out the plan."""
        await self._host.send(it.HandOver())

    async def next_agent(self) -> None:
        """Go to the next agent."""
        names = [agent.name for agent in await self._host.backend.agents()]
        present = self._host.presenter.state.agent
        place = names.index(present) if present in names else -1
        if names:
            await self._host.send(it.SetSession(agent=names[(place + 1) % len(names)]))

    async def next_mode(self) -> None:
        """Go to the next mode."""
        names = [name for name, _ in MODES]
        present = self._host.presenter.state.mode
        place = names.index(present) if present in names else -1
        await self._host.send(it.SetSession(mode=names[(place + 1) % len(names)]))

    async def _call(self, arguments: str) -> None:
        tool, _, text = arguments.partition(" ")
        if not tool:
            tools = await self._host.backend.tools()
            picked = await self._pick("Call a tool", [(name, name, "") for name in tools], "No tools.")
            if picked is not None:
                self._app.insert_prompt(f"/call {picked} {{}}")
            return
        try:
            data = json.loads(text.strip() or "{}")
        except ValueError as error:
            self._host.tell("error", f"the arguments are no JSON: {error}", 'write /call tool {"name": "value"}')
            self._app.insert_prompt(f"/call {arguments}")
            return
        if not isinstance(data, dict):
            self._host.tell("error", "the arguments must be a JSON object", 'write /call tool {"name": "value"}')
            return
        await self._host.send(it.CallTool(tool, data))


def _two(left: str, right: str, width: int) -> Line:
    left, right = clean_for_display(left, one_line=True), clean_for_display(right, one_line=True)
    return two_ends(((f" {left}", "bold"),), ((f"{right} ", "muted"),), width)
