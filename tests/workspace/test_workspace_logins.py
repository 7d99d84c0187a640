"""Logins outside of a call: a person wants one, or wants it forgotten, with a real server and its login server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest

from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.events import QuestionAnswered, QuestionAsked
from harness_tui.tui.run import Options
from harness_tui.workspace.front import OpenSession, WorkspaceBackend

SERVER = Path(__file__).parents[1] / "mcp" / "servers" / "wants_login.py"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, str(SERVER)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"LOG": str(tmp_path / "steps")},
    )
    assert process.stdout is not None
    yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    process.kill()
    process.wait(10)
    process.stdout.close()


@pytest.fixture
async def opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> AsyncIterator[tuple[WorkspaceBackend, OpenSession]]:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HARNESS_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    config = tmp_path / "home" / ".config" / "harness" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"mcp:\n  locked: {{url: '{address}'}}\n  here: {{command: [nothing], enabled: false}}\n")
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "play.yaml").write_text("turns: []\n")
    backend = WorkspaceBackend(project, Options(model="replay:play.yaml"))
    await backend.open()
    yield backend, await backend.start_session()
    await backend.close()


async def follow(session: OpenSession) -> str:
    """Open the page that the session asks about, and return how the question ended."""
    subscription = session.subscribe()
    ended = ""
    async with asyncio.timeout(30):
        async for envelope in subscription:
            match envelope.event:
                case QuestionAsked(url=str() as url):
                    async with httpx2.AsyncClient(trust_env=False, follow_redirects=True) as browser:
                        await browser.get(url)
                case QuestionAnswered(action=action):
                    ended = action
                    break
                case _:
                    pass
    subscription.close()
    return ended


def state(backend: WorkspaceBackend) -> tuple[str, str | None]:
    return next((line.state, line.reason) for line in backend.workspace.mcp.status() if line.name == "locked")


async def test_a_person_logs_in_and_out_outside_of_a_call(opened: tuple[WorkspaceBackend, OpenSession]) -> None:
    backend, session = opened
    assert await backend.workspace.mcp.wait_started(30)
    assert state(backend) == ("needs_auth", "wants a login")
    ended, told = await asyncio.gather(follow(session), backend.log_in("locked"))
    assert (ended, told, state(backend)[0]) == ("accept", "logged in to locked", "ready")

    assert (await backend.log_out("locked")).startswith("forgot the login of locked")
    assert state(backend) == ("needs_auth", "wants a login")
    assert await backend.log_out("locked") == "there was no login of locked"
    # To start it by hand is to be there: its page is shown.
    ended, _ = await asyncio.gather(follow(session), backend.restart_server("mcp", "locked"))
    assert (ended, state(backend)[0]) == ("accept", "ready")

    audit = backend.workspace.audit
    assert audit.close()
    records = [json.loads(line) for line in audit.path.read_text().splitlines()]
    steps = [record["event"] for record in records if record["kind"] == "mcp_auth" and record["event"] != "challenge"]
    once = ["registration", "page", "token"]
    assert steps == [*once, "logout", *once]

    with pytest.raises(UsageError, match="here is started here and has no login"):
        await backend.log_in("here")
    with pytest.raises(HarnessError, match="there is no MCP server 'nowhere'"):
        await backend.log_out("nowhere")
