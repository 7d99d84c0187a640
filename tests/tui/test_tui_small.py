"""Terminals that are too small for anything, and what may not happen in them unseen."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.tui_screen import screen_text, until

from harness_tui.core import events as ev
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.intents import Answer
from harness_tui.tui.too_small import is_too_small


def test_twenty_columns_and_five_rows_are_enough() -> None:
    sizes = ((20, 5), (19, 5), (20, 4), (300, 100))
    assert [is_too_small(*size) for size in sizes] == [False, True, True, False]


@pytest.mark.parametrize("size", [(19, 24), (80, 4), (1, 1)])
async def test_below_it_is_said_and_nothing_can_be_answered_unseen(open_app: Any, size: tuple[int, int]) -> None:
    async with open_app(size=(80, 24)) as (app, pilot, backend):
        request = ev.PermissionRequested("r1", "c1", "bash", ("ls",), ArgumentsPreview({}), ())
        backend.session.publish(request, run="run_1")
        await until(lambda: "Yes, once" in screen_text(app))
        await pilot.resize_terminal(*size)
        await until(lambda: screen_text(app).split()[:1] in (["too"], ["t"]))
        await pilot.press("1")
        await pilot.pause()
        assert backend.session.sent == []
        await pilot.resize_terminal(80, 24)
        await until(lambda: "Yes, once" in screen_text(app) and "too small" not in screen_text(app))
        await pilot.press("1")
        await until(lambda: backend.session.sent == [Answer("r1", "allow", scope="once")])


async def test_at_the_least_size_there_is_a_prompt(open_app: Any) -> None:
    async with open_app(size=(20, 5)) as (app, pilot, _):
        await pilot.press("h", "i")
        await until(lambda: "hi" in screen_text(app))
        assert "too small" not in screen_text(app)


async def test_a_storm_of_sizes_leaves_the_screen_whole(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as (app, pilot, backend):
        backend.session.publish(ev.TextFinished("words " * 200), run="run_1")
        await pilot.press("f2")
        for size in [(1, 1), (300, 100), (20, 5), (99, 14), (100, 13), (2, 90), (160, 40), (20, 4), (80, 24)]:
            await pilot.resize_terminal(*size)
        await until(lambda: "Diagnostics" in screen_text(app))
        assert len(screen_text(app).splitlines()) == 24
