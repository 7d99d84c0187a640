"""The rows of the tab Changes: the files that the session changed, and below them the messages that did it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, ListRow, cells, cut_cells, cut_cells_start, cut_line, two_ends, wrap
from harness_tui.tui.panels.change_log import FileSum, RunChanges
from harness_tui.tui.panels.state import PanelState

_NONE = "No file is changed yet. What the agent writes or edits is listed here, with its differences."


@dataclass(frozen=True, slots=True)
class ChangedFileKey:
    """A row's file."""

    path: str


@dataclass(frozen=True, slots=True)
class ChangedRunKey:
    """A row's run; ``title`` is what it is called."""

    run: str
    title: str


def change_rows(state: PanelState, width: int) -> Sequence[ListRow]:
    """Return every changed file with its lines, then the runs that changed them, the latest first."""
    files, runs = state.changes.files(), state.changes.runs()
    if not runs:
        return [ListRow(tuple(wrap([(_NONE, "muted")], width)))]
    count = f"{len(files)} file{'' if len(files) == 1 else 's'} changed"
    rows = [ListRow((two_ends(((count, "heading"),), _sizes(files), width),))]
    rows += [ListRow((_file_line(file, width),), ChangedFileKey(file.path)) for file in files]
    rows.append(ListRow(((), cut_line((("By message, latest first", "heading"),), width))))
    rows += [_run_row(state, run, width) for run in runs]
    return rows


def _file_line(file: FileSum, width: int) -> Line:
    sign, style = ("A", "ok") if file.before is None else ("D", "error") if file.after is None else ("M", "accent")
    right = _sizes([file])
    room = width - 3 - sum(cells(text) for text, _ in right)
    name = cut_cells_start(clean_for_display(file.path, one_line=True), max(4, room))
    return two_ends(((f"{sign} ", style), (name, "")), right, width)


def _run_row(state: PanelState, run: RunChanges, width: int) -> ListRow:
    files = state.changes.files(run.run)
    right: Line = ((f"{len(files)} file{'' if len(files) == 1 else 's'} ", "muted"), *_sizes(files))
    title = run.title or "a call by hand"
    room = max(8, width - 1 - sum(cells(text) for text, _ in right))
    return ListRow((two_ends(((cut_cells(title, room), ""),), right, width),), ChangedRunKey(run.run, title))


def _sizes(files: Sequence[FileSum]) -> Line:
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    return ((f"+{added}", "added"), (f" -{removed}", "removed"))
