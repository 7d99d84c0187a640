"""The tab Diagnostics and the commands /lsp and /mcp, over a fake workspace."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from fakes.fake_backend import FakeBackend
from fakes.tui_screen import screen_text, until

from harness_tui.core import events as ev
from harness_tui.core.event_parts import ServerDetail
from harness_tui.core.values import DiagnosticItem


def item(severity: str, line: int, message: str) -> DiagnosticItem:
    return DiagnosticItem("src/a.py", line, 1, line, 2, severity, message)  # type: ignore[arg-type]


REPORT = ev.DiagnosticsReported(
    "src/a.py", "fresh", 9, ("ty",), (item("error", 7, "no such name"), item("warning", 3, "not used")), False
)


async def shown(app: Any, backend: FakeBackend) -> None:
    backend.session.publish(REPORT)
    app.show_panel("diagnostics")
    await until(lambda: "7:1 no such name" in screen_text(app) and "3:1 not used" in screen_text(app))


async def test_an_item_goes_into_the_prompt_and_so_does_its_file(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await shown(app, backend)
        await pilot.press("down", "enter")
        await until(lambda: app.prompt.text == "/fix-diagnostics src/a.py:7 no such name")
        app.prompt.set_text("")
        app.show_panel("diagnostics")
        await pilot.pause()
        await pilot.press("home", "enter")
        await until(lambda: app.prompt.text == "/fix-diagnostics src/a.py")


async def test_an_item_is_opened_at_its_line_in_the_editor(open_app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_app() as (app, pilot, backend):
        monkeypatch.setattr(app, "suspend", nullcontext)
        await shown(app, backend)
        await pilot.press("down", "o")
        await until(lambda: any(call.startswith("edit") for call in backend.calls))
        assert [call for call in backend.calls if call.startswith("edit")] == ["edit /srv/project/src/a.py 7"]
        assert app.prompt.text == ""


async def test_a_quick_fix_goes_into_the_prompt_as_a_call_and_a_file_has_none(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await shown(app, backend)
        await pilot.press("home", "x")
        assert app.prompt.text == ""
        await pilot.press("down", "x")
        await until(lambda: app.prompt.text == '/call quick_fix {"path": "src/a.py", "line": 7}')
        app.start_folder = Path("/srv/project/src")  # tools begin where the program was started
        app.prompt.set_text("")
        app.show_panel("diagnostics")
        await pilot.pause()
        await pilot.press("home", "down", "down", "x")
        await until(lambda: app.prompt.text == '/call quick_fix {"path": "/srv/project/src/a.py", "line": 3}')


async def test_what_is_shown_goes_from_all_to_errors_only_and_back(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await shown(app, backend)
        await pilot.press("f")
        await until(lambda: "errors and warnings" in screen_text(app))
        await pilot.press("f")
        await until(lambda: "errors only: 1 of lesser severity" in screen_text(app))
        assert "not used" not in screen_text(app)
        await pilot.press("f")
        await until(lambda: "not used" in screen_text(app))


async def test_the_messages_of_a_language_server_are_read_from_the_list_of_servers(open_app: Any) -> None:
    backend = FakeBackend(traces={"ty": "--- 10:00:00.000 → initialize #1 (9 bytes)\n{}\n"})
    async with open_app(backend) as (app, pilot, _):
        backend.session.publish(ev.ServerChanged("lsp", "ty", "ready", ServerDetail(pid=4)))
        app.show_panel("servers")
        await until(lambda: "✓ ty" in screen_text(app))
        await pilot.press("t")
        await until(lambda: "→ initialize #1" in screen_text(app))
        assert "lsp:ty: its last messages" in screen_text(app)
        assert "trace ty" in backend.calls


async def test_a_server_is_named_in_a_command(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        backend.session.publish(ev.ServerChanged("lsp", "ty", "ready", ServerDetail(pid=4)))
        for typed, called in (
            ("/lsp restart ty", "restart lsp ty"),
            ("/mcp restart time", "restart mcp time"),
            ("/lsp stop ty", "stop lsp:ty 4"),
            ("/lsp log ty", "output lsp:ty None"),
            ("/lsp trace ty", "trace ty"),
        ):
            app.prompt.set_text(typed)
            await pilot.press("enter")
            await until(lambda called=called: called in backend.calls)
            while len(app.screen_stack) > 1:
                await pilot.press("escape")


async def test_a_command_without_a_server_shows_the_panel_or_says_what_it_wants(open_app: Any) -> None:
    async with open_app(size=(110, 40)) as (app, pilot, _):
        for typed, said in (
            ("/lsp stop gopls", "lsp gopls does not run"),
            ("/mcp trace time", "/mcp trace time is not known"),
            ("/lsp restart", "/lsp restart is not known"),
            ("/lsp", "No diagnostics yet"),
            ("/mcp", "MCP servers"),
        ):
            app.prompt.focus()
            app.prompt.set_text(typed)
            await pilot.press("enter")
            await until(lambda said=said: said in screen_text(app))
