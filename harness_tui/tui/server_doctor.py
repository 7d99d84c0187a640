"""``/mcp doctor`` and ``/mcp add``: why a server does not work and what to do, and how one is added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from harness_tui.core.text import clean_for_display
from harness_tui.tui.host import Host
from harness_tui.tui.lines import Line, wrap
from harness_tui.tui.screens.reader import Reader

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp

_HOW: Final = "type `!harness mcp add NAME -- PROGRAM ARGUMENTS`, or a URL, or pasted JSON in quotes in its place"


async def show_diagnosis(app: HarnessApp, host: Host, name: str) -> None:
    """Start the server ``name``, or all of them without one, and show how that went."""
    if name:
        host.tell("info", f"looking at {clean_for_display(name, one_line=True)} …")
    rows = await host.guarded(host.backend.diagnose_server(name))
    if rows is None:
        return
    lines = [clean_for_display(row, one_line=True) for row in rows]
    title = f"mcp:{clean_for_display(name, one_line=True)}: how it is" if name else "MCP servers: how they are"
    await app.push_screen(Reader(app.palette, title, _Drawn(lines)))


def tell_how_to_add(host: Host) -> None:
    """Say how a server is added, and when it is there."""
    host.tell("info", "a command adds servers; they are there when harness is started again", _HOW)


class _Drawn:
    """The lines, wrapped to the width that they are shown at; what belongs to a server stands below it."""

    def __init__(self, rows: Sequence[str]) -> None:
        self._rows = rows

    def __call__(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for row in self._rows:
            lines.extend(wrap([(row, "muted" if row.startswith("    ") else "")], width))
        return lines
