"""Keys in the side panel: those that it does not use go to the prompt."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.tui_screen import screen_text, until


@pytest.mark.parametrize(("tabs", "hint"), [(0, "f filter"), (1, "r start")])
async def test_what_is_typed_in_a_list_that_is_not_searched_goes_to_the_prompt(
    open_app: Any, tabs: int, hint: str
) -> None:
    async with open_app() as (app, pilot, _):
        await pilot.press("f2", *["right"] * tabs)
        await until(lambda: hint in screen_text(app))
        await pilot.press("j", "slash", "h", "e")
        await until(lambda: app.prompt.text == "/he")
        assert app.focused is app.prompt


async def test_what_is_typed_in_the_list_of_skills_searches_it(open_app: Any) -> None:
    async with open_app() as (app, pilot, _):
        await pilot.press("f2", "right", "right")
        await until(lambda: "type to filter" in screen_text(app))
        await pilot.press("k", "r", "x")
        await until(lambda: "filter: krx" in screen_text(app))
        assert app.prompt.text == ""
