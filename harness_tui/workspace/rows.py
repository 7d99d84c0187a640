"""What a front end is given of a workspace: plain rows, satisfied by shape."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from harness_tui.config.trust import TrustItem
from harness_tui.core.record import record


@record
class ProblemRow:
    """A fault in a file."""

    level: Literal["info", "warning", "error"]
    where: str | None
    text: str
    mend: str | None


@record
class TrustRow:
    """One thing that waits for trust; ``kind`` says how it changed since trust was given before."""

    kind: str
    text: str
    source: str


@record
class TrustState:
    """The folder's trust; ``ask`` when the dialog is due."""

    trusted: bool
    ask: bool
    items: tuple[TrustRow, ...]


@record
class Info:
    """An open workspace."""

    root: str
    version: str
    trust: TrustState
    problems: tuple[ProblemRow, ...]


@record
class AgentRow:
    """One agent."""

    name: str
    description: str


def trust_rows(files: Sequence[TrustItem]) -> tuple[TrustRow, ...]:
    """Return what waits for trust, thing by thing; files that are text alone come last, in one row.

    In a folder that was trusted before each row says how it changed since, and what did not is not listed again.
    """
    rows: list[TrustRow] = []
    prose: list[str] = []
    before = any(item.change != "new" for item in files)
    for item in files:
        kind = item.change if before else ""
        if item.change == "same":
            continue
        if item.what:
            rows += [TrustRow(kind, _thing(item.path, part), item.path) for part in item.parts or (item.what,)]
        elif item.change == "removed":
            rows.append(TrustRow(kind, item.path, item.path))
        else:
            prose.append(item.path)
    if prose:
        text = "1 file that is text alone" if len(prose) == 1 else f"{len(prose)} files that are text alone"
        rows.append(TrustRow("", text, ", ".join(prose)))
    return tuple(rows)


def _thing(path: str, part: str) -> str:
    """Say which thing of which file would do what: ``command say: runs `ls` ``."""
    place = Path(path)
    name = place.parent.name if place.name == "SKILL.md" else place.stem
    kind, _, rest = part.partition(" ")
    if kind in ("command", "skill"):
        verb, colon, code = rest.partition(": ")
        return f"{kind} {name}: runs `{code}`" if verb == "runs" and colon else f"{kind} {name}: {rest}"
    what, colon, target = part.partition(": ")
    if colon and what.startswith(("MCP server ", "language server ")):
        return f"{what}: {'reaches' if '://' in target else 'runs'} {target}"
    return part
