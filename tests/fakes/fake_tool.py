"""A tool whose every step a test decides."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.seams import Check, PreparedCall, ToolContext, ToolResult
from harness_tui.core.values import ToolSpec


class FakeTool:
    """Answers ``result``, or does what ``act`` does; counts its runs in ``ran`` by their arguments."""

    def __init__(
        self,
        name: str,
        *,
        act: Callable[[ToolContext], Awaitable[ToolResult]] | None = None,
        checks: tuple[Check, ...] = (),
        read_only: bool = False,
    ) -> None:
        self._spec = ToolSpec(name, f"fake {name}", {"type": "object", "properties": {}}, read_only=read_only)
        self._act = act
        self._checks = checks
        self.ran: list[dict[str, Any]] = []
        self.running = 0
        self.most_at_once = 0

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        return PreparedCall(f"Fake {self._spec.name}", self._checks, ArgumentsPreview(arguments), arguments)

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        self.ran.append(prepared.state)
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            if self._act is not None:
                return await self._act(context)
            await asyncio.sleep(0.01)
            return ToolResult(f"{self._spec.name} done")
        finally:
            self.running -= 1


class FakeSource:
    """A tool source over a fixed list."""

    def __init__(self, *tools: FakeTool) -> None:
        self._tools = tools

    def tools(self) -> tuple[FakeTool, ...]:
        return self._tools
