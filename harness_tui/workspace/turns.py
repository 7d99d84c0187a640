"""The runs of a session that can be taken back, as a person chooses among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_tui.sessions.undo_log import UndoLog


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One run. ``files`` are paths with the lines that it added and removed; ``outside``: commands worked in it too."""

    run: str
    text: str
    files: tuple[tuple[str, int, int], ...]
    outside: bool


def turn_rows(log: UndoLog) -> Sequence[TurnRow]:
    """Return the runs that are in force, the latest first."""
    rows: list[TurnRow] = []
    for logged in reversed(log.runs):
        if logged.undone:
            continue
        files: dict[str, tuple[int, int]] = {}
        for _, change in logged.files:
            added, removed = files.get(change.path, (0, 0))
            files[change.path] = added + change.added, removed + change.removed
        named = tuple((path, added, removed) for path, (added, removed) in files.items())
        rows.append(TurnRow(logged.run, logged.text, named, logged.outside))
    return rows
