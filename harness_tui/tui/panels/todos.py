"""The rows of the tab Todos: the agent's list of steps, each with a sign that says how it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import ListRow, wrap
from harness_tui.tui.panels.state import PanelState

_NONE: Final = "No list of steps. The agent makes one for longer work, with its tool todo."
_SIGNS: Final = {"done": ("✓ ", "ok"), "active": ("▸ ", "accent bold"), "pending": ("○ ", "muted")}
_STYLES: Final = {"done": "muted", "active": "bold", "pending": ""}


@dataclass(frozen=True, slots=True)
class TodoKey:
    """A row's step; ``text`` is what goes into the prompt."""

    id: str
    text: str


def todo_rows(state: PanelState, width: int) -> Sequence[ListRow]:
    """Return the steps in their order, below how many are done."""
    if not state.todos:
        return [ListRow(tuple(wrap([(_NONE, "muted")], width)))]
    done = sum(item.state == "done" for item in state.todos)
    rows = [ListRow((((f"{done} of {len(state.todos)} done", "heading"),),))]
    for item in state.todos:
        text = clean_for_display(item.text, one_line=True)
        lines = wrap([(text, _STYLES[item.state])], width, first=(_SIGNS[item.state],), rest=(("  ", ""),))
        rows.append(ListRow(tuple(lines), TodoKey(item.id, text)))
    return rows


def todo_share(state: PanelState) -> str:
    """Return how many steps are done of how many, empty without any."""
    done = sum(item.state == "done" for item in state.todos)
    return f"{done}/{len(state.todos)}" if state.todos else ""
