"""Which calls of a session's last answer still wait for their result.

A result is a message only where a call asked for it, so each result needs this answer. It is kept from one write to the
next: looking it up anew for each of five hundred results would read half of them every time.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable

from harness_tui.core.messages import ToolCall
from harness_tui.sessions import rows


class OpenCalls:
    """The calls without a result. Counted by id: a provider may give two calls of one answer the same one.

    Read from the database at the first question; ``copy`` before a transaction that may fail.
    """

    def __init__(self, session: str, waiting: Counter[str] | None = None) -> None:
        self._session = session
        self._waiting = waiting

    def copy(self) -> OpenCalls:
        """Return the same state, on its own."""
        return OpenCalls(self._session, None if self._waiting is None else Counter(self._waiting))

    def ask(self, calls: Iterable[ToolCall]) -> None:
        """An answer asks for ``calls``; those of the answer before it wait no longer."""
        self._waiting = Counter(call.call for call in calls)

    def take(self, connection: sqlite3.Connection, call: str) -> bool:
        """A result of ``call`` comes: tell whether it is one that was waited for."""
        if self._waiting is None:
            self._waiting = Counter(item.call for item in rows.open_calls(connection, self._session)[0])
        if not self._waiting[call]:
            return False
        self._waiting[call] -= 1
        return True
