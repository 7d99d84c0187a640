"""The side panel: a line of tabs and one list; beside the transcript, or over it where the screen is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import ListRow, Span, cells
from harness_tui.tui.panels.rows import (
    TABS,
    DiagnosticKey,
    ServerKey,
    diagnostic_rows,
    matching_skills,
    server_rows,
    skill_preview,
    skill_rows,
    tab_titles,
)
from harness_tui.tui.panels.state import PanelState
from harness_tui.tui.row_list import RowList
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette
from harness_tui.tui.transcript.view import TranscriptView

if TYPE_CHECKING:
    from harness_tui.tui.backend import SkillRow

LIST_KEYS: Final = ("j", "k", "r")
"""Letters that do something in a list that is not searched by typing."""


class PanelTabs(Widget):
    """The line of tabs with their counts, and a line of help."""

    ALLOW_SELECT = False

    class Clicked(Message):
        """A tab was clicked."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._titles: list[tuple[str, str]] = []
        self._tab = ""
        self._hint = ""

    def show(self, titles: list[tuple[str, str]], tab: str, hint: str) -> None:
        """Show the tabs."""
        self._titles, self._tab, self._hint = titles, tab, hint
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one row."""
        if y:
            return self._palette.strip(((self._hint, "muted"),), self.size.width)
        spans: list[Span] = []
        for name, title in self._titles:
            spans.append((f" {title} ", "selected bold" if name == self._tab else ""))
        return self._palette.strip(tuple(spans), self.size.width)

    @on(events.Click)
    def _on_clicked(self, event: events.Click) -> None:
        x = 0
        for name, title in self._titles:
            x += cells(title) + 2
            if event.y == 0 and event.x < x:
                self.post_message(self.Clicked(name))
                return


class SidePanel(Vertical):
    """Diagnostics, servers and notices, skills."""

    DEFAULT_CSS = beside(__file__)

    class Inserted(Message):
        """``text`` belongs into the prompt."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class RestartWanted(Message):
        """A server is to be restarted."""

        def __init__(self, kind: str, name: str) -> None:
            super().__init__()
            self.kind, self.name = kind, name

    class PreviewWanted(Message):
        """The text of a skill's file is wanted."""

        def __init__(self, path: str) -> None:
            super().__init__()
            self.path = path

    class Left(Message):
        """The person goes back to the prompt."""

    def __init__(self, palette: Palette, state: PanelState) -> None:
        super().__init__(id="panel")
        self._state = state
        self._tabs = PanelTabs(palette)
        self._list = RowList(palette, id="panel-list")
        self._preview = RowList(palette, id="panel-preview")
        self._preview.can_focus = False
        self.tab = TABS[0]
        self._filter = ""
        self._previewed: tuple[str, str] = ("", "")

    def compose(self) -> ComposeResult:
        """Tabs, list, preview."""
        yield self._tabs
        yield self._list
        yield self._preview

    def on_mount(self) -> None:
        """Show what is there."""
        self.update_rows()

    def show_state(self, state: PanelState) -> None:
        """Show another session's state."""
        self._state = state
        self.update_rows()

    def show_tab(self, tab: str) -> None:
        """Show a tab and take the focus."""
        fresh, self.tab, self._filter = tab != self.tab, tab, ""
        self.update_rows(mark_first=fresh)
        self._list.focus()

    def update_rows(self, *, mark_first: bool = False) -> None:
        """Draw the present tab anew; the mark stays on its row, or goes to the first."""
        self._tabs.show(tab_titles(self._state, self._tabs.size.width or 40), self.tab, self._hint())
        self._preview.display = self.tab == "skills"
        match self.tab:
            case "diagnostics":
                self._list.show_rows(lambda width: diagnostic_rows(self._state, width), mark_first=mark_first)
            case "servers":
                self._list.show_rows(lambda width: server_rows(self._state, width), mark_first=mark_first)
            case _:
                wanted = self._filter
                self._list.show_rows(lambda width: skill_rows(self._state.skills, wanted, width), mark_first=mark_first)
                self._show_preview()

    def _hint(self) -> str:
        match self.tab:
            case "diagnostics":
                return "←→ tabs · Enter asks for a fix"
            case "servers":
                return "←→ tabs · r restarts"
            case _:
                shown = clean_for_display(self._filter, one_line=True)
                return f"filter: {shown}▏" if self._filter else "←→ tabs · type to filter · Enter uses"

    # --- skills --------------------------------------------------------------------------------------

    def show_preview(self, path: str, text: str) -> None:
        """Take the text of a skill's file."""
        self._previewed = (path, text)
        self._show_preview()

    def _show_preview(self) -> None:
        skill = self._skill()
        if skill is not None and self._previewed[0] != skill.path:
            self._previewed = (skill.path, "")
            self.post_message(self.PreviewWanted(skill.path))
        text = self._previewed[1]

        def build(width: int) -> Sequence[ListRow]:
            return skill_preview(skill, text, width)

        self._preview.show_rows(build, mark_first=True)

    def _skill(self) -> SkillRow | None:
        key = self._list.marked
        found = matching_skills(self._state.skills, self._filter)
        return next((skill for skill in found if skill.path == key), found[0] if found else None)

    # --- events --------------------------------------------------------------------------------------

    @on(PanelTabs.Clicked)
    def _on_tab_clicked(self, event: PanelTabs.Clicked) -> None:
        event.stop()
        self.show_tab(event.tab)

    @on(RowList.Chosen, "#panel-list")
    def _on_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        match event.key:
            case DiagnosticKey(text=text):
                self.post_message(self.Inserted(f"/fix-diagnostics {text}"))
            case str() if (skill := self._skill()) is not None:
                self.post_message(self.Inserted(f"/{skill.slash} "))
            case _:
                pass

    @on(RowList.Marked, "#panel-list")
    def _on_marked(self, event: RowList.Marked) -> None:
        event.stop()
        if self.tab == "skills":
            self._show_preview()

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        if self._take_key(event):
            event.stop()
            event.prevent_default()

    def _take_key(self, event: events.Key) -> bool:
        match event.key:
            case "left" | "right":
                step = -1 if event.key == "left" else 1
                self.show_tab(TABS[(TABS.index(self.tab) + step) % len(TABS)])
            case "escape" if self._filter:
                self._filter_by("")
            case "escape":
                self.post_message(self.Left())
            case "backspace" if self.tab == "skills":
                self._filter_by(self._filter[:-1])
            case "r" if isinstance(self._list.marked, ServerKey):
                self.post_message(self.RestartWanted(self._list.marked.kind, self._list.marked.name))
            case _ if self.tab == "skills" and event.is_printable and event.character:
                self._filter_by(self._filter + event.character)
            case _ if event.is_printable and event.character and event.key not in LIST_KEYS:
                self.post_message(TranscriptView.Typed(event.character))  # nothing here is searched by typing
            case _:
                return False
        return True

    def _filter_by(self, text: str) -> None:
        self._filter = text
        self.update_rows(mark_first=True)  # the best match, as in every list that is searched by typing
