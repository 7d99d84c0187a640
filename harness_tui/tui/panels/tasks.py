"""The subagents that work now, as rows of the tab Processes, above the processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import ListRow, cut_line, two_ends
from harness_tui.tui.panels.ages import age_of

if TYPE_CHECKING:
    from harness_tui.tui.panels.state import PanelState


@dataclass(slots=True)
class TaskRow:
    """A subagent at work: its session and run, what it is called, since when, and what it does now."""

    session: str
    run: str
    agent: str
    title: str
    started: str
    doing: str = ""


@dataclass(frozen=True, slots=True)
class TaskKey:
    """A row's subagent; ``title`` is what it is called."""

    session: str
    run: str
    title: str


def task_rows(state: PanelState, width: int, now: datetime | None = None) -> Sequence[ListRow]:
    """Return the subagents, the oldest first. ``now`` is the present moment, in UTC."""
    moment = now or datetime.now(UTC)
    return [_row(task, task.run in state.ending_tasks, width, moment) for task in state.tasks.values()]


def _row(task: TaskRow, ending: bool, width: int, now: datetime) -> ListRow:
    title = clean_for_display(task.title, one_line=True)
    sign = ("… ", "warning") if ending else ("● ", "ok")
    right = "cancelling" if ending else "subagent"
    facts = [f"up {age}"] if (age := age_of(task.started, now)) else []
    if task.doing:
        facts.append(clean_for_display(task.doing, one_line=True))
    lines = (
        two_ends((sign, (title, "bold")), ((right, "muted"),), width),
        cut_line((("  ", ""), (" · ".join(facts), "muted")), width),
    )
    return ListRow(lines, TaskKey(task.session, task.run, title))
