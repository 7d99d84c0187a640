"""The approval of a command of several parts on the screen: ticks, keys, and what is seen at every size."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.tui_screen import screen_text, until

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.core.event_parts import CommandPart, CommandPreview, DiffPreview, Offer, OfferedRule
from harness_tui.core.messages import UserMessage
from harness_tui.core.values import SourceRef

RUN = "run_1"
START = ev.RunStarted("build", "replay/demo", "ask", UserMessage("hello"))
PARTS = (CommandPart("git status", "allow"), CommandPart("rm -rf build", "ask"), CommandPart("make", "ask"))
RULES = (OfferedRule("bash", "rm -rf build", "allow"), OfferedRule("bash", "make", "allow"))
COMPOUND = ev.PermissionRequested(
    "req_1",
    "c1",
    "bash",
    ("rm -rf build", "make"),
    CommandPreview("git status && rm -rf build && make", PARTS, "/srv"),
    (Offer("session", RULES),),
)


def show(backend: Any, request: ev.PermissionRequested, title: str = "Run it") -> None:
    started = ev.ToolStarted("c1", request.permission, title, {}, SourceRef("builtin"))
    backend.session.publish(START, started, request, run=RUN)


async def test_a_part_that_is_not_ticked_is_left_out_of_the_answer(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        show(backend, COMPOUND)
        await until(lambda: "[x] rm -rf build  asks" in screen_text(app))
        assert "[x] git status  allowed" in screen_text(app)
        await pilot.press("up", "up", "space")
        await until(lambda: "[ ] rm -rf build" in screen_text(app))
        assert "1. No, not with what is not ticked; the model is told: rm -rf build" in screen_text(app)
        assert "would store" not in screen_text(app)
        await pilot.press("1")
        await until(lambda: bool(backend.session.sent))
        assert backend.session.sent == [it.Answer("req_1", "allow", scope="once", parts=(0, 2))]


async def test_a_click_on_a_part_takes_its_tick_and_gives_it_back(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        show(backend, COMPOUND)
        await until(lambda: "[x] make  asks" in screen_text(app))
        row = next(y for y, line in enumerate(screen_text(app).split("\n")) if "[x] make" in line)
        await pilot.click(offset=(10, row))
        await until(lambda: "[ ] make" in screen_text(app))
        await pilot.click(offset=(10, row))
        await until(lambda: "[x] make" in screen_text(app))
        await pilot.press("1")
        await until(lambda: bool(backend.session.sent))
        assert backend.session.sent == [it.Answer("req_1", "allow", scope="once")]


async def test_the_rules_of_an_offer_are_seen_before_they_are_taken(open_app: Any) -> None:
    async with open_app(size=(40, 24)) as (app, pilot, backend):
        show(backend, COMPOUND)
        await until(lambda: "2. Yes, for this session" in screen_text(app))
        await pilot.press("2")
        await until(lambda: "would store: allow bash make" in screen_text(app))
        assert "would store: allow bash rm -rf" in screen_text(app)
        assert backend.session.sent == []
        await pilot.press("2")
        await until(lambda: bool(backend.session.sent))
        assert backend.session.sent == [it.Answer("req_1", "allow", scope="session", offer=0)]


@pytest.mark.parametrize("size", [(200, 60), (80, 24), (40, 12), (20, 5)])
async def test_at_every_size_the_command_the_choices_and_the_keys_can_be_seen(
    open_app: Any, size: tuple[int, int]
) -> None:
    async with open_app(size=size) as (app, pilot, backend):
        show(backend, COMPOUND)
        await until(lambda: "1. Yes" in screen_text(app))
        seen = screen_text(app)
        assert "│ git sta" in seen
        assert "? Allow bash" in seen
        assert "or ↑↓ Enter" in seen
        await pilot.press("down", "down", "down")
        await until(lambda: "4. No, and" in screen_text(app))
        await pilot.press("up", "up", "up", "up")
        await until(lambda: "[x] make" in screen_text(app))


@pytest.mark.parametrize("size", [(200, 60), (80, 24), (40, 12), (20, 5)])
async def test_a_long_diff_scrolls_to_its_end_and_back(open_app: Any, size: tuple[int, int]) -> None:
    text = "--- a.py\n+++ a.py\n@@ -1,0 +1,300 @@\n" + "".join(f"+row {number}\n" for number in range(1, 301))
    request = ev.PermissionRequested("req_1", "c1", "edit", ("a.py",), DiffPreview("a.py", text, "h"), ())
    async with open_app(size=size) as (app, pilot, backend):
        show(backend, request, "Edit a.py")
        await until(lambda: "1. Yes" in screen_text(app))
        assert "row 300" not in screen_text(app)
        await pilot.press("end")
        await until(lambda: "row 300" in screen_text(app))
        await pilot.press("home")
        await until(lambda: "a.py  +300 -0" in screen_text(app))
        await pilot.press("pagedown")
        await until(lambda: "a.py  +300 -0" not in screen_text(app))


async def test_a_request_that_takes_the_place_of_an_earlier_one_starts_anew(open_app: Any) -> None:
    def diff(request: str, name: str) -> ev.PermissionRequested:
        preview = DiffPreview("a.py", f"@@ -1 +1 @@\n-a\n+{name}\n", request)
        return ev.PermissionRequested(
            request, "c1", "edit", ("a.py",), preview, (), reason="It changed" if name == "two" else None
        )

    async with open_app() as (app, pilot, backend):
        show(backend, diff("req_1", "one"), "Edit a.py")
        await until(lambda: "1 + one" in screen_text(app))
        await pilot.press("1")
        await until(lambda: bool(backend.session.sent))
        backend.session.publish(diff("req_2", "two"), run=RUN)
        await until(lambda: "1 + two" in screen_text(app))
        assert "It changed" in screen_text(app)
        await pilot.press("1")
        await until(lambda: len(backend.session.sent) == 2)
        assert [answer.request for answer in backend.session.sent] == ["req_1", "req_2"]


async def test_whoever_is_in_the_middle_of_a_word_approves_nothing_with_it(open_app: Any) -> None:
    async with open_app(grace=3.0) as (app, pilot, backend):
        show(backend, COMPOUND)
        await until(lambda: "keys are taken in a moment" in screen_text(app))
        for letter in "typing on and on":
            await pilot.press("space" if letter == " " else letter)
        await pilot.press("enter", "1")
        assert backend.session.sent == []
        await until(lambda: "or ↑↓ Enter" in screen_text(app))
