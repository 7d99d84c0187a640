"""Differences of files over the session, to be read: in their colours, and side by side where it is wide."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from harness_tui.core.text import clean_for_display
from harness_tui.tui.host import Host
from harness_tui.tui.lines import Line
from harness_tui.tui.screens.reader import Reader
from harness_tui.tui.transcript.diff import DiffRow, colour, parse_diff, unified_lines
from harness_tui.tui.transcript.diff_split import SPLIT_CELLS, split_lines
from harness_tui.tui.transcript.highlight import Highlighter

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp


async def show_differences(
    app: HarnessApp, host: Host, title: str, files: Sequence[tuple[str, str | None, str | None]]
) -> None:
    """Show the differences of ``(path, before, after)``, hashes of contents that are kept."""
    text = await host.guarded(host.backend.records.differences(files))
    if text is None:
        return
    rows = await asyncio.to_thread(coloured_rows, clean_for_display(text), app.transcript.renderer.highlighter)
    shown = clean_for_display(title, one_line=True)
    app.push_screen(Reader(app.palette, f"Changes: {shown}", lambda width: diff_rows_lines(rows, width), whole=True))


def coloured_rows(text: str, highlighter: Highlighter) -> list[DiffRow]:
    """Read a diff and colour it; blocks, for the lexers may have to be imported."""
    rows = parse_diff(text)
    if names := {PurePosixPath(row.path).name for row in rows if row.path and row.sign != "#"}:
        highlighter.load({highlighter.language_of(name) for name in names})
    colour(rows, highlighter)
    return rows


def diff_rows_lines(rows: Sequence[DiffRow], width: int) -> list[Line]:
    """Draw rows within ``width`` cells, side by side where that is wide enough and there are two sides."""
    two_sides = any(row.old is not None for row in rows) and any(row.new is not None for row in rows)
    return split_lines(rows, width) if two_sides and width >= SPLIT_CELLS else unified_lines(rows, width)
