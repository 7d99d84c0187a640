"""The side panel: a line of tabs and one list; beside the transcript, or over it where the screen is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import ListRow
from harness_tui.tui.panels.changes import ChangedFileKey, ChangedRunKey, change_rows
from harness_tui.tui.panels.context import ContextKey, context_rows
from harness_tui.tui.panels.diagnostics import LEVELS, DiagnosticKey, diagnostic_rows
from harness_tui.tui.panels.library import entry_preview, entry_rows, matching_entries
from harness_tui.tui.panels.processes import ProcessKey, process_rows
from harness_tui.tui.panels.rows import NoticeKey, ServerKey, server_rows
from harness_tui.tui.panels.state import PanelState
from harness_tui.tui.panels.tabs import TABS, PanelTabs, tab_counts
from harness_tui.tui.panels.tasks import TaskKey
from harness_tui.tui.panels.todos import TodoKey, todo_rows
from harness_tui.tui.panels.wants import (
    Browse,
    CancelTask,
    Insert,
    Leave,
    OpenFile,
    Preview,
    QuickFix,
    Read,
    Resize,
    Restart,
    ShowChange,
    ShowOutput,
    ShowTask,
    ShowTrace,
    Stop,
    Switch,
    UndoRun,
    Want,
    Watch,
)
from harness_tui.tui.row_list import RowList
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette
from harness_tui.tui.transcript.view import TranscriptView

if TYPE_CHECKING:
    from harness_tui.tui.backend_library import EntryRow

LIST_KEYS: Final = ("j", "k", "r")
"""Letters that do something in a list that is not searched by typing."""

DIAGNOSTIC_KEYS: Final = (
    ("Enter", "Put /fix-diagnostics with the item, or with the file, into the prompt"),
    ("x", "Put the call of the server's quick fix into the prompt; you see its difference before it is made"),
    ("o", "Open the file at the line in your editor"),
    ("f", "Show everything, errors and warnings, or errors only"),
)
"""Keys of the tab Diagnostics, for the help."""

PROCESS_KEYS: Final = (
    ("r", "Restart the server; one that wants a login shows its page"),
    ("s, twice", "Stop the process with all that it started; a server stays stopped until it is restarted"),
    ("s, twice", "Cancel the subagent; the others and the run go on"),
    ("Enter, l", "Read what it wrote, or what the subagent did"),
    ("t", "Read the last messages between a language server and us"),
)
"""Keys of the tab Processes, for the help; all but ``s`` work on the tab Servers as well."""

CHANGE_KEYS: Final = (
    ("Enter", "Show the differences of the file, or of all that a message changed"),
    ("o", "Open the file in your editor"),
    ("u, twice", "Take back the message that changed it, with every later one: messages and files"),
    ("Enter", "In the tab Todos: put the step into the prompt"),
)
"""Keys of the tabs Changes and Todos, for the help."""

PANEL_KEYS: Final = (
    ("← →", "The tab before, the next tab"),
    ("< >", "A wider, a narrower panel; it is so the next time too"),
    ("Enter", "In the list of notices: read one whole"),
    ("Esc", "Back to the prompt"),
)
"""Keys of every tab, for the help."""


class SidePanel(Vertical):
    """Diagnostics, servers and notices, skills, changes, todos, context, processes and subagents."""

    DEFAULT_CSS = beside(__file__)

    class Wanted(Message):
        """The person wants something that is not the panel's to do."""

        def __init__(self, want: Want) -> None:
            super().__init__()
            self.want = want

    def __init__(self, palette: Palette, state: PanelState) -> None:
        super().__init__(id="panel")
        self._state = state
        self._tabs = PanelTabs(palette)
        self._list = RowList(palette, id="panel-list")
        self._preview = RowList(palette, id="panel-preview")
        self._preview.can_focus = False
        self.tab = TABS[0]
        self._filter = ""
        self._level = LEVELS[0]
        self._asked: ProcessKey | TaskKey | ChangedFileKey | ChangedRunKey | None = None
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
        fresh, self.tab, self._filter, self._asked = tab != self.tab, tab, "", None
        self.update_rows(mark_first=fresh)
        self._list.focus()
        self._want(Watch())

    def update_rows(self, *, mark_first: bool = False) -> None:
        """Draw the present tab anew; the mark stays on its row, or goes to the first."""
        self._tabs.show(tab_counts(self._state), self.tab, self._hint())
        self._preview.display = self.tab == "skills"
        match self.tab:
            case "diagnostics":
                level = self._level
                self._list.show_rows(lambda width: diagnostic_rows(self._state, width, level), mark_first=mark_first)
            case "servers":
                self._list.show_rows(lambda width: server_rows(self._state, width), mark_first=mark_first)
            case "changes":
                self._list.show_rows(lambda width: change_rows(self._state, width), mark_first=mark_first)
            case "todos":
                self._list.show_rows(lambda width: todo_rows(self._state, width), mark_first=mark_first)
            case "context":
                self._list.show_rows(lambda width: context_rows(self._state, width), mark_first=mark_first)
            case "processes":
                self._list.show_rows(lambda width: process_rows(self._state, width), mark_first=mark_first)
            case _:
                wanted = self._filter
                self._list.show_rows(lambda width: entry_rows(self._state.skills, wanted, width), mark_first=mark_first)
                self._show_preview()

    def _hint(self) -> str:
        match self.tab:
            case "diagnostics":
                return "Enter ask · x fix · o open · f filter"
            case "servers":
                return "Enter tools · a attach · r start · l log"
            case "changes" if isinstance(self._asked, ChangedFileKey | ChangedRunKey):
                return self._undo_question(self._asked)
            case "changes":
                return "Enter differences · o open · u undo"
            case "todos":
                return "←→ tabs · Enter puts it into the prompt"
            case "context":
                return "←→ tabs · Enter switches a part"
            case "processes" if isinstance(self._asked, TaskKey):
                return f"s again cancels {self._asked.title}"
            case "processes" if isinstance(self._asked, ProcessKey):
                owner = clean_for_display(self._asked.owner, one_line=True)
                return f"s again stops {owner} (pid {self._asked.pid})"
            case "processes":
                return "←→ tabs · s stops · r restarts · l reads"
            case _:
                shown = clean_for_display(self._filter, one_line=True)
                return f"filter: {shown}▏" if self._filter else "←→ tabs · type to filter · Enter uses"

    # --- changes -------------------------------------------------------------------------------------

    def _run_of(self, key: ChangedFileKey | ChangedRunKey) -> str | None:
        return key.run if isinstance(key, ChangedRunKey) else self._state.changes.last_run_of(key.path)

    def _undo_question(self, key: ChangedFileKey | ChangedRunKey) -> str:
        messages, files = self._state.changes.since(self._run_of(key) or "")
        what = "the last message" if messages == 1 else f"{messages} messages"
        return f"u again: undo {what}, {files} file{'' if files == 1 else 's'}"

    def _show_change(self, key: ChangedFileKey | ChangedRunKey) -> None:
        changes = self._state.changes
        if isinstance(key, ChangedRunKey):
            found, title = changes.files(key.run), key.title
        else:
            found, title = [file for file in changes.files() if file.path == key.path], key.path
        if found:
            self._want(ShowChange(title, tuple((file.path, file.before, file.after) for file in found)))

    def _take_change_key(self, key: str, marked: ChangedFileKey | ChangedRunKey, *, again: bool) -> None:
        match key:
            case "o" if isinstance(marked, ChangedFileKey):
                self._want(OpenFile(marked.path, 1))
            case "u" if again and (run := self._run_of(marked)) is not None:
                self._want(UndoRun(run))
                self.update_rows()
            case "u":
                self._asked = marked
                self.update_rows()
            case _:
                pass

    # --- skills --------------------------------------------------------------------------------------

    def show_preview(self, path: str, text: str) -> None:
        """Take the text of a skill's file."""
        self._previewed = (path, text)
        self._show_preview()

    def _show_preview(self) -> None:
        skill = self._skill()
        if skill is not None and self._previewed[0] != skill.path:
            self._previewed = (skill.path, "")
            self._want(Preview(skill.path))
        text = self._previewed[1]

        def build(width: int) -> Sequence[ListRow]:
            return entry_preview(skill, text, width)

        self._preview.show_rows(build, mark_first=True)

    def _skill(self) -> EntryRow | None:
        key = self._list.marked
        found = matching_entries(self._state.skills, self._filter)
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
                self._want(Insert(f"/fix-diagnostics {text}"))
            case ProcessKey(owner=owner, pid=pid):
                self._want(ShowOutput(owner, pid))
            case ServerKey(kind="mcp", name=name):
                self._want(Browse("tools", name))
            case ServerKey(kind=kind, name=name):
                self._want(ShowOutput(f"{kind}:{name}", None))
            case TaskKey() as task:
                self._want(ShowTask(task.session, task.title))
            case ContextKey(name=name):
                self._want(Switch(name))
            case ChangedFileKey() | ChangedRunKey() as change:
                self._show_change(change)
            case TodoKey(text=text):
                self._want(Insert(text))
            case NoticeKey(notice=notice):
                hint = f"\n\n{notice.hint}" if notice.hint else ""
                self._want(Read(notice.source or notice.level, f"{notice.text}{hint}"))
            case str() if (skill := self._skill()) is not None and skill.slash:
                self._want(Insert(f"/{skill.slash} "))
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
        asked, self._asked = self._asked, None
        if asked is not None and event.key != ("u" if isinstance(asked, ChangedFileKey | ChangedRunKey) else "s"):
            self.update_rows()  # the question goes; Esc does no more than that
            if event.key == "escape":
                return True
        return self._take_row_key(event, asked) or self._take_panel_key(event)

    def _take_panel_key(self, event: events.Key) -> bool:
        """Take a key that means the same in every tab."""
        match event.key:
            case "left" | "right":
                step = -1 if event.key == "left" else 1
                self.show_tab(TABS[(TABS.index(self.tab) + step) % len(TABS)])
            case "less_than_sign" | "greater_than_sign":
                self._want(Resize(2 if event.key == "less_than_sign" else -2))
            case "escape" if self._filter:
                self._filter_by("")
            case "escape":
                self._want(Leave())
            case "backspace" if self.tab == "skills":
                self._filter_by(self._filter[:-1])
            case _ if self.tab == "skills" and event.is_printable and event.character:
                self._filter_by(self._filter + event.character)
            case _ if event.is_printable and event.character and event.key not in LIST_KEYS:
                self.post_message(TranscriptView.Typed(event.character))  # nothing here is searched by typing
            case _:
                return False
        return True

    def _take_row_key(self, event: events.Key, asked: object) -> bool:
        """Take a key that does something with the marked row."""
        marked = self._list.marked
        match event.key:
            case "f" | "o" | "x" if self.tab == "diagnostics":
                self._take_diagnostic_key(event.key, marked)
            case "r" | "l" | "t" | "a" if isinstance(marked, ServerKey):
                self._take_server_key(event.key, marked.kind, marked.name, None)
            case "r" | "s" | "l" | "t" if isinstance(marked, ProcessKey | TaskKey):
                self._take_process_key(event.key, marked, asked)
            case "u" | "o" if isinstance(marked, ChangedFileKey | ChangedRunKey):
                self._take_change_key(event.key, marked, again=asked == marked)
            case _:
                return False
        return True

    def _take_diagnostic_key(self, key: str, marked: object) -> None:
        if key == "f":
            self._level = LEVELS[(LEVELS.index(self._level) + 1) % len(LEVELS)]
            self.update_rows()
        elif isinstance(marked, DiagnosticKey) and key == "o":
            self._want(OpenFile(marked.path, marked.line))
        elif isinstance(marked, DiagnosticKey) and marked.place:  # an item, not the row of its file
            self._want(QuickFix(marked.path, marked.line))

    def _take_server_key(self, key: str, kind: str, name: str, pid: int | None) -> None:
        match key:
            case "r":
                self._want(Restart(kind, name))
            case "l":
                self._want(ShowOutput(f"{kind}:{name}", pid))
            case "t" if kind == "lsp":
                self._want(ShowTrace(name))
            case "a" if kind == "mcp":
                self._want(Browse("resources", name))
            case _:
                pass

    def _take_task_key(self, key: str, marked: TaskKey, *, again: bool) -> None:
        match key:
            case "l":
                self._want(ShowTask(marked.session, marked.title))
            case "s" if again:
                self._want(CancelTask(marked.run))
                self.update_rows()
            case "s":
                self._asked = marked
                self.update_rows()
            case _:
                pass

    def _take_process_key(self, key: str, marked: ProcessKey | TaskKey, asked: object) -> None:
        if isinstance(marked, TaskKey):
            self._take_task_key(key, marked, again=asked == marked)
            return
        match key:
            case "r" | "l" | "t" if marked.server is not None:
                self._take_server_key(key, *marked.server, marked.pid)
            case "l":
                self._want(ShowOutput(marked.owner, marked.pid))
            case "s" if marked.pid is not None and asked == marked:
                self._want(Stop(marked.owner, marked.pid))
                self.update_rows()
            case "s" if marked.pid is not None:
                self._asked = marked
                self.update_rows()
            case _:
                pass

    def _want(self, want: Want) -> None:
        self.post_message(self.Wanted(want))

    def _filter_by(self, text: str) -> None:
        self._filter = text
        self.update_rows(mark_first=True)  # the best match, as in every list that is searched by typing
