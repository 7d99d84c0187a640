"""Themes: contrast, what a person's file may say, terminals with few colours or none, letters in place of lines."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from fakes.tui_screen import screen_text, until
from rich.cells import cell_len
from rich.style import Style

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.tui import appearance as appearance_module
from harness_tui.tui.appearance import ASCII
from harness_tui.tui.theme import WORDS, Palette
from harness_tui.tui.themes import BUILT_IN, CONTRAST, ROLES, contrast, faint, own_theme, words_of

TUI = Path(appearance_module.__file__).parent


def test_black_on_white_has_the_contrast_of_21_and_a_grey_the_known_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", BUILT_IN[1:], ids=lambda theme: theme.name)
def test_every_text_of_our_themes_can_be_read(theme: Any) -> None:
    assert faint(theme) == []
    ratios = [
        contrast(theme.color(role), theme.color("background")) for role in ROLES if role not in ("background", "border")
    ]
    assert min(ratios) >= CONTRAST
    assert theme.dark is (theme.name == "harness-dark")


def test_colour_is_never_the_only_sign_of_an_addition_or_a_problem() -> None:
    bare, _ = words_of(BUILT_IN[0])
    for theme in BUILT_IN:
        words, _ = words_of(theme)
        assert set(words) == set(bare) == set(WORDS)
        assert words["selected"] == Style(reverse=True)
        assert all(words[word].bold == WORDS[word].bold for word in WORDS)


def test_a_theme_of_a_person_keeps_what_is_right_and_tells_the_rest() -> None:
    theme = own_theme(
        "sea", "harness-light", {"accent": "#004455", "muted": "#eeeeee", "glow": "#123456", "error": "red"}
    )
    assert theme.color("accent") == theme.color("user") == "#004455"
    assert theme.color("error") == "#b0281f"
    assert not theme.dark
    text = "\n".join(theme.problems)
    assert "colors.glow: no such role" in text
    assert "colors.error: 'red' is no colour like #6fc8d8" in text
    assert "colors.muted: contrast 1.1 to the background" in text


def test_a_palette_that_takes_other_styles_gives_them_at_once() -> None:
    palette = Palette()
    assert palette.style("error") == Style(color="red")
    palette.use(*words_of(BUILT_IN[1]))
    assert palette.style("error") == Style(color="#ff8d84", bgcolor="#15181e")
    assert palette.style("") == Style(color="#d7dce5", bgcolor="#15181e")


async def test_with_a_theme_of_ours_every_cell_has_its_background(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await pilot.press("f2")
        await until(lambda: "Diagnostics" in screen_text(app))
        backend.session.publish(ev.TextFinished("words\n\n" * 40), run="run_1")
        await until(lambda: "┃" in screen_text(app))
        app.console._color_system = app.console._color_system.__class__.TRUECOLOR
        app.appearance.use_theme(BUILT_IN[2])
        await pilot.pause()
        grounds: dict[str, str] = {}
        for strip in app.screen._compositor.render_strips():
            for segment in strip:
                if segment.text and segment.style and not segment.style.reverse:
                    ground = segment.style.bgcolor
                    grounds[ground.name if ground else "none"] = segment.text
        assert grounds.keys() == {"#fbfaf6"}, grounds


def test_every_sign_that_we_draw_has_a_letter_of_its_width() -> None:
    drawn: set[str] = set()
    for path in TUI.rglob("*.py"):
        if path.name in ("appearance.py", "pasting.py"):
            continue
        tree = ast.parse(path.read_text())
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                drawn |= {sign for sign in node.value if ord(sign) > 0xA0}
    assert [sign for sign in sorted(drawn) if ord(sign) not in ASCII] == []
    assert all(letter.isascii() and len(letter) == cell_len(chr(sign)) for sign, letter in ASCII.items())


async def test_a_theme_colours_the_whole_screen_and_goes_again(open_app: Any) -> None:
    async with open_app() as (app, pilot, _):
        look = app.appearance
        app.console._color_system = app.console._color_system.__class__.TRUECOLOR
        look.use_theme(BUILT_IN[2])
        await pilot.pause()
        await pilot.pause()
        assert app.screen.background_colors[1].hex.lower() == "#fbfaf6"
        assert app.palette.style("error").color.name == "#b0281f"
        look.use_theme(BUILT_IN[0])
        await pilot.pause()
        assert app.theme == "ansi-dark"
        assert app.palette.style("error").color.name == "red"


async def test_sixteen_colours_and_none_keep_the_terminals_own(open_app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_app() as (app, _, _):
        look = app.appearance
        app.console._color_system = app.console._color_system.__class__.STANDARD
        assert "16 colours" in look.refusal(BUILT_IN[1])
        look.use_theme(BUILT_IN[1])
        assert look.theme.name == "terminal"
        app.no_color = True
        assert "NO_COLOR" in look.refusal(BUILT_IN[1])
        assert look.refusal(BUILT_IN[0]) == ""


async def test_without_colour_nothing_on_the_screen_has_one(open_app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with open_app() as (app, pilot, _):
        app.refresh()
        app.query_one("StatusLine").refresh()
        app.prompt.refresh()
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        colors = {style.color.name for strip in strips for _, style, _ in strip if style and style.color}
        grounds = {style.bgcolor.name for strip in strips for _, style, _ in strip if style and style.bgcolor}
        assert colors | grounds <= {"default"}, (colors, grounds)


async def test_with_letters_only_no_other_sign_of_ours_is_on_the_screen(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        app.appearance.use_ascii(True)
        await pilot.press("f1")
        await pilot.pause()
        await until(lambda: "Send; waits" in screen_text(app))
        assert screen_text(app).isascii()
        await pilot.press("escape")
        assert not [one for one in backend.session.sent if isinstance(one, it.Cancel)]
