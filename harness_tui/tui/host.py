"""Everything behind the widgets: the backend, the open session, its reader. Imported after the first frame.

The host owns no run: that is the session's. It reads events, feeds the presenter, and tells the app when to draw:
deltas at most :data:`RATE` times a second, everything else at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar, cast

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.core.bus import LaggedError, Subscription
from harness_tui.core.clock import SystemClock, rfc3339
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import QueueItem
from harness_tui.library.slash_completion import Candidate, offered_candidates
from harness_tui.tui.backend import Backend, BackendSession, StartOptions
from harness_tui.tui.backend_library import LibraryRows
from harness_tui.tui.backend_rows import BackendInfo
from harness_tui.tui.panels.state import PanelState
from harness_tui.tui.presenter import Presenter

RATE: Final = 15.0
"""How often a second streamed text is drawn."""

UNFOCUSED_RATE: Final = 7.0
"""The same while the terminal says that the person looks elsewhere."""

T = TypeVar("T")
Level: TypeAlias = Literal["info", "warning", "error"]


def load_backend(name: str, start: Path, options: StartOptions) -> Backend:
    """Import ``module:factory`` and call it. Raises ``HarnessError`` that names what is missing."""
    module_name, _, factory = name.partition(":")
    try:
        module = importlib.import_module(module_name)
        return cast(Backend, getattr(module, factory)(start, options))
    except (ImportError, AttributeError) as error:
        raise HarnessError(f"the program is not whole: {error}", where=name, mend="install it again") from error


class Host:
    """One backend and its present session. ``draw`` is called after the models changed."""

    def __init__(self, backend: Backend, draw: Callable[[], None]) -> None:
        self.backend = backend
        self.panels = PanelState()
        self.presenter = Presenter(self.panels)
        self.info: BackendInfo | None = None
        self.session: BackendSession | None = None
        self.has_focus: Callable[[], bool] = lambda: True
        self._draw = draw
        self._flush_timer: asyncio.TimerHandle | None = None
        self._last_flush = 0.0
        self._reading: Subscription | None = None
        self._early: list[tuple[Level, str, str | None]] = []
        self._offered: LibraryRows | None = None
        self._since = rfc3339(SystemClock().now())

    # --- life ----------------------------------------------------------------------------------------

    async def open(self) -> BackendInfo:
        """Open the workspace."""
        self.info = info = await self.backend.open()
        self.presenter.state.root = info.root
        return info

    async def use(self, opened: Awaitable[BackendSession]) -> Subscription:
        """Make ``opened`` the present session: subscribe, read its record. The caller goes on with :meth:`read`."""
        session = await opened
        subscription = session.subscribe()
        history = list(await session.history())
        panels = PanelState(servers=dict(self.panels.servers))
        presenter = await asyncio.to_thread(_replayed, panels, history, self._since)
        if self._reading is not None:
            self._reading.close()
        presenter.state.session = presenter.state.session or session.id
        if self.info is not None:
            presenter.state.root = presenter.state.root or self.info.root
        self.session, self.presenter, self._reading = session, presenter, subscription
        panels.keep_library(self.panels)  # they may have come while the record was read
        self.panels = panels
        early, self._early = self._early, []
        for level, text, hint in early:
            presenter.tell(level, text, hint)
        self._draw()
        return subscription

    async def read(self, subscription: Subscription) -> None:
        """Feed the presenter until the session is closed or another one is used."""
        while subscription is self._reading:
            try:
                async for envelope in subscription:
                    self._take([envelope, *subscription.take()])
                return
            except LaggedError:
                session = self.session
                if session is None:
                    return
                self._reading = subscription = session.subscribe()
                self._take(list(await session.history()))

    def _take(self, envelopes: Sequence[Envelope]) -> None:
        urgent = False
        for envelope in envelopes:
            self.presenter.apply(envelope)
            urgent = urgent or not isinstance(envelope.event, ev.DELTAS)
        loop = asyncio.get_running_loop()
        if urgent:
            self._flush()
        elif self._flush_timer is None:
            rate = RATE if self.has_focus() else UNFOCUSED_RATE
            self._flush_timer = loop.call_at(max(loop.time(), self._last_flush + 1 / rate), self._flush)

    def _flush(self) -> None:
        if self._flush_timer is not None:
            self._flush_timer.cancel()
            self._flush_timer = None
        self._last_flush = asyncio.get_running_loop().time()
        self.presenter.flush()
        self._draw()

    async def close(self) -> None:
        """Close the backend. Never raises: the person is told by what is left to say on the terminal."""
        if self._reading is not None:
            self._reading.close()
            self._reading = None
        if self._flush_timer is not None:
            self._flush_timer.cancel()
            self._flush_timer = None
        await self.backend.close()

    # --- intents -------------------------------------------------------------------------------------

    async def send(self, intent: it.Intent) -> None:
        """Send an intent to the present session."""
        if self.session is None:
            self.tell("warning", "there is no session yet")
            return
        await self.session.send(intent)

    async def submit(self, text: str, typed: str, *, steer: bool = False, kept: Sequence[QueueItem] = ()) -> None:
        """Send a message, or the command after ``!``. While a run goes on it waits, or steers.

        ``kept`` are messages that were taken back to become this one: it has what they held besides their text.
        """
        if typed.startswith("!") and typed[1:].strip():
            await self.send(it.Shell(text[1:].strip()))
            return
        if text.startswith("/") and not typed.startswith("/"):
            text = f"/{text}"  # a paste that begins with a slash is text, not a command
        busy = self.presenter.state.running
        if not busy:
            self.presenter.expect_message(typed)
        intent = it.Submit(
            text,
            attachments=tuple(attachment for item in kept for attachment in item.attachments or ()) or None,
            agent=next((item.agent for item in kept if item.agent), None),
            model=next((item.model for item in kept if item.model), None),
            when=("steer" if steer else "queue") if busy else "now",
            piped="\n\n".join(item.piped for item in kept if item.piped) or None,
        )
        await self.send(intent)

    def tell(self, level: Level, text: str, hint: str | None = None) -> None:
        """Show a notice of the front end's own; one from before the session is shown in it again."""
        if self.session is None:
            self._early.append((level, text, hint))
        self.presenter.tell(level, text, hint)
        self._draw()

    async def guarded(self, work: Awaitable[T]) -> T | None:
        """Wait for ``work``; what goes wrong is shown, with how to mend it."""
        try:
            return await work
        except HarnessError as error:
            text = f"{error.where}: {error.what}" if error.where else error.what
            self.tell("error", text, error.mend)
        except OSError as error:
            self.tell("error", str(error))
        return None

    # --- commands and skills -------------------------------------------------------------------------

    @property
    def offered(self) -> LibraryRows | None:
        """Commands and skills as they were last looked at."""
        return self._offered

    async def refresh_library(self) -> list[Candidate] | None:
        """Look at commands and skills and return what the prompt completes.

        ``None`` when they cannot be had, or are what they were at the last time.
        """
        with contextlib.suppress(HarnessError):
            rows = await self.backend.library.look()
            candidates = await asyncio.to_thread(_candidates, rows, self._offered)
            if candidates is None:
                return None
            self._offered = rows
            self.panels.take_library(rows)
            return candidates
        return None


def _replayed(panels: PanelState, history: list[Envelope], since: str) -> Presenter:
    presenter = Presenter(panels)
    presenter.replay(history, since)
    return presenter


def _candidates(rows: LibraryRows, known: LibraryRows | None) -> list[Candidate] | None:
    """Return what is offered, ``None`` where ``rows`` are what is known."""
    return None if rows == known else offered_candidates(rows.offers)
