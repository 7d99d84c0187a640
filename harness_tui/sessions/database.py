"""One SQLite file that several processes write at the same time, and that a ``kill -9`` never harms.

Write-ahead log, one writer connection per process behind a lock, every write in ``BEGIN IMMEDIATE`` so that it waits
for its turn instead of failing half way. ``synchronous`` is ``FULL``: a recorded call may have changed files already,
and must not be forgotten when the power goes; writes happen a few times a second at most, and in threads.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import make_private_folder
from harness_tui.sessions.damage import looks_damaged

if TYPE_CHECKING:
    from harness_tui.sessions.rescue import Rescued

BUSY_S: Final = 15.0
"""How long a write waits for other processes."""

_WAL_BYTES: Final = 32 * 1024 * 1024
_OPEN_PAUSE_S: Final = 0.02
_ALONE_S: Final = 5.0
_MARK: Final = b"a database was here\n"

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """CREATE TABLE sessions (
            id TEXT PRIMARY KEY, root TEXT NOT NULL, title TEXT, headline TEXT, created TEXT NOT NULL,
            updated TEXT NOT NULL, parent TEXT, last_seq INTEGER NOT NULL DEFAULT 0,
            messages INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0)""",
        "CREATE INDEX sessions_by_root ON sessions (root, updated)",
        """CREATE TABLE events (
            session TEXT NOT NULL, seq INTEGER NOT NULL, time TEXT NOT NULL, run TEXT, type TEXT NOT NULL,
            json TEXT NOT NULL, PRIMARY KEY (session, seq))""",
        """CREATE TABLE messages (
            session TEXT NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL, json TEXT NOT NULL,
            PRIMARY KEY (session, seq))""",
        "CREATE TABLE locks (session TEXT PRIMARY KEY, pid INTEGER NOT NULL, started TEXT NOT NULL)",
    ),
    (
        "ALTER TABLE sessions ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0",
        "UPDATE sessions SET reserved = last_seq",
        "ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE events ADD COLUMN blobs TEXT",
        "ALTER TABLE messages ADD COLUMN blobs TEXT",
        "CREATE TABLE blobs (hash TEXT PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL)",
        "CREATE TABLE blob_refs (session TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (session, hash))",
        "CREATE INDEX blob_refs_by_hash ON blob_refs (hash)",
        """CREATE TABLE repairs (
            session TEXT NOT NULL, seq INTEGER NOT NULL, after INTEGER, role TEXT, json TEXT,
            PRIMARY KEY (session, seq, after, json))""",
    ),
)
"""What leads from one schema number (``user_version``) to the next; never changed, only added to."""


class Database:
    """One database file; opened at first use. Every method may be called from any thread, and may wait."""

    def __init__(self, path: Path, *, busy: float = BUSY_S) -> None:
        self.path = path
        self._busy = busy
        self._guard = threading.RLock()
        self._writer: sqlite3.Connection | None = None
        self._read_guard = threading.Lock()
        self._reader: sqlite3.Connection | None = None
        self._lock: int | None = None
        self._file: int | None = None

    @contextlib.contextmanager
    def write(self) -> Generator[sqlite3.Connection, None, None]:
        """One transaction: all of it is durable when the block ends, nothing of it when the block raises.

        Raises ``HarnessError`` for whatever the database says, such as a full disk.
        """
        with self._guard, self._translated():
            connection = self._open_writer()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def write_alone(self) -> Generator[sqlite3.Connection, None, None]:
        """The writer outside any transaction, for what SQLite does in one of its own (``VACUUM``)."""
        with self._guard, self._translated():
            yield self._open_writer()

    @contextlib.contextmanager
    def read(self) -> Generator[sqlite3.Connection, None, None]:
        """A connection to read from; writes of this or another process do not hold it up."""
        with self._read_guard, self._translated():
            if self._reader is None:
                with self._guard:
                    self._open_writer()
                self._reader = self._connect()
            yield self._reader

    def close(self) -> None:
        """Close both connections; the next use opens them again."""
        with self._read_guard:
            if self._reader is not None:
                self._reader.close()
                self._reader = None
        with self._guard:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None

    def rescue(self) -> Rescued | None:
        """Keep the damaged file aside and go on with what can be read of it; ``None`` when another process did so.

        Raises ``HarnessError`` when others have the file open: what they write would be lost.
        """
        from harness_tui.sessions.rescue import keep_aside, replace_damaged

        with self._read_guard, self._guard, self._translated():
            opened = self._file
            self._wait_until_alone()
            try:
                if opened is not None and _inode(self.path) != opened:
                    return None
                if opened is None and self._damage() is None:
                    return None
                kept = keep_aside(self.path)
                for connection in (self._reader, self._writer):
                    if connection is not None:
                        connection.close()
                self._reader = self._writer = None
                return replace_damaged(self.path, kept, _create)
            except OSError as error:
                raise HarnessError(
                    f"the damaged session database cannot be replaced: {error.strerror or error}",
                    where=str(self.path),
                    mend="make room in the folder, and make it writable",
                    code="database",
                ) from error
            finally:
                self._file = None
                if self._lock is not None:
                    os.close(self._lock)
                    self._lock = None

    def _wait_until_alone(self) -> None:
        """Hold the lock of the file alone: every process that has the database open shares it."""
        descriptor = self._lock_file()
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # two that find the damage at once would wait for each other
        deadline = time.monotonic() + min(_ALONE_S, self._busy)
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise HarnessError(
                        "the session database is damaged, and other programs have it open",
                        where=str(self.path),
                        mend="close every other Harness; the next start keeps the file aside and saves what it can",
                        code="damaged-in-use",
                    ) from error
                time.sleep(_OPEN_PAUSE_S)
            except OSError:  # a file system without locks
                return
            else:
                return

    def _lock_file(self) -> int:
        if self._lock is None:
            self._lock = os.open(
                self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        return self._lock

    def _damage(self) -> str | None:
        marked = os.pread(self._lock_file(), len(_MARK), 0) == _MARK
        return looks_damaged(self.path, expected=marked)

    def _open_writer(self) -> sqlite3.Connection:
        if self._writer is None:
            self._prepare_file()
            connection = self._connect()
            try:
                self._set_up(connection)
            except BaseException:
                connection.close()
                raise
            self._writer = connection
            os.pwrite(self._lock_file(), _MARK, 0)
        return self._writer

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=self._busy, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _prepare_file(self) -> None:
        try:
            make_private_folder(self.path.parent)
            lock = self._lock_file()
            with contextlib.suppress(OSError):  # a file system without locks: a damaged file is then moved all the same
                fcntl.flock(lock, fcntl.LOCK_SH)
            damage = self._damage()
            if damage is not None:
                raise _damaged(damage, self.path)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise HarnessError(
                f"the session database cannot be opened: {error.strerror or error}",
                where=str(self.path),
                mend="make the folder writable, or set XDG_DATA_HOME to one that is",
                code="database",
            ) from error
        try:
            status = os.fstat(descriptor)
            self._file = status.st_ino
            if status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) & 0o077:
                os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)

    def _set_up(self, connection: sqlite3.Connection) -> None:
        self._version(connection)
        if connection.execute("PRAGMA page_count").fetchone() == (0,):
            # Of use only before the first page is written: free pages can be given back then without a copy of all.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        self._switch_to_wal(connection)
        connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
        if self._version(connection) == len(MIGRATIONS):
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Read again: another process may have been quicker.
            version = self._version(connection)
            for steps in MIGRATIONS[version:]:
                for statement in steps:
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {max(version, len(MIGRATIONS))}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _version(self, connection: sqlite3.Connection) -> int:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise HarnessError(
                f"the session database has schema {version}, this version knows up to {len(MIGRATIONS)}",
                where=str(self.path),
                mend="use the newer version of Harness that wrote it",
                code="database-version",
            )
        return int(version)

    def _switch_to_wal(self, connection: sqlite3.Connection) -> None:
        # The switch needs the file for itself for a moment, and SQLite does not wait for that by its busy time-out.
        # Where the file system has no shared memory the answer is another mode, which is slower and as safe.
        deadline = time.monotonic() + self._busy
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(_OPEN_PAUSE_S)
            else:
                return

    @contextlib.contextmanager
    def _translated(self) -> Generator[None, None, None]:
        try:
            yield
        except sqlite3.Error as error:
            raise database_error(error, self.path) from error


def database_error(error: sqlite3.Error, path: Path) -> HarnessError:
    """Return what ``error`` means to a person. ``code`` is ``disk-full``, ``busy``, ``corrupt`` or ``database``."""
    name = str(getattr(error, "sqlite_errorname", "") or "")
    if name.startswith("SQLITE_FULL"):
        return HarnessError(
            "the disk is full, the session cannot be written", where=str(path), mend="free some space", code="disk-full"
        )
    if _is_busy(error):
        return HarnessError(
            "the session database is held by another process for too long", where=str(path), code="busy"
        )
    schema_is_gone = name == "SQLITE_ERROR" and str(error).startswith(("no such table", "no such column"))
    if schema_is_gone or name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return _damaged(str(error), path)
    if name.startswith("SQLITE_IOERR"):
        return HarnessError(
            f"the session database cannot be read or written: {error}",
            where=str(path),
            mend="look whether the disk is full (the log of the database needs room to be read, too), or fails",
            code="database",
        )
    if name.startswith("SQLITE_READONLY"):
        return HarnessError(
            "the session database is read-only", where=str(path), mend="make file and folder writable", code="database"
        )
    return HarnessError(f"the session database: {error}", where=str(path), code="database")


def _damaged(reason: str, path: Path) -> HarnessError:
    return HarnessError(
        f"the session database is damaged: {reason}",
        where=str(path),
        mend="the next start keeps the file aside and saves what it can",
        code="corrupt",
    )


def _create(path: Path) -> None:
    made = Database(path)
    with made.write():
        pass
    made.close()


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _is_busy(error: sqlite3.Error) -> bool:
    return str(getattr(error, "sqlite_errorname", "") or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
