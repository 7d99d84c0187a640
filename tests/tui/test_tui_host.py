"""The reader of a session: how often it draws, and what it does when it falls behind."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fakes.fake_backend import FakeBackend, FakeSession
from fakes.tui_screen import until

from harness_tui.core import events as ev
from harness_tui.core.bus import Subscription
from harness_tui.core.errors import HarnessError
from harness_tui.tui.host import Host, load_backend
from harness_tui.tui.run import Options
from harness_tui.tui.transcript.blocks import MarkdownBlock, NoticeBlock


class Draws:
    """Counts how often the host asks for a drawing."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


class NarrowSession(FakeSession):
    """A session whose readers fall behind after two events."""

    def subscribe(self) -> Subscription:
        return self.stream.subscribe(limit=1, merged_limit=2)


def texts(host: Host) -> list[str]:
    return [block.text for block in host.presenter.transcript.blocks if isinstance(block, NoticeBlock)]


async def test_a_reader_that_fell_behind_reads_the_record_and_misses_nothing() -> None:
    session = NarrowSession()
    host = Host(FakeBackend(prepared={"start": session}), Draws())
    reader = await host.use(host.backend.start_session())
    for number in range(9):
        session.publish(ev.Notice("info", "x", str(number)))
    task = asyncio.create_task(host.read(reader))
    await until(lambda: len(texts(host)) == 9)
    session.publish(ev.Notice("info", "x", "9"))
    await until(lambda: texts(host) == [str(number) for number in range(10)])
    await host.close()
    await asyncio.wait_for(task, 5)


async def test_many_deltas_are_drawn_few_times_and_the_end_at_once() -> None:
    draws = Draws()
    host = Host(FakeBackend(), draws)
    task = asyncio.create_task(host.read(await host.use(host.backend.start_session())))
    session = host.session
    assert isinstance(session, FakeSession)
    before = draws.count
    for _ in range(100):
        session.publish(ev.TextDelta("word "))
        await asyncio.sleep(0)
    assert draws.count - before <= 5
    session.publish(ev.TextFinished("word " * 100))
    await until(lambda: any(isinstance(b, MarkdownBlock) and not b.open for b in host.presenter.transcript.blocks))
    await host.close()
    await asyncio.wait_for(task, 5)


async def test_skills_that_come_while_a_session_is_opened_are_kept() -> None:
    from fakes.fake_backend import FakeSkill

    host = Host(FakeBackend(skill_rows=[FakeSkill("notes")]), Draws())
    await asyncio.gather(host.use(host.backend.start_session()), host.refresh_library())
    assert [skill.name for skill in host.panels.skills] == ["notes"]


async def test_candidates_are_made_anew_only_when_a_row_changed() -> None:
    from fakes.fake_backend import FakeCommand

    backend = FakeBackend(command_rows=[FakeCommand("review", "Review")])
    host = Host(backend, Draws())
    first = await host.refresh_library()
    assert first is not None
    assert ("review", "Review") in [(item.name, item.description) for item in first]
    version = host.panels.version
    assert await host.refresh_library() is None
    assert host.panels.version == version
    backend.command_rows = [FakeCommand("review", "Review all")]
    second = await host.refresh_library()
    assert second is not None
    assert ("review", "Review all") in [(item.name, item.description) for item in second]


def test_a_backend_that_is_not_there_is_named() -> None:
    with pytest.raises(HarnessError, match="not whole"):
        load_backend("harness_tui.no_such_module:create", Path("/srv"), Options())


async def test_an_answer_is_drawn_less_often_while_the_person_looks_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(FakeBackend(), Draws())
    task = asyncio.create_task(host.read(await host.use(host.backend.start_session())))
    session = host.session
    assert isinstance(session, FakeSession)
    waits: list[float] = []
    loop = asyncio.get_running_loop()
    real = loop.call_at

    def call_at(when: float, callback: Any, *args: Any, **options: Any) -> asyncio.TimerHandle:
        if callback == host._flush:
            waits.append(when - host._last_flush)
        return real(when, callback, *args, **options)

    monkeypatch.setattr(loop, "call_at", call_at)
    for focus in (True, False):
        host.has_focus = lambda focus=focus: focus
        host._flush()
        before = len(waits)
        session.publish(ev.TextDelta("a"))
        await until(lambda before=before: len(waits) > before)
    assert [round(1 / wait) for wait in waits] == [15, 7]
    await host.close()
    await asyncio.wait_for(task, 5)
