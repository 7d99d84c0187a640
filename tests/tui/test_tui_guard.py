"""A fault of the program itself: what it costs, and what is left of the program that it ends."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from fakes.tui_screen import screen_text, until
from textual import events
from textual.message_pump import MessagePump
from textual.widget import Widget

from harness_tui.tui import guard
from harness_tui.tui.prompt.field import PromptField
from harness_tui.tui.status import StatusLine


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put back what the guard replaces."""
    for owner, name in ((MessagePump, "_dispatch_message"), (Widget, "render_lines")):
        monkeypatch.setattr(owner, name, owner.__dict__[name])


async def test_a_widget_that_fails_at_a_key_says_so_and_takes_the_next_one(
    guarded: None, open_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_app() as (app, _, _):
        guard.install(app)

        def failing(self: object, event: events.Key) -> bool:
            if event.key == "x":
                raise RuntimeError("x is [red]broken[/")
            return False

        monkeypatch.setattr(PromptField, "handle_key_first", failing)
        for key in "axb":
            app.post_message(events.Key(key, key))
        await until(lambda: app.prompt.text == "ab")
        await until(lambda: "x is [red]broken[/" in screen_text(app))
        assert app.is_running


async def test_a_widget_that_cannot_be_drawn_says_so_in_its_place(
    guarded: None, open_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_app() as (app, _, _):
        guard.install(app)

        def failing(self: object, y: int) -> None:
            raise ZeroDivisionError("no room")

        monkeypatch.setattr(StatusLine, "render_line", failing)
        app.status.refresh()
        await until(lambda: "StatusLine cannot be drawn: ZeroDivisionError: no room" in screen_text(app))
        app.post_message(events.Key("a", "a"))
        await until(lambda: app.prompt.text == "a")


async def test_faults_without_end_end_the_program(
    guarded: None, open_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "FAULTS", 3)

    def failing(self: object, event: events.Key) -> bool:
        raise RuntimeError("always")

    async with open_app() as (app, _, _):
        guarding = guard.install(app)
        monkeypatch.setattr(PromptField, "handle_key_first", failing)
        for _ in range(4):
            app.post_message(events.Key("a", "a"))
        await until(lambda: guarding.fatal is not None)
        assert str(guarding.fatal) == "always"
        assert app.return_code == 1


def test_a_report_is_private_tells_no_secret_and_only_the_latest_are_kept(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"fault-20200101-0000{number:02d}-1.txt").write_text("old")
    try:
        raise ValueError("token sk-abcdefghijklmnopqrstuvwxyz")
    except ValueError as error:
        path = guard.write_report(error, tmp_path)
        said = guard.short_report(error, path)
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    assert "ValueError" in text
    assert "test_tui_guard.py" in text
    assert "abcdefghij" not in text
    assert len(list(tmp_path.glob("fault-*.txt"))) == 10
    assert str(path) in said
    assert len(said.splitlines()) == 3
