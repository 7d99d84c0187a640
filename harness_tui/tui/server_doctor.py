"""``/mcp doctor`` and ``/mcp add``: why a server does not work and what to do, and how one is added."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from harness_tui.core.text import clean_for_display
from harness_tui.tui.host import Host
from harness_tui.tui.lines import Line, wrap
from harness_tui.tui.screens.reader import Reader

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp

_FACT: Final = re.compile(r"  (?P<label>from|runs|at|do) +(?P<text>.*)")
_HOW: Final = "type `!harness mcp add NAME -- PROGRAM ARGUMENTS`, or a URL, or pasted JSON in quotes in its place"


async def show_diagnosis(app: HarnessApp, host: Host, name: str) -> None:
    """Start the server ``name``, or all of them without one, and show how that went."""
    if name:
        host.tell("info", f"looking at {clean_for_display(name, one_line=True)} …")
    rows = await host.guarded(host.backend.diagnose_server(name))
    if rows is None:
        return
    lines = [_clean(row) for row in rows]
    title = f"mcp:{clean_for_display(name, one_line=True)}: how it is" if name else "MCP servers: how they are"
    await app.push_screen(Reader(app.palette, title, _Drawn(lines)))


def tell_how_to_add(host: Host) -> None:
    """Say how a server is added, and when it is there."""
    host.tell("info", "a command adds servers; they are there when harness is started again", _HOW)


def _clean(row: str) -> str:
    text = row.lstrip(" ")
    return f"{row[: len(row) - len(text)]}{clean_for_display(text, one_line=True)}"


class _Drawn:
    """The lines, wrapped to the width that they are shown at; what belongs to a server stands below it."""

    def __init__(self, rows: Sequence[str]) -> None:
        self._rows = rows

    def __call__(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for row in self._rows:
            if not row.startswith(" "):
                lines += [((" ", ""),)] if lines else []
                lines += wrap([(row, "bold")], width)
            elif row.startswith("    "):
                lines += wrap([(row.strip(), "muted")], width, first=(("    ", ""),))
            elif (found := _FACT.fullmatch(row)) is not None:
                style = "" if found["label"] == "do" else "muted"
                lines += wrap([(found["text"], style)], width, first=((f"  {found['label']:5}", "muted"),))
            else:
                lines += wrap([(row.strip(), "muted")], width, first=(("  ", ""),))
        return lines
