"""Room: what is removed to keep it, in which order, and what never is."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_tui.core.envelope import Envelope
from harness_tui.core.event_parts import Parent
from harness_tui.core.events import Event, FileChanged, RunStarted, TextDelta, TextFinished
from harness_tui.core.limits import MIB
from harness_tui.core.messages import UserMessage
from harness_tui.sessions.blobs import BlobStore
from harness_tui.sessions.store import SessionStore
from harness_tui.sessions.upkeep import Cleaned, Limits, sweep_contents, tidy, total_bytes

NONE = Limits(0, 0)


@pytest.fixture
def blobs(database: Path) -> Iterator[BlobStore]:
    return BlobStore(database.parent / "blobs")


def record(store: SessionStore, number: int, *events: Event, parent: Parent | None = None) -> str:
    """Make a session that changed on day ``number``, with half a MiB of its own."""
    session = store.create(Path("/p"), parent=parent).session
    text = f"{number} " + os.urandom(MIB // 4).hex()
    prompt = RunStarted("build", "offline", "ask", UserMessage(text))
    time_ = f"2026-01-{number:02d}T00:00:00.000Z"
    store.append(session, [Envelope(n, time_, session, e, "run_1") for n, e in enumerate((prompt, *events), 1)])
    return session


def names(store: SessionStore) -> set[str]:
    return {info.session for info in store.list()}


def test_within_the_limits_nothing_is_done(store: SessionStore, blobs: BlobStore) -> None:
    made = [record(store, number) for number in (1, 2)]
    assert tidy(store, blobs, Limits(10 * MIB, MIB)) == Cleaned()
    assert tidy(store, blobs, NONE) == Cleaned()
    assert names(store) == set(made)


def test_the_sessions_that_changed_longest_ago_go_first_until_there_is_room(
    store: SessionStore, blobs: BlobStore
) -> None:
    made = [record(store, number) for number in (3, 1, 4, 2, 5, 6, 7, 8)]
    done = tidy(store, blobs, Limits(2 * MIB, 0))
    assert names(store) == {made[-1], made[-2], made[-3]}
    assert (done.removed, done.above) == (5, 0)
    assert total_bytes(store, blobs) < 2 * MIB
    assert 5 * MIB // 2 <= done.freed < 3 * MIB
    assert done.text.startswith("removed 5 sessions that changed longest ago, ")
    assert [stored.seq for stored in store.messages(made[-1])] == [1]


def test_open_pinned_and_latest_sessions_stay_whatever_room_they_take(store: SessionStore, blobs: BlobStore) -> None:
    opened, pinned, plain, latest = (record(store, number) for number in (1, 2, 3, 4))
    assert store.lock(opened)
    store.pin(pinned, True)
    assert store.info(pinned).pinned
    done = tidy(store, blobs, Limits(1000, 0))
    assert names(store) == {opened, pinned, latest}
    assert plain not in names(store)
    assert done.above > MIB
    assert "are not removed" in done.text
    store.pin(pinned, False)
    tidy(store, blobs, Limits(1000, 0))
    assert names(store) == {opened, latest}


def test_a_subagent_session_goes_and_stays_with_the_one_it_worked_for(store: SessionStore, blobs: BlobStore) -> None:
    first = record(store, 1)
    record(store, 9, parent=Parent(first, "run_1", "c1"))
    second = record(store, 2)
    child = record(store, 3, parent=Parent(second, "run_1", "c1"))
    latest = record(store, 4)
    store.pin(child, True)
    tidy(store, blobs, Limits(1000, 0))
    assert names(store) == {second, child, latest}


def test_a_session_above_its_own_limit_loses_its_oldest_outputs_first(store: SessionStore, blobs: BlobStore) -> None:
    session = record(store, 1)
    folder = store.folder(session)
    folder.mkdir(parents=True)
    for age, name in ((30, "old.txt"), (20, "middle.txt"), (10, "new.txt")):
        (folder / name).write_bytes(bytes(MIB))
        os.utime(folder / name, (time.time() - age, time.time() - age))
    done = tidy(store, blobs, Limits(0, 2 * MIB))
    assert sorted(path.name for path in folder.iterdir()) == ["new.txt"]
    assert (done.slimmed, done.freed) == (1, 2 * MIB)
    assert done.text == "removed kept outputs of 1 session above the limit for one, 2.0 MiB in all"
    assert [stored.seq for stored in store.messages(session)] == [1]


def test_deltas_go_when_the_outputs_were_not_enough_and_their_text_stays(store: SessionStore, blobs: BlobStore) -> None:
    deltas = [TextDelta("word " * 100) for _ in range(3)]
    session = record(store, 1, *deltas, TextFinished("word " * 300))
    assert tidy(store, blobs, Limits(0, MIB // 4)).slimmed == 1
    assert [envelope.event.type for envelope in store.events(session)] == ["run_started", "text_finished"]
    assert tidy(store, blobs, Limits(0, MIB // 4)) == Cleaned()


def test_an_open_session_keeps_its_outputs(store: SessionStore, blobs: BlobStore) -> None:
    session = record(store, 1)
    assert store.lock(session)
    store.folder(session).mkdir(parents=True)
    (store.folder(session) / "a.txt").write_bytes(bytes(MIB))
    assert tidy(store, blobs, Limits(0, MIB)) == Cleaned()
    assert (store.folder(session) / "a.txt").exists()


def test_contents_of_files_go_with_the_last_session_that_names_them(store: SessionStore, blobs: BlobStore) -> None:
    shared, own = blobs.put(b"shared"), blobs.put(b"own")
    first = record(store, 1, FileChanged("a.py", 1, 0, shared, own))
    record(store, 2, FileChanged("a.py", 1, 0, None, shared))
    time.sleep(0.2)  # what was put in the same moment stays
    assert sweep_contents(store, blobs) == 0
    store.delete(first)
    assert sweep_contents(store, blobs) == len(b"own")
    assert set(blobs.names()) == {shared}


def test_contents_that_an_open_session_may_be_about_to_name_stay(store: SessionStore, blobs: BlobStore) -> None:
    session = record(store, 1)
    blobs.put(b"not named yet")
    time.sleep(0.2)
    with store.locked(session):
        assert sweep_contents(store, blobs) == 0
    assert sweep_contents(store, blobs) == len(b"not named yet")


def test_a_database_of_before_gives_its_room_back_too(database: Path, blobs: BlobStore) -> None:
    import sqlite3

    store = SessionStore(database)
    store.list()
    store.close()
    with sqlite3.connect(database, isolation_level=None) as connection:
        connection.execute("PRAGMA auto_vacuum = NONE")
        connection.execute("VACUUM")
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (0,)
    connection.close()
    made = [record(store, number) for number in (1, 2, 3, 4)]
    tidy(store, blobs, Limits(MIB, 0))
    assert names(store) == {made[-1]}
    assert total_bytes(store, blobs) < MIB
    store.close()


def test_what_was_done_is_told_in_one_sentence() -> None:
    assert Cleaned().text == ""
    assert Cleaned(removed=2, slimmed=1, freed=3 * MIB).text == (
        "removed 2 sessions that changed longest ago and removed kept outputs of 1 session above the limit for one,"
        " 3.0 MiB in all"
    )
