"""Commands and skills over the session: searched by typing, read, used, made and edited; and what is wrong with files.

Files may change while it is open, in an editor here or elsewhere: it looks again every two seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from harness_tui.core.errors import HarnessError
from harness_tui.core.text import clean_for_display
from harness_tui.tui.editing import open_in_editor
from harness_tui.tui.lines import Line, ListRow, wrap
from harness_tui.tui.panels.library import (
    VIEWS,
    FindingKey,
    View,
    entry_preview,
    entry_rows,
    finding_rows,
    matching_entries,
    view_titles,
)
from harness_tui.tui.prompt.editor import MessageEditor
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.dialog import Dialog
from harness_tui.tui.screens.heading import Heading
from harness_tui.tui.screens.reader import Reader
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from harness_tui.tui.backend_library import EntryRow
    from harness_tui.tui.host import Host

LOOK_S: Final = 2.0

LIBRARY_KEYS: Final = (
    ("← →", "Skills, commands, problems"),
    ("Enter", "Use it; open the file of a problem in your editor, at the line"),
    ("Ctrl+E", "Open the file in your editor: $VISUAL, else $EDITOR"),
    ("Ctrl+N", "Make a new one from a template; Tab there switches between this project and all of yours"),
    ("F3", "Read the whole file"),
)
"""Keys of this screen, for the help."""


class LibraryScreen(Dialog[str | None]):
    """Gives the text for the prompt when something is to be used. ``refresh`` looks at all files again."""

    DEFAULT_CSS = beside(__file__)

    def __init__(
        self, palette: Palette, host: Host, view: View, refresh: Callable[[], Awaitable[object]], *, wanted: str = ""
    ) -> None:
        super().__init__()
        self._palette = palette
        self._host = host
        self._view: View = view
        self._refresh_library = refresh
        self._heading = Heading(palette)
        self._list = RowList(palette, id="library-list", mark_always=True, second_click=True)
        self._preview = RowList(palette, id="library-preview")
        self._preview.can_focus = False
        self._editor = MessageEditor(id="library-name")
        self._filter = wanted
        self._said = self._fault = ""
        self._text: tuple[str, str] = ("", "")
        self._naming = False
        self._for_user = False
        self._seen = -1
        self._busy = False

    def compose(self) -> ComposeResult:
        """A heading, list and preview, and at times a field for a name."""
        self._editor.display = False
        with Vertical(id="box"):
            yield self._heading
            with Container(id="library-body"):
                yield self._list
                yield self._preview
            yield self._editor

    def on_mount(self) -> None:
        """Show what is known, and look whether it is still so."""
        self._list.focus()
        self._update(mark_first=True)
        self._look()
        self.set_interval(LOOK_S, self._look)

    # --- what is shown -------------------------------------------------------------------------------

    def _update(self, *, mark_first: bool = False) -> None:
        panels = self._host.panels
        self._seen = panels.version
        counts: dict[View, int] = {
            "skills": len(panels.skills),
            "commands": len(panels.commands),
            "problems": len(panels.findings),
        }
        self._heading.show_line(view_titles(counts, self._view, max(20, self._heading.size.width or 78)), self._hint())
        self._list.show_rows(self._rows, mark_first=mark_first)
        self._preview.display = self._view != "problems"
        self._show_preview()

    def _rows(self, width: int) -> Sequence[ListRow]:
        fault = [ListRow(tuple(wrap([(self._fault, "error")], width, first=(("✗ ", "error"),))))] if self._fault else []
        if self._view == "problems":
            return [*fault, *finding_rows(self._host.panels.findings, self._filter, width)]
        return [*fault, *entry_rows(self._entries, self._filter, width, self._view)]

    @property
    def _entries(self) -> Sequence[EntryRow]:
        panels = self._host.panels
        return panels.skills if self._view == "skills" else panels.commands

    def _hint(self) -> str:
        if self._said:
            return self._said
        if self._naming:
            where = "for all your projects" if self._for_user else "for this project"
            return f"name of the new {self._view.removesuffix('s')}, {where} · Tab switches · Enter makes it · Esc"
        if self._filter:
            return f"filter: {clean_for_display(self._filter, one_line=True)}▏"
        if self._view == "problems":
            return "Enter opens the file in your editor · type to filter · ←→ · Esc leaves"
        hints = (
            "Ctrl+E edits · Ctrl+N new · Esc",
            "Enter uses · Ctrl+E edits · Ctrl+N new · F3 reads · ←→ · Esc leaves",
        )
        width = self.app.size.width
        return hints[0] if width < 74 else hints[1] if width < 100 else f"type to filter · {hints[1]}"

    def _show_preview(self) -> None:
        entry = self._entry() if self._view != "problems" else None
        if entry is not None and self._text[0] != entry.path:
            self._text = (entry.path, "")
            self._read(entry.path)
        self._preview.show_rows(partial(entry_preview, entry, self._text[1]), mark_first=True)

    def _entry(self) -> EntryRow | None:
        found = matching_entries(self._entries, self._filter)
        key = self._list.marked
        return next((entry for entry in found if entry.path == key), found[0] if found else None)

    def _say(self, text: str = "", *, fault: str = "") -> None:
        self._said = clean_for_display(text, one_line=True)
        self._fault = clean_for_display(fault, one_line=True)
        if self.is_attached:
            self._update()

    # --- work ----------------------------------------------------------------------------------------

    @work(exit_on_error=False, group="library-look")
    async def _look(self) -> None:
        if self._busy:
            return
        self._busy = True
        try:
            await self._refresh_library()
        finally:
            self._busy = False
        if self.is_attached and self._host.panels.version != self._seen:
            self._text = ("", "")
            self._update()

    @work(exit_on_error=False, exclusive=True, group="library-read")
    async def _read(self, path: str) -> None:
        try:
            text = await self._host.backend.library.text(path)
        except (HarnessError, OSError) as error:
            text = f"It cannot be read: {error}"
        if self.is_attached and self._text[0] == path:
            self._text = (path, text)
            self._show_preview()

    @work(exit_on_error=False, group="library-edit")
    async def _edit(self, path: str, line: int | None = None) -> None:
        self._busy = True
        try:
            problem = await open_in_editor(self.app, self._host.backend.library, path, line)
        finally:
            self._busy = False
        self._say(fault=problem)
        self._text = ("", "")
        self._look()

    @work(exit_on_error=False, group="library-create")
    async def _create(self, name: str) -> None:
        kind = "skills" if self._view == "skills" else "commands"
        try:
            path = await self._host.backend.library.create(kind, name, user=self._for_user)
        except (HarnessError, OSError) as error:
            self._ask_name(name)
            self._say(fault=str(error))
            return
        await self._refresh_library()
        self._filter = ""
        self._say("made; Ctrl+E opens it in your editor")
        self._list.mark(path)
        self._show_preview()

    # --- keys ----------------------------------------------------------------------------------------

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        if self._take_key(event):
            event.stop()
            event.prevent_default()

    def _take_key(self, event: events.Key) -> bool:
        if self._naming:
            return self._take_naming_key(event.key)
        match event.key:
            case "escape" | "ctrl+c":
                self._back()
            case "left" | "right":
                step = -1 if event.key == "left" else 1
                self._show(VIEWS[(VIEWS.index(self._view) + step) % len(VIEWS)])
            case "ctrl+e":
                self._edit_marked()
            case "ctrl+n" if self._view != "problems":
                self._ask_name("")
            case "f3":
                self._read_all()
            case "backspace":
                self._filter_by(self._filter[:-1])
            case _ if event.is_printable and event.character:
                self._filter_by(self._filter + event.character)
            case _:
                return False
        return True

    def _take_naming_key(self, key: str) -> bool:
        match key:
            case "escape" | "ctrl+c":
                self._stop_naming()
            case "tab":
                self._for_user = not self._for_user
            case _:
                return False
        self._said = self._fault = ""
        self._update()
        return True

    def _back(self) -> None:
        if self._filter or self._said or self._fault:
            self._filter_by("")
        else:
            self.leave(None)

    def _show(self, view: View) -> None:
        self._view, self._filter, self._said, self._fault = view, "", "", ""
        self._update(mark_first=True)

    def _filter_by(self, text: str) -> None:
        self._filter, self._said, self._fault = text, "", ""
        self._update(mark_first=True)

    def _edit_marked(self) -> None:
        key, entry = self._list.marked, self._entry()
        if isinstance(key, FindingKey):
            self._edit(key.path, key.line)
        elif self._view != "problems" and entry is not None:
            self._edit_entry(entry)

    def _edit_entry(self, entry: EntryRow) -> None:
        if entry.own:
            self._edit(entry.path)
        else:
            self._say(fault=f"{entry.name} comes with Harness: Ctrl+N makes one of your own, which may have its name")

    def _read_all(self) -> None:
        entry, text = self._entry(), self._text[1]
        if self._view == "problems" or entry is None:
            return

        def lines(width: int) -> list[Line]:
            return [line for row in entry_preview(entry, text, width) for line in row.lines]

        self.app.push_screen(Reader(self._palette, clean_for_display(entry.name, one_line=True), lines))

    # --- a name --------------------------------------------------------------------------------------

    def _ask_name(self, text: str) -> None:
        self._naming = True
        self._editor.display = True
        self._editor.invite("git/message" if self._view == "commands" else "release-notes")
        self._editor.set_text(text)
        self._editor.focus()
        self._update()

    def _stop_naming(self) -> None:
        self._naming = False
        self._editor.take_text()
        self._editor.display = False
        self._list.focus()

    @on(MessageEditor.Submitted)
    def _on_named(self, event: MessageEditor.Submitted) -> None:
        event.stop()
        self._stop_naming()
        self._create(event.text.strip())

    # --- list ----------------------------------------------------------------------------------------

    @on(RowList.Marked, "#library-list")
    def _on_marked(self, event: RowList.Marked) -> None:
        event.stop()
        if self._view != "problems":
            self._show_preview()

    @on(RowList.Chosen, "#library-list")
    def _on_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        entry = self._entry()
        if isinstance(event.key, FindingKey):
            self._edit(event.key.path, event.key.line)
        elif entry is not None and entry.slash:
            self.leave(f"/{entry.slash} ")
        elif entry is not None:
            self._say(fault=f"{entry.name} cannot be used: {entry.hidden_reason or 'its file does not allow it'}")

    @on(events.Resize)
    def _on_resized(self) -> None:
        self._update()
