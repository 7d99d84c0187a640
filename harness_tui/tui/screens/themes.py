"""The themes to choose from: the whole screen shows the marked one, and Esc brings the present one back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import on

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import ListRow, Span, two_ends, wrap
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.picker import Picker
from harness_tui.tui.theme import Palette
from harness_tui.tui.themes import Theme


class ThemePicker(Picker):
    """Gives the name of the chosen theme, or ``None``. ``show`` shows the screen in a theme."""

    def __init__(
        self,
        palette: Palette,
        themes: Sequence[Theme],
        present: Theme,
        show: Callable[[Theme], None],
        refusal: Callable[[Theme], str],
    ) -> None:
        super().__init__(palette, "Choose the theme", self._theme_rows, empty="No theme.")
        self._themes = {theme.name: theme for theme in themes}
        self._present, self._show, self._refusal = present, show, refusal

    def on_mount(self) -> None:
        """Mark the present one."""
        super().on_mount()
        self.call_after_refresh(self._list.mark, self._present.name)

    def _theme_rows(self, width: int) -> list[ListRow]:
        return [ListRow(tuple(self._lines(theme, width)), theme.name) for theme in self._themes.values()]

    def _lines(self, theme: Theme, width: int) -> list[tuple[Span, ...]]:
        mark = "● " if theme.name == self._present.name else "  "
        head: list[Span] = [(mark, "accent"), (clean_for_display(theme.name, one_line=True), "bold")]
        kind = "" if theme.colors is None else "dark · " if theme.dark else "light · "
        about = clean_for_display(theme.about, one_line=True)
        lines = [two_ends(tuple(head), ((f"{kind}{about} ", "muted"),), width)]
        for problem in (*theme.problems, self._refusal(theme)):
            if problem:
                spans = [(clean_for_display(problem, one_line=True), "warning")]
                lines += wrap(spans, width, first=(("    ! ", "warning"),))
        return lines

    @on(RowList.Marked)
    def _on_theme_marked(self, event: RowList.Marked) -> None:
        if (theme := self._themes.get(str(event.key))) is not None and self.is_active:
            self._show(theme)

    def leave(self, result: str | None) -> None:
        """Close; without a choice the present theme comes back."""
        if result is None and self.is_active:
            self._show(self._present)
        super().leave(result)
