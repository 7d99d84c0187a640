"""The settings screen, the theme picker and the log: what they show, and what choosing does."""

from __future__ import annotations

from typing import Any

from fakes.fake_backend import FakeBackend
from fakes.fake_settings import FakeScreen, FakeSetting, FakeSettings, FakeThemeFile
from fakes.tui_screen import screen_text, until
from rich.color import ColorSystem

ROWS = (
    FakeSetting("mode", "choice", "What new sessions ask", ("ask", "plan"), None, "ask", "/c.yaml:2", "used"),
    FakeSetting("lsp.wait_ms", "whole", "How long an edit waits", default=1500),
    FakeSetting("tui.ascii", "switch", "Letters only", default=False),
    FakeSetting("mcp", "file", "Servers"),
)


async def test_settings_show_value_default_help_and_place(open_app: Any) -> None:
    async with open_app(FakeBackend(settings=FakeSettings(settings=ROWS))) as (app, pilot, _):
        app.controller.submit("/config", "/config", steer=False)
        await until(lambda: "lsp.wait_ms" in screen_text(app))
        text = screen_text(app)
        assert "1500 (default)" in text
        assert "What new sessions ask · /c.yaml:2" in text
        assert "in the file" in text
        assert "Tab: in your own file" in text
        for key in "letters":
            await pilot.press(key)
        await until(lambda: "lsp.wait_ms" not in screen_text(app))
        assert "tui.ascii" in screen_text(app)


async def test_a_switch_turns_a_number_is_typed_and_a_choice_is_chosen(open_app: Any) -> None:
    backend = FakeBackend(settings=FakeSettings(settings=ROWS))
    async with open_app(backend) as (app, pilot, _):
        app.controller.submit("/config", "/config", steer=False)
        await until(lambda: "lsp.wait_ms" in screen_text(app))
        await pilot.press("enter")  # mode
        await until(lambda: len(app.screen_stack) == 3)
        await pilot.press("down", "enter")
        await until(lambda: backend.settings.changes == [("mode", "plan", False)])
        await until(lambda: "mode is plan now" in screen_text(app))
        await pilot.press("down", "tab", "enter", *"900", "enter")
        await until(lambda: ("lsp.wait_ms", "900", True) in backend.settings.changes)
        await pilot.press("down", "enter")
        await until(lambda: ("tui.ascii", "true", True) in backend.settings.changes)
        await pilot.press("delete")
        await until(lambda: ("tui.ascii", "", True) in backend.settings.changes)


async def test_what_cannot_be_written_is_told_and_the_screen_stays(open_app: Any) -> None:
    async with open_app(FakeBackend(settings=FakeSettings(settings=ROWS))) as (app, pilot, backend):
        app.controller.submit("/config wait", "/config wait", steer=False)
        await until(lambda: "lsp.wait_ms" in screen_text(app))
        await pilot.press("enter", *"wrong", "enter")
        await until(lambda: "expected something else, got 'wrong'" in screen_text(app))
        assert backend.settings.changes == []
        await pilot.press("escape")
        await until(lambda: len(app.screen_stack) == 1)


async def test_the_screen_shows_the_marked_theme_and_esc_brings_the_present_one_back(open_app: Any) -> None:
    own = FakeThemeFile("sea", colors={"accent": "#00ffff", "error": "nonsense"})
    backend = FakeBackend(settings=FakeSettings(theme_files=(own,)))
    async with open_app(backend, size=(120, 30)) as (app, pilot, _):
        app.console._color_system = ColorSystem.TRUECOLOR
        app.controller.submit("/theme", "/theme", steer=False)
        await until(lambda: "harness-light" in screen_text(app))
        await pilot.pause()
        assert "colors.error: 'nonsense' is no colour like #6fc8d8" in screen_text(app)
        await pilot.press("down", "down")
        await until(lambda: app.theme == "harness-light")
        await pilot.press("escape")
        await until(lambda: app.theme == "ansi-dark")
        assert backend.settings.changes == []
        app.controller.submit("/theme", "/theme", steer=False)
        await until(lambda: len(app.screen_stack) == 2)
        await pilot.pause()
        await pilot.press("end", "enter")
        await until(lambda: backend.settings.changes == [("theme", "sea", False)])
        await until(lambda: app.palette.style("accent").color.name == "#00ffff")
        await until(lambda: "look" in backend.screen)
        assert backend.screen["look"]["colors"]["accent"] == "#00ffff"


async def test_the_next_first_frame_looks_as_the_last_one(open_app: Any) -> None:
    async with open_app() as (app, pilot, _):
        app.console._color_system = ColorSystem.TRUECOLOR
        app.appearance.use_start_values({"look": {"theme": "harness-dark", "colors": {"x": "y"}, "ascii": True}})
        await pilot.pause()
        assert app.theme == "harness-dark"
        await until(lambda: screen_text(app).isascii())
        for wrong in ({}, {"look": 3}, {"look": {"theme": 3, "colors": []}}):
            app.appearance.use_start_values(wrong)
        assert app.theme == "harness-dark"


async def test_a_theme_that_is_not_there_is_told_and_the_terminals_own_is_used(open_app: Any) -> None:
    settings = FakeSettings(theme="gone", screen=FakeScreen(ascii=True))
    async with open_app(FakeBackend(settings=settings)) as (app, _, backend):
        await until(lambda: "there is no theme 'gone'" in screen_text(app))
        assert app.theme == "ansi-dark"
        await until(lambda: backend.screen.get("look", {}).get("ascii") is True)
        assert screen_text(app).isascii()


async def test_the_log_is_shown_from_its_end_and_cleaned(open_app: Any) -> None:
    settings = FakeSettings(log_text="\n".join(f"row {number}" for number in range(100)) + "\n\x1b[31mred")
    async with open_app(FakeBackend(settings=settings)) as (app, pilot, _):
        app.controller.submit("/logs", "/logs", steer=False)
        await until(lambda: "row 99" in screen_text(app))
        assert "\x1b" not in screen_text(app)
        await pilot.press("escape")
