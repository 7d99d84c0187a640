"""What the side panel's keys do, when it is shown, and how its processes stay up to date while somebody looks."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from textual.timer import Timer

from harness_tui.core import intents as it
from harness_tui.core.errors import HarnessError
from harness_tui.core.text import clean_for_display
from harness_tui.tui.diff_reading import show_differences
from harness_tui.tui.editing import open_in_editor
from harness_tui.tui.host import Host
from harness_tui.tui.lines import Line, wrap
from harness_tui.tui.panels.side import SidePanel
from harness_tui.tui.panels.state import PanelState
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
from harness_tui.tui.screens.reader import Reader
from harness_tui.tui.server_offers import browse_resources, browse_tools

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp

LEAST_COLUMNS: Final = 26
LEFT_COLUMNS: Final = 30
"""So much of the screen the transcript keeps beside a panel that is made wider."""

LOOK_S: Final = 2.0
"""How often the processes are looked at while they are shown."""


class PanelRunner:
    """Shows and hides the panel of ``app``. ``run`` starts work; ``focus`` goes back to the prompt or the request."""

    def __init__(
        self,
        app: HarnessApp,
        host: Host,
        run: Callable[[Coroutine[Any, Any, Any], str], None],
        focus: Callable[[], None],
    ) -> None:
        self._app = app
        self._host = host
        self._run = run
        self._focus = focus
        self._panel: SidePanel | None = None
        self._seen: tuple[PanelState, int] | None = None
        self._timer: Timer | None = None
        self._looking = False

    # --- shown and hidden ----------------------------------------------------------------------------

    def toggle(self) -> None:
        """Show the panel and go there, or hide it."""
        if self._panel is None:
            self.show("diagnostics")
        elif self._panel.display:
            self._hide()
        else:
            self.show(self._panel.tab)

    def show(self, tab: str) -> None:
        """Show a tab of the panel."""
        if self._panel is None:
            self._panel = SidePanel(self._app.palette, self._host.panels)
            self._app.query_one("#main").mount(self._panel)
            self._run(self._take_kept_width(), "panel")
        self._panel.display = True
        self._panel.call_after_refresh(self._panel.show_tab, tab)

    # --- width ---------------------------------------------------------------------------------------

    async def _take_kept_width(self) -> None:
        kept = (await self._host.backend.screen_values()).get("panel_columns")
        if isinstance(kept, int) and self._panel is not None:
            self._panel.styles.width = self._within(kept)

    def _resize(self, columns: int) -> None:
        """Make the panel wider, and keep that for the next time."""
        if self._panel is not None:
            wanted = self._within(self._panel.outer_size.width + columns)
            self._panel.styles.width = wanted
            self._run(self._host.backend.keep_screen_value("panel_columns", wanted), "panel")

    def _within(self, columns: int) -> int:
        return max(LEAST_COLUMNS, min(columns, self._app.size.width - LEFT_COLUMNS))

    def draw(self) -> None:
        """Bring the panel up to date with the models, if anything changed."""
        panels = self._host.panels
        self._count()
        seen = (panels, panels.version)
        if self._panel is not None and self._panel.display and seen != self._seen:
            if self._seen is None or self._seen[0] is not panels:
                self._watch()  # another session: its processes are still to be looked at
                self._run(self._seed_changes(panels), "panel")
            self._seen = seen
            self._panel.show_state(panels)

    def _leave(self) -> None:
        """Go back to the prompt; a panel that lies over the transcript is hidden."""
        if self._app.screen.has_class("-narrow"):
            self._hide()
        self._focus()

    def _hide(self) -> None:
        if self._panel is not None:
            self._panel.display = False
        self._watch()
        self._focus()

    # --- keys ----------------------------------------------------------------------------------------

    def want(self, want: Want) -> None:
        """Do what a key of the panel asks for."""
        match want:
            case Insert(text=text):
                self._app.insert_prompt(text)
            case Leave():
                self._leave()
            case Watch():
                self._watch()
            case Preview(path=path):
                self._run(self._preview(path), "preview")
            case Restart(kind=kind, name=name):
                self._run(self._restart(kind, name), "actions")
            case Stop(owner=owner, pid=pid):
                self._run(self._stop(owner, pid), "actions")
            case ShowOutput(owner=owner, pid=pid):
                self._run(self._show_output(owner, pid), "actions")
            case ShowTrace(name=name):
                self._run(self._show_trace(name), "actions")
            case QuickFix(path=path, line=line):
                call = {"path": self._from_start(path), "line": line}
                self._app.insert_prompt(f"/call quick_fix {json.dumps(call, ensure_ascii=False)}")
            case OpenFile(path=path, line=line):
                self._run(self._open(path, line), "actions")
            case Resize(columns=columns):
                self._resize(columns)
            case _:
                self._run(self._want_of_session(want), "actions")

    async def _want_of_session(self, want: Want) -> None:
        match want:
            case Browse(what=what, server=server):
                browse = browse_tools if what == "tools" else browse_resources
                await browse(self._app, self._host, server)
            case CancelTask(run=run):
                self._host.panels.ending_tasks.add(run)
                self._changed(self._host.panels)
                await self._host.send(it.Cancel(run))
            case ShowTask(session=session, title=title):
                text = await self._host.guarded(self._host.backend.records.text(session))
                await self._read(title, text, "Nothing yet.")
            case Switch(part=part):
                await self._switch(part)
            case ShowChange(title=title, files=files):
                await show_differences(self._app, self._host, title, files)
            case UndoRun(run=run):
                await self._host.send(it.Undo(run))
            case Read(title=title, text=text):
                await self._read(title, text, "")
            case _:
                pass

    async def _preview(self, path: str) -> None:
        text = await self._host.guarded(self._host.backend.library.text(path))
        if text is not None and self._panel is not None:
            self._panel.show_preview(path, text)

    def _whole(self, path: str) -> str:
        info = self._host.info
        return path if info is None or path.startswith("/") else f"{info.root}/{path}"

    def _from_start(self, path: str) -> str:
        """Return a path as tools take it: they begin at the start folder, which may lie below the root."""
        info = self._host.info
        return path if info is None or str(self._app.start_folder) == info.root else self._whole(path)

    async def _open(self, path: str, line: int) -> None:
        whole = self._whole(path)
        problem = await open_in_editor(self._app, self._host.backend.library, whole, line)
        if problem:
            self._host.tell("warning", problem)

    async def _restart(self, kind: str, name: str) -> None:
        backend = self._host.backend
        await self._host.guarded(backend.restart_server("lsp" if kind == "lsp" else "mcp", name))
        await self._look()

    async def _stop(self, owner: str, pid: int) -> None:
        panels, ending = self._host.panels, (owner, pid)
        if ending in panels.ending:
            return
        panels.ending.add(ending)
        self._changed(panels)
        try:
            await self._host.guarded(self._host.backend.stop_process(owner, pid))
        finally:
            panels.ending.discard(ending)
            await self._look()
            self._changed(panels)

    async def _show_output(self, owner: str, pid: int | None) -> None:
        """Show the last of what a process wrote."""
        nothing = "Nothing yet." if ":" in owner else "Nothing is kept: what a command writes stands in the transcript."
        text = await self._host.guarded(self._host.backend.process_output(owner, pid))
        await self._read(f"{owner}: what it wrote last", text, nothing)

    async def _show_trace(self, name: str) -> None:
        """Show the last messages between the language server ``name`` and us."""
        text = await self._host.guarded(self._host.backend.server_trace(name))
        await self._read(f"lsp:{name}: its last messages", text, "No message yet: it starts with the first file.")

    async def _read(self, title: str, text: str | None, nothing: str) -> None:
        if text is None:
            return
        lines = await asyncio.to_thread(lambda: clean_for_display(text).rstrip("\n").split("\n"))
        title = clean_for_display(title, one_line=True)
        self._app.push_screen(Reader(self._app.palette, title, partial(_text_lines, nothing, lines), at_end=True))

    async def _switch(self, part: str) -> None:
        report = self._host.panels.context
        found = next((item for item in report.parts if item.name == part), None) if report is not None else None
        if found is not None:
            await self._host.send(it.ReportContext(part, found.off))

    def _changed(self, panels: PanelState) -> None:
        panels.version += 1
        self.draw()

    # --- processes -----------------------------------------------------------------------------------

    @property
    def _shows_processes(self) -> bool:
        return self._panel is not None and self._panel.display and self._panel.tab in ("processes", "servers")

    def _count(self) -> None:
        """Ask anew what the next request would hold, if somebody looks and something has happened since."""
        panels = self._host.panels
        shown = self._panel is not None and self._panel.display and self._panel.tab == "context"
        if shown and panels.context_old and self._host.session is not None:
            panels.context_old = False
            self._run(self._host.send(it.ReportContext()), "context")

    def _watch(self) -> None:
        """Look at the processes now and then while they are shown, and not at all while they are not."""
        self._count()
        if not self._shows_processes:
            if self._timer is not None:
                self._timer.pause()
            self._host.panels.forget_shares()
            return
        if self._timer is None:
            self._timer = self._app.set_interval(LOOK_S, self._look_soon, pause=True)
        self._timer.resume()
        self._look_soon()

    async def _seed_changes(self, panels: PanelState) -> None:
        """Take from the record what subagents changed before this session was opened here."""
        session = self._host.session
        with contextlib.suppress(HarnessError):  # a session without a record has no more than its events tell
            if session is not None and (rows := await self._host.backend.records.changes(session.id)):
                panels.changes.seed(rows)
                self._changed(panels)

    def _look_soon(self) -> None:
        if self._shows_processes and not self._looking:
            self._run(self._look(), "processes")

    async def _look(self) -> None:
        if not self._shows_processes or self._looking:
            return
        self._looking = True
        try:
            rows = await self._host.guarded(self._host.backend.processes())
        finally:
            self._looking = False
        if rows is not None:
            self._host.panels.take_processes(rows, asyncio.get_running_loop().time())
            self.draw()


def _text_lines(nothing: str, rows: list[str], width: int) -> list[Line]:
    if rows == [""]:
        return wrap([(nothing, "muted")], width)
    lines: list[Line] = []
    for row in rows:
        lines.extend(wrap([(row, "muted" if row.startswith("--- ") else "")], width))
    return lines
