"""The rows of the side panel, drawn from plain data at a width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from harness_tui.core.paths import short
from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, ListRow, Span, cut_line, wrap
from harness_tui.tui.panels.processes import size_text
from harness_tui.tui.panels.state import PanelState

if TYPE_CHECKING:
    from harness_tui.core.events import Notice, ServerChanged

_STATES: Final = {
    "ready": ("✓", "ok"),
    "busy": ("✓", "ok"),
    "idle": ("○", "muted"),
    "starting": ("…", "accent"),
    "warming": ("…", "accent"),
    "needs_auth": ("!", "warning"),
    "degraded": ("!", "warning"),
    "failed": ("✗", "error"),
    "crashed": ("✗", "error"),
}
_LEVELS: Final = {"info": ("i", "info"), "warning": ("!", "warning"), "error": ("✗", "error")}
STDERR_LINES: Final = 4


@dataclass(frozen=True, slots=True)
class ServerKey:
    """A server's row."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class NoticeKey:
    """A notice's row; ``place`` tells apart what says the same."""

    place: int
    notice: Notice


def server_rows(state: PanelState, width: int) -> Sequence[ListRow]:
    """Return servers with their state and reason, then notices, the latest first."""
    rows: list[ListRow] = []
    for kind, title in (("mcp", "MCP servers"), ("lsp", "Language servers")):
        servers = sorted((s for (k, _), s in state.servers.items() if k == kind), key=lambda server: server.name)
        rows.append(ListRow((cut_line(((title, "heading"),), width),)))
        rows.extend(
            ListRow(tuple(_server_lines(state, server, width)), ServerKey(kind, server.name)) for server in servers
        )
        if not servers:
            rows.append(ListRow(((("  none", "muted"),),)))
    rows.append(ListRow(((), (("Notices", "heading"),))))
    for place, notice in reversed(list(enumerate(state.notices))):
        rows.append(ListRow(tuple(_notice_lines(notice, width)), NoticeKey(place, notice)))
    if not state.notices:
        rows.append(ListRow(((("  none", "muted"),),)))
    return rows


def _server_lines(state: PanelState, server: ServerChanged, width: int) -> list[Line]:
    sign, style = _STATES.get(server.state, ("○", "muted"))
    facts: list[str] = [server.state.replace("_", " ")]
    if server.detail.tools is not None:
        facts.append(f"{server.detail.tools} tool{'s' if server.detail.tools != 1 else ''}")
    if server.detail.tokens:
        facts.append(f"~{server.detail.tokens:,} tokens")
    if server.detail.restarts:
        facts.append(f"{server.detail.restarts} restart{'s' if server.detail.restarts != 1 else ''}")
    name = clean_for_display(server.name, one_line=True)
    spans: list[Span] = [(name, "bold"), (f"  {', '.join(facts)}", "muted")]
    lines = wrap(spans, width, first=((f"{sign} ", style),))
    if about := _process_facts(state, server):
        lines.extend(wrap([(about, "muted")], width, first=(("  ", ""),), rest=(("  ", ""),)))
    if server.reason:
        reason = clean_for_display(server.reason)
        lines.extend(wrap([(reason, "warning" if style == "error" else "muted")], width, first=(("  ", ""),)))
    if server.state == "needs_auth":
        lines.extend(wrap([("press r to log in", "muted")], width, first=(("  → ", "muted"),)))
    if style == "error" and server.detail.stderr_tail:
        tail = clean_for_display(server.detail.stderr_tail).rstrip("\n").split("\n")[-STDERR_LINES:]
        for row in tail:
            lines.extend(wrap([(row, "muted")], width, first=(("  │ ", "muted"),), rest=(("  │ ", "muted"),))[:2])
    return lines


def _process_facts(state: PanelState, server: ServerChanged) -> str:
    """What is known of the process: where it looks, its id, its size, how long its last verdict took."""
    if server.detail.pid is None:
        return ""
    facts = [f"pid {server.detail.pid}"]
    owner = f"{server.kind}:{server.name}"
    row = next((row for row in state.processes or () if row.owner == owner and row.pid == server.detail.pid), None)
    if row is not None:
        facts.append(size_text(row.rss + sum(below.rss for below in row.tree)))
    if server.kind == "lsp" and (latency := state.latency.get(server.name)) is not None:
        facts.append(f"{latency} ms")
    if server.kind == "lsp" and server.detail.root:
        facts.append(clean_for_display(short(server.detail.root), one_line=True))
    return " · ".join(facts)


def _notice_lines(notice: Notice, width: int) -> list[Line]:
    sign, style = _LEVELS[notice.level]
    source = clean_for_display(notice.source, one_line=True)
    spans: list[Span] = [(f"{source}: ", "muted"), (clean_for_display(notice.text), "")]
    lines = wrap(spans, width, first=((f"{sign} ", style),))
    if notice.hint:
        lines.extend(wrap([(clean_for_display(notice.hint), "muted")], width, first=(("  → ", "muted"),)))
    return lines
