"""What a start and a failing server may not do: import the SDK early, or write to the terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SERVERS = Path(__file__).parent / "servers"

LOADED = """
import sys
import harness_tui.mcp.pool
print(sorted({"mcp", "mcp_types", "pydantic", "anyio", "httpx2", "starlette"} & set(sys.modules)))
"""

NOISY = """
import asyncio, sys, warnings
from pathlib import Path
from harness_tui.children.registry import ChildRegistry
from harness_tui.config.settings import McpServerSettings, McpTimeouts
from harness_tui.core.errors import HarnessError
from harness_tui.mcp.pool import McpPool

warnings.simplefilter("always")

class Sink:
    def emit(self, event):
        pass

async def main(servers, folder):
    registry = ChildRegistry()
    names = ("banner", "bad_tools", "exits_at_once", "dies_mid_call", "closes_output")
    entries = {
        name: McpServerSettings(
            name=name,
            command=(sys.executable, str(Path(servers) / f"{name}.py")),
            env={"COUNTER": str(Path(folder) / "calls")},
        )
        for name in names
    }
    pool = McpPool(entries, spawner=registry, sink=Sink(), cache_dir=Path(folder), root=Path(folder))
    pool.start()
    await pool.wait_started(60)
    for name in names:
        try:
            await pool.call(name, "work", {}) if name in ("dies_mid_call", "closes_output") else None
        except HarnessError as error:
            print(error.what)
    await pool.close()
    await registry.close()
    print(sorted({"mcp.server", "uvicorn", "starlette", "sse_starlette"} & set(sys.modules)))
    from mcp.server.mcpserver import MCPServer
    print(MCPServer.__module__)

asyncio.run(main(*sys.argv[1:]), debug=False)
"""


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=90)


def test_importing_the_pool_imports_neither_the_sdk_nor_what_it_stands_on() -> None:
    done = run(LOADED)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_servers_that_misbehave_write_nothing_and_a_client_imports_no_part_for_servers(tmp_path: Path) -> None:
    done = run(NOISY, str(SERVERS), str(tmp_path))
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "it was ended by SIGKILL: out of memory during work; whether that had an effect is not known",
        "it closed its connection during work; whether that had an effect is not known",
        "[]",
        "mcp.server.mcpserver.server",
    ]
