"""A damaged database is kept byte for byte, what can be read of it is used, and the person is told."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Event, Notice, RunStarted, SessionStarted, StepFinished, ToolFinished
from harness_tui.core.messages import AssistantMessage, ToolCall, UserMessage
from harness_tui.sessions.database import MIGRATIONS
from harness_tui.sessions.store import SessionStore

TIME = "2026-01-02T03:04:05.678Z"
TURNS = 40
PAGE = 4096


def turn(number: int) -> list[Event]:
    call = f"c{number}"
    return [
        RunStarted("build", "offline", "ask", UserMessage(f"turn {number}")),
        StepFinished(1, AssistantMessage(calls=(ToolCall(call, "read", {}),))),
        ToolFinished(call, "read", output(number), False, {}),
    ]


def output(number: int) -> str:
    """Return 1,500 bytes; of every eighth turn 10,000, which become a blob."""
    return f"{number:04d} " * (300 if number % 8 else 2000)


def fill(database: Path, sessions: int = 3) -> list[str]:
    """Record sessions of 121 events and 120 messages each."""
    store = SessionStore(database)
    names: list[str] = []
    for number in range(sessions):
        session = store.create(Path(f"/p{number}")).session
        events = [SessionStarted(f"/p{number}"), *(event for n in range(TURNS) for event in turn(n))]
        store.append(session, [Envelope(seq, TIME, session, event, "run_1") for seq, event in enumerate(events, 1)])
        names.append(session)
    store.close()
    return names


def told_by(store: SessionStore) -> list[str]:
    told: list[str] = []
    store.report_to(told.append)
    return told


def kept(database: Path) -> dict[str, bytes]:
    """Return what the one folder of a damaged database holds."""
    (folder,) = (database.parent / "damaged").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in folder.iterdir())
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def no_database(data: bytes) -> bytes:
    return b"this is no database" * 300


def zeros(data: bytes) -> bytes:
    return bytes(len(data))


def emptied(data: bytes) -> bytes:
    return b""


def head_alone(data: bytes) -> bytes:
    return data[:50]


@pytest.mark.parametrize("damage", [no_database, zeros, emptied, head_alone])
def test_a_file_that_is_no_database_any_more_is_kept_and_a_new_one_begun(
    database: Path, damage: Callable[[bytes], bytes]
) -> None:
    fill(database)
    damaged = damage(database.read_bytes())
    database.write_bytes(damaged)
    store = SessionStore(database)
    assert store.list() == []
    (told,) = told_by(store)
    assert told.startswith("the session database was damaged; nothing could be read from it")
    assert str(database.parent / "damaged") in told
    assert kept(database) == {"harness.db": damaged}
    session = store.create(Path("/p")).session
    store.close()
    assert [info.session for info in SessionStore(database).list()] == [session]


def test_a_file_that_lost_its_first_bytes_is_read_behind_them(database: Path) -> None:
    names = fill(database)
    damaged = bytes(100) + database.read_bytes()[100:]
    database.write_bytes(damaged)
    store = SessionStore(database)
    assert {info.session for info in store.list()} == set(names)
    assert [len(list(store.events(name))) for name in names] == [121] * 3
    (told,) = told_by(store)
    assert "3 sessions with 363 events were read from it" in told
    assert kept(database)["harness.db"] == damaged
    store.close()


def test_of_a_file_that_was_cut_off_the_first_part_is_used(database: Path) -> None:
    names = fill(database)
    damaged = database.read_bytes()[: database.stat().st_size // 2]
    database.write_bytes(damaged)
    store = SessionStore(database)
    assert {info.session for info in store.list()} <= set(names)
    (told,) = told_by(store)
    assert "were read from it" in told
    assert kept(database)["harness.db"] == damaged
    read = {name: [envelope.seq for envelope in store.events(name)] for name in names if name in listed(store)}
    assert len(read[names[0]]) > 60
    for numbers in read.values():
        assert numbers == sorted(set(numbers))
    store.close()


def listed(store: SessionStore) -> set[str]:
    return {info.session for info in store.list()}


@pytest.mark.parametrize("page", range(18, 60, 6))
def test_one_page_of_rubbish_costs_what_stood_in_it_and_no_more(database: Path, page: int) -> None:
    names = fill(database)
    whole = database.read_bytes()
    assert len(whole) > 60 * PAGE
    damaged = whole[: page * PAGE] + b"\xff" * PAGE + whole[(page + 1) * PAGE :]
    database.write_bytes(damaged)
    store = SessionStore(database)
    told = told_by(store)
    numbers: dict[str, list[int]] = {}
    for name in names:
        assert store.lock(name)
        store.repair(name)
        answered = [stored.message for stored in store.messages(name)]
        asked = [call.call for message in answered if isinstance(message, AssistantMessage) for call in message.calls]
        assert asked == [message.call for message in answered if message.role == "tool"]
        numbers[name] = [envelope.seq for envelope in store.events(name)]
        store.append(name, [Envelope(store.open_numbers(name) + 1, TIME, name, Notice("info", "test", "on"), None)])
        store.unlock(name)
    assert sum(map(len, numbers.values())) > 3 * 121 * 0.6
    if told:  # a page of an index, or one that is free, may never be missed
        assert kept(database)["harness.db"] == damaged
        with sqlite3.connect(database) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
    store.close()


def test_a_session_whose_own_row_was_lost_is_listed_again(database: Path) -> None:
    names = fill(database)
    with sqlite3.connect(database) as connection:
        connection.execute("DELETE FROM sessions")
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'repairs'").fetchone()[0]
    connection.close()
    with database.open("r+b") as file:
        file.seek((root - 1) * PAGE)
        file.write(b"\xff" * PAGE)
    store = SessionStore(database)
    with pytest.raises(HarnessError):
        store.messages(names[0])  # there is no such session, and nothing looked damaged so far
    store.rescue()
    assert {(info.session, info.root, info.messages) for info in store.list()} == {
        (name, f"/p{number}", 120) for number, name in enumerate(names)
    }
    store.close()


def test_the_log_is_kept_with_an_emptied_file(database: Path, tmp_path: Path) -> None:
    names = fill(database)
    store = SessionStore(database)
    store.rename(names[0], "kept in the log")
    files = {name: (database.parent / name).read_bytes() for name in ("harness.db", "harness.db-wal")}
    store.close()
    assert len(files["harness.db-wal"]) > PAGE
    database.write_bytes(b"")
    (database.parent / "harness.db-wal").write_bytes(files["harness.db-wal"])
    again = SessionStore(database)
    again.list()
    found = kept(database)
    assert (found["harness.db"], found["harness.db-wal"]) == (b"", files["harness.db-wal"])
    again.close()


def test_a_new_file_beside_nothing_is_not_called_damaged(database: Path) -> None:
    database.parent.mkdir()
    database.touch()
    store = SessionStore(database)
    assert store.list() == []
    assert told_by(store) == []
    assert not (database.parent / "damaged").exists()
    store.close()


def test_a_database_that_a_person_deleted_is_begun_anew_without_a_word(database: Path) -> None:
    fill(database, 1)
    database.unlink()
    store = SessionStore(database)
    assert store.list() == []
    assert told_by(store) == []
    store.close()


def test_a_damaged_database_that_others_have_open_stays_where_it_is(database: Path) -> None:
    fill(database)
    other = SessionStore(database)
    other.list()
    damaged = b"x" * database.stat().st_size
    database.write_bytes(damaged)
    store = SessionStore(database)
    store._database._busy = 0.2  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(HarnessError) as raised:
        store.list()
    assert raised.value.code == "damaged-in-use"
    assert database.read_bytes() == damaged
    store.close()
    other.close()


READER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from harness_tui.sessions.store import SessionStore

    store = SessionStore(Path(sys.argv[1]))
    store.report_to(print)
    print(store.create(Path("/p")).session)
    store.close()
    """
)


def test_of_four_processes_that_find_the_damage_at_once_one_mends_it(database: Path) -> None:
    names = fill(database)
    database.write_bytes(database.read_bytes()[:-PAGE])
    children = [
        subprocess.Popen(
            [sys.executable, "-c", READER, str(database)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        )
        for _ in range(4)
    ]
    outputs = [child.communicate(timeout=60) for child in children]
    assert [child.returncode for child in children] == [0] * 4, outputs
    assert sum("was damaged" in out for out, _ in outputs) == 1
    made = {out.split()[-1] for out, _ in outputs}
    store = SessionStore(database)
    assert len(made) == 4
    assert made | set(names) == listed(store)
    store.close()
    assert len(list((database.parent / "damaged").iterdir())) == 1


def test_a_database_of_a_later_version_is_not_called_damaged(database: Path) -> None:
    fill(database, 1)
    with sqlite3.connect(database) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    before = database.read_bytes()
    store = SessionStore(database)
    with pytest.raises(HarnessError) as raised:
        store.list()
    assert raised.value.code == "database-version"
    store.close()
    assert database.read_bytes() == before
    assert not (database.parent / "damaged").exists()


@pytest.mark.parametrize("table", ["sessions", "events", "messages", "blobs", "sqlite_schema"])
def test_the_page_that_a_table_begins_with_costs_no_more_than_itself(database: Path, table: str) -> None:
    names = fill(database, 3)
    gone = names.pop()
    store = SessionStore(database)
    store.delete(gone)  # what was deleted stands in free pages, and stays deleted
    store.close()
    page = 1 if table == "sqlite_schema" else root_of(database, table)
    data = bytearray(database.read_bytes())
    data[(page - 1) * PAGE : page * PAGE] = random.Random(1).randbytes(PAGE)
    database.write_bytes(data)
    store = SessionStore(database)
    assert {info.session for info in store.list()} == set(names)
    assert [len(list(store.events(name))) for name in names] == [121] * 2
    assert [len(store.messages(name)) for name in names] == [120] * 2
    results = [item.message.text for item in store.messages(names[0]) if item.message.role == "tool"]
    assert results == [output(number) for number in range(TURNS)]
    (told,) = told_by(store)
    assert "2 sessions with 242 events were read from it. The damaged files" in told
    assert kept(database)["harness.db"] == bytes(data)
    store.close()


def test_what_a_lost_page_held_is_told_by_the_name_of_its_session(database: Path) -> None:
    names = fill(database)
    store = SessionStore(database)
    leaf = leaf_of(database, names[1])
    store.close()
    data = bytearray(database.read_bytes())
    data[(leaf - 1) * PAGE : leaf * PAGE] = bytes(PAGE)
    database.write_bytes(data)
    store = SessionStore(database)
    lost = [name for name in names if len(list(store.events(name))) < 121 or len(store.messages(name)) < 120]
    (told,) = told_by(store)
    assert lost
    assert told.split("parts may be missing of ")[1].split(".")[0].split(", ") == lost
    store.close()


def root_of(database: Path, table: str) -> int:
    connection = sqlite3.connect(database)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    connection.close()
    return int(page)


def leaf_of(database: Path, session: str) -> int:
    """Return the first page that holds events of the session."""
    data = database.read_bytes()
    pages = (data[start : start + PAGE] for start in range(0, len(data), PAGE))
    wanted = (session.encode(), b"step_finished")
    return next(n for n, page in enumerate(pages, 1) if page[0] == 0x0D and all(word in page for word in wanted))
