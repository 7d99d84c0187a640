"""What the panels of a front end show and do, with a real server, a real language server and real commands."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from fakes.tui_screen import until

from harness_tui.children import processes
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.events import RunFinished
from harness_tui.core.intents import CallTool, SetSession, Shell
from harness_tui.core.values import Rule
from harness_tui.tui.run import Options
from harness_tui.workspace.front import OpenSession, WorkspaceBackend

SERVER = Path(__file__).parents[1] / "mcp" / "servers" / "plain.py"


class Shop:
    """An open project of a person with an empty home."""

    def __init__(self, backend: WorkspaceBackend, session: OpenSession, project: Path) -> None:
        self.backend, self.session, self.project = backend, session, project

    async def owners(self) -> dict[str, int]:
        return {row.owner: row.pid for row in await self.backend.processes()}

    async def runs(self, owner: str) -> int:
        async with asyncio.timeout(60):
            while owner not in (found := await self.owners()):
                await asyncio.sleep(0.05)
        return found[owner]

    def state(self, kind: str, name: str) -> tuple[str, str | None]:
        pool = self.backend.workspace.mcp if kind == "mcp" else self.backend.workspace.lsp
        return next((entry.state, entry.reason) for entry in pool.status() if entry.name == name)

    async def do(self, intent: CallTool | Shell) -> None:
        subscription = self.session.subscribe()
        await self.session.send(intent)
        async with asyncio.timeout(60):
            async for envelope in subscription:
                if isinstance(envelope.event, RunFinished):
                    break
        subscription.close()


@pytest.fixture
async def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> AsyncIterator[Shop]:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HARNESS_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    config = tmp_path / "home" / ".config" / "harness" / "config.yaml"
    config.parent.mkdir(parents=True)
    server = json.dumps([sys.executable, str(SERVER)])
    servers = f"mcp:\n  time: {{command: {server}, lazy: false}}\n" if getattr(request, "param", False) else ""
    config.write_text('permission:\n  - {permission: bash, pattern: "git diff *", action: allow}\n' + servers)
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "play.yaml").write_text("turns: []\n")
    monkeypatch.chdir(project)
    backend = WorkspaceBackend(project, Options(model="replay:play.yaml"))
    await backend.open()
    yield Shop(backend, await backend.start_session(), project)
    await backend.close()


def is_gone(pid: int) -> Callable[[], bool]:
    def look() -> bool:
        running = processes.look(pid)
        return running is None or running.zombie

    return look


@pytest.mark.parametrize("shop", [True], indirect=True, ids=["with a server"])
async def test_a_server_that_is_stopped_here_says_so_and_comes_back_when_it_is_restarted(shop: Shop) -> None:
    pid = await shop.runs("mcp:time")
    await until(lambda: shop.state("mcp", "time")[0] == "ready", 60)
    assert f"{SERVER} as {pid}\n" in await shop.backend.process_output("mcp:time", pid)
    await shop.backend.stop_process("mcp:time", pid)
    assert is_gone(pid)()
    assert shop.state("mcp", "time") == ("stopped", "was stopped by a person")
    assert "mcp:time" not in await shop.owners()
    assert f"as {pid}" in await shop.backend.process_output("mcp:time", None)
    await shop.backend.restart_server("mcp", "time")
    assert shop.state("mcp", "time")[0] == "ready"
    (row,) = [row for row in await shop.backend.processes() if row.owner == "mcp:time"]
    assert (row.pid != pid, row.restarts) == (True, 1)


async def test_a_language_server_that_is_stopped_here_is_not_started_by_the_next_file(shop: Shop) -> None:
    (shop.project / "a.py").write_text("import os\n")
    await shop.do(CallTool("read", {"path": "a.py"}))
    pid = await shop.runs("lsp:ruff")
    await shop.backend.stop_process("lsp:ruff", pid)
    assert is_gone(pid)()
    assert shop.state("lsp", "ruff") == ("stopped", "was stopped by a person")
    verdict = await shop.backend.workspace.lsp.diagnostics(Path("a.py"), 20)
    assert {one.name: one.verdict for one in verdict.servers}["ruff"] == "unknown"
    assert "lsp:ruff" not in await shop.owners()
    await shop.backend.restart_server("lsp", "ruff")
    assert await shop.runs("lsp:ruff") != pid


async def test_what_a_command_left_running_is_read_and_ended_by_its_pid(shop: Shop) -> None:
    await shop.do(Shell("(echo up; sleep 60) & echo said"))
    pid = await shop.runs("bash")
    assert (await shop.backend.process_output("bash", pid)).splitlines() == ["said", "up"] or (
        await shop.backend.process_output("bash", pid)
    ).splitlines() == ["up", "said"]
    await shop.backend.stop_process("bash", pid)
    await until(is_gone(pid))
    assert "bash" not in await shop.owners()
    assert await shop.backend.process_output("bash", pid) == ""
    await shop.backend.stop_process("bash", 1)  # not ours: nothing happens
    with pytest.raises(HarnessError, match="no MCP server of this name"):
        await shop.backend.stop_process("mcp:nobody", 1)


async def test_the_permissions_are_those_of_the_present_session_and_can_be_taken_back(shop: Shop) -> None:
    approvals = shop.backend.workspace.approvals
    approvals.add("session", [Rule("bash", "make", "allow")], session=shop.session.id, fingerprint=None)
    approvals.add("session", [Rule("bash", "other", "allow")], session="another", fingerprint=None)
    approvals.add("project", [Rule("mcp", "time_*", "allow")], session=shop.session.id, fingerprint="x")
    await shop.session.send(SetSession(mode="accept-edits"))
    rows = await shop.backend.permissions()
    assert rows.mode == "accept-edits"
    assert [(one.scope, one.permission, one.pattern, one.bound) for one in rows.approvals] == [
        ("session", "bash", "make", False),
        ("project", "mcp", "time_*", True),
    ]
    config = Path.home() / ".config" / "harness" / "config.yaml"
    (own,) = [rule for rule in rows.rules if rule.layer == "user"]
    assert (own.permission, own.pattern, own.action, own.source) == ("bash", "git diff *", "allow", f"{config}:2")
    assert (rows.rules[-1].layer, rows.rules[-1].pattern) == ("mode", "*")
    assert rows.rules[0].layer == "bundled"
    assert await shop.backend.revoke("project", "mcp", "time_*") == 1
    assert await shop.backend.revoke("session", "bash", "make") == 1
    assert (await shop.backend.permissions()).approvals == ()


async def test_a_call_is_explained_by_a_value_or_by_json_with_the_approvals_of_the_session(shop: Shop) -> None:
    lines = await shop.backend.explain("bash git diff | tee out.txt")
    assert lines[0] == "ask"
    assert any(line.startswith("bash git diff: allow by bash git diff * allow (") for line in lines)
    assert any(line.startswith("edit out.txt: ask by edit * ask (bundled)") for line in lines)
    approvals = shop.backend.workspace.approvals
    approvals.add("session", [Rule("bash", "make", "allow")], session=shop.session.id, fingerprint=None)
    assert (await shop.backend.explain('bash {"command": "make"}'))[0] == "allow"
    assert (await shop.backend.explain("bash { make; }"))[0] == "allow"
    assert (await shop.backend.explain("edit src/a.py"))[0] == "ask"
    for text in ("", "nothing at all", "read {", "bash"):
        with pytest.raises(UsageError):
            await shop.backend.explain(text)
