"""Logins of MCP servers, from the prompt and from the tab Servers."""

from __future__ import annotations

from typing import Any

from fakes.fake_backend import FakeBackend
from fakes.tui_screen import screen_text, until

from harness_tui.core import events as ev
from harness_tui.core.event_parts import ServerDetail


async def test_a_person_logs_in_and_out_by_a_command_and_is_told_what_came_of_it(open_app: Any) -> None:
    async with open_app(FakeBackend()) as (app, pilot, backend):
        for word, told in (("login", "logged in to docs"), ("logout", "forgot the login of docs")):
            app.prompt.text = f"/mcp {word} docs"
            await pilot.press("enter")
            await until(lambda told=told: told in screen_text(app))
        assert [call for call in backend.calls if call.startswith("log ")] == ["log in docs", "log out docs"]


async def test_a_server_that_wants_a_login_says_what_to_press(open_app: Any) -> None:
    async with open_app(FakeBackend()) as (app, pilot, backend):
        backend.session.publish(ev.ServerChanged("mcp", "docs", "needs_auth", ServerDetail(), "wants a login"))
        backend.session.publish(ev.ServerChanged("mcp", "time", "ready", ServerDetail()))
        app.prompt.text = "/mcp"
        await pilot.press("enter")
        await until(lambda: "press r to log in" in screen_text(app))
        assert screen_text(app).count("press r to log in") == 1
