"""Permissions over the session: what counts and from where, approvals that can be taken back, and explanations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical

from harness_tui.core.errors import HarnessError
from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import ListRow, wrap
from harness_tui.tui.panels.permissions import ApprovalKey, explanation_rows, permission_rows
from harness_tui.tui.prompt.editor import MessageEditor
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.dialog import Dialog
from harness_tui.tui.screens.heading import Heading
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

if TYPE_CHECKING:
    from harness_tui.tui.backend import Backend
    from harness_tui.tui.backend_rows import PermissionRows

PERMISSION_KEYS = (
    ("e", "Explain a call: bash git diff | tee out, edit src/a.py, or any tool with its JSON"),
    ("d, twice", "Take the marked approval back"),
    ("/", "Search"),
)
"""Keys of this screen, for the help."""


class PermissionsScreen(Dialog[None]):
    """Lists rules and approvals; ``explain`` is a call to be explained at once."""

    DEFAULT_CSS = beside(__file__)

    def __init__(self, palette: Palette, backend: Backend, *, explain: str | None = None) -> None:
        super().__init__()
        self._backend = backend
        self._first_call = explain
        self._heading = Heading(palette)
        self._list = RowList(palette)
        self._editor = MessageEditor(id="permissions-text")
        self._state: PermissionRows | None = None
        self._explained: tuple[str, Sequence[str]] | None = None
        self._asked: ApprovalKey | None = None
        self._writing = ""
        self._filter = ""
        self._error = ""

    def compose(self) -> ComposeResult:
        """A heading, the list, and at times a text field."""
        self._editor.display = False
        with Vertical(id="box"):
            yield self._heading
            yield self._list
            yield self._editor

    def on_mount(self) -> None:
        """Fill it, and explain or ask for the call that was named."""
        self._list.focus()
        self._load()
        if self._first_call:
            self._explain(self._first_call)
        elif self._first_call is not None:
            self._write("explain")

    # --- what is shown -------------------------------------------------------------------------------

    def _update(self, *, mark_first: bool = False) -> None:
        state = self._state
        about = f" · agent {state.agent} · mode {state.mode}" if state is not None else ""
        title = clean_for_display(f"Permissions{about}", one_line=True)
        self._heading.show(title, self._hint())
        self._list.show_rows(self._rows, mark_first=mark_first)

    def _hint(self) -> str:
        if self._writing:
            return "Enter takes it · Esc goes back"
        if self._explained is not None:
            return "e explains another call · Esc goes back"
        if self._asked is not None:
            return f"d again takes back: {clean_for_display(self._asked.pattern, one_line=True, show_invisible=True)}"
        if self._filter:
            return f"only what holds {clean_for_display(self._filter, one_line=True)!r} · Esc shows all"
        return "e explains a call · d takes back · / searches · Esc leaves"

    def _rows(self, width: int) -> Sequence[ListRow]:
        rows: list[ListRow] = []
        if self._error:
            rows.append(ListRow(tuple(wrap([(self._error, "error")], width, first=(("✗ ", "error"),)))))
        if self._explained is not None:
            return [*rows, *explanation_rows(*self._explained, width)]
        if self._state is not None:
            rows += permission_rows(self._state, self._filter, width)
        return rows

    # --- work ----------------------------------------------------------------------------------------

    @work(exit_on_error=False, exclusive=True, group="permissions")
    async def _load(self) -> None:
        try:
            self._state = await self._backend.permissions()
        except HarnessError as error:
            self._tell(error)
        self._update()

    @work(exit_on_error=False, exclusive=True, group="permissions-explain")
    async def _explain(self, text: str) -> None:
        try:
            self._explained, self._error = (text, await self._backend.explain(text)), ""
        except HarnessError as error:
            self._tell(error)
            self._write("explain", text)
        self._update(mark_first=True)

    @work(exit_on_error=False, group="permissions-revoke")
    async def _revoke(self, key: ApprovalKey) -> None:
        try:
            await self._backend.revoke(key.scope, key.permission, key.pattern)
            self._error = ""
        except HarnessError as error:
            self._tell(error)
        self._load()

    def _tell(self, error: HarnessError) -> None:
        self._error = clean_for_display(str(error), one_line=True, show_invisible=True)

    # --- keys ----------------------------------------------------------------------------------------

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        if self._take_key(event.key):
            event.stop()
            event.prevent_default()
            if self.is_active:
                self._update()

    def _take_key(self, key: str) -> bool:
        asked, self._asked = self._asked, None
        match key:
            case "escape" | "ctrl+c":
                self._back(asked)
            case _ if self._writing:
                return False
            case "e":
                self._write("explain")
            case "slash" if self._explained is None:
                self._write("search", self._filter)
            case "d" | "delete" if isinstance(marked := self._list.marked, ApprovalKey):
                self._take_back(marked, asked)
            case "q":
                self.leave(None)
            case _:
                return asked is not None and key not in ("up", "down", "j", "k", "pageup", "pagedown", "home", "end")
        return True

    def _take_back(self, marked: ApprovalKey, asked: ApprovalKey | None) -> None:
        if asked == marked:
            self._revoke(marked)
        else:
            self._asked = marked

    def _back(self, asked: ApprovalKey | None) -> None:
        """Leave the innermost of what is open."""
        self._error = ""
        if self._writing:
            self._stop_writing()
        elif asked is not None:
            return
        elif self._explained is not None:
            self._explained = None
        elif self._filter:
            self._filter = ""
        else:
            self.leave(None)

    # --- the text field ------------------------------------------------------------------------------

    def _write(self, what: str, text: str = "") -> None:
        self._writing = what
        self._editor.display = True
        self._editor.invite("bash git diff | tee out" if what == "explain" else "part of a rule, a layer or a file")
        self._editor.set_text(text)
        self._editor.focus()

    def _stop_writing(self) -> None:
        self._writing = ""
        self._editor.take_text()
        self._editor.display = False
        self._list.focus()

    @on(MessageEditor.Submitted)
    def _on_text(self, event: MessageEditor.Submitted) -> None:
        event.stop()
        what, text = self._writing, event.text.strip()
        self._stop_writing()
        if what == "explain":
            self._explain(text)
        else:
            self._filter = text
        self._update(mark_first=True)
