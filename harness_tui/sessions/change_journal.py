"""What a session is about to do to files, noted before it is done: no change is forgotten with a killed process.

The record learns of a change after it was made, and a moment later at that. So each change is first noted in the
session's folder, in one write. When the session is opened again, what the record does not have is compared with the
file: the change was made, or it was not.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any, Final

from harness_tui.core.clock import rfc3339
from harness_tui.core.codec import CodecError, decode, encode
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Event, FileChanged, Notice
from harness_tui.core.limits import READ_BYTES
from harness_tui.core.paths import digest, make_private_folder, read_regular
from harness_tui.core.record import record
from harness_tui.core.seams import Clock
from harness_tui.core.text import clean_for_display
from harness_tui.sessions.rows import family
from harness_tui.sessions.store import SessionStore
from harness_tui.sessions.undo_log import events_of

NAME: Final = "changes.jsonl"
"""The journal in a session's folder."""


@record
class NotedChange:
    """A change that was about to be made, with its run."""

    run: str | None
    change: FileChanged


def note_change(folder: Path, run: str | None, change: FileChanged, *, failed: bool = False) -> None:
    """Note in the session's ``folder`` that ``change`` comes next, or that it ``failed``. Raises ``OSError``."""
    make_private_folder(folder)
    line = json.dumps({"run": run, "change": encode(change), "failed": failed}) + "\n"
    descriptor = os.open(folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, line.encode("ascii"))
    finally:
        os.close(descriptor)


def recover_changes(store: SessionStore, session: str, root: Path, clock: Clock) -> list[Event]:
    """Record the changes that were made and that the record does not have, those of its subagents as well.

    Returns the events. Call it under the session's lock, after the repair and before its stream is opened. ``root`` is
    the project's. Blocks.
    """
    with store.database.read() as connection:
        below = [name for name in family(connection, session) if name != session]
    for name in below:
        if (store.folder(name) / NAME).exists():
            with (
                contextlib.suppress(HarnessError),
                store.locked(name),
            ):  # of a subagent that lives it is not our business
                store.repair(name)
                _recover(store, name, root, clock)
    return _recover(store, session, root, clock)


def _recover(store: SessionStore, session: str, root: Path, clock: Clock) -> list[Event]:
    journal = store.folder(session) / NAME
    noted = _noted(journal)
    if not noted:
        return []
    with store.database.read() as connection:
        recorded = events_of(connection, session, (FileChanged.type,))
    known = Counter(
        (envelope.run, envelope.event.path, envelope.event.before)
        for envelope in recorded
        if isinstance(envelope.event, FileChanged)
    )
    missing: list[NotedChange] = []
    for item in noted:
        key = (item.run, item.change.path, item.change.before)
        if known[key]:
            known[key] -= 1
        else:
            missing.append(item)
    found = [(item.run, event) for item in missing if (event := _looked_at(item.change, root)) is not None]
    last, time = store.last_seq(session), rfc3339(clock.now())
    store.append(session, [Envelope(last + n, time, session, event, run) for n, (run, event) in enumerate(found, 1)])
    with contextlib.suppress(OSError):  # it is found to be recorded the next time
        journal.unlink()
    return [event for _, event in found]


def _noted(journal: Path) -> list[NotedChange]:
    """Return the changes that were noted and did not fail, in order."""
    try:
        lines = read_regular(journal, max_bytes=READ_BYTES).splitlines()
    except HarnessError:  # none there
        return []
    found: list[NotedChange] = []
    for line in lines:
        with contextlib.suppress(ValueError, KeyError, TypeError, CodecError):  # torn by the kill: nothing was done yet
            data: dict[str, Any] = json.loads(line)
            item = NotedChange(data["run"], decode(FileChanged, data["change"], "change"))
            if not data["failed"]:
                found.append(item)
            elif item in found:
                found.remove(item)
    return found


def _looked_at(change: FileChanged, root: Path) -> Event | None:
    """Return what is to be recorded of a change, ``None`` when it was not made."""
    try:
        present: str | None = digest(read_regular(root / change.path, max_bytes=READ_BYTES))
    except HarnessError:
        present = None
    if present == change.before:
        return None
    if present == change.after:
        return change
    text = f"{change.path} was about to be changed when the program was killed, and is something else now"
    hint = "look at it; the bytes before are kept" if change.before else None
    return Notice("warning", "sessions", clean_for_display(text, one_line=True), hint)
