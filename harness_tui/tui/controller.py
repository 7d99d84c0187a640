"""Between the widgets and the host: what each thing that the person does leads to, and what is drawn after it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import TYPE_CHECKING, Any, Final

from harness_tui.core import intents as it
from harness_tui.core.errors import HarnessError
from harness_tui.core.text import clean_for_display
from harness_tui.library.own_commands import find_own, split_command
from harness_tui.library.slash_completion import SlashCompleter
from harness_tui.tui.approval.bar import GRACE_S, RequestBar
from harness_tui.tui.approval.page import name_of, page_for
from harness_tui.tui.backend import BackendSession
from harness_tui.tui.backend_rows import TrustState
from harness_tui.tui.host import Host, load_backend
from harness_tui.tui.open_runner import OpenRunner
from harness_tui.tui.panel_runner import PanelRunner
from harness_tui.tui.preview_runner import PreviewRunner
from harness_tui.tui.prompt.popup import CompletionPopup
from harness_tui.tui.prompt.queue import QueueView
from harness_tui.tui.prompt_runner import PromptRunner
from harness_tui.tui.reading_runner import ReadingRunner
from harness_tui.tui.review_runner import ReviewRunner
from harness_tui.tui.screens.trust import TrustDialog
from harness_tui.tui.settings_runner import SettingsRunner
from harness_tui.tui.slash_runner import SlashRunner
from harness_tui.tui.too_small import TooSmall
from harness_tui.tui.transcript.model import TranscriptModel

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp

CLOSE_S: Final = 15.0
"""After this long the program ends even if a part of it does not."""

STILL_S: Final = 0.25
"""A pause in typing that is long enough to look for commands and skills in."""


class Controller:
    """Made once the first frame is out. ``grace`` is how long a request takes no keys, in seconds."""

    def __init__(self, app: HarnessApp, *, grace: float = GRACE_S) -> None:
        self._app = app
        self._grace = grace
        self._host = Host(load_backend(app.backend_name, app.start_folder, app.options), self._draw)
        self._host.has_focus = lambda: app.app_focus
        self.reading = app.reading = ReadingRunner(app, self._host)
        self.settings = SettingsRunner(app, self._host, self._run)
        self.slash = SlashRunner(app, self._host, self.refresh_library, self.settings)
        self._open = OpenRunner(app, self._host, self.settings, self.slash.run_named)
        self.panel = PanelRunner(app, self._host, self._run, self._focus)
        self._shown: TranscriptModel | None = None
        self._bar = RequestBar(app.palette, grace=grace)
        self._bar.serve(ReviewRunner(app, self._host, self._run, self.answer))
        self._queue = QueueView(app.palette)
        self._popup = CompletionPopup(app.palette)
        self._completer = SlashCompleter(self._want_values)
        self.prompt = PromptRunner(app, self._host, self._run)
        self._preview = PreviewRunner(app, self._host, self._run, self._completer.knows)
        self._returned = ""
        self._was_running = False
        self._trust: TrustState | None = None

    @property
    def ready(self) -> bool:
        """Whether a session takes messages."""
        return self._host.session is not None

    # --- life ----------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the project and the session that the command line asked for, then send what waited."""
        host = self._host
        await self._app.query_one("#dock").mount_all(
            [self.reading.bar, self._queue, self._preview.box, self._popup, self._bar], before=self._app.prompt
        )
        await self._app.screen_stack[0].mount(TooSmall(self._app.palette))
        self.prompt.attach(self._popup, self._completer)
        self._app.prompt.attach_preview(self._preview)
        info = await host.guarded(host.open())
        if info is None:
            self._app.status.say("the project could not be opened; Ctrl+Q leaves")
            return
        self._trust = info.trust
        self._run(host.guarded(self.settings.take_up()))
        self._run(self.prompt.load_history())
        self._run(self.refresh_library())
        self._run(self._follow_library(), "library")
        if not await self.use_session(host.backend.start_session()):
            await self.use_session(host.backend.new_session())
        if not self.ready:
            self._app.status.say("there is no session; Ctrl+Q leaves")
            return
        self._run(self.ask_trust())
        unsent, self._app.unsent = self._app.unsent, []
        self._draw()
        for text, typed in unsent:
            await self._submit(text, typed, steer=False)

    async def use_session(self, opened: Awaitable[BackendSession]) -> bool:
        """Make another session the present one; return whether that went well."""
        subscription = await self._host.guarded(self._host.use(opened))
        if subscription is None:
            return False
        self._run(self._host.read(subscription), group="reader")
        return True

    async def close(self) -> str | None:
        """Close the backend, within a limit; return what went wrong, for the terminal."""
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._host.close()
        except TimeoutError:
            return f"not everything ended within {CLOSE_S:.0f} s"
        except HarnessError as error:
            return str(error)
        return None

    def _run(self, work: Coroutine[Any, Any, Any], group: str = "actions") -> None:
        self._app.run_worker(work, group=group, exit_on_error=False)

    def tell_failure(self, error: BaseException | None) -> None:
        """A worker failed."""
        match error:
            case None:
                return
            case HarnessError():
                self._host.tell("error", str(error), None)
            case _:
                self._host.tell("error", f"{type(error).__name__}: {error}", "this is a fault of the program itself")

    # --- what the person does ------------------------------------------------------------------------

    def submit(self, text: str, typed: str, *, steer: bool) -> None:
        """Send a message or run an own command."""
        self._run(self._submit(text, typed, steer=steer))

    async def _submit(self, text: str, typed: str, *, steer: bool) -> None:
        command = split_command(typed)
        own = find_own(command[0]) if command is not None else None
        if command is not None and own is not None:
            await self._host.guarded(self.slash.run(own, command[1]))
        else:
            await self._host.guarded(self._host.submit(text, typed, steer=steer, kept=self.prompt.take_kept()))
        await self.prompt.remember(text)  # last: nothing waits for a file

    def cancel(self) -> bool:
        """Cancel the run; return whether there is one."""
        if not self._host.presenter.state.running:
            return False
        self._run(self._host.send(it.Cancel()))
        return True

    def answer(self, answer: it.Answer) -> None:
        """Answer a request; it disappears at once, so that it cannot be answered twice."""
        self._host.presenter.state.drop_request(request=answer.request)
        self._run(self._host.send(answer))
        self._draw()

    def open_over(self, what: str) -> None:
        """Open the command palette or jump mode."""
        if self.ready:
            self._run(self._open.open(what))

    def next_mode(self) -> None:
        """Go to the next mode."""
        self._run(self.slash.next_mode())

    def next_agent(self) -> None:
        """Go to the next agent."""
        self._run(self.slash.next_agent())

    def hand_over(self) -> None:
        """Let the agent build carry out the plan."""
        self._run(self.slash.hand_over())

    def refresh_candidates(self) -> None:
        """Look whether commands or skills changed, as soon as nobody types: reading folders would slow the keys."""
        if self.ready:
            self._app.run_worker(self._refresh_when_still(), group="candidates", exclusive=True, exit_on_error=False)

    async def _refresh_when_still(self) -> None:
        while (left := STILL_S - self._app.prompt.still_for) > 0:  # noqa: ASYNC110 - every key moves it
            await asyncio.sleep(left)
        await self.refresh_library()

    async def _follow_library(self) -> None:
        """Keep what is shown of commands and skills up to date while their files change."""
        async for _ in self._host.backend.library.changes():
            await self._refresh_when_still()

    async def refresh_library(self) -> None:
        """Look at commands and skills again, and bring what shows them up to date."""
        candidates = await self._host.refresh_library()
        if candidates is not None:
            self._completer.use(candidates)
            self._app.prompt.refresh_completion()
            self._draw()

    def _want_values(self, name: str) -> None:
        """The value of an own command is being typed: look what there is, once in a while."""
        if self.ready and self.slash.has_values(name):
            self._run(self._offer_values(name), group="values")

    async def _offer_values(self, name: str) -> None:
        values = await self._host.guarded(self.slash.values(name))
        if values is not None:
            self._completer.use_values(name, values)
            self._app.prompt.refresh_completion()

    # --- trust ---------------------------------------------------------------------------------------

    async def ask_trust(self, *, asked: bool = False) -> None:
        """Show the trust dialog where it is due, or where the person asked for it."""
        trust, info = self._trust, self._host.info
        if trust is None or info is None or not (asked or trust.ask):
            return
        if trust.trusted or not trust.items:
            what = "This folder is trusted." if trust.trusted else "This folder brings nothing along that needs trust."
            self._host.tell("info", what)
            return
        dialog = TrustDialog(self._app.palette, info.root, trust.items, grace=self._grace)
        if await self._app.push_screen_wait(dialog) == "trust":
            self._trust = await self._host.guarded(self._host.backend.grant_trust()) or trust
            await self.refresh_library()
        else:
            await self._host.guarded(self._host.backend.dismiss_trust())

    def focus_request(self) -> None:
        """Go to the request, from keys that were meant for the prompt: for a moment it takes none."""
        self._bar.take_focus(typed=True)

    def _focus(self) -> None:
        if self._bar.display:
            self._bar.take_focus()
        else:
            self._app.prompt.focus()

    # --- drawing -------------------------------------------------------------------------------------

    def _draw(self) -> None:
        """Bring every widget up to date with the models; each looks itself whether anything changed."""
        app, presenter = self._app, self._host.presenter
        if not app.is_running:
            return
        if self._shown is not presenter.transcript:
            self._shown = presenter.transcript
            app.transcript.show_model(presenter.transcript)
        else:
            app.transcript.sync()
        if self.ready:
            app.status.show_state(presenter.state, self._host.panels)
            self._queue.show_items(presenter.state.queue)
            self._preview.note(presenter.state.session, presenter.state.agent, presenter.state.mode)
            self._look_after_run(presenter.state.running)
        self._draw_requests()
        self.panel.draw()
        returned = presenter.take_returned()
        if returned is not None and app.prompt.text in ("", self._returned):
            app.prompt.set_text(returned)
            self._returned = returned
        if wanted := app.transcript.take_wanted_languages():
            self._run(self._load_languages(wanted), group="languages")

    def _look_after_run(self, running: bool) -> None:
        if self._was_running and not running:
            self.refresh_candidates()  # the run may have written a command or mended one
        self._was_running = running

    async def _load_languages(self, wanted: set[str]) -> None:
        await asyncio.to_thread(self._app.transcript.renderer.highlighter.load, wanted)
        self._app.transcript.redraw()

    def _draw_requests(self) -> None:
        """Show the oldest request in the place of the prompt, or the prompt again."""
        requests = self._host.presenter.state.requests
        if not requests:
            if self._bar.display:
                self._bar.leave()
                self._app.prompt.display = True
                self._app.prompt.refresh_completion()
                self._app.prompt.focus()
            return
        request, state = requests[0], self._host.presenter.state
        waiting = [clean_for_display(name_of(item, state.title_of(item)), one_line=True) for item in requests[1:]]
        if self._bar.request != request.request:
            self._app.prompt.display = False
            self._app.prompt.close_completion()
            self._bar.ask(page_for(request, state.title_of(request), state.root), waiting)
        else:
            self._bar.update_waiting(waiting)
