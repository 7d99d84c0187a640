"""Going back to before an earlier message: by Esc Esc or by name, what is offered, and that leaving changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.fake_backend import FakeTurn
from fakes.tui_screen import screen_text, until

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.core.messages import UserMessage

TURNS = (
    FakeTurn("run_3", "look at \x1b[31mit"),
    FakeTurn("run_2", "change it", (("a.py", 3, 1), ("b.py", 1, 0)), outside=True),
    FakeTurn("run_1", "first"),
)


def begun(session: Any) -> None:
    session.turn_rows = TURNS
    session.publish(ev.RunStarted("build", "replay/demo", "ask", UserMessage("first")), run="run_1")
    session.publish(ev.RunFinished("completed"), run="run_1")


@pytest.mark.parametrize(("key", "only"), [("enter", None), ("down", "messages"), ("files", "files")])
async def test_esc_twice_lists_the_messages_with_their_files_and_asks_what_goes_back(
    open_app: Any, key: str, only: Any
) -> None:
    async with open_app() as (app, pilot, backend):
        begun(backend.session)
        await until(lambda: "❯ first" in screen_text(app))
        await pilot.press("d", "escape", "escape")
        await until(lambda: "Go back to before" in screen_text(app))
        shown = screen_text(app)
        assert "look at it" in shown
        assert "a.py +3 -1, b.py +1 -0; what commands did stays" in shown
        await pilot.press("down", "enter")
        await until(lambda: "Before: change it" in screen_text(app))
        await pilot.press(*{"enter": (), "down": ("down",), "files": ("down", "down")}[key], "enter")
        await until(lambda: bool(backend.session.sent))
        assert backend.session.sent == [it.Undo("run_2", only)]
        assert app.prompt.text == "d"


async def test_where_no_file_was_changed_only_the_message_is_chosen(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        begun(backend.session)
        app.controller.submit("/rewind", "/rewind", steer=False)
        await until(lambda: "Go back to before" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: bool(backend.session.sent))
        assert backend.session.sent == [it.Undo("run_3")]


async def test_leaving_either_list_changes_nothing_and_one_esc_does_nothing(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        begun(backend.session)
        await until(lambda: "❯ first" in screen_text(app))
        await pilot.press("k", "escape")
        assert "Esc again" in "".join(note.message for note in app._notifications)
        await pilot.press("escape")
        await until(lambda: "Go back to before" in screen_text(app))
        await pilot.press("down", "enter")
        await until(lambda: "Before: change it" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: len(app.screen_stack) == 1)
        assert backend.session.sent == []
        assert app.prompt.text == "k"


async def test_esc_cancels_a_run_and_going_back_waits_for_its_end(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        begun(backend.session)
        backend.session.publish(ev.RunStarted("build", "replay/demo", "ask", UserMessage("on")), run="run_4")
        await until(lambda: "Esc cancels" in screen_text(app))
        await pilot.press("escape", "escape")
        await until(lambda: len(backend.session.sent) == 2)
        assert backend.session.sent == [it.Cancel(), it.Cancel()]
        app.controller.submit("/rewind", "/rewind", steer=False)
        await until(lambda: "a run goes on" in screen_text(app))
        assert len(app.screen_stack) == 1
