"""What is wrong with a history that a provider would refuse, and how it is sent from then on.

Every call has one result, after its answer and before anything else. A process that died, a damaged file or an imported
one may break that. The record itself is not rewritten: a repair is kept beside it (table ``repairs``), once, and laid
over the messages whenever they are read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from harness_tui.core.events import ToolFinished
from harness_tui.core.messages import AssistantMessage, Message, ToolCall, ToolMessage
from harness_tui.core.record import record
from harness_tui.sessions.records import dumps, message_data, message_from_data

INTERRUPTED: Final = "interrupted, effect unknown"
"""The result of a call whose process died before it had one."""


def interrupted(call: ToolCall) -> ToolFinished:
    """Return the event that gives a call of a process that died its result."""
    return ToolFinished(call.call, call.tool, INTERRUPTED, True, {"interrupted": True})


@dataclass(slots=True)
class Repair:
    """``left_out`` are numbers of messages; ``put_in`` are results, each with the number of the message before it.

    ``waiting`` are the calls at the very end that have no result: it can still be recorded in the usual way.
    """

    left_out: list[int] = field(default_factory=list[int])
    put_in: list[tuple[int, ToolMessage]] = field(default_factory=list[tuple[int, ToolMessage]])
    waiting: list[ToolCall] = field(default_factory=list[ToolCall])
    unreadable: int = 0
    needless: int = 0
    moved: int = 0
    missing: int = 0

    @property
    def text(self) -> str:
        """Say what was mended, for a person; empty when nothing had to be."""
        parts = (
            (self.unreadable, "messages that cannot be read, left out"),
            (self.needless, "results without an open call, left out"),
            (self.moved, "results in the wrong place, moved to their answer"),
            (self.missing, f"results that were missing, put in as {INTERRUPTED!r}"),
        )
        said = "; ".join(f"{text}: {number}" for number, text in parts if number)
        return f"the history was repaired ({said})" if said else ""


def plan(messages: Iterable[tuple[int, Message | None]]) -> Repair:
    """Return what has to be done about ``(number, message)`` in order; ``None`` is a message that cannot be read."""
    made = Repair()
    waiting: list[ToolCall] = []
    anchor, apart = 0, False  # the last message of the present answer, and whether another stands after it

    def give_up() -> None:
        for call in waiting:
            made.put_in.append((anchor, ToolMessage(call.call, call.tool, INTERRUPTED, True)))
            made.missing += 1
        waiting.clear()

    for seq, message in messages:
        match message:
            case None:
                made.left_out.append(seq)
                made.unreadable += 1
            case AssistantMessage(calls=calls):
                give_up()
                waiting, anchor, apart = list(calls), seq, False
            case ToolMessage(call=name):
                asked = next((call for call in waiting if call.call == name), None)
                if asked is None:
                    made.left_out.append(seq)
                    made.needless += 1
                    continue
                waiting.remove(asked)
                if apart:
                    made.left_out.append(seq)
                    made.put_in.append((anchor, message))
                    made.moved += 1
                else:
                    anchor = seq
            case _:
                apart = True
    if apart:
        give_up()
    made.waiting = waiting
    return made


def store(connection: sqlite3.Connection, session: str, seq: int, repair: Repair) -> None:
    """Keep ``repair``, which the event ``seq`` tells of."""
    for number in repair.left_out:
        connection.execute("INSERT OR IGNORE INTO repairs VALUES (?, ?, NULL, NULL, NULL)", (session, number))
    for after, message in repair.put_in:
        row = (session, seq, after, message.role, dumps(message_data(message)))
        connection.execute("INSERT INTO repairs VALUES (?, ?, ?, ?, ?)", row)


@record
class Overlay:
    """The repairs of a session that were kept."""

    left_out: frozenset[int] = frozenset()
    put_in: tuple[tuple[int, Message], ...] = ()

    def keeps(self, seq: int) -> bool:
        """Tell whether the message is still one."""
        return seq not in self.left_out

    def lay(self, messages: Sequence[tuple[int, Message | None]]) -> list[tuple[int, Message | None]]:
        """Return the messages as they are sent; what is put in has the number of the message before it."""
        found: list[tuple[int, Message | None]] = []
        for seq, message in messages:
            if self.keeps(seq):
                found.append((seq, message))
            found += [(seq, added) for after, added in self.put_in if after == seq]
        return found


def read(connection: sqlite3.Connection, session: str) -> Overlay:
    """Return what was repaired in ``session``."""
    rows = connection.execute(
        "SELECT seq, after, role, json FROM repairs WHERE session = ? ORDER BY rowid", (session,)
    ).fetchall()
    return Overlay(
        frozenset(int(seq) for seq, after, _, _ in rows if after is None),
        tuple(
            (int(after), message_from_data(str(role), json.loads(text)))
            for _, after, role, text in rows
            if after is not None
        ),
    )
