"""One server looked at as a whole: what is configured, whether it starts, what it offers, and what to do if not."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.record import record
from harness_tui.core.redaction import redact
from harness_tui.core.text import clean_for_display
from harness_tui.mcp.listing import ServerStatus

if TYPE_CHECKING:
    from harness_tui.mcp.supervisor import Supervisor

_TAIL_LINES = 12


@record
class Diagnosis:
    """What is known of one server. ``ok``: it runs, or nobody wants it to. ``kind`` names the sort of failure.

    ``target`` is the command line or URL, secrets taken out; ``started_ms`` how long its start took, where it was
    started for this. ``stderr`` holds the last lines of its standard error.
    """

    name: str
    ok: bool
    state: str
    kind: str | None
    reason: str | None
    mend: str | None
    source: str
    target: str
    transport: str
    protocol: str | None
    tools: int
    tokens: int
    prompts: int
    resources: int
    started_ms: int | None
    stderr: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return it as lines for a person: what it is first, then only what helps."""
        shown = [f"{self.name}: {self._state_words()}"]
        facts: list[tuple[str, str]] = [
            ("from", self.source),
            ("runs" if self.transport == "stdio" else "at", self.target),
        ]
        if self.mend:
            facts.append(("do", self.mend))
        shown += [f"  {label:5} {clean_for_display(text, one_line=True)}" for label, text in facts if text]
        if not self.ok and self.stderr:
            shown.append("  its standard error ended with")
            shown += [f"    {line}" for line in self.stderr]
        return shown

    def _state_words(self) -> str:
        if self.state != "ready":
            return f"{self.state.replace('_', ' ')}: {self.reason}" if self.reason else self.state
        took = f" in {self.started_ms / 1000:.1f} s" if self.started_ms is not None else ""
        counts = ((self.tools, "tool"), (self.prompts, "prompt"), (self.resources, "resource"))
        offers = ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count)
        remark = f"; {self.reason}" if self.reason else ""
        cost = f" (about {self.tokens:,} tokens in each request)" if self.tokens else ""
        return f"ready{took}, MCP {self.protocol} over {self.transport}: {offers or 'offers nothing'}{cost}{remark}"


async def diagnose(supervisor: Supervisor, status_of: Callable[[Supervisor], ServerStatus]) -> Diagnosis:
    """Start the server if it does not run, one that failed once more, and tell how that went."""
    began = time.monotonic()
    fresh = supervisor.startable and not supervisor.running
    if fresh and supervisor.state in ("failed", "needs_auth", "stopped"):
        await supervisor.restart()
    elif fresh and (start := supervisor.begin()) is not None:
        await asyncio.wait({start})
    took = round((time.monotonic() - began) * 1000)
    status, listing, server = status_of(supervisor), supervisor.listing, supervisor.server
    kind, mend = _of_entry(server) or (supervisor.kind, supervisor.mend)
    ready = status.state == "ready"
    return Diagnosis(
        name=server.name,
        ok=ready or kind == "disabled",
        state=status.state,
        kind=None if ready else kind,
        reason=status.reason,
        mend=None if ready else mend,
        source=server.source,
        target=redact(server.url.partition("?")[0] if server.url else shlex.join(server.command)),
        transport=status.transport,
        protocol=status.protocol,
        tools=status.tools,
        tokens=status.tokens,
        prompts=len(listing.prompts) if listing is not None and ready else 0,
        resources=len(listing.resources) if listing is not None and ready else 0,
        started_ms=took if fresh and ready else None,
        stderr=tuple(clean_for_display(line) for line in status.stderr_tail.splitlines()[-_TAIL_LINES:]),
    )


def _of_entry(server: McpServerSettings) -> tuple[str, str] | None:
    """Return kind and remedy of what keeps an entry from being started at all."""
    if server.error is not None:
        return "configuration", f"mend the entry at {server.source}; `harness config check` lists every fault"
    if not server.enabled:
        return "disabled", f"say 'enabled: true' at {server.source} to use it"
    if not server.trusted:
        return "untrusted", "look at what the folder brings along, then `harness trust`"
    return None
