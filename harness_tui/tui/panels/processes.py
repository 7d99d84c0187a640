"""The rows of the tab Processes: subagents, each child with what it started, and the servers that have stopped."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, ListRow, Span, cells, cut_cells, cut_line, two_ends, wrap
from harness_tui.tui.panels.ages import age_of
from harness_tui.tui.panels.state import PanelState
from harness_tui.tui.panels.tasks import task_rows

if TYPE_CHECKING:
    from harness_tui.core.events import ServerChanged
    from harness_tui.tui.backend_rows import DescendantRow, ProcessRow

MAX_TREE: Final = 20
"""Descendants of one child that are shown."""

_DOWN: Final = {
    "starting": ("…", "accent"),
    "stopped": ("○", "muted"),
    "failed": ("✗", "error"),
    "crashed": ("✗", "error"),
}
_MIB: Final = 1_048_576


@dataclass(frozen=True, slots=True)
class ProcessKey:
    """A row's process; ``pid`` is ``None`` for a server that does not run."""

    owner: str
    pid: int | None

    @property
    def server(self) -> tuple[str, str] | None:
        """Kind and name of a server that can be restarted, ``None`` for anything else."""
        kind, colon, name = self.owner.partition(":")
        return (kind, name) if colon and kind in ("mcp", "lsp") else None


def process_rows(state: PanelState, width: int, now: datetime | None = None) -> Sequence[ListRow]:
    """Return the subagents, then what runs, oldest first, then the servers without a process. ``now`` is in UTC."""
    moment = now or datetime.now(UTC)
    rows = list(task_rows(state, width, moment))
    if state.processes is None:
        return [*rows, ListRow((cut_line((("Looking …", "muted"),), width),))]
    rows += [
        ListRow(tuple(_process_lines(state, row, width, moment)), ProcessKey(row.owner, row.pid), _group(row.owner))
        for row in state.processes
    ]
    running = {row.owner for row in state.processes}
    rows += [
        ListRow(tuple(_stopped_lines(server, width)), ProcessKey(f"{kind}:{name}", None), f"{kind}:{name}")
        for (kind, name), server in sorted(state.servers.items())
        if server.state in _DOWN and f"{kind}:{name}" not in running and _has_run(server)
    ]
    if not rows:
        text = "No process runs. Subagents, servers, commands and what they leave running are listed here."
        rows.append(ListRow(tuple(wrap([(text, "muted")], width))))
    return rows


def _group(owner: str) -> str | None:
    """A server has the same row before and after a restart; a command has its own."""
    return owner if ":" in owner else None


def _has_run(server: ServerChanged) -> bool:
    """A server that only waits for its first file says ``stopped`` as well; it is of no interest here."""
    return server.state != "stopped" or server.reason is not None


def _process_lines(state: PanelState, row: ProcessRow, width: int, now: datetime) -> list[Line]:
    ending = (row.owner, row.pid) in state.ending
    sign: Span = ("… ", "warning") if ending else ("● ", "ok")
    owner = clean_for_display(row.owner, one_line=True)
    right = "stopping" if ending else f"pid {row.pid}"
    facts = [f"{size_text(row.rss)}", _cpu(state.cpu_share.get(row.pid), row.cpu)]
    if age := age_of(row.started, now):
        facts.insert(0, f"up {age}")
    if row.restarts:
        facts.append(f"restarted {row.restarts}×")
    lines: list[Line] = [
        two_ends((sign, (owner, "bold")), ((right, "muted"),), width),
        *wrap([(" · ".join(facts), "")], width, first=(("  ", ""),)),
        (("  ", ""), (_command(row.command, max(1, width - 2)), "muted")),
    ]
    depth = {row.pid: 0}
    for below in row.tree[:MAX_TREE]:
        depth[below.pid] = depth.get(below.ppid, 0) + 1
        lines.append(_descendant_line(state, below, depth[below.pid], width))
    if len(row.tree) > MAX_TREE:
        lines.append(cut_line(((f"  … {len(row.tree) - MAX_TREE} more below it", "muted"),), width))
    return lines


def _descendant_line(state: PanelState, row: DescendantRow, depth: int, width: int) -> Line:
    indent = " " * min(2 * depth, max(2, width // 3))
    size, share = size_text(row.rss), state.cpu_share.get(row.pid)
    right = f" {size} {share:.0f}%" if share is not None and share >= 1 else f" {size}"
    left = f"{indent}└ {row.pid} "
    name = _command(row.command, max(1, width - cells(left) - cells(right))) or "?"
    return two_ends(((left, "muted"), (name, "")), ((right, "muted"),), width)


def _stopped_lines(server: ServerChanged, width: int) -> list[Line]:
    sign, style = _DOWN[server.state]
    owner = clean_for_display(f"{server.kind}:{server.name}", one_line=True)
    lines: list[Line] = [
        two_ends(((f"{sign} ", style), (owner, "bold")), ((server.state, style),), width),
    ]
    if server.reason:
        reason = clean_for_display(server.reason, one_line=True)
        lines.extend(wrap([(reason, "muted")], width, first=(("  ", ""),))[:2])
    return lines


def _command(words: Sequence[str], width: int) -> str:
    """Return a command within ``width`` cells; before it is cut, folders of its paths are left out."""
    text = _one_line(shlex.join(words))
    if cells(text) > width:
        shorter = [_name(shlex.quote(word), 1 if place == 0 else 2) for place, word in enumerate(words)]
        text = cut_cells(_one_line(" ".join(shorter)), width)
    return text


def _name(word: str, parts: int) -> str:
    names = word.split("/")
    if not word.startswith("/") or len(names) <= parts + 1:
        return word
    return "/".join(names[-parts:] if parts == 1 else ["…", *names[-parts:]])


def _one_line(text: str) -> str:
    return clean_for_display(text, one_line=True, show_invisible=True)


def size_text(size: int) -> str:
    """Return a number of bytes in MiB."""
    return f"{size / _MIB:.0f} MiB" if size >= 10 * _MIB else f"{size / _MIB:.1f} MiB"


def _cpu(share: float | None, seconds: float) -> str:
    return f"cpu {seconds:.1f} s" if share is None else f"cpu {share:.0f}%"
