"""A change that a killed process made is in the record when the session is opened again; what was not made is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_tui.core.clock import SystemClock
from harness_tui.core.envelope import Envelope
from harness_tui.core.event_parts import Parent
from harness_tui.core.events import Event, FileChanged, Notice, SessionStarted
from harness_tui.core.paths import digest
from harness_tui.sessions.change_journal import NAME, note_change, recover_changes
from harness_tui.sessions.store import SessionStore

OLD, NEW = digest(b"old"), digest(b"new")
EDIT = FileChanged("a.txt", 1, 1, OLD, NEW)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def session(store: SessionStore, root: Path) -> str:
    info = store.create(root, session_id="ses_1")
    record(store, SessionStarted(str(root)))
    return info.session


def record(store: SessionStore, event: Event, run: str | None = None) -> None:
    store.append("ses_1", [Envelope(store.last_seq("ses_1") + 1, "2026-01-02T03:04:05.006Z", "ses_1", event, run)])


def recover(store: SessionStore, root: Path) -> list[Event]:
    return recover_changes(store, "ses_1", root, SystemClock())


def test_a_change_that_was_made_and_not_recorded_is_recorded_once(
    store: SessionStore, session: str, root: Path
) -> None:
    (root / "a.txt").write_bytes(b"new")
    note_change(store.folder(session), "run_1", EDIT)
    assert recover(store, root) == [EDIT]
    (last,) = list(store.events(session))[1:]
    assert (last.run, last.event) == ("run_1", EDIT)
    assert recover(store, root) == []
    assert not (store.folder(session) / NAME).exists()


def test_what_the_record_has_or_what_was_not_made_is_left_as_it_is(
    store: SessionStore, session: str, root: Path
) -> None:
    (root / "a.txt").write_bytes(b"new")
    note_change(store.folder(session), "run_1", EDIT)
    record(store, EDIT, "run_1")
    created = FileChanged("b.txt", 1, 0, None, NEW)
    note_change(store.folder(session), "run_1", created)
    failed = FileChanged("c.txt", 1, 0, None, NEW)
    note_change(store.folder(session), "run_1", failed)
    (root / "c.txt").write_bytes(b"of somebody else")
    note_change(store.folder(session), "run_1", failed, failed=True)
    assert recover(store, root) == []


def test_a_file_that_is_neither_is_told(store: SessionStore, session: str, root: Path) -> None:
    (root / "a.txt").write_bytes(b"ne")  # written in place, and killed
    note_change(store.folder(session), "run_1", EDIT)
    (notice,) = recover(store, root)
    assert isinstance(notice, Notice)
    assert notice.text == "a.txt was about to be changed when the program was killed, and is something else now"
    assert recover(store, root) == []


def test_a_torn_line_is_passed_over(store: SessionStore, session: str, root: Path) -> None:
    (root / "a.txt").write_bytes(b"new")
    note_change(store.folder(session), "run_1", EDIT)
    with (store.folder(session) / NAME).open("ab") as file:
        file.write(b'{"run": "run_1", "chan')
    assert recover(store, root) == [EDIT]


def test_a_subagents_change_is_recorded_in_its_own_session(store: SessionStore, session: str, root: Path) -> None:
    child = store.create(root, parent=Parent(session, "run_1", "c1"), session_id="ses_2")
    store.append(child.session, [Envelope(1, "2026-01-02T03:04:05.006Z", child.session, SessionStarted(str(root)))])
    (root / "a.txt").write_bytes(b"new")
    note_change(store.folder(child.session), "run_2", EDIT)
    assert recover(store, root) == []
    assert [envelope.event for envelope in store.events(child.session)][-1:] == [EDIT]
