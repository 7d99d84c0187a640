from __future__ import annotations

from harness_tui.core.envelope import Envelope
from harness_tui.core.event_parts import CommandRef
from harness_tui.core.events import Event, FileChanged, RunStarted, UndoApplied
from harness_tui.core.messages import UserMessage
from harness_tui.sessions.undo_log import UndoLog
from harness_tui.workspace.turns import TurnRow, turn_rows


def log(*events: tuple[str, Event]) -> UndoLog:
    envelopes = [
        Envelope(seq, f"2026-01-02T03:04:{seq:02d}.000Z", "ses_1", event, run)
        for seq, (run, event) in enumerate(events, 1)
    ]
    began = {run: "2026-01-02T03:04:00.000Z" for run, _ in events}
    return UndoLog(envelopes, began, outside=["run_2"])


def started(text: str, command: CommandRef | None = None) -> RunStarted:
    return RunStarted("build", "replay/demo", "ask", UserMessage(text), command=command)


def test_runs_are_listed_with_their_message_and_what_they_did_to_each_file() -> None:
    found = turn_rows(
        log(
            ("run_1", started("first")),
            ("run_2", started("expanded text", CommandRef("review", "/commands/review.md"))),
            ("run_2", FileChanged("a.py", 3, 1, None, "h1")),
            ("run_2", FileChanged("b.py", 1, 1, "h2", "h3")),
            ("run_2", FileChanged("a.py", 2, 2, "h1", "h4")),
            ("run_3", FileChanged("c.py", 1, 0, None, "h5")),
        )
    )
    assert found == [
        TurnRow("run_3", "", (("c.py", 1, 0),), False),
        TurnRow("run_2", "/review", (("a.py", 5, 3), ("b.py", 1, 1)), True),
        TurnRow("run_1", "first", (), False),
    ]


def test_what_is_taken_back_is_not_offered_again() -> None:
    found = turn_rows(
        log(("run_1", started("first")), ("run_2", started("second")), ("run_2", UndoApplied("run_2", (), ())))
    )
    assert [row.run for row in found] == ["run_1"]
