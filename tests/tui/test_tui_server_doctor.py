"""``/mcp doctor`` and ``/mcp add`` in the shell."""

from __future__ import annotations

from typing import Any

from fakes.fake_backend import FakeBackend
from fakes.tui_screen import screen_text, until


async def test_what_is_wrong_with_a_server_is_shown_with_what_to_do(open_app: Any) -> None:
    async with open_app(FakeBackend()) as (app, pilot, backend):
        app.prompt.set_text("/mcp doctor docs")
        await pilot.press("enter")
        await until(lambda: "start the server there" in screen_text(app))
        assert "docs: failed: cannot be reached: Connection refused" in screen_text(app)
        assert "  do   start the server there" in screen_text(app), "what to do stands below the server"
        assert "diagnose docs" in backend.calls
        await pilot.press("escape")
        assert len(app.screen_stack) == 1


async def test_how_a_server_is_added_is_told(open_app: Any) -> None:
    async with open_app(FakeBackend(), size=(120, 30)) as (app, pilot, _):
        app.prompt.set_text("/mcp add")
        await pilot.press("enter")
        await until(lambda: "harness mcp add NAME -- PROGRAM" in screen_text(app))
