"""The stream numbers events once, and no reader can hold it up."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from harness_tui.core.bus import EventStream, LaggedError, Subscription
from harness_tui.core.envelope import Envelope
from harness_tui.core.events import Notice, ReasoningDelta, TextDelta, TextFinished


class FakeClock:
    def now(self) -> datetime:
        return datetime(2026, 1, 2, 3, 4, 5, 6789, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


def stream(last_seq: int = 0) -> EventStream:
    return EventStream("ses_1", clock=FakeClock(), last_seq=last_seq)


def brief(envelopes: list[Envelope]) -> list[tuple[int | None, int, str]]:
    return [(one.first_seq, one.seq, getattr(one.event, "text", "")) for one in envelopes]


async def test_numbers_grow_by_one_and_go_on_after_resume() -> None:
    events = stream(last_seq=41)
    assert [events.publish(TextDelta("a")).seq, events.publish(TextDelta("b")).seq] == [42, 43]
    assert events.last_seq == 43


async def test_an_envelope_has_the_sessions_name_and_the_time_in_utc() -> None:
    envelope = stream().publish(TextDelta("a"), run="run_1")
    assert (envelope.session, envelope.run, envelope.time) == ("ses_1", "run_1", "2026-01-02T03:04:05.006Z")


async def test_a_raw_reader_sees_every_delta_and_a_merged_one_sees_them_joined() -> None:
    events = stream()
    raw, merged = events.subscribe(), events.subscribe(merged=True)
    for event in (TextDelta("a"), TextDelta("b"), TextDelta("c"), TextFinished("abc"), TextDelta("d")):
        events.publish(event, run="r")
    assert brief(raw.take()) == [(None, 1, "a"), (None, 2, "b"), (None, 3, "c"), (None, 4, "abc"), (None, 5, "d")]
    assert brief(merged.take()) == [(1, 3, "abc"), (None, 4, "abc"), (None, 5, "d")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((TextDelta("a"), "r1"), (TextDelta("b"), "r2")),
        ((TextDelta("a"), "r1"), (ReasoningDelta("b"), "r1")),
        ((Notice("info", "a", "b"), "r1"), (Notice("info", "a", "b"), "r1")),
    ],
)
async def test_only_deltas_of_the_same_kind_and_run_join(first, second) -> None:
    events = stream()
    merged = events.subscribe(merged=True)
    events.publish(first[0], run=first[1])
    events.publish(second[0], run=second[1])
    assert [one.seq for one in merged.take()] == [1, 2]


async def test_deltas_of_another_session_do_not_join_and_are_not_numbered() -> None:
    events, child = stream(), EventStream("ses_2", clock=FakeClock())
    merged = events.subscribe(merged=True)
    recorded: list[Envelope] = []
    events.listen(recorded.append)
    events.publish(TextDelta("a"))
    events.forward(child.publish(TextDelta("b")))
    assert [(one.session, one.seq) for one in merged.take()] == [("ses_1", 1), ("ses_2", 1)]
    assert [one.session for one in recorded] == ["ses_1"]
    assert events.last_seq == 1


async def test_a_slow_raw_reader_is_switched_to_merged_and_loses_no_text() -> None:
    events = stream()
    slow = events.subscribe(limit=3)
    for letter in "abcdef":
        events.publish(TextDelta(letter))
    assert slow.merged
    assert brief(slow.take()) == [(1, 6, "abcdef")]


async def test_a_raw_reader_within_its_limit_stays_raw() -> None:
    events = stream()
    reader = events.subscribe(limit=3)
    for letter in "abc":
        events.publish(TextDelta(letter))
    assert not reader.merged
    assert len(reader.take()) == 3


async def test_a_reader_too_slow_for_merged_reads_what_it_has_and_then_is_told() -> None:
    events = stream()
    slow = events.subscribe(merged=True, merged_limit=2)
    other = events.subscribe()
    for number in range(4):
        events.publish(Notice("info", "a", str(number)))
    assert [(await anext(slow)).seq, (await anext(slow)).seq] == [1, 2]
    with pytest.raises(LaggedError) as caught:
        await anext(slow)
    assert caught.value.after_seq == 2
    assert [one.seq for one in other.take()] == [1, 2, 3, 4]


async def test_a_reader_is_woken_by_the_next_event_and_ended_by_the_close() -> None:
    events = stream()
    reader = events.subscribe()

    async def collect(subscription: Subscription) -> list[int]:
        return [envelope.seq async for envelope in subscription]

    task = asyncio.create_task(collect(reader))
    await asyncio.sleep(0)
    events.publish(TextDelta("a"))
    await asyncio.sleep(0)
    events.publish(TextDelta("b"))
    events.close()
    assert await asyncio.wait_for(task, 5) == [1, 2]


async def test_a_closed_reader_takes_nothing_more_and_a_new_one_on_a_closed_stream_ends_at_once() -> None:
    events = stream()
    reader = events.subscribe()
    events.publish(TextDelta("a"))
    reader.close()
    events.publish(TextDelta("b"))
    assert [one.seq for one in reader.take()] == [1]
    events.close()
    assert [one async for one in events.subscribe()] == []


async def test_waiting_ends_when_there_is_something_to_take() -> None:
    events = stream()
    reader = events.subscribe()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reader.wait(), 0.01)
    events.publish(TextDelta("a"))
    await asyncio.wait_for(reader.wait(), 5)
    assert [one.seq for one in reader.take()] == [1]
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reader.wait(), 0.01)


async def test_a_listener_hears_events_before_any_reader_takes_them() -> None:
    events = stream()
    heard: list[int] = []
    events.listen(lambda envelope: heard.append(envelope.seq))
    events.publish(TextDelta("a"))
    assert heard == [1]
