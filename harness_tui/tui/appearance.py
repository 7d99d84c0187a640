"""How the app looks: its theme, with colours or without, with lines or with letters only.

The values come from the small start file before the first frame, and from the configuration after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter, Monochrome, NoColor

from harness_tui.tui.themes import BUILT_IN, TERMINAL, Theme, built_in, own_theme, textual_theme, words_of

if TYPE_CHECKING:
    from harness_tui.tui.reading import ReadingApp

_FILTERS: Final = "_filters"  # Textual has no door for its line filters

_SIGNS: Final = {
    "|": "│┃║╎╏▏▌▐▎▍▊❯",
    "+": "┊├┤┼┬┴╭╮╰╯┌┐└┘╔╗╚╝✚",
    "-": "─━╌▔▁–—",
    "=": "═",
    "#": "█▄▀",
    "*": "●★•·▪✎",
    "o": "○◐◓◑◒◌◯☆◦⚑",
    "v": "✓✔▾▿▼↓",
    "x": "✗✘×⊘",
    ">": "▸▹►▶→›»↪",
    "<": "◀←‹«↵⏎",
    "^": "▲△↑",
    "~": "…⋯",
    "'": "‘’",
    '"': "“”",
}
ASCII: Final[Mapping[int, str]] = {ord(sign): letter for letter, signs in _SIGNS.items() for sign in signs}
"""Signs of ours to letters of the same width. Text of others stays as it is."""


class AsciiFilter(LineFilter):
    """Draws lines and marks with letters that every terminal has."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return ``segments`` with other signs."""
        return [
            Segment(text, style, control) if text.isascii() else Segment(text.translate(ASCII), style, control)
            for text, style, control in segments
        ]


class Appearance:
    """Applies themes and the like to ``app``."""

    def __init__(self, app: ReadingApp) -> None:
        self._app = app
        self.theme = BUILT_IN[0]
        if app.no_color:  # the terminal's own letters, bold, dim or reversed: not greys that somebody chose
            filters = [one for one in self._filters if not isinstance(one, Monochrome | NoColor)]
            self._filters[:] = [*filters, NoColor()]

    @property
    def _filters(self) -> list[LineFilter]:
        return cast(list[LineFilter], getattr(self._app, _FILTERS))

    def refusal(self, theme: Theme) -> str:
        """Say why this terminal cannot show ``theme``, ``""`` where it can."""
        if theme.colors is None:
            return ""
        if self._app.no_color:
            return "NO_COLOR is set: there are no colours"
        if self._app.console.color_system in (None, "standard"):
            return "this terminal has 16 colours: its own are used"
        return ""

    def use_theme(self, theme: Theme) -> None:
        """Show everything in ``theme``; where the terminal cannot, in its own colours."""
        if self.refusal(theme):
            theme = BUILT_IN[0]
        if theme == self.theme:
            return
        app, self.theme = self._app, theme
        app.palette.use(*words_of(theme))
        if theme.colors is None:
            app.theme = "ansi-dark"
        else:
            app.register_theme(textual_theme(theme))
            if app.theme == theme.name:  # one of the person's that was changed
                app.theme = "ansi-dark"
            app.theme = theme.name
        self._draw_anew()

    def use_ascii(self, on: bool) -> None:
        """Draw with letters only, or with lines."""
        if on != any(isinstance(one, AsciiFilter) for one in self._filters):
            others = [one for one in self._filters if not isinstance(one, AsciiFilter)]
            self._filters[:] = [*others, AsciiFilter()] if on else others
            self._draw_anew()

    def use_start_values(self, values: Mapping[str, Any]) -> None:
        """Take what the last session left for the first frame; what is not as it should be is left out."""
        look = values.get("look")
        if not isinstance(look, dict):
            return
        look = cast(dict[str, Any], look)
        name, colors = look.get("theme"), look.get("colors")
        if isinstance(name, str) and isinstance(colors, dict):
            plain = {str(role): str(color) for role, color in cast(dict[Any, Any], colors).items()}
            self.use_theme(built_in(name) or own_theme(name, str(look.get("base", "")), plain))
        self.use_ascii(look.get("ascii") is True)

    def start_values(self, *, ascii_only: bool, mouse: bool) -> dict[str, Any]:
        """Return what the next first frame needs."""
        colors = dict(self.theme.colors or {})
        return {"theme": self.theme.name, "colors": colors, "ascii": ascii_only, "mouse": mouse}

    def _draw_anew(self) -> None:
        app = self._app
        if not app.is_running:
            return
        app.transcript.redraw()
        for screen in app.screen_stack:
            for widget in screen.walk_children():
                widget.refresh()


def known_themes(own: list[Theme]) -> list[Theme]:
    """Return every theme: ours, then the person's; one of theirs under a name of ours does not count."""
    names = {theme.name for theme in BUILT_IN}
    return [*BUILT_IN, *(theme for theme in own if theme.name not in names)]


def find_theme(name: str | None, themes: list[Theme]) -> Theme | None:
    """Return the theme of a name; the terminal's own for none."""
    return next((theme for theme in themes if theme.name == (name or TERMINAL)), None)
