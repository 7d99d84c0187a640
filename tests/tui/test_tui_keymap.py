"""Keys of a person: what they may say, what is told of them, and that they count where the help says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fakes.fake_backend import FakeBackend
from fakes.fake_settings import FakeScreen, FakeSettings
from fakes.tui_screen import screen_text, until

from harness_tui.tui.app import HarnessApp
from harness_tui.tui.help import key_names
from harness_tui.tui.keymap import action_name, actions, read_keys

KNOWN = actions(HarnessApp.BINDINGS)


def test_an_action_is_named_after_its_binding() -> None:
    assert action_name("session('next_agent')") == "next-agent"
    assert action_name("transcript_page(-1)") == "transcript-page-back"
    assert action_name("toggle_panel") == "toggle-panel"


def test_every_action_has_a_name_of_its_own_a_key_and_words_of_its_own() -> None:
    names = [action.name for action in KNOWN]
    assert len(set(names)) == len(names)
    assert all(action.keys and action.text for action in KNOWN)
    keys = [key for action in KNOWN for key in action.keys]
    assert sorted(set(keys)) == sorted(keys)


def test_the_document_has_every_action_with_the_words_and_keys_of_the_program() -> None:
    text = (Path(__file__).parents[2] / "docs" / "keys.md").read_text()
    rows = [f"| {key_names(','.join(action.keys))} | `{action.name}` | {action.text} |" for action in KNOWN]
    assert [row for row in rows if row not in text.splitlines()] == []
    assert sum(line.startswith("| ") and line.count("`") == 2 for line in text.splitlines()) == len(rows)


def test_a_key_that_cannot_be_is_told_and_the_rest_counts() -> None:
    kept, wrong = read_keys(
        {
            "toggle-panel": "F12, x, hyper+q",
            "togle-panel": "f10",
            "help": ["f12", "ctrl+h"],
            "find": [],
            "leave": "enter",
        },
        KNOWN,
    )
    assert kept == {"toggle-panel": ("f12",), "help": ("ctrl+h",), "find": ()}
    assert "x is a letter" in wrong["toggle-panel"]
    assert "'hyper+q' is no key" in wrong["toggle-panel"]
    assert wrong["togle-panel"] == "no such action; did you mean toggle-panel?"
    assert wrong["help"].startswith("f12 is the key of toggle-panel already")
    assert wrong["leave"] == "enter cannot be given away"


def test_a_key_that_had_another_meaning_is_told() -> None:
    kept, wrong = read_keys({"help": "f2", "leave": "ctrl+e"}, KNOWN)
    assert kept == {"help": ("f2",), "leave": ("ctrl+e",)}
    assert wrong["help"] == "f2 was the key of toggle-panel and is no more"
    assert wrong["leave"] == "ctrl+e moves or edits in the prompt, and does not any more"


async def test_own_keys_count_and_the_help_shows_them(open_app: Any) -> None:
    keys = {"toggle-panel": "ctrl+e", "history": "f12", "nonsense": "f10"}
    backend = FakeBackend(settings=FakeSettings(screen=FakeScreen(keys=keys)))
    async with open_app(backend, size=(100, 60)) as (app, pilot, _):
        await until(lambda: "tui.keys.nonsense: no such action" in screen_text(app))
        await pilot.press("f2", "ctrl+b")
        assert not app.query("SidePanel")
        await pilot.press("ctrl+e")
        await until(lambda: bool(app.query("SidePanel")))
        await pilot.press("escape", "f1")
        await until(lambda: "Ctrl+E" in screen_text(app))
        help_text = screen_text(app)
        assert next(row for row in help_text.splitlines() if "Side panel" in row).split()[1] == "Ctrl+E"
        assert next(row for row in help_text.splitlines() if "Search what was typed before" in row).split()[1] == "F12"


async def test_a_key_of_ones_own_leaves_a_screen_over_the_session_its_keys(open_app: Any) -> None:
    backend = FakeBackend(settings=FakeSettings(screen=FakeScreen(keys={"toggle-panel": "ctrl+f", "find": "f4"})))
    async with open_app(backend) as (app, pilot, _):
        await until(lambda: "ctrl+f" in app._bindings.key_to_bindings)
        await until(lambda: app.covered >= {"toggle_panel", "find", "open"})
        await pilot.press("f1")
        await until(lambda: len(app.screen_stack) == 2)
        await pilot.press("ctrl+f", "ctrl+p", "f4")
        await pilot.pause()
        assert len(app.screen_stack) == 2
        assert not app.query("SidePanel")
