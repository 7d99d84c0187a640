"""Every setting, made from the schema of the configuration: search, help, where a value comes from, change it here.

A change goes through the one writer of configuration files, which refuses what is not valid; the person chooses between
their own file and the project's. Lists and mappings are opened in their file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual import events, on, work

from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import short
from harness_tui.core.text import clean_for_display
from harness_tui.tui.editing import open_in_editor
from harness_tui.tui.lines import Line, ListRow, Span, cut_cells, two_ends, wrap
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.picker import Picker
from harness_tui.tui.screens.value_entry import ValueEntry
from harness_tui.tui.theme import Palette

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from harness_tui.tui.backend import Backend
    from harness_tui.tui.backend_settings import SettingRow

SETTING_KEYS: Final = (
    ("Enter", "Change the setting; a list or a mapping is opened in its file"),
    ("Tab", "Write to your own file, or to the project's"),
    ("Delete", "Take the setting out of that file"),
)


class SettingsScreen(Picker):
    """Shows and changes settings; ``changed`` is called with the key of one that was. It gives nothing."""

    def __init__(self, palette: Palette, backend: Backend, changed: Callable[[str], None], wanted: str = "") -> None:
        super().__init__(palette, "Settings", self._setting_rows, empty="No setting.")
        self._palette, self._backend, self._changed = palette, backend, changed
        self._settings: Sequence[SettingRow] = ()
        self._project = False
        self._said = ""
        self._filter = wanted

    def on_mount(self) -> None:
        """Read them."""
        super().on_mount()
        self._load()

    @work(exit_on_error=False)
    async def _load(self) -> None:
        self._settings = await self._backend.settings.rows()
        self._update()

    def _update(self) -> None:
        where = "the project's file" if self._project else "your own file"
        self._hint = f"Enter changes · Del resets · Tab: in {where} · Esc leaves"
        super()._update()
        if self._said:
            self._heading.show(self._title, clean_for_display(self._said, one_line=True))

    def _say(self, text: str) -> None:
        self._said = text
        if self.is_attached:
            self._update()

    # --- rows ----------------------------------------------------------------------------------------

    def _setting_rows(self, width: int) -> list[ListRow]:
        return [ListRow(_lines(row, width), row.key) for row in self._settings]

    def _find(self, key: object) -> SettingRow | None:
        return next((row for row in self._settings if row.key == key), None)

    # --- what keys do --------------------------------------------------------------------------------

    @on(RowList.Chosen)
    def _on_setting_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        event.prevent_default()  # not the answer of the base class
        if (row := self._find(event.key)) is not None:
            self._change(row)

    @on(events.Key)
    def _on_setting_key(self, event: events.Key) -> None:
        row = self._find(self._list.marked)
        self._said = ""
        match event.key:
            case "tab":
                self._project = not self._project
                self._update()
            case "delete" if row is not None:
                self._reset(row)
            case _:
                return
        event.stop()
        event.prevent_default()

    @work(exit_on_error=False)
    async def _change(self, row: SettingRow) -> None:
        match row.kind:
            case "file":
                await self._open(row)
                return
            case "switch":
                text = "false" if _present(row) is True else "true"
            case "choice":
                rows = [ListRow((((f" {choice}", "bold"),),), choice) for choice in row.choices]
                picker = Picker(self._palette, row.key, lambda _: rows, empty="")
                text = await self.app.push_screen_wait(picker)
            case _:
                title = f"{row.key}: {row.about}" if row.about else row.key
                text = await self.app.push_screen_wait(ValueEntry(self._palette, title, _text(_present(row))))
        if text is None:
            return
        if not text.strip():
            self._reset(row)
            return
        try:
            path = await self._backend.settings.change(row.key, text, project=self._project)
        except HarnessError as error:
            self._say(str(error))
            return
        await self._took(row, f"{row.key} is {text.strip()} now, in {path}")

    @work(exit_on_error=False)
    async def _reset(self, row: SettingRow) -> None:
        try:
            gone = await self._backend.settings.reset(row.key, project=self._project)
        except HarnessError as error:
            self._say(str(error))
            return
        where = short(self._backend.settings.target(project=self._project))
        await self._took(row, f"{row.key} is {'taken out of' if gone else 'not in'} {where}")

    async def _took(self, row: SettingRow, said: str) -> None:
        self._changed(row.key)
        self._settings = await self._backend.settings.rows()
        self._say(said)

    async def _open(self, row: SettingRow) -> None:
        path, _, line = row.source.rpartition(":")
        if not line.isdecimal():
            path, line = self._backend.settings.target(project=self._project), ""
        problem = await open_in_editor(self.app, self._backend.library, path, int(line) if line else None)
        self._say(problem or f"opened {short(path)}; a change of it counts from the next start")


def _present(row: SettingRow) -> Any:
    return row.default if row.value is None else row.value


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return ", ".join(map(_text, value))
        case dict():
            return " ".join(_text(item) for item in value.values())
        case _:
            return str(value)


def _lines(row: SettingRow, width: int) -> tuple[Line, ...]:
    key = clean_for_display(row.key, one_line=True)
    value = clean_for_display(_text(row.value), one_line=True)
    default = clean_for_display(_text(row.default), one_line=True)
    right: list[Span] = []
    if row.value is not None:
        right.append((cut_cells(value or "(empty)", width // 2), "accent"))
        if row.state not in ("", "used"):
            right.append((f" ({row.state})", "warning"))
    elif row.kind == "file":
        right.append(("in the file", "muted"))
    else:
        right.append((f"{default} (default)" if default else "not set", "muted"))
    lines = [two_ends(((f" {key}", "bold"),), (*right, (" ", "")), width)]
    about = clean_for_display(row.about, one_line=True)
    notes = [about, clean_for_display(short(row.source), one_line=True) if row.source else ""]
    if text := " · ".join(note for note in notes if note):
        lines += wrap([(text, "muted")], width - 1, first=(("   ", ""),))
    return tuple(lines)
