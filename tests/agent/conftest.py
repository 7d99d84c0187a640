"""A session over a real store, a real gate and a replay script, with tools that the test makes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from fakes.fake_tool import FakeSource, FakeTool

from harness_tui.agent.live import LiveSession
from harness_tui.config.loader import Flags
from harness_tui.core.bus import Subscription
from harness_tui.core.envelope import Envelope
from harness_tui.core.events import Event, RunFinished
from harness_tui.core.intents import Intent, Submit
from harness_tui.workspace.workspace import OpenOptions, Workspace

WAIT_S = 20
REPLAY = Flags(model="replay:play.yaml")


@dataclass
class Stage:
    """One open session and what came out of it."""

    workspace: Workspace
    live: LiveSession
    project: Path
    subscription: Subscription
    seen: list[Envelope] = field(default_factory=list)

    async def next(self, kind: type[Event]) -> Any:
        """Return the next event of a class."""
        async with asyncio.timeout(WAIT_S):
            async for envelope in self.subscription:
                self.seen.append(envelope)
                if isinstance(envelope.event, kind):
                    return envelope.event
        raise AssertionError(f"the stream ended before a {kind.__name__}")

    async def say(self, text: str, **fields: Any) -> RunFinished:
        """Submit a message and return the end of its run."""
        await self.live.send(Submit(text, **fields))
        return await self.next(RunFinished)

    async def send(self, intent: Intent) -> None:
        """Send an intent."""
        await self.live.send(intent)

    def of(self, kind: type[Event]) -> list[Any]:
        """Return the events of a class that came so far."""
        return [envelope.event for envelope in self.seen if isinstance(envelope.event, kind)]

    def requests(self) -> list[dict[str, Any]]:
        """Return the model requests that the script logged."""
        path = self.project / "requests.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


Opener = Callable[..., Any]


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Opener]:
    """Open stages: ``await stage(script, *tools, policy=..., rules=...)``."""
    opened: list[Workspace] = []
    home = tmp_path / "home"
    project = home / "project"
    (project / ".git").mkdir(parents=True)

    async def open_stage(
        script: dict[str, Any],
        *tools: FakeTool,
        policy: str = "refuse",
        rules: tuple[dict[str, str], ...] = (),
        session: str | None = None,
        max_steps: int | None = None,
        settings: dict[str, Any] | None = None,
        flags: Flags = REPLAY,
        single_run: bool = False,
    ) -> Stage:
        (project / "play.yaml").write_text(json.dumps({"log": "requests.jsonl"} | script))
        config = home / ".config" / "harness"
        config.mkdir(parents=True, exist_ok=True)
        (config / "config.yaml").write_text(json.dumps({"permission": list(rules)} | (settings or {})))
        options = OpenOptions(
            flags=flags,
            policy=policy,  # type: ignore[arg-type]
            step_limit=max_steps,
            single_run=single_run,
            environ={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        )
        workspace = await Workspace.open(project, options)
        opened.append(workspace)
        if tools:
            parts = workspace.parts
            workspace.use_parts(replace(parts, sources=(FakeSource(*tools), *parts.sources)))
        live = await (workspace.new_session() if session is None else workspace.resume(session))
        subscription = live.stream.subscribe(limit=10**6)
        await workspace.start_session(live)
        return Stage(workspace, live, project, subscription)

    yield open_stage
    for workspace in opened:
        await workspace.close()
