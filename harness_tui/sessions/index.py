"""The table of sessions: what there is, found by id, by the start of an id, by project."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from harness_tui.core.codec import decode
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.event_parts import Parent
from harness_tui.core.record import record
from harness_tui.sessions import locks
from harness_tui.sessions.records import storable

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_COLUMNS: Final = "id, root, title, headline, created, updated, parent, messages, bytes, pinned"


@record
class SessionInfo:
    """One session. Times are RFC 3339 UTC, ``bytes`` is what it takes on disk, ``live`` that a process has it open.

    Texts that several sessions share count in each of them. A ``pinned`` one is never removed to make room.
    """

    session: str
    title: str | None
    root: str
    created: str
    updated: str
    messages: int
    bytes: int
    live: bool
    parent: Parent | None = None
    pinned: bool = False


def check_id(session: str) -> None:
    """Raise ``HarnessError`` for what cannot name a session (and its folder)."""
    if not _ID.fullmatch(session):
        raise HarnessError(
            "the id of a session has letters, digits, '-' and '_', at most 64", where=repr(session), code="bad-id"
        )


class Index:
    """Reads the table; ``folder`` says where a session keeps large outputs."""

    def __init__(self, folder: Callable[[str], Path]) -> None:
        self._folder = folder

    def find(self, connection: sqlite3.Connection, session: str) -> SessionInfo:
        """Return the session with this id, or with the one id that starts so. Raises ``UsageError``."""
        session = storable(session)  # a word of a command line may hold bytes that are no text
        rows = connection.execute(f"SELECT {_COLUMNS} FROM sessions WHERE id = ?", (session,)).fetchall()
        if not rows and session:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM sessions WHERE substr(id, 1, ?) = ? ORDER BY id LIMIT 6",
                (len(session), session),
            ).fetchall()
        if not rows:
            raise UsageError(
                "there is no such session",
                where=session or "(empty)",
                mend="see 'harness sessions list'",
                code="unknown",
            )
        if len(rows) > 1:
            names = ", ".join(str(row[0]) for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
            raise UsageError(
                f"several sessions start so: {names}", where=session, mend="give more of the id", code="ambiguous"
            )
        return self._infos(connection, rows)[0]

    def of_root(self, connection: sqlite3.Connection, root: Path | None) -> list[SessionInfo]:
        """Return the sessions of ``root``, or all of them, the one that changed last first."""
        where, values = ("WHERE root = ?", (root_text(root),)) if root is not None else ("", ())
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM sessions {where} ORDER BY updated DESC, id DESC", values
        ).fetchall()
        return self._infos(connection, rows)

    def latest(self, connection: sqlite3.Connection, root: Path) -> SessionInfo | None:
        """Return the session of ``root`` to go on with: the latest that has a message and is not a subagent's."""
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM sessions WHERE root = ? AND parent IS NULL AND messages > 0 "
            "ORDER BY updated DESC, id DESC LIMIT 1",
            (root_text(root),),
        ).fetchall()
        return next(iter(self._infos(connection, rows)), None)

    def _infos(self, connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> list[SessionInfo]:
        live = locks.live_sessions(connection) if rows else set[str]()
        return [self._info(row, live) for row in rows]

    def _info(self, row: tuple[Any, ...], live: set[str]) -> SessionInfo:
        session, root, title, first_line, created, updated, parent, messages, size, pinned = row
        return SessionInfo(
            session=session,
            title=title or first_line,
            root=root,
            created=created,
            updated=updated,
            messages=messages,
            bytes=size + folder_bytes(self._folder(session)),
            live=session in live,
            parent=decode(Parent, json.loads(parent)) if parent else None,
            pinned=bool(pinned),
        )


def root_text(root: Path) -> str:
    """Return ``root`` as sessions record it: the name of a folder need not be UTF-8."""
    return os.fsencode(root).decode("utf-8", "backslashreplace")


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files below ``folder``, 0 when it is not there."""
    total = 0
    for path in folder.rglob("*") if folder.is_dir() else ():
        with contextlib.suppress(OSError):  # a file that goes while we look takes no room
            total += path.lstat().st_size
    return total
