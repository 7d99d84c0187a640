"""The database file: private, shared by processes, never lost to a crash, never silently replaced."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import TextDelta
from harness_tui.sessions import database as database_module
from harness_tui.sessions import locks
from harness_tui.sessions.database import MIGRATIONS, Database
from harness_tui.sessions.store import SessionStore

WRITER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from harness_tui.core.envelope import Envelope
    from harness_tui.core.events import TextDelta
    from harness_tui.sessions.store import SessionStore

    store = SessionStore(Path(sys.argv[1]))
    session = store.create(Path("/p")).session
    for number in range(1, int(sys.argv[2]) + 1):
        store.append(session, [Envelope(number, "2026-01-01T00:00:00.000Z", session, TextDelta(str(number)))])
    print(session)
    store.close()
    """
)

HOLDER = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from harness_tui.core.envelope import Envelope
    from harness_tui.core.events import TextDelta
    from harness_tui.sessions.store import SessionStore

    store = SessionStore(Path(sys.argv[1]))
    assert store.lock(sys.argv[2])
    number = 0
    while True:
        number += 1
        store.append(sys.argv[2], [Envelope(number, "2026-01-01T00:00:00.000Z", sys.argv[2], TextDelta("x" * 1000))])
        print(number, flush=True)
    """
)


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_eight_processes_that_start_at_once_all_write_their_sessions(database: Path) -> None:
    children = [start(WRITER, str(database), "20") for _ in range(8)]
    outputs = [child.communicate(timeout=60) for child in children]
    assert [child.returncode for child in children] == [0] * 8, outputs
    store = SessionStore(database)
    sessions = {out.strip() for out, _ in outputs}
    assert len(sessions) == 8
    for session in sessions:
        assert [envelope.seq for envelope in store.events(session)] == list(range(1, 21))
    store.close()


def test_what_was_written_survives_kill_9_and_the_lock_is_taken_over(store: SessionStore, database: Path) -> None:
    session = store.create(Path("/p")).session
    child = start(HOLDER, str(database), session)
    assert child.stdout is not None
    confirmed = [int(child.stdout.readline()) for _ in range(5)]
    assert store.info(session).live
    assert not store.lock(session)
    with pytest.raises(HarnessError, match=f"process {child.pid}"), store.locked(session):
        pass
    child.send_signal(signal.SIGKILL)
    child.wait(timeout=10)
    child.communicate()
    assert not store.info(session).live
    assert store.lock(session)
    numbers = [envelope.seq for envelope in store.events(session)]
    assert numbers[: len(confirmed)] == confirmed
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_lock_of_an_earlier_process_with_the_same_id_is_stale(store: SessionStore, database: Path) -> None:
    session = store.create(Path("/p")).session
    with sqlite3.connect(database) as connection:
        connection.execute("INSERT INTO locks VALUES (?, ?, ?)", (session, os.getpid(), "long ago"))
    connection.close()
    assert not store.info(session).live
    assert store.lock(session)
    assert store.info(session).live


def test_a_lock_is_held_once_and_given_back(store: SessionStore, database: Path) -> None:
    session = store.create(Path("/p")).session
    assert store.lock(session)
    assert not store.lock(session)
    other = SessionStore(database)
    assert not other.lock(session)
    store.unlock(session)
    assert other.lock(session)
    other.close()
    assert store.lock(session)


def test_a_session_can_be_opened_as_it_is_created_and_closes_with_its_store(database: Path) -> None:
    store, other = SessionStore(database), SessionStore(database)
    session = store.create(Path("/p"), lock=True)
    assert session.live
    assert not other.lock(session.session)
    store.close()
    assert other.lock(session.session)
    other.close()


def test_a_finished_process_is_not_alive() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert locks.started(child.pid) is None  # a zombie holds nothing
    child.wait(timeout=10)
    assert locks.is_alive(locks.this_process())


def test_file_and_folder_are_for_the_owner_alone(store: SessionStore, database: Path) -> None:
    store.create(Path("/p"))
    assert stat.S_IMODE(database.parent.stat().st_mode) == 0o700
    for path in database.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_file_that_others_could_read_is_closed_to_them(database: Path) -> None:
    database.parent.mkdir()
    database.touch(0o644)
    store = SessionStore(database)
    store.create(Path("/p"))
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    store.close()


def test_a_database_of_a_later_version_is_not_touched(store: SessionStore, database: Path) -> None:
    store.create(Path("/p"))
    store.close()
    with sqlite3.connect(database) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(HarnessError) as raised:
        store.list()
    assert raised.value.code == "database-version"


def test_an_older_schema_is_brought_up_to_date_and_keeps_its_rows(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SessionStore(database)
    session = store.create(Path("/p")).session
    store.close()
    monkeypatch.setattr(database_module, "MIGRATIONS", (*MIGRATIONS, ("ALTER TABLE sessions ADD COLUMN extra TEXT",)))
    assert [info.session for info in store.list()] == [session]
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS) + 1,)
        assert connection.execute("SELECT extra FROM sessions").fetchall() == [(None,)]
    connection.close()
    store.close()


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = SessionStore(tmp_path / "file" / "harness.db")
    with pytest.raises(HarnessError, match="cannot be opened"):
        store.create(Path("/p"))


def test_a_full_disk_is_a_clear_error_and_what_was_there_stays(store: SessionStore, database: Path) -> None:
    session = store.create(Path("/p")).session
    store.append(session, [Envelope(1, "t", session, TextDelta("kept"))])
    small = Database(database)
    with small.write() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(HarnessError) as raised, small.write() as connection:
        connection.execute("UPDATE sessions SET title = ?", ("x" * 1_000_000,))
    assert raised.value.code == "disk-full"
    small.close()
    assert [envelope.event for envelope in store.events(session)] == [TextDelta("kept")]
    assert store.info(session).title is None


def test_a_write_that_raises_leaves_nothing_behind(database: Path) -> None:
    shared = Database(database)

    def write_half() -> None:
        with shared.write() as connection:
            connection.execute("INSERT INTO sessions (id, root, created, updated) VALUES ('a', '/', 't', 't')")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    with shared.read() as connection:
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    shared.close()


def test_a_database_of_the_first_schema_keeps_its_sessions_and_goes_on(database: Path) -> None:
    database.parent.mkdir()
    with sqlite3.connect(database) as connection:
        for statement in MIGRATIONS[0]:
            connection.execute(statement)
        connection.execute(
            "INSERT INTO sessions (id, root, created, updated, last_seq, messages) "
            "VALUES ('ses_old', '/p', 't', 't', 2, 2)"
        )
        message = '{"text":"hi","attachments":[]}'
        answer = '{"text":"","reasoning":"","calls":[{"call":"c1","tool":"read","arguments":{}}]}'
        for seq, role, kind, text in ((1, "user", "run_started", message), (2, "assistant", "step_finished", answer)):
            data = f'{{"agent":"a","model":"m","mode":"ask","step":1,"message":{text}}}'
            connection.execute("INSERT INTO events VALUES ('ses_old', ?, 't', 'run_1', ?, ?)", (seq, kind, data))
            connection.execute("INSERT INTO messages VALUES ('ses_old', ?, ?, ?)", (seq, role, text))
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    store = SessionStore(database)
    assert store.lock("ses_old")
    assert [result.call for result in store.repair("ses_old")] == ["c1"]
    assert store.open_numbers("ses_old") == 3
    store.append("ses_old", [Envelope(4, "t", "ses_old", TextDelta("x" * 5000), "run_2")])
    assert [envelope.event.type for envelope in store.events("ses_old")] == [
        "run_started",
        "step_finished",
        "tool_finished",
        "text_delta",
    ]
    store.close()
