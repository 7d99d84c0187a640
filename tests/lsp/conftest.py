"""A pool over scripted servers, and the check that nothing of them is left."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from fakes.lsp_sinks import FakeEventSink
from servers.installed import VERDICTS, summary

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.settings import LspServerSettings, LspSettings
from harness_tui.core.seams import ToolContext
from harness_tui.lsp.built_in import BUILT_IN
from harness_tui.lsp.client import Answer, Client
from harness_tui.lsp.lifecycle import Timings
from harness_tui.lsp.pool import LspPool

SERVER = Path(__file__).parent / "servers" / "scripted_server.py"


class Scripted:
    """A scripted server's settings, and what it wrote down."""

    def __init__(self, folder: Path, name: str, extensions: tuple[str, ...], script: dict[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log, self.pids = folder / f"{name}.log", folder / f"{name}.pids"
        file = folder / f"{name}.json"
        file.write_text(json.dumps({"log": str(self.log), "pids": str(self.pids)} | script))
        self.settings = LspServerSettings(
            name, command=(sys.executable, "-S", str(SERVER), str(file)), extensions=extensions
        )

    def received(self, method: str | None = None) -> list[dict[str, Any]]:
        """Return the messages that it received, or the parameters of one method's."""
        if not self.log.exists():
            return []
        messages = [json.loads(line) for line in self.log.read_text().splitlines()]
        return messages if method is None else [m.get("params") for m in messages if m.get("method") == method]

    def started(self) -> list[int]:
        """Return the process ids of all its lives."""
        return [int(line) for line in self.pids.read_text().split()] if self.pids.exists() else []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def scripted(tmp_path: Path) -> Callable[..., Scripted]:
    """Make a scripted server: ``scripted(name, extensions=(".txt",), **script)``."""

    def make(name: str = "scripted", extensions: tuple[str, ...] = (".txt",), **script: Any) -> Scripted:
        return Scripted(tmp_path / "servers", name, extensions, script)

    return make


class Bench:
    """Makes pools over a project and keeps what belongs to them."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.sink = FakeEventSink()
        self.registry = ChildRegistry()
        self.pools: list[LspPool] = []

    def pool(
        self,
        *servers: Scripted | LspServerSettings,
        built_in: tuple[str, ...] = (),
        wait: float = 1.5,
        cold_wait: float = 10.0,
        timings: Timings | None = None,
        trusted: bool = False,
        root: Path | None = None,
        environ: dict[str, str] | None = None,
        **settings: Any,
    ) -> LspPool:
        """Return a pool with only ``servers`` and the ``built_in`` ones that are named."""
        entries = {spec.name: LspServerSettings(spec.name, disabled=True) for spec in BUILT_IN}
        entries = {name: entry for name, entry in entries.items() if name not in built_in}
        for server in servers:
            entry = server.settings if isinstance(server, Scripted) else server
            entries[entry.name] = entry
        made = LspPool(
            root or self.project,
            LspSettings(servers=entries, wait_ms=round(wait * 1000), **settings),
            spawner=self.registry,
            sink=self.sink,
            trusted=trusted,
            cold_wait=cold_wait,
            environ=os.environ if environ is None else environ,
            timings=timings,
        )
        self.pools.append(made)
        return made


def children() -> set[int]:
    """Return the ids of this process's living descendants."""
    found: set[int] = set()
    for child in psutil.Process().children(recursive=True):
        try:
            if child.status() != psutil.STATUS_ZOMBIE:
                found.add(child.pid)
        except psutil.NoSuchProcess:
            continue
    return found


@pytest.fixture
async def bench(project: Path) -> AsyncIterator[Bench]:
    """A bench whose pools are closed at the end; no process may be left then."""
    before = children()
    made = Bench(project)
    yield made
    for pool in made.pools:
        await pool.close()
    left = [(info.owner, info.command) for info in made.registry.list()]
    await made.registry.close()
    assert left == []
    assert children() - before == set()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the verdicts of servers that were warm when they were asked."""
    ask = Client.ask

    async def count(self: Client, path: Path, wait: float) -> Answer:
        warm = self.warm and self.connection is not None
        answer = await ask(self, path, wait)
        if warm and path.exists():
            VERDICTS[answer.verdict] += 1
        return answer

    monkeypatch.setattr(Client, "ask", count)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was counted."""
    if VERDICTS:
        terminalreporter.write_line(summary())


@pytest.fixture
def context(project: Path, tmp_path: Path) -> ToolContext:
    return ToolContext(
        session="s_1",
        run="r_1",
        call="c1",
        agent="build",
        root=project,
        cwd=project,
        session_dir=tmp_path / "session",
        origin="model",
        emit=FakeEventSink().emit,
    )
