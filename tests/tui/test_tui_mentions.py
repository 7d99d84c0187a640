"""Mentions in the prompt: where they are offered, what is written, and what keys that come too early do."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes.fake_backend import FakeBackend
from fakes.tui_screen import screen_text, until
from hypothesis import example, given
from hypothesis import strategies as st

from harness_tui.core import intents as it
from harness_tui.library.lexer import find_mentions
from harness_tui.library.typed_mention import mention_being_typed


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("see @", ""),
        ("see @src/ap", "src/ap"),
        ('see @"my no', "my no"),
        ("(@a", "a"),
        ("first\n@b", "b"),
        ("/review @a", "a"),
        ("//no command @a", "a"),
        ("@a and @b.py", "b.py"),
        ("mail@host", None),
        ("say `@a", None),
        ("say `@a` @b", "b"),
        ("@src/@types/a", "src/@types/a"),
        ("say `code @a` and", None),
        ("```\n@a", None),
        ("@a b", None),
        ("@@ -1 +1 @@", None),
        ("!cat @a", None),
        ("/model @a", None),
        ('@"a" b', None),
        ("", None),
        ("/@", None),
        ("/ @a", "a"),
    ],
)
def test_a_mention_is_completed_only_where_it_would_attach(text: str, typed: str | None) -> None:
    before, _, line = text.rpartition("\n")
    found = mention_being_typed(before + "\n" if "\n" in text else "", line, len(line))
    assert (found.typed if found is not None else None) == typed


@given(st.text('@"a` ./\n(-,é', max_size=14))
@example("@a@b")
@example("@/@@")
@example("see @src/@types/a")
def test_what_is_offered_is_what_the_message_will_mention(text: str) -> None:
    before, end, line = text.rpartition("\n")
    found = mention_being_typed(before + end, line, len(line))
    nobody_types = "\U0010fffd"
    mentioned = find_mentions(f"{text}{nobody_types}")[-1:]
    reaches_the_end = bool(mentioned) and mentioned[0].endswith(nobody_types)
    if '"' in text or text.count("@") > 8:  # one that is not closed yet is completed as well
        return
    assert (found is not None) is reaches_the_end
    assert found is None or mentioned == [f"{found.typed}{nobody_types}"]


def test_agents_are_offered_only_in_messages_of_ones_own() -> None:
    for text, agents in (("@", True), ("/review @", False), ("//x @", True)):
        found = mention_being_typed("", text, len(text))
        assert found is not None
        assert found.agents is agents


def test_what_stands_behind_the_cursor_belongs_to_the_mention() -> None:
    found = mention_being_typed("", "see @src/app.py now", 8)
    assert found is not None
    assert (found.typed, found.start, found.end) == ("src", 4, 15)
    quoted = mention_being_typed("", 'see @"my notes.txt" now', 8)
    assert quoted is not None
    assert (quoted.typed, quoted.start, quoted.end) == ("my", 4, 19)


async def typed(pilot: Any, text: str) -> None:
    names = {"@": "at", "/": "slash", " ": "space", '"': "quotation_mark", ".": "full_stop"}
    await pilot.press(*(names.get(character, character) for character in text))


async def test_a_file_is_chosen_and_written_as_it_must_be(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await typed(pilot, "see @not")
        await until(lambda: "my notes.txt" in screen_text(app))
        await pilot.press("enter")
        assert app.prompt.text == 'see @"my notes.txt" '
        await typed(pilot, "@src/a")
        await until(lambda: "src/app.py" in screen_text(app))
        await pilot.press("tab")
        assert app.prompt.text == 'see @"my notes.txt" @src/app.py '
        await pilot.press("enter")
        await until(lambda: bool(backend.session.sent))
        assert backend.session.sent == [it.Submit('see @"my notes.txt" @src/app.py ')]


async def test_tab_goes_into_a_folder_and_enter_takes_it(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await typed(pilot, "@sr")
        await until(lambda: "src/" in screen_text(app))
        await pilot.press("tab")
        assert app.prompt.text == "@src/"
        await until(lambda: "find src/" in backend.calls)
        await until(lambda: "src/app.py" in screen_text(app))
        await pilot.press("escape")
        assert app.prompt.text == "@src/"
        assert "src/app.py" not in screen_text(app)
        await pilot.press("enter")
        await until(lambda: backend.session.sent == [it.Submit("@src/")])


async def test_a_key_that_comes_before_the_files_waits_for_them(open_app: Any) -> None:
    backend = FakeBackend()
    async with open_app(backend) as (app, pilot, _):
        await typed(pilot, "@R")
        await until(lambda: "README.md" in screen_text(app))
        backend.prompt.gate = asyncio.Event()
        await typed(pilot, "EA")
        await pilot.press("enter")
        assert app.prompt.text == "@REA"
        backend.prompt.gate.set()
        await until(lambda: app.prompt.text == "@README.md ")
        assert backend.session.sent == []


async def test_a_mention_that_stands_there_whole_is_sent_by_enter(open_app: Any) -> None:
    async with open_app() as (_app, pilot, backend):
        await typed(pilot, "@README.md")
        await until(lambda: "find README.md" in backend.calls)
        await pilot.press("enter")
        await until(lambda: backend.session.sent == [it.Submit("@README.md")])


async def test_agents_stand_first_and_are_not_offered_to_commands(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await typed(pilot, "@")
        await until(lambda: "Looks around" in screen_text(app))
        await pilot.press("enter")
        assert app.prompt.text == "@explore "
        app.prompt.set_text("/review ")
        await typed(pilot, "@")
        await until(lambda: "find  no agents" in backend.calls)


async def test_a_hostile_name_is_shown_literally(open_app: Any) -> None:
    backend = FakeBackend()
    backend.prompt.paths = ["[bold]x[/bold].md", "[@click=app.quit]q", "日本語 " * 30 + ".md"]
    async with open_app(backend, size=(60, 20)) as (app, pilot, _):
        await typed(pilot, "@")
        await until(lambda: "[bold]x[/bold].md" in screen_text(app))
        assert "[@click=app.quit]q" in screen_text(app)
        await pilot.press("down")
        await pilot.press("enter")
        assert app.prompt.text == "@[bold]x[/bold].md "
