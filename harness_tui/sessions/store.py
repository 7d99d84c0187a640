"""Sessions on disk: what front ends show (events) and what a model is sent (messages).

Every method waits for the disk, and for other processes that write: call it through ``asyncio.to_thread``.
Nothing that was recorded is rewritten; the table of sessions is an index over it.
"""

from __future__ import annotations

import builtins
import contextlib
import shutil
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness_tui.core.clock import SystemClock, rfc3339
from harness_tui.core.codec import encode
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.event_parts import Parent
from harness_tui.core.event_registry import E, Event
from harness_tui.core.events import Notice, SessionChanged, ToolFinished
from harness_tui.core.ids import new_id
from harness_tui.core.messages import Message, ToolMessage
from harness_tui.core.record import record
from harness_tui.core.seams import Clock
from harness_tui.sessions import locks, packing, repair, rows, tables
from harness_tui.sessions.database import Database
from harness_tui.sessions.index import Index, SessionInfo, check_id, root_text
from harness_tui.sessions.open_calls import OpenCalls
from harness_tui.sessions.records import dumps
from harness_tui.sessions.repair import INTERRUPTED
from harness_tui.sessions.retry import retried
from harness_tui.sessions.undo_log import UndoLog, read_log

CUT: Final = "the program ended without a word; what it told as events {first} to {last} may be missing here"
"""Stands for the numbers that may have been seen, and were not recorded, when a process died."""

_PAGE: Final = 512


@record
class StoredMessage:
    """A message with the number of the event that it came with."""

    seq: int
    message: Message


class SessionStore:
    """All sessions in the database file ``database``; large outputs lie in ``sessions/<id>`` beside it.

    A damaged database is kept aside, and the store goes on with what can be read of it: :meth:`report_to` tells.
    """

    def __init__(self, database: Path, *, clock: Clock | None = None) -> None:
        self._database = Database(database)
        self._index = Index(self.folder)
        self._clock = clock or SystemClock()
        self._held: set[str] = set()
        self._held_guard = threading.Lock()
        self._calls: dict[str, tuple[int, OpenCalls]] = {}
        self._tell: Callable[[str], None] | None = None
        self._told: builtins.list[str] = []

    def close(self) -> None:
        """Give back every lock of this store and close the file; the next use opens it again."""
        for session in tuple(self._held):
            with contextlib.suppress(HarnessError):  # a lock that stays is seen as stale once the process is gone
                self.unlock(session)
        self._database.close()

    @property
    def database(self) -> Database:
        """The database, for what works on all sessions at once."""
        return self._database

    def report_to(self, tell: Callable[[str], None]) -> None:
        """Call ``tell``, from any thread, with what a person has to know; with what happened before now at once."""
        self._tell = tell
        told, self._told = self._told, []
        for text in told:
            tell(text)

    def rescue(self) -> None:
        """Keep a damaged database aside, and go on with what can be read of it. Raises ``HarnessError``."""
        rescued = self._database.rescue()
        self._calls.clear()
        for session in tuple(self._held):
            with contextlib.suppress(HarnessError), self._database.write() as connection:
                locks.take(connection, session)
        if rescued is None:
            return
        if self._tell is not None:
            self._tell(rescued.text)
        else:
            self._told.append(rescued.text)

    def folder(self, session: str) -> Path:
        """Return the session's folder for large outputs and images; whoever writes into it first makes it."""
        check_id(session)
        return self._database.path.parent / "sessions" / session

    # --- the index ---------------------------------------------------------------------------------

    @retried
    def create(
        self,
        root: Path,
        *,
        title: str | None = None,
        parent: Parent | None = None,
        session_id: str | None = None,
        lock: bool = False,
    ) -> SessionInfo:
        """Add a session of the project ``root``, with ``lock`` opened for this process at once.

        No event is written: ``session_started`` comes through the stream and is its number 1. Raises ``HarnessError``
        when ``session_id`` is taken or no valid name.
        """
        session = session_id or new_id("ses")
        check_id(session)
        now = rfc3339(self._clock.now())
        with self._database.write() as connection:
            if connection.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone():
                raise HarnessError("there is a session of this name already", where=session, code="session-exists")
            connection.execute(
                "INSERT INTO sessions (id, root, title, created, updated, parent, reserved) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    session,
                    root_text(root),
                    tables.stored_title(title),
                    now,
                    now,
                    dumps(encode(parent)) if parent else None,
                    tables.RESERVE if lock else 0,
                ),
            )
            if lock:
                locks.take(connection, session)
        if lock:
            self._hold(session)
        return self.info(session)

    @retried
    def info(self, session: str) -> SessionInfo:
        """Return the session with this id, or with the one id that starts so. Raises ``UsageError``."""
        with self._database.read() as connection:
            return self._index.find(connection, session)

    @retried
    def list(self, root: Path | None = None) -> builtins.list[SessionInfo]:
        """Return the sessions of ``root``, or all of them, the one that changed last first."""
        with self._database.read() as connection:
            return self._index.of_root(connection, root)

    @retried
    def latest(self, root: Path) -> SessionInfo | None:
        """Return the session of ``root`` to go on with: the latest that has a message and is not a subagent's."""
        with self._database.read() as connection:
            return self._index.latest(connection, root)

    @retried
    def last_seq(self, session: str) -> int:
        """Return the number of the latest event, 0 before the first. Raises ``UsageError`` for an unknown session."""
        with self._database.read() as connection:
            return rows.last_seq(connection, session)

    @retried
    def rename(self, session: str, title: str) -> None:
        """Give the session a title.

        Recorded as ``session_changed`` too, unless a process has the session open: that process numbers its events.
        """
        wanted = tables.stored_title(title)
        if wanted is None:
            raise UsageError("the title is empty", where=session)
        with self._database.write() as connection:
            seq = rows.numbers(connection, session)[1] + 1
            if locks.holder_of(connection, session) is None:
                envelope = self._envelope(session, seq, SessionChanged(title=wanted), None)
                tables.insert(connection, envelope, OpenCalls(session))
                tables.set_last(connection, session, seq, envelope.time, ahead=0)
            tables.set_title(connection, session, wanted)

    @retried
    def pin(self, session: str, pinned: bool) -> None:
        """Say whether the session is kept whatever room it takes. Raises ``UsageError`` for an unknown one."""
        with self._database.write() as connection:
            rows.last_seq(connection, session)
            connection.execute("UPDATE sessions SET pinned = ? WHERE id = ?", (int(pinned), session))

    @retried
    def delete(self, session: str) -> None:
        """Remove the session, its subagents' sessions and their folders. Raises ``HarnessError`` when one is open."""
        with self._database.write() as connection:
            rows.last_seq(connection, session)
            doomed = rows.family(connection, session)
            for name in doomed:
                holder = locks.holder_of(connection, name)
                if holder is not None:
                    raise locks.live_error(name, holder)
            for name in doomed:
                for table, column in (
                    ("events", "session"),
                    ("messages", "session"),
                    ("locks", "session"),
                    ("blob_refs", "session"),
                    ("repairs", "session"),
                    ("sessions", "id"),
                ):
                    connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (name,))
            packing.drop_unused(connection)
        for name in doomed:
            shutil.rmtree(self.folder(name), ignore_errors=True)

    # --- the record --------------------------------------------------------------------------------

    @retried
    def append(self, session: str, envelopes: Sequence[Envelope]) -> None:
        """Write events and the messages that they add, in one transaction; durable on return.

        Numbers must grow. Raises ``HarnessError`` when they do not (another process writes this session), when the
        session is unknown, or when the disk does not take it; nothing is written then.
        """
        if not envelopes:
            return
        with self._database.write() as connection:
            last = rows.last_seq(connection, session)
            known = self._calls.get(session)
            calls = known[1].copy() if known is not None and known[0] == last else OpenCalls(session)
            for envelope in envelopes:
                if envelope.seq <= last or envelope.session != session:
                    raise HarnessError(
                        f"event {envelope.seq} of {envelope.session} does not follow event {last}",
                        where=session,
                        mend="another process may have written this session: resume it again",
                        code="out-of-order",
                    )
                tables.insert(connection, envelope, calls)
                last = envelope.seq
            tables.set_last(connection, session, last, envelopes[-1].time)
        self._calls[session] = (last, calls)

    def events(self, session: str, after_seq: int = 0) -> Iterator[Envelope]:
        """Yield the merged events after ``after_seq``, read in pages.

        One that cannot be read is a ``notice`` in its place. Types that only a later version knows are left out.
        Raises ``UsageError`` for an unknown session.
        """
        self.last_seq(session)
        while True:
            envelopes, last = self._page(session, after_seq)
            yield from envelopes
            if last is None:
                return
            after_seq = last

    @retried
    def _page(self, session: str, after_seq: int) -> tuple[builtins.list[Envelope], int | None]:
        with self._database.read() as connection:
            page = connection.execute(
                f"SELECT {rows.EVENT_COLUMNS} FROM events WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?",
                (session, after_seq, _PAGE),
            ).fetchall()
            envelopes = rows.read_events(connection, session, page)
        return envelopes, int(page[-1][0]) if len(page) == _PAGE else None

    @retried
    def latest_of(self, session: str, kind: type[E]) -> E | None:
        """Return the last event of a class, ``None`` where there is none that can be read."""
        with self._database.read() as connection:
            page = connection.execute(
                f"SELECT {rows.EVENT_COLUMNS} FROM events WHERE session = ? AND type = ? ORDER BY seq DESC LIMIT 1",
                (session, kind.type),
            ).fetchall()
            envelopes = rows.read_events(connection, session, page)
        event = next(iter(envelopes), None)
        return event.event if event is not None and isinstance(event.event, kind) else None

    @retried
    def highest_call(self, session: str) -> int:
        """Return the highest n of the calls ``c{n}`` of a session, 0 without one; those before a summary count too."""
        with self._database.read() as connection:
            return rows.highest_call(connection, session)

    @retried
    def messages(self, session: str, *, since_compaction: bool = True) -> builtins.list[StoredMessage]:
        """Return what a model is sent: the messages after the last ``context_compacted``, or all of them.

        Whoever compacts adds the summary as a message after that event. What was undone, a compaction too, is left out
        as if it had not been. Raises ``UsageError`` for an unknown session,
        and ``HarnessError`` for a message that cannot be read.
        """
        with self._database.read() as connection:
            rows.last_seq(connection, session)
            after = rows.last_compaction(connection, session) if since_compaction else 0
            return [StoredMessage(seq, message) for seq, message in rows.history(connection, session, after)]

    @retried
    def undo_log(self, session: str) -> UndoLog:
        """Return what can be undone and redone in the session. Raises ``UsageError`` for an unknown one."""
        with self._database.read() as connection:
            return read_log(connection, session)

    @retried
    def repair(self, session: str) -> builtins.list[ToolMessage]:
        """Make the history one that a provider takes, and return the results that calls at its end were given.

        For a session that a dead process left: call it under the session's lock, before the stream is opened (it adds
        events). These results are ``tool_finished`` with metadata ``{"interrupted": true}``; all else that is mended is
        told by a ``notice``. A second repair finds nothing. Numbers that may have been seen and were not recorded are
        taken by a ``notice`` too, never given again.
        """
        with self._database.write() as connection:
            last, seen = rows.numbers(connection, session)
            start = rows.last_compaction(connection, session)
            found = repair.plan(rows.damaged_history(connection, session, start))
            told = list[tuple[Event, int | None]]()
            if last and seen > last:
                told.append((Notice("warning", "sessions", CUT.format(first=last + 1, last=seen)), last + 1))
                last = seen - 1
            if found.text:
                told.append((Notice("warning", "sessions", found.text), None))
                repair.store(connection, session, last + len(told), found)
            told += [(repair.interrupted(call), None) for call in found.waiting]
            if not told:
                return []
            run, calls = rows.last_run(connection, session), OpenCalls(session)
            for event, first in told:
                last += 1
                envelope = self._envelope(session, last, event, run if isinstance(event, ToolFinished) else None)
                tables.insert(connection, replace(envelope, first_seq=first), calls)
            tables.set_last(connection, session, last, rfc3339(self._clock.now()), ahead=0)
        return [ToolMessage(call.call, call.tool, INTERRUPTED, True) for call in found.waiting]

    @retried
    def open_numbers(self, session: str) -> int:
        """Return the number of the latest event, for the stream that goes on after it.

        Numbers that this stream gives count as seen from now on, until :meth:`unlock` says which of them were.
        """
        with self._database.write() as connection:
            last = rows.last_seq(connection, session)
            tables.set_reserved(connection, session, last + tables.RESERVE)
        return last

    # --- locks -------------------------------------------------------------------------------------

    @retried
    def lock(self, session: str) -> bool:
        """Open the session for this process; false when one that lives (this one too) has it open already.

        The lock of a dead process is taken over. Raises ``UsageError`` for an unknown session.
        """
        with self._database.write() as connection:
            rows.last_seq(connection, session)
            taken = locks.take(connection, session)
        if taken:
            self._hold(session)
        return taken

    @retried
    def unlock(self, session: str, *, seen: int = 0) -> None:
        """Give the session back; nothing happens when this process does not hold it.

        ``seen`` is the last number that the stream gave, recorded or not: none up to it is given again.
        """
        with self._database.write() as connection:
            if locks.give_back(connection, session):
                tables.set_reserved(connection, session, seen)
        with self._held_guard:
            self._held.discard(session)

    @contextlib.contextmanager
    def locked(self, session: str) -> Generator[None, None, None]:
        """Hold the session's lock for the block. Raises ``HarnessError`` (code ``live``) that names the holder."""
        if not self.lock(session):
            raise self.live_error(session)
        try:
            yield
        finally:
            self.unlock(session)

    def live_error(self, session: str) -> HarnessError:
        """Return the error that the session is open elsewhere: where, and what can be done all the same."""
        with self._database.read() as connection:
            return locks.live_error(session, locks.holder_of(connection, session))

    # --- parts -------------------------------------------------------------------------------------

    def _hold(self, session: str) -> None:
        with self._held_guard:
            self._held.add(session)

    def _envelope(self, session: str, seq: int, event: Event, run: str | None) -> Envelope:
        return Envelope(seq, rfc3339(self._clock.now()), session, event, run)
