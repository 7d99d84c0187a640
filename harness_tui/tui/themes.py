"""Themes: colours by role, two pairs of our own beside the terminal's palette, and those of the person.

A theme says what each role's colour is; what is bold, dim, underlined or reversed stays as it is without colours, so
that colour is never the only sign. Text has a contrast of 4.5 to its background at least (a test counts).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from rich.style import Style
from textual.theme import Theme as TextualTheme

from harness_tui.tui.theme import WORDS

TERMINAL: Final = "terminal"
"""The theme without colours of its own: those of the terminal."""

CONTRAST: Final = 4.5
"""What text needs (WCAG 2, AA)."""

_HEX: Final = re.compile(r"#[0-9a-fA-F]{6}")
_PLAIN: Final = ("bold", "italic", "strike", "underline", "selected")
_BY_ROLE: Final = {
    "user": "accent",
    "code": "number",
    "link": "heading",
    "info": "heading",
    "added": "ok",
    "removed": "error",
    "hunk": "muted",
    "comment": "muted",
    "name": "heading",
}
"""Words that have the colour of another role where a theme says nothing of them."""

ROLES: Final = ("background", "foreground", "border", *(word for word in WORDS if word not in _PLAIN))
"""What a theme may give a colour."""


@dataclass(frozen=True, slots=True)
class Theme:
    """A theme: ``colors`` has ``#rrggbb`` for roles, and none at all for the terminal's palette.

    ``source`` is the file of a person's own; ``problems`` say what of it does not count, and why.
    """

    name: str
    about: str = ""
    dark: bool = True
    colors: Mapping[str, str] | None = None
    source: str = ""
    problems: tuple[str, ...] = ()

    def color(self, role: str) -> str:
        """Return the colour of a role, ``""`` in the terminal's palette."""
        colors = self.colors or {}
        return colors.get(role) or colors.get(_BY_ROLE.get(role, ""), "") or colors.get("foreground", "")


BUILT_IN: Final = (
    Theme(TERMINAL, "The colours of your terminal"),
    Theme(
        "harness-dark",
        "Soft light on slate",
        True,
        {
            "background": "#15181e",
            "foreground": "#d7dce5",
            "border": "#3d4654",
            "muted": "#929cad",
            "accent": "#6fc8d8",
            "heading": "#8db6f7",
            "ok": "#83ce8d",
            "error": "#ff8d84",
            "warning": "#e6c46c",
            "keyword": "#c8a6f2",
            "string": "#a6d48c",
            "number": "#e3b27d",
        },
    ),
    Theme(
        "harness-light",
        "Ink on paper",
        False,
        {
            "background": "#fbfaf6",
            "foreground": "#23282f",
            "border": "#c6c2b6",
            "muted": "#5d6571",
            "accent": "#00687a",
            "heading": "#1f4fa6",
            "ok": "#1d6b30",
            "error": "#b0281f",
            "warning": "#775200",
            "keyword": "#7034b0",
            "string": "#2f6416",
            "number": "#85460c",
        },
    ),
)


def built_in(name: str) -> Theme | None:
    """Return one of our own themes."""
    return next((theme for theme in BUILT_IN if theme.name == name), None)


def own_theme(name: str, base: str, colors: Mapping[str, str], source: str = "", problem: str = "") -> Theme:
    """Return a person's theme: ``colors`` over those of ``base`` (``harness-dark`` where it names none).

    What is wrong in it is told in ``problems`` and left out, with the rest in force.
    """
    problems = [problem] if problem else []
    under = built_in(base or "harness-dark")
    if under is None or under.colors is None:
        problems.append(f"base: {base!r} is none; harness-dark and harness-light are")
        under = BUILT_IN[1]
    good: dict[str, str] = {}
    for role, color in colors.items():
        if role not in ROLES:
            problems.append(f"colors.{role}: no such role; known are {', '.join(ROLES)}")
        elif not _HEX.fullmatch(color):
            problems.append(f"colors.{role}: {color!r} is no colour like #6fc8d8")
        else:
            good[role] = color
    merged = {**(under.colors or {}), **good}
    theme = Theme(name, f"yours, over {under.name}", luminance(merged["background"]) < 0.18, merged, source)
    weak = [
        f"colors.{role}: contrast {ratio:.1f} to the background, {CONTRAST} can be read" for role, ratio in faint(theme)
    ]
    return replace(theme, problems=(*problems, *weak))


def faint(theme: Theme) -> list[tuple[str, float]]:
    """Return roles of text that cannot be read well on the theme's background, with their contrast."""
    if theme.colors is None:
        return []
    background = theme.color("background")
    ratios = [(role, contrast(theme.color(role), background)) for role in ROLES if role not in ("background", "border")]
    return [(role, ratio) for role, ratio in ratios if ratio < CONTRAST]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours ``#rrggbb``, 1 to 21 (WCAG 2)."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(color: str) -> float:
    """Return the relative luminance of ``#rrggbb``, 0 to 1."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def words_of(theme: Theme) -> tuple[Mapping[str, Style], Style | None]:
    """Return the styles of words and what lies under all of them."""
    if theme.colors is None:
        return WORDS, None
    words: dict[str, Style] = {}
    for word, style in WORDS.items():
        plain = Style(bold=style.bold, italic=style.italic, strike=style.strike, underline=style.underline)
        words[word] = style if word in _PLAIN else plain + Style(color=theme.color(word))
    # With the background: what draws its own rows has none from the style sheets, and the terminal's may be dark.
    return words, Style(color=theme.color("foreground"), bgcolor=theme.color("background"))


def textual_theme(theme: Theme) -> TextualTheme:
    """Return the theme as the style sheets see it."""
    background, foreground = theme.color("background"), theme.color("foreground")
    return TextualTheme(
        name=theme.name,
        primary=theme.color("accent"),
        secondary=theme.color("heading"),
        warning=theme.color("warning"),
        error=theme.color("error"),
        success=theme.color("ok"),
        accent=theme.color("accent"),
        foreground=foreground,
        background=background,
        surface=background,
        panel=background,
        dark=theme.dark,
        variables={
            "border-blurred": theme.color("border"),
            "input-cursor-background": foreground,
            "input-cursor-foreground": background,
            "input-selection-background": theme.color("border"),
        },
    )
