"""Words of style to terminal styles: one palette, by default over the terminal's own sixteen colours.

There the person's colours decide what red is, and nothing fixes a background; :mod:`themes` has the others. Colour is
never the only sign: every state has its mark or word as well, and ``NO_COLOR`` takes nothing away but colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, cells

WORDS: Final[dict[str, Style]] = {
    "muted": Style(dim=True),
    "bold": Style(bold=True),
    "italic": Style(italic=True),
    "strike": Style(strike=True),
    "underline": Style(underline=True),
    "selected": Style(reverse=True),
    "accent": Style(color="cyan"),
    "user": Style(color="cyan", bold=True),
    "heading": Style(color="blue", bold=True),
    "code": Style(color="cyan"),
    "link": Style(color="blue", underline=True),
    "ok": Style(color="green"),
    "error": Style(color="red"),
    "warning": Style(color="yellow"),
    "info": Style(color="blue"),
    "added": Style(color="green"),
    "removed": Style(color="red"),
    "hunk": Style(color="cyan", dim=True),
    "keyword": Style(color="magenta"),
    "string": Style(color="green"),
    "number": Style(color="cyan"),
    "comment": Style(dim=True, italic=True),
    "name": Style(color="blue"),
}


class Palette:
    """Resolves words of style; ``base`` lies under all of them (empty with the terminal's own colours)."""

    def __init__(self, base: Style | None = None) -> None:
        self.use(WORDS, base)

    def use(self, words: Mapping[str, Style], base: Style | None) -> None:
        """Take other styles; who shows something draws it anew."""
        self._words = words
        self._base = base
        self._known: dict[str, Style | None] = {"": base}

    def style(self, words: str) -> Style | None:
        """Return the style for blank-separated ``words``; unknown ones are ignored."""
        if words in self._known:
            return self._known[words]
        style = self._base or Style.null()
        for word in words.split():
            style += self._words.get(word, Style.null())
        self._known[words] = style
        return style

    def strip(self, line: Line, width: int, *, over: str = "") -> Strip:
        """Return ``line`` as a strip of exactly ``width`` cells. With ``over`` the whole of it is in that style.

        Colours under a reversed row would show as patches, so only bold letters stay as they are.
        """
        segments: list[Segment] = []
        room = width
        for text, words in line:
            if not text.isprintable():  # whoever made the line has cleaned it; this is the last door to the terminal
                text = clean_for_display(text).replace("\n", " ").replace("\t", " ")
            size = cells(text)
            style = self.style((f"{over} bold" if "bold" in words.split() else over) if over else words)
            if size > room:
                return Strip([*segments, Segment(text, style)]).crop_extend(0, width, style)
            if text:
                segments.append(Segment(text, style))
            room -= size
        if room > 0:
            segments.append(Segment(" " * room, self.style(over)))
        return Strip(segments, width)
