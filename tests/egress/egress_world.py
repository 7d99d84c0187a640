"""A small web on loopback, a trap that nothing may reach, and ``webfetch`` and clients over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fakes.fake_web import PUBLIC, FakeResolver, FakeWeb, answer

from harness_tui.config.settings import EgressEntry, EgressSettings
from harness_tui.core.seams import PreparedCall, ToolContext, ToolResult
from harness_tui.egress.egress import Egress
from harness_tui.tools.webfetch_tool import WebfetchTool


class FakeAudit:
    """Keeps what is recorded."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def record(self, kind: str, **fields: Any) -> None:
        self.records.append({"kind": kind} | fields)


def settings(allow: Sequence[str] = (), deny: Sequence[str] = (), **more: Any) -> EgressSettings:
    return EgressSettings(
        tuple(EgressEntry(rule, "config.yaml:1") for rule in allow),
        tuple(EgressEntry(rule, "config.yaml:2") for rule in deny),
        **more,
    )


@dataclass
class World:
    """``web`` answers for the public address, ``trap`` is what must stay untouched."""

    web: FakeWeb
    trap: FakeWeb
    resolver: FakeResolver
    dialled: list[tuple[str, int]]
    folder: Path
    audit: FakeAudit = field(default_factory=FakeAudit)

    def egress(self, environ: dict[str, str] | None = None, **rules: Any) -> Egress:
        return Egress(settings(**rules), environ=environ or {}, audit=self.audit, resolve=self.resolver)

    def context(self) -> ToolContext:
        return ToolContext(
            session="s",
            run="r",
            call="c",
            agent="build",
            root=self.folder,
            cwd=self.folder,
            session_dir=self.folder / "session",
            origin="model",
            emit=lambda event: None,
        )

    async def prepare(self, url: str, egress: Egress | None = None, **more: Any) -> PreparedCall:
        return await WebfetchTool(egress or self.egress()).prepare({"url": url} | more, self.context())

    async def fetch(self, url: str, egress: Egress | None = None, **more: Any) -> ToolResult:
        tool = WebfetchTool(egress or self.egress())
        return await tool.run(await tool.prepare({"url": url} | more, self.context()), self.context())


__all__ = ["PUBLIC", "FakeAudit", "World", "answer", "settings"]
