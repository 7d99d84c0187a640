"""Shared parts of the TUI's tests: events by hand, a clock that stands, an app over a fake workspace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from fakes.fake_backend import FakeBackend
from fakes.tui_screen import until
from textual.pilot import Pilot

from harness_tui.core import events as ev
from harness_tui.core.envelope import Envelope
from harness_tui.tui.app import HarnessApp
from harness_tui.tui.presenter import Presenter
from harness_tui.tui.run import Options


class Session:
    """Numbers events and gives them to a presenter. Each event comes one second after the one before."""

    def __init__(self) -> None:
        self.presenter = Presenter(monotonic=lambda: 100.0)
        self._seq = 0
        self.play(ev.SessionStarted("/srv/project"))

    def envelope(self, event: ev.Event, *, session: str = "ses_1", run: str | None = "run_1") -> Envelope:
        self._seq += 1
        moment = f"2026-01-02T03:{self._seq // 60:02d}:{self._seq % 60:02d}.000Z"
        return Envelope(self._seq, moment, session, event, run)

    def play(self, *events: ev.Event, session: str = "ses_1", run: str = "run_1") -> Presenter:
        for event in events:
            self.presenter.apply(self.envelope(event, session=session, run=run))
        self.presenter.flush()
        return self.presenter


@pytest.fixture
def session() -> Session:
    return Session()


OpenApp = Callable[..., AbstractAsyncContextManager[tuple[HarnessApp, Pilot[None], FakeBackend]]]


@pytest.fixture
def open_app(monkeypatch: pytest.MonkeyPatch) -> OpenApp:
    """Return a function that runs the app over a fake workspace until its session is there."""

    @asynccontextmanager
    async def opened(
        backend: FakeBackend | None = None, *, size: tuple[int, int] = (100, 30), grace: float = 0.0, wait: bool = True
    ) -> AsyncIterator[tuple[HarnessApp, Pilot[None], FakeBackend]]:
        from harness_tui.tui import app as app_module
        from harness_tui.tui import controller as controller_module
        from harness_tui.tui.controller import Controller

        used = backend or FakeBackend()
        monkeypatch.setattr(controller_module, "load_backend", lambda *_: used)
        monkeypatch.setattr(app_module, "_load_controller", lambda app: Controller(app, grace=grace))
        app = HarnessApp(Path("/srv/project"), Options(), "fake:backend")
        async with app.run_test(size=size) as pilot:
            if wait:
                await until(lambda: app.controller is not None and app.controller.ready)
            await pilot.pause()
            yield app, pilot, used
        await app.close_backend()

    return opened
