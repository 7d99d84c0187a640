"""The app: lays the widgets out and wires them to the host. It decides nothing that a session decides.

The first frame needs nothing but Textual and a few modules of ours. The host (events, presenter, workspace) is imported
in a thread after it; until then the prompt takes keys, and what is sent waits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.worker import Worker, WorkerState

from harness_tui.tui.prompt.editor import MessageEditor
from harness_tui.tui.prompt.field import PromptField
from harness_tui.tui.reading import ReadingApp
from harness_tui.tui.status import StatusLine

if TYPE_CHECKING:
    from harness_tui.tui.approval.bar import RequestBar
    from harness_tui.tui.backend import BackendSession
    from harness_tui.tui.controller import Controller
    from harness_tui.tui.panels.side import SidePanel
    from harness_tui.tui.panels.wants import Want
    from harness_tui.tui.run import Options
    from harness_tui.tui.screens.trust import TrustDialog

QUIT_AGAIN_S: Final = 2.0


class HarnessApp(ReadingApp):
    """The full-screen front end of one project."""

    CSS_PATH = "app.tcss"
    TITLE = "Harness"
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = "#prompt"  # from the first key on: what is typed early belongs there
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-broad")]  # noqa: RUF012 - declared so by Textual
    VERTICAL_BREAKPOINTS = [(0, "-short"), (14, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape", "escape", "Cancel the run; leave a panel; twice: go back to before an earlier message", show=False
        ),
        Binding("ctrl+c", "interrupt", "Cancel, or clear the prompt; twice leaves", show=False),
        Binding("ctrl+d", "end_of_input", "Leave, in the empty prompt", show=False),
        Binding("ctrl+q", "leave", "Leave", show=False),
        Binding("ctrl+z", "suspend_process", "Stop; fg in the shell goes on", show=False, priority=True),
        Binding("ctrl+b,f2", "toggle_panel", "Side panel", show=False),
        Binding("shift+tab", "next_mode", "Next mode: ask, accept-edits, plan", show=False),
        Binding("ctrl+t", "session('next_agent')", "Next agent", show=False),
        Binding("f5", "session('hand_over')", "Let build carry out the plan", show=False),
        *ReadingApp.BINDINGS,
        Binding("ctrl+p", "open('palette')", "Everything that can be done, by its name", show=False, priority=True),
        Binding("f9,alt+j", "open('jump')", "Letters to jump to what is in sight", show=False),
        Binding("f1", "help", "Help", show=False),
    ]

    def __init__(self, start: Path, options: Options, backend: str) -> None:
        super().__init__()
        self.start_folder, self.options, self.backend_name = start, options, backend
        self.theme = "ansi-dark"
        self.prompt = PromptField()
        self.status = StatusLine(self.palette)
        self.unsent: list[tuple[str, str]] = [(options.message, options.message)] if options.message else []
        self.controller: Controller | None = None
        self._interrupted = -QUIT_AGAIN_S

    def compose(self) -> ComposeResult:
        """Transcript over prompt over status line."""
        with Horizontal(id="main"):
            yield self.transcript
            yield self.scroll_mark
        with Vertical(id="dock"):
            yield self.prompt
        yield self.status

    def on_mount(self) -> None:
        """Take keys; begin the rest once this frame is out."""
        self.prompt.focus()
        self.call_after_refresh(self.open_backend)

    @work(exit_on_error=False)
    async def open_backend(self) -> None:
        """Import the rest in a thread and open the project."""
        controller = await asyncio.to_thread(_load_controller, self)
        self.controller = controller
        await controller.open()

    # --- leaving -------------------------------------------------------------------------------------

    def leave(self, code: int = 0) -> None:
        """Leave with an exit code; the backend is closed by whoever runs the app."""
        self.exit(return_code=code)

    async def close_backend(self) -> str | None:
        """Close the project; returns when nothing of it is left, or says what is."""
        return await self.controller.close() if self.controller is not None else None

    # --- for the controller --------------------------------------------------------------------------

    async def use_session(self, opened: Awaitable[BackendSession]) -> None:
        """Make another session the present one."""
        if self.controller is not None:
            await self.controller.use_session(opened)

    async def ask_trust(self, *, asked: bool = False) -> None:
        """Show the trust dialog where it is due, or where the person asked for it."""
        if self.controller is not None:
            await self.controller.ask_trust(asked=asked)

    def want(self, want: Want) -> None:
        """Do what a key of the panel, or a command about what it shows, asks for."""
        if self.controller is not None:
            self.controller.panel.want(want)

    def show_panel(self, tab: str) -> None:
        """Show a tab of the side panel."""
        if self.controller is not None:
            self.controller.panel.show(tab)

    def want_editor(self) -> None:
        """Open the person's editor on the prompt."""
        self.prompt.post_message(PromptField.Wanted("editor"))

    def insert_prompt(self, text: str) -> None:
        """Put ``text`` into the prompt and go there, or to the request that stands in its place."""
        self.prompt.set_text(text)
        if self.prompt.display:
            self.prompt.focus()
        else:
            self.focus_request()

    def focus_request(self) -> None:
        """Go to the request that stands in the prompt's place."""
        if self.controller is not None:
            self.controller.focus_request()

    # --- prompt --------------------------------------------------------------------------------------

    @on(MessageEditor.Submitted, "#prompt")
    def _on_submitted(self, event: MessageEditor.Submitted) -> None:
        self._send(event.text, event.typed, steer=False)

    @on(PromptField.Steered)
    def _on_steered(self, event: PromptField.Steered) -> None:
        self._send(event.text, event.typed, steer=True)

    def _send(self, text: str, typed: str, *, steer: bool) -> None:
        self.prompt.sent.add(typed)
        self.transcript.action_end()
        if self.controller is None or not self.controller.ready:
            self.unsent.append((text, typed))
            self.status.say(f"starting; {len(self.unsent)} to be sent then")
        else:
            self.controller.submit(text, typed, steer=steer)

    @on(PromptField.CompletionOpened)
    def _on_completion_opened(self) -> None:
        if self.controller is not None:
            self.controller.refresh_candidates()

    @on(PromptField.HelpWanted)
    def action_help(self) -> None:
        """Show keys and commands."""
        if self.controller is not None:
            self.controller.slash.show_help()

    @on(PromptField.Wanted)
    def _on_wanted_by_prompt(self, event: PromptField.Wanted) -> None:
        if self.controller is not None:
            self.controller.prompt.want(event.aid)

    @on(events.Resize)
    def _on_resized(self, event: events.Resize) -> None:
        self.prompt.close_completion()
        self.set_class(event.size.width < 20 or event.size.height < 5, "-tiny")  # see ``too_small``

    # --- what comes later: its classes are not imported before the first frame -----------------------

    def on_request_bar_answered(self, event: RequestBar.Answered) -> None:
        """The person answered a request."""
        if self.controller is not None:
            self.controller.answer(event.answer)

    def on_side_panel_wanted(self, event: SidePanel.Wanted) -> None:
        """A key of the panel asks for something."""
        self.want(event.want)

    def on_trust_dialog_typed(self, event: TrustDialog.Typed) -> None:
        """Somebody types while the trust dialog is up: the text goes on."""
        self.prompt.insert(event.character)

    def on_completion_popup_taken(self) -> None:
        """A completion was clicked."""
        self.prompt.accept_clicked()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A worker failed: say so instead of going on in silence."""
        if event.state is not WorkerState.ERROR:
            return
        if self.controller is not None:
            self.controller.tell_failure(event.worker.error)
        else:
            from harness_tui.core.text import clean_for_display

            self.status.say("could not start; Ctrl+Q leaves")
            reason = clean_for_display(f"could not start: {event.worker.error}")
            self.notify(reason, severity="error", timeout=3600, markup=False)  # whole: the status line is one row

    # --- actions -------------------------------------------------------------------------------------

    def action_escape(self) -> None:
        """Go back to the prompt, or cancel the run; twice goes back to an earlier message."""
        if not self.prompt.has_focus and self.prompt.display:
            self.prompt.focus()
        elif self.controller is not None and not self.controller.cancel():
            self.controller.reading.escaped()

    def action_interrupt(self) -> None:
        """Cancel the run; else clear the prompt; else leave at the second time."""
        now = time.monotonic()
        again, self._interrupted = now - self._interrupted < QUIT_AGAIN_S, now
        if self.controller is not None and self.controller.cancel():
            return
        if self.prompt.text:
            self.prompt.sent.add(self.prompt.text)
            self.prompt.take_text()
            if self.controller is not None:
                self.controller.prompt.take_kept()
        elif again:
            self.leave()
        else:
            self.notify("Ctrl+C again leaves", timeout=QUIT_AGAIN_S, markup=False)

    def action_end_of_input(self) -> None:
        """Leave from an empty prompt; delete to the right in any other."""
        if self.prompt.text:
            self.prompt.action_delete_right()
        else:
            self.leave()

    def action_leave(self) -> None:
        """Leave."""
        self.leave()

    def action_toggle_panel(self) -> None:
        """Show or hide the side panel."""
        if self.controller is not None:
            self.controller.panel.toggle()

    def action_next_mode(self) -> None:
        """Go to the next mode."""
        if self.controller is not None:
            self.controller.next_mode()

    def action_open(self, what: str) -> None:
        """Open the command palette or jump mode."""
        if self.controller is not None:
            self.controller.open_over(what)

    def action_session(self, what: Literal["next_agent", "hand_over"]) -> None:
        """Do something with the session."""
        if self.controller is not None:
            getattr(self.controller, what)()


def _load_controller(app: HarnessApp) -> Controller:
    from harness_tui.tui.controller import Controller

    return Controller(app)
