"""One row of the list of completions."""

from __future__ import annotations

from harness_tui.library.slash_completion import Candidate
from harness_tui.tui.lines import Line, cells, cut_cells, cut_cells_start, two_ends


def candidate_line(candidate: Candidate, width: int, name_width: int) -> Line:
    """Draw a candidate: name and hint, description, source."""
    name = f"{candidate.sign}{candidate.name}"
    cut = cut_cells if candidate.sign else cut_cells_start  # of a path the end tells more
    head: list[tuple[str, str]] = [
        (" ", ""),
        (cut(name, max(4, width - 2)), "muted" if candidate.reason else "bold"),
    ]
    used = cells(name) + 1
    if candidate.hint and not candidate.reason:
        hint = cut_cells(f" {candidate.hint}", max(0, name_width - used))
        head.append((hint, "muted"))
        used += cells(hint)
    gap = max(2, name_width - used + 2)
    about = candidate.reason or candidate.description
    if candidate.alias_of:
        about = f"= /{candidate.alias_of}: {about}"
    head += [(" " * gap, ""), (about, "warning" if candidate.reason else "muted")]
    source: Line = ((f"{candidate.source} ", "muted"),) if candidate.source and width >= 50 else ()
    return two_ends(tuple(head), source, width)
