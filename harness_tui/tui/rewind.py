"""Going back to before an earlier message: which one, and whether what was said, the files, or both go back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from harness_tui.core import intents as it
from harness_tui.core.text import clean_for_display
from harness_tui.tui.host import Host
from harness_tui.tui.lines import Line, ListRow, cut_line
from harness_tui.tui.screens.picker import Picker

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp
    from harness_tui.tui.backend_rows import TurnRow

_FILES_SHOWN: Final = 4
_CHOICES: Final[tuple[tuple[str, str, str], ...]] = (
    ("both", "What was said and the files", "/redo brings both back"),
    ("messages", "What was said; the files stay as they are", "/redo brings it back"),
    ("files", "The files; what was said stays, and the model is told", "/undo takes that back"),
)


async def rewind(app: HarnessApp, host: Host) -> None:
    """Let the person choose, and do it; leaving either list changes nothing."""
    if host.session is None:
        host.tell("warning", "there is no session yet")
        return
    if host.presenter.state.running:
        host.tell("warning", "a run goes on", "Esc cancels it")
        return
    turns = await host.guarded(host.session.turns())
    if turns is None:
        return
    picker = Picker(app.palette, "Go back to before", lambda width: _rows(turns, width), empty="Nothing to go back to.")
    picked = await app.push_screen_wait(picker)
    if picked is None:
        return
    turn = turns[int(picked)]
    files = any(each.files for each in turns[: int(picked) + 1])
    only = await _only(app, turn) if files else None
    if only != "nothing":
        await host.send(it.Undo(turn.run, only))


async def _only(app: HarnessApp, turn: TurnRow) -> Literal["messages", "files", "nothing"] | None:
    def at(width: int) -> Sequence[ListRow]:
        return [
            ListRow((((f" {what}", "bold"),), cut_line((("   ", ""), (about, "muted")), width)), key)
            for key, what, about in _CHOICES
        ]

    match await app.push_screen_wait(Picker(app.palette, f"Before: {_said(turn)}", at, empty="")):
        case "both":
            return None
        case "messages":
            return "messages"
        case "files":
            return "files"
        case _:
            return "nothing"


def _rows(turns: Sequence[TurnRow], width: int) -> Sequence[ListRow]:
    return [
        ListRow((cut_line(((" ", ""), (_said(turn), "bold")), width), cut_line(_changes(turn), width)), str(place))
        for place, turn in enumerate(turns)
    ]


def _said(turn: TurnRow) -> str:
    return clean_for_display(turn.text, one_line=True) or "done by hand"


def _changes(turn: TurnRow) -> Line:
    shown = [
        f"{clean_for_display(path, one_line=True)} +{added} -{removed}"
        for path, added, removed in turn.files[:_FILES_SHOWN]
    ]
    if len(turn.files) > _FILES_SHOWN:
        shown.append(f"{len(turn.files) - _FILES_SHOWN} more")
    text = ", ".join(shown) or "no file"
    outside = (("; what commands did stays", "muted"),) if turn.outside else ()
    return (("   ", ""), (text, "muted"), *outside)
