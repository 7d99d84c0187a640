"""The model picker: what it shows, how it finds more, and what choosing does."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.fake_backend import FakeBackend, FakeNamed
from fakes.tui_screen import screen_text, until

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.core.errors import HarnessError
from harness_tui.tui.status import cost_text

KNOWN = (
    FakeNamed("replay/demo", context=200_000),
    FakeNamed("openai/gpt-5", available=False, reason="OPENAI_API_KEY is not set", mend="harness auth add openai"),
    FakeNamed("lab/mini", aliases=("small",), context=8192),
    FakeNamed("any/*"),
)
FOUND = (
    FakeNamed("replay/demo", context=200_000),
    FakeNamed("openai/gpt-5", available=False, reason="OPENAI_API_KEY is not set", mend="harness auth add openai"),
    FakeNamed("anthropic/claude", context=1_000_000, price="$3 / $15"),
    FakeNamed("ollama/llama3:8b", favourite=True),
    FakeNamed("lab/mini", aliases=("small",), context=8192),
    FakeNamed("any/*"),
)


async def open_picker(app: Any, pilot: Any) -> None:
    await pilot.press("slash", *"model", "escape", "enter")
    await until(lambda: "Choose the model" in screen_text(app))


def order(text: str, *names: str) -> bool:
    places = [text.find(name) for name in names]
    return -1 not in places and places == sorted(places)


async def test_the_picker_opens_with_what_is_known_and_shows_what_is_found(open_app: Any) -> None:
    backend = FakeBackend(model_rows=KNOWN, found_rows=FOUND)
    async with open_app(backend) as (app, pilot, _):
        await open_picker(app, pilot)
        await until(lambda: "lab/mini" in screen_text(app))
        text = screen_text(app)
        assert "looking for models" in text
        assert "● replay/demo" in text
        assert "200k tokens" in text
        assert "OPENAI_API_KEY is not set → harness auth add openai" in text
        assert order(text, "lab/mini  small", "replay/demo", "openai/gpt-5")
        backend.surveyed.set()
        await until(lambda: "★ ollama/llama3:8b" in screen_text(app))
        text = screen_text(app)
        assert "looking for models" not in text
        assert "1M tokens · $3 / $15" in text
        assert order(text, "★ ollama/llama3:8b", "lab/mini", "replay/demo", "openai/gpt-5")


async def test_choosing_switches_the_model_and_the_transcript_says_so(open_app: Any) -> None:
    def answer(session: Any, intent: it.Intent) -> None:
        if isinstance(intent, it.SetSession):
            session.publish(ev.SessionChanged(model=intent.model))

    backend = FakeBackend(on_send=answer, model_rows=KNOWN, found_rows=FOUND)
    backend.surveyed.set()
    async with open_app(backend) as (app, pilot, _):
        await open_picker(app, pilot)
        await until(lambda: "claude" in screen_text(app))
        await pilot.press(*"claude", "enter")
        await until(lambda: "the model is anthropic/claude from now on" in screen_text(app))
        assert backend.session.sent == [it.SetSession(model="anthropic/claude")]


async def test_one_that_is_not_available_says_why_and_how_to_mend_it_and_is_not_taken(open_app: Any) -> None:
    backend = FakeBackend(model_rows=KNOWN)
    backend.surveyed.set()
    async with open_app(backend) as (app, pilot, _):
        await open_picker(app, pilot)
        await until(lambda: "gpt-5" in screen_text(app) and "looking" not in screen_text(app))
        await pilot.press(*"gpt", "enter", *("backspace",) * 3)
        await until(lambda: "openai/gpt-5: OPENAI_API_KEY is not set; harness auth add openai" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: "Choose the model" not in screen_text(app))
        assert backend.session.sent == []


LACKING = (
    FakeNamed("openai/gpt-5", available=False, reason="OPENAI_API_KEY is not set", mend="set it", wants_key="openai"),
    FakeNamed("offline"),
)


async def test_choosing_one_that_lacks_a_key_asks_for_it_without_showing_it(open_app: Any) -> None:
    backend = FakeBackend(model_rows=LACKING)
    backend.surveyed.set()
    async with open_app(backend) as (app, pilot, _):
        await open_picker(app, pilot)
        await until(lambda: "OPENAI_API_KEY is not set → Enter asks for it; or set it" in screen_text(app))
        await pilot.press(*"gpt", "enter")
        await until(lambda: "Key of openai" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: "Key of openai" not in screen_text(app))
        assert not [call for call in backend.calls if call.startswith("key")]
        await pilot.press("enter")
        await until(lambda: "Key of openai" in screen_text(app))
        await pilot.press(*"tok-42", "space", "x", "enter")
        await until(lambda: "a key holds no blanks" in screen_text(app))
        await pilot.press(*"gpt", "enter")
        await until(lambda: "Key of openai" in screen_text(app))
        await pilot.press(*"tok-42")
        assert "tok-42" not in screen_text(app)
        await pilot.press("enter")
        await until(lambda: "kept; Enter takes the model · the key is in the keyring" in screen_text(app))
        assert "key openai tok-42" in backend.calls
        await pilot.press("enter")
        await until(lambda: backend.session.sent == [it.SetSession(model="openai/gpt-5")])


async def test_a_favourite_is_given_and_taken_by_a_key(open_app: Any) -> None:
    backend = FakeBackend(model_rows=KNOWN)
    backend.surveyed.set()
    async with open_app(backend) as (app, pilot, _):
        await open_picker(app, pilot)
        await until(lambda: "lab/mini" in screen_text(app) and "looking" not in screen_text(app))
        await pilot.press(*"mini", "ctrl+f")
        await until(lambda: "★ lab/mini" in screen_text(app))
        await pilot.press("ctrl+f")
        await until(lambda: "★" not in screen_text(app))
        assert [call for call in backend.calls if call.startswith("favourite")] == [
            "favourite lab/mini True",
            "favourite lab/mini False",
        ]


async def test_a_provider_of_any_model_asks_for_the_rest_of_the_name(open_app: Any) -> None:
    backend = FakeBackend(model_rows=KNOWN)
    backend.surveyed.set()
    async with open_app(backend) as (app, pilot, _):
        await open_picker(app, pilot)
        await until(lambda: "any/*" in screen_text(app))
        await pilot.press(*"any", "enter")
        await until(lambda: app.prompt.text == "/model any/")
        assert backend.session.sent == []


async def test_a_search_that_fails_is_told_and_leaving_during_one_is_harmless(open_app: Any) -> None:
    class Failing(FakeBackend):
        async def survey_models(self) -> Any:
            raise HarnessError("the list is broken", where="somewhere")

    async with open_app(Failing(model_rows=KNOWN)) as (app, pilot, _):
        await open_picker(app, pilot)
        await until(lambda: "somewhere: the list is broken" in screen_text(app))
        assert "replay/demo" in screen_text(app)
    backend = FakeBackend(model_rows=KNOWN, found_rows=FOUND)
    async with open_app(backend) as (app, pilot, _):
        await open_picker(app, pilot)
        await pilot.press("escape")
        await until(lambda: "Choose the model" not in screen_text(app))
        backend.surveyed.set()
        await pilot.pause()
        assert app.is_running


@pytest.mark.parametrize("size", [(20, 5), (30, 8)])
async def test_the_picker_fits_a_tiny_terminal(open_app: Any, size: tuple[int, int]) -> None:
    backend = FakeBackend(model_rows=KNOWN)
    backend.surveyed.set()
    async with open_app(backend, size=size) as (app, pilot, _):
        await pilot.press("slash", *"model", "escape", "enter")
        await until(lambda: type(app.screen).__name__ == "ModelPicker")
        await pilot.press("escape")
        await until(lambda: type(app.screen).__name__ != "ModelPicker")


@pytest.mark.parametrize(("cost", "text"), [(0.0, ""), (0.004, "<$0.01"), (0.01, "$0.01"), (12.345, "$12.35")])
def test_a_cost_takes_a_few_characters(cost: float, text: str) -> None:
    assert cost_text(cost) == text
