"""A project folder, the built-in tools on real processes, and one way to call a tool."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fakes.file_diagnostics import FakeDiagnostics

from harness_tui.children.registry import ChildRegistry
from harness_tui.core.events import Event
from harness_tui.core.seams import AskPerson, Origin, PreparedCall, ToolContext, ToolResult
from harness_tui.tools.toolset import BuiltinTools


@dataclass
class Bench:
    """Calls tools as the agent does: prepare, then run. ``events`` holds what they emitted."""

    root: Path
    session_dir: Path
    tools: BuiltinTools
    diagnostics: FakeDiagnostics
    registry: ChildRegistry
    events: list[Event] = field(default_factory=list)
    ask: AskPerson | None = None

    def context(self, origin: Origin = "model", session: str = "s1", cwd: Path | None = None) -> ToolContext:
        return ToolContext(
            session=session,
            run="r1",
            call="c1",
            agent="build",
            root=self.root,
            cwd=cwd or self.root,
            session_dir=self.session_dir,
            origin=origin,
            emit=self.events.append,
            ask=self.ask,
        )

    async def prepare(self, name: str, context: ToolContext | None = None, **arguments: Any) -> PreparedCall:
        (tool,) = [tool for tool in self.tools.tools() if tool.spec.name == name]
        return await tool.prepare(arguments, context or self.context())

    async def run(self, name: str, prepared: PreparedCall, context: ToolContext | None = None) -> ToolResult:
        (tool,) = [tool for tool in self.tools.tools() if tool.spec.name == name]
        return await tool.run(prepared, context or self.context())

    async def call(self, name: str, context: ToolContext | None = None, **arguments: Any) -> ToolResult:
        return await self.run(name, await self.prepare(name, context, **arguments), context)

    def of(self, kind: type[Event]) -> Sequence[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    root = tmp_path / "project"
    root.mkdir()
    registry = ChildRegistry(environ={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SECRET_API_KEY": "k"})
    diagnostics = FakeDiagnostics()
    made = Bench(root, tmp_path / "session", BuiltinTools(registry, diagnostics), diagnostics, registry)
    yield made
    await made.tools.close()
    await registry.close()
