"""Search over all sessions: a text of a person, a model or a tool, found wherever it stands.

The index is a cache of its own, brought up to date when somebody searches, so that recording costs nothing. With the
trigram index of SQLite's FTS5 a search reads only what can fit; without FTS5, and for one or two characters, it reads
all. Letters match whatever their case, and the middle of a word as well as its beginning.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.messages import AssistantMessage, Message
from harness_tui.core.paths import make_private_folder
from harness_tui.core.record import record
from harness_tui.core.text import clean_for_display
from harness_tui.sessions import rows
from harness_tui.sessions.database import BUSY_S
from harness_tui.sessions.records import storable
from harness_tui.sessions.store import SessionStore

SNIPPET: Final = 60
"""Characters shown on each side of what was found."""

_BLANKS: Final = re.compile(r"\s+")
_SPECIAL: Final = re.compile(r"[*?\[]")
_VERSION: Final = 1
_PAGE: Final = 200


@record
class Hit:
    """One message that holds the text; ``before``, ``found``, ``after`` are one line, made safe for a terminal."""

    session: str
    seq: int
    role: str
    before: str
    found: str
    after: str


def search(
    store: SessionStore, cache: Path, text: str, *, sessions: Sequence[str] | None = None, limit: int = 50
) -> list[Hit]:
    """Return messages that hold ``text``, the latest session first, at most ``limit``.

    ``sessions`` are the ids to search in, all without it. ``cache`` is the file of the index. Raises ``HarnessError``.
    """
    wanted = storable(text).casefold()
    if not wanted.strip():
        raise HarnessError("there is nothing to search for", mend="give a text")
    with _opened(cache) as connection:
        _bring_up_to_date(store, connection)
        infos = store.list()
        order = {info.session: place for place, info in enumerate(infos)}
        among = order.keys() if sessions is None else set(sessions) & order.keys()
        # GLOB, not LIKE: it takes every character as it is, and the trigram index serves both.
        # Where it has no three characters in a row to look up, it is kept out by the sign.
        column = "text" if any(len(run) >= 3 for run in _SPECIAL.split(wanted)) else "+text"
        found = connection.execute(
            f"SELECT session, seq, role FROM texts WHERE {column} GLOB ?", (f"*{_literal(wanted)}*",)
        ).fetchall()
    hits = [(str(session), int(seq), str(role)) for session, seq, role in found if session in among]
    hits += [
        (info.session, 0, "title")
        for info in infos
        if info.session in among and wanted in (info.title or "").casefold()
    ]
    hits.sort(key=lambda hit: (order[hit[0]], hit[1]))
    return list(_shown(store, hits[:limit], wanted))


def forget(store: SessionStore, cache: Path) -> None:
    """Take deleted sessions out of the index, where there is one. Raises ``HarnessError``."""
    if cache.exists():
        with _opened(cache) as connection:
            _bring_up_to_date(store, connection)


def _literal(text: str) -> str:
    return _SPECIAL.sub(lambda match: f"[{match[0]}]", text)


@contextlib.contextmanager
def _opened(cache: Path) -> Generator[sqlite3.Connection]:
    try:
        make_private_folder(cache.parent)
        connection = _connect(cache)
        try:
            yield connection
        finally:
            connection.close()
    except (sqlite3.Error, OSError) as error:
        raise HarnessError(
            f"the index of the search cannot be used: {error}", where=str(cache), mend="delete the file", code="search"
        ) from error


def _connect(cache: Path) -> sqlite3.Connection:
    """Open the index; one that is damaged or of another version is made anew, it is only a cache."""
    for attempt in (1, 2):
        connection = sqlite3.connect(cache, timeout=BUSY_S, isolation_level=None)
        try:
            cache.chmod(0o600)
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version == _VERSION:
                connection.execute("SELECT count(*) FROM (SELECT 1 FROM texts LIMIT 1)").fetchone()
                return connection
            if version == 0:
                _create(connection)
                return connection
        except sqlite3.Error:
            connection.close()
            if attempt == 2:
                raise
        connection.close()
        for suffix in ("", "-wal", "-shm", "-journal"):
            cache.with_name(cache.name + suffix).unlink(missing_ok=True)
    raise HarnessError(
        "the index of the search cannot be made", where=str(cache), mend="delete the file", code="search"
    )


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("CREATE TABLE IF NOT EXISTS done (session TEXT PRIMARY KEY, seq INTEGER NOT NULL)")
    try:
        # ``detail=none`` keeps which texts hold three characters, not where: a third of the size.
        connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5("
            "text, session UNINDEXED, seq UNINDEXED, role UNINDEXED, tokenize = 'trigram', detail = none)"
        )
    except sqlite3.OperationalError:  # an SQLite without FTS5, or before its trigrams
        connection.execute("CREATE TABLE IF NOT EXISTS texts (text TEXT, session TEXT, seq INTEGER, role TEXT)")
    connection.execute(f"PRAGMA user_version = {_VERSION}")
    connection.execute("COMMIT")


def _bring_up_to_date(store: SessionStore, connection: sqlite3.Connection) -> None:
    with store.database.read() as record:
        present = {
            str(session): int(seq or 0)
            for session, seq in record.execute(
                "SELECT id, (SELECT max(seq) FROM messages WHERE session = id) FROM sessions"
            )
        }
    done = {str(session): int(seq) for session, seq in connection.execute("SELECT session, seq FROM done")}
    connection.execute("BEGIN IMMEDIATE")
    for session in done.keys() - present.keys():
        connection.execute("DELETE FROM texts WHERE session = ?", (session,))
        connection.execute("DELETE FROM done WHERE session = ?", (session,))
    for session, last in present.items():
        if done.get(session, 0) >= last:
            continue
        for seq, message in _messages(store, session, done.get(session, 0)):
            for text in _texts(message):
                row = (text.casefold(), session, seq, message.role)
                connection.execute("INSERT INTO texts (text, session, seq, role) VALUES (?, ?, ?, ?)", row)
        connection.execute("INSERT OR REPLACE INTO done VALUES (?, ?)", (session, last))
    connection.execute("COMMIT")


def _messages(store: SessionStore, session: str, after: int) -> Iterator[tuple[int, Message]]:
    while True:
        with store.database.read() as record:
            page = rows.raw_messages(record, session, after=after, limit=_PAGE)
            (last,) = record.execute(
                "SELECT max(seq) FROM (SELECT seq FROM messages WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?)",
                (session, after, _PAGE),
            ).fetchone()
        yield from page
        if last is None:
            return
        after = int(last)


def _texts(message: Message) -> list[str]:
    attached = () if isinstance(message, AssistantMessage) else message.attachments
    texts = [message.text, *(item.content for item in attached if item.content and item.kind != "image")]
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts if text]


def _shown(store: SessionStore, hits: list[tuple[str, int, str]], wanted: str) -> Iterator[Hit]:
    for session, seq, role in hits:
        if role == "title":
            yield from _hit(session, 0, role, store.info(session).title or "", wanted)
            continue
        with store.database.read() as record:
            found = rows.raw_messages(record, session, after=seq - 1, limit=1)
        for number, message in found:
            hits_of = (_hit(session, seq, role, text, wanted) for text in _texts(message) if number == seq)
            yield from next((found for found in hits_of if found), [])


def _hit(session: str, seq: int, role: str, text: str, wanted: str) -> list[Hit]:
    place = text.casefold().find(wanted)
    if place < 0:
        return []
    start, end = _unfolded(text, place), _unfolded(text, place + len(wanted))
    parts = (text[max(0, start - SNIPPET) : start], text[start:end], text[end : end + SNIPPET])
    before, found, after = (_BLANKS.sub(" ", clean_for_display(part)) for part in parts)
    return [Hit(session, seq, role, before, found, after)]


def _unfolded(text: str, place: int) -> int:
    """Return where in ``text`` the character ``place`` of its folded form stands: folding may make two of one."""
    if len(text.casefold()) == len(text):
        return place
    length = 0
    for index, char in enumerate(text):
        if length >= place:
            return index
        length += len(char.casefold())
    return len(text)
