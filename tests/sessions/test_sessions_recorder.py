"""The recorder: joins deltas, is durable when asked, and tells once when it cannot write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.sessions import FakeAppends

from harness_tui.core.bus import EventStream
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import RunStarted, TextDelta, TextFinished
from harness_tui.core.messages import UserMessage
from harness_tui.sessions.recorder import Recorder
from harness_tui.sessions.store import SessionStore

FULL = HarnessError("the disk is full", code="disk-full")


def attached(store: FakeAppends, *, interval: float = 60.0, told: Callable[[HarnessError], None] | None = None):
    stream = EventStream("ses_1")
    recorder = Recorder(store, "ses_1", interval=interval, on_error=told)
    stream.listen(recorder.listener)
    return stream, recorder


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


async def test_neighbouring_deltas_are_one_event_with_the_number_of_the_last() -> None:
    store = FakeAppends()
    stream, recorder = attached(store)
    for part in ("a ", "b ", "c"):
        stream.publish(TextDelta(part))
    stream.publish(TextFinished("a b c"))
    await recorder.commit()
    first, second = store.written
    assert (first.first_seq, first.seq, first.event) == (1, 3, TextDelta("a b c"))
    assert (second.seq, second.event) == (4, TextFinished("a b c"))


async def test_a_commit_writes_everything_so_far_in_one_batch_and_nothing_twice() -> None:
    store = FakeAppends()
    stream, recorder = attached(store)
    stream.publish(TextFinished("a"))
    await recorder.commit()
    await recorder.commit()
    stream.publish(TextFinished("b"))
    await recorder.close()
    assert [[envelope.seq for envelope in batch] for batch in store.batches] == [[1], [2]]


async def test_events_reach_the_disk_without_a_commit() -> None:
    store = FakeAppends()
    stream, recorder = attached(store, interval=0.01)
    stream.publish(TextFinished("a"))
    await until(lambda: len(store.written) == 1)
    stream.publish(TextFinished("b"))
    await until(lambda: len(store.written) == 2)
    await recorder.close()


async def test_a_commit_waits_for_the_write_that_is_under_way() -> None:
    store = FakeAppends()
    store.gate.clear()
    stream, recorder = attached(store, interval=0.0)
    stream.publish(TextFinished("a"))
    await asyncio.sleep(0.05)
    commits = [asyncio.create_task(recorder.commit()) for _ in range(3)]
    stream.publish(TextFinished("b"))
    await asyncio.sleep(0.05)
    assert not any(commit.done() for commit in commits)
    store.gate.set()
    async with asyncio.timeout(10):
        await asyncio.gather(*commits)
    assert [envelope.seq for envelope in store.written] == [1, 2]


async def test_a_cancelled_commit_still_writes() -> None:
    store = FakeAppends()
    store.gate.clear()
    stream, recorder = attached(store)
    stream.publish(TextFinished("a"))
    commit = asyncio.create_task(recorder.commit())
    await asyncio.sleep(0.05)
    commit.cancel()
    with pytest.raises(asyncio.CancelledError):
        await commit
    store.gate.set()
    await recorder.close()
    assert [envelope.seq for envelope in store.written] == [1]


async def test_a_failed_write_is_raised_once_per_run_and_made_good_later() -> None:
    store, told = FakeAppends(), list[HarnessError]()
    stream, recorder = attached(store, told=told.append)
    store.error = FULL
    stream.publish(TextFinished("a"))
    with pytest.raises(HarnessError, match="disk is full"):
        await recorder.commit()
    stream.publish(TextFinished("b"))
    await recorder.commit()
    assert recorder.failure is FULL
    assert told == [FULL]
    stream.publish(RunStarted("build", "offline", "ask", UserMessage("again")))
    with pytest.raises(HarnessError):
        await recorder.commit()
    store.error = None
    await recorder.commit()
    assert recorder.failure is None
    assert [envelope.seq for envelope in store.written] == [1, 2, 3]


async def test_a_failure_in_the_background_is_raised_by_the_next_commit() -> None:
    store, told = FakeAppends(), list[HarnessError]()
    stream, recorder = attached(store, interval=0.0, told=told.append)
    store.error = FULL
    stream.publish(TextFinished("a"))
    await until(lambda: bool(told))
    with pytest.raises(HarnessError, match="disk is full"):
        await recorder.close()


def test_events_before_the_loop_runs_are_written_by_the_first_commit() -> None:
    store = FakeAppends()
    stream, recorder = attached(store)
    stream.publish(TextFinished("early"))
    asyncio.run(recorder.commit())
    assert [envelope.seq for envelope in store.written] == [1]


async def test_a_recorded_stream_reads_back_merged_from_the_real_store(store: SessionStore) -> None:
    session = store.create(Path("/p")).session
    stream = EventStream(session)
    recorder = Recorder(store, session)
    stream.listen(recorder.listener)
    stream.publish(RunStarted("build", "offline", "ask", UserMessage("hi")), run="run_1")
    for part in ("good ", "morning"):
        stream.publish(TextDelta(part), run="run_1")
    await recorder.close()
    assert [(e.first_seq, e.seq, e.event.type) for e in store.events(session)] == [
        (None, 1, "run_started"),
        (2, 3, "text_delta"),
    ]
