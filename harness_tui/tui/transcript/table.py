"""Tables as styled lines: columns as wide as their cells, shrunk to fit, or row by row where they cannot fit."""

from __future__ import annotations

from typing import Final

from harness_tui.tui.lines import Line, Span, line_cells, wrap

_GAP: Final = 3
_LEAST: Final = 6


def table_lines(header: list[list[Span]], rows: list[list[list[Span]]], width: int) -> list[Line]:
    """Draw a table within ``width`` cells. Short rows are filled up, long ones cut by the parser already."""
    count = max([len(header), *(len(row) for row in rows)], default=0)
    if count == 0:
        return []
    everything = [header, *rows]
    wanted = [
        max(_cell_width(row[column]) if column < len(row) else 0 for row in everything) for column in range(count)
    ]
    widths = _shrink(wanted, width - _GAP * (count - 1))
    if widths is None:
        return _row_by_row(header, rows, width)
    lines = _row(header, widths)
    lines.append((("─┼─".join("─" * size for size in widths), "muted"),))
    for row in rows:
        lines.extend(_row(row, widths))
    return lines


def _cell_width(cell: list[Span]) -> int:
    return max(1, line_cells(cell))


def _shrink(wanted: list[int], room: int) -> list[int] | None:
    """Return column widths that fit ``room``: the widest give way first; ``None`` when none would do."""
    if sum(min(size, _LEAST) for size in wanted) > room:
        return None
    widths = list(wanted)
    while (over := sum(widths) - room) > 0:
        widest = max(widths)
        tied = [place for place, size in enumerate(widths) if size == widest]
        second = max((size for size in widths if size < widest), default=_LEAST)
        step = max(1, min(widest - second, -(-over // len(tied))))
        for place in tied:
            if (over := sum(widths) - room) > 0:
                widths[place] -= min(step, over)
    return widths


def _row(cells: list[list[Span]], widths: list[int]) -> list[Line]:
    columns = [wrap(cells[place] if place < len(cells) else [], size) for place, size in enumerate(widths)]
    lines: list[Line] = []
    for level in range(max(len(column) for column in columns)):
        spans: list[Span] = []
        for place, (column, size) in enumerate(zip(columns, widths, strict=True)):
            part = column[level] if level < len(column) else ()
            if place:
                spans.append((" │ ", "muted"))
            spans.extend(part)
            if place + 1 < len(widths) and (gap := size - line_cells(part)) > 0:
                spans.append((" " * gap, ""))
        lines.append(tuple(spans))
    return lines


def _row_by_row(header: list[list[Span]], rows: list[list[list[Span]]], width: int) -> list[Line]:
    lines: list[Line] = []
    for row in rows or [[[] for _ in header]]:
        if lines:
            lines.append((("─" * min(width, 12), "muted"),))
        for place, cell in enumerate(row):
            name = header[place] if place < len(header) else []
            lines.extend(wrap([*name, (": ", "muted"), *cell], width, rest=(("  ", ""),)))
    return lines
