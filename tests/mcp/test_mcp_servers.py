"""Servers of other people: each is started, listed, called once with an answer that can be checked, and ended.

``make test-servers`` installs those that are not among our own dependencies; git and time are always there.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
from fakes.mcp_sinks import FakeSink
from servers.installed import environment

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.settings import McpServerSettings, McpTimeouts
from harness_tui.core.errors import ToolError
from harness_tui.mcp.pool import McpPool

Make = Callable[..., McpPool]


@dataclass(frozen=True)
class Real:
    """One server: its program, where it is installed, and a call of it. ``{folder}`` is a folder of the test.

    ``said`` is a pattern of the answer; ``error`` tells that the answer is one, as it is without a real key.
    """

    name: str
    program: str
    installed: str | None
    tool: str
    arguments: dict[str, Any]
    said: str
    tools: int
    error: bool = False
    more: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict[str, str])


SERVERS = (
    Real("time", "mcp-server-time", None, "convert_time",
         {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}, r"\+9\.0h", 2,
         more=("--local-timezone", "UTC")),
    Real("git", "mcp-server-git", None, "git_status", {"repo_path": "{folder}"}, "notes.txt", 12),
    Real("everything", "mcp-server-everything", "mcp", "echo", {"message": "blue"}, "Echo: blue", 13),
    Real("filesystem", "mcp-server-filesystem", "mcp", "read_text_file", {"path": "{folder}/notes.txt"}, "seven", 14,
         more=("{folder}",)),
    Real("memory", "mcp-server-memory", "mcp", "create_entities",
         {"entities": [{"name": "Ada", "entityType": "person", "observations": ["counts"]}]}, "Ada", 9,
         env={"MEMORY_FILE_PATH": "{folder}/memory.json"}),
    Real("thinking", "mcp-server-sequential-thinking", "mcp", "sequentialthinking",
         {"thought": "first", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}, "thoughtNumber", 1),
    Real("fetch", "mcp-server-fetch", "mcp-fetch", "fetch", {"url": "http://127.0.0.1:9/"}, "127.0.0.1", 1, error=True),
    Real("context7", "context7-mcp", "mcp", "resolve-library-id",
         {"libraryName": "react", "query": "hooks"}, "(?i)react|failed|error", 2),
    Real("notion", "notion-mcp-server", "mcp", "API-get-self", {}, "ENOTFOUND|401|invalid", 20, True,
         env={"NOTION_TOKEN": "ntn_none"}),
)  # fmt: skip


def entry_of(real: Real, folder: Path) -> McpServerSettings:
    """Return the entry of ``real``; skips the test where it is not installed."""
    environ = environment(*([real.installed] if real.installed else []))
    program = shutil.which(real.program, path=f"{environ['PATH']}{os.pathsep}{Path(sys.executable).parent}")
    assert program is not None, f"{real.program} is installed"
    put = {"{folder}": str(folder)}
    filled = {name: value.replace("{folder}", put["{folder}"]) for name, value in real.env.items()}
    return McpServerSettings(
        name=real.name,
        command=(program, *(part.replace("{folder}", put["{folder}"]) for part in real.more)),
        env={"PATH": environ["PATH"], **filled},
        timeout=McpTimeouts(start=60),
    )


def filled(value: Any, folder: Path) -> Any:
    return {
        name: item.replace("{folder}", str(folder)) if isinstance(item, str) else item for name, item in value.items()
    }


@pytest.mark.real
@pytest.mark.parametrize("real", SERVERS, ids=lambda real: real.name)
async def test_a_server_of_others_is_started_listed_called_and_ended(
    make_pool: Make, registry: ChildRegistry, tmp_path: Path, sink: FakeSink, real: Real
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.txt").write_text("seven\n")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True, env=os.environ)
    pool = make_pool(entry_of(real, folder), root=folder)
    found = await pool.diagnose(real.name)
    assert found.ok, found.lines()
    assert found.tools >= real.tools
    [pid] = [child.pid for child in registry.list()]
    family = [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    try:
        outcome = await pool.call(real.name, real.tool, filled(real.arguments, folder))
        text, failed = "\n".join(block.get("text", "") for block in outcome.content), outcome.is_error
    except ToolError as error:  # its own answer, as an error of the protocol
        text, failed = error.what, True
    assert re.search(real.said, text), text
    assert failed or not real.error
    assert pool.status()[0].state == "ready"
    assert sink.notices("error") == []
    await pool.close()
    async with asyncio.timeout(10):
        while any(psutil.pid_exists(one) for one in family):
            await asyncio.sleep(0.02)
    assert registry.list() == []


@pytest.mark.real
async def test_servers_of_others_work_side_by_side_in_one_session(make_pool: Make, tmp_path: Path) -> None:
    wanted = [real for real in SERVERS if real.installed == "mcp"]
    (tmp_path / "notes.txt").write_text("seven\n")
    pool = make_pool(*(entry_of(real, tmp_path) for real in wanted), root=tmp_path)
    pool.start()
    assert await pool.wait_started(120)
    assert {line.name: line.state for line in pool.status()} == {real.name: "ready" for real in wanted}
    assert len({tool.spec.name for tool in pool.tools()}) == sum(line.tools for line in pool.status())
