"""The command palette and jump mode: what they offer, and that choosing does it."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.fake_backend import FakeBackend, FakeCommand, FakeNamed, FakeSessionRow
from fakes.fake_settings import FakeSetting, FakeSettings
from fakes.tui_screen import screen_text, until

from harness_tui.core import intents as it
from harness_tui.library.own_commands import OWN_COMMANDS
from harness_tui.tui.app import HarnessApp
from harness_tui.tui.keymap import actions
from harness_tui.tui.palette_entries import Entry, entries_at_once, rank


class Bare:
    offered = None


def test_every_action_and_every_own_command_is_in_the_palette_under_the_name_of_the_help() -> None:
    known = actions(HarnessApp.BINDINGS)
    entries = entries_at_once(known, Bare())  # pyright: ignore[reportArgumentType]
    names = {entry.name for entry in entries}
    assert {action.text for action in known if action.binding} <= names
    assert {f"/{own.name}" for own in OWN_COMMANDS if not own.missing} <= names


def test_beginnings_come_before_parts_and_parts_before_likenesses() -> None:
    entries = [Entry("own", name, name) for name in ("remodel", "/model", "modal", "other")]
    assert [entry.name for entry in rank("model", entries)] == ["/model", "remodel", "modal"]
    assert rank("", entries) == entries
    assert rank("zzzz", entries) == []


@pytest.mark.parametrize(
    ("typed", "sent"),
    [("lab/mini", it.SetSession(model="lab/mini")), ("agent reads", it.SetSession(agent="plan"))],
)
async def test_choosing_a_model_or_an_agent_takes_it(open_app: Any, typed: str, sent: it.Intent) -> None:
    backend = FakeBackend(model_rows=(FakeNamed("lab/mini"),))
    async with open_app(backend) as (app, pilot, _):
        if isinstance(sent, it.SetSession) and sent.agent:
            agents = await backend.agents()
            typed, sent = f"agent: {agents[-1].description}", it.SetSession(agent=agents[-1].name)
        await pilot.press("ctrl+p")
        await until(lambda: "Everything that can be done" in screen_text(app))
        await pilot.pause()
        for character in typed:
            await pilot.press("space" if character == " " else character)
        await pilot.press("enter")
        await until(lambda: sent in backend.session.sent)


async def test_an_action_a_command_a_setting_and_a_session_are_found_and_done(open_app: Any) -> None:
    rows = (FakeSessionRow("ses_9", "Mending the pump", messages=4),)
    backend = FakeBackend(
        session_rows=rows,
        command_rows=(FakeCommand("deploy", "Ship it"),),
        settings=FakeSettings(settings=(FakeSetting("lsp.wait_ms", "whole", default=1500),)),
    )
    async with open_app(backend) as (app, pilot, _):

        async def choose(text: str) -> None:
            await until(lambda: len(app.screen_stack) == 1)
            await pilot.press("ctrl+p")
            await until(lambda: "Everything that can be done" in screen_text(app))
            await pilot.pause()
            for character in text:
                await pilot.press("space" if character == " " else character)
            await pilot.press("enter")

        await choose("side panel")
        await until(lambda: bool(app.query("SidePanel")))
        await until(lambda: app.controller is not None)
        await choose("deploy")
        await until(lambda: app.prompt.text == "/deploy ")
        await choose("wait_ms")
        await until(lambda: "1500 (default)" in screen_text(app))
        await pilot.press("escape")
        await choose("mending")
        await until(lambda: "resume ses_9" in backend.calls)


async def test_a_letter_goes_to_what_is_in_sight_and_any_other_key_leaves(open_app: Any) -> None:
    async with open_app() as (app, pilot, _):
        await pilot.press("f2", "f9")
        await until(lambda: len(app.screen_stack) == 2)
        screen = app.screen
        letter = next(letter for letter, target in screen._targets.items() if target.go == app.prompt.focus)
        await pilot.press("escape")
        await until(lambda: len(app.screen_stack) == 1)
        assert app.focused is not app.prompt
        await pilot.press("f9")
        await until(lambda: len(app.screen_stack) == 2)
        assert f" {letter} " in screen_text(app)
        await pilot.press(letter)
        await until(lambda: app.focused is app.prompt)
        assert app.prompt.text == ""


async def test_a_letter_marks_the_block_that_it_stands_on(open_app: Any) -> None:
    async with open_app() as (app, pilot, _):
        app.controller._host.tell("info", "first words")
        app.controller._host.tell("info", "second words")
        await until(lambda: "second words" in screen_text(app))
        await pilot.press("f9")
        await until(lambda: len(app.screen_stack) == 2)
        blocks = dict(app.transcript.blocks_in_sight())
        target = next(iter(app.screen._targets.items()))
        row = target[1].y - app.transcript.content_region.y
        await pilot.press(target[0])
        await until(lambda: app.transcript.is_read)
        assert app.transcript.reader.marked is blocks[row]
