"""The whole program with language servers of other people at work, ended in every way: none of them outlives it.

They are those that `make test-servers` installs; without them every test is skipped.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from e2e_home import Home
from servers.installed import environment

pytestmark = [pytest.mark.e2e, pytest.mark.real]

KINDS = ("ts5", "clangd", "bash", "shellcheck")
FILES = {
    "a.ts": "export const x: number = 1;\n",
    "new/b.ts": "export const y: number = 2;\n",
    "a.c": "int x = 1;\n",
    "a.sh": "#!/bin/sh\necho hello\n",
    "a.py": "x: int = 1\n",
}
WORDS = ("typescript-language-server", "tsc", "clangd", "bash-language-server", "basedpyright")


@pytest.fixture
def shell(home: Home) -> Home:
    """A home where basedpyright serves Python, and version 7 of TypeScript one folder."""
    paths = [*environment(*KINDS)["PATH"].split(os.pathsep)[: len(KINDS)]]
    seven = Path(environment("ts7")["PATH"].split(os.pathsep)[0]).parent
    home.variables["PATH"] = os.pathsep.join([*paths, os.environ["PATH"]])
    off = json.dumps({name: {"disabled": True} for name in ("ty", "pyright", "pyrefly", "ruff", "eslint", "biome")})
    home.user_config(f"lsp: {{cold_wait_ms: 60000, servers: {off}}}\n")
    (home.project / "new").mkdir()
    (home.project / "new" / "node_modules").symlink_to(seven)
    for folder in (home.project, home.project / "new"):
        (folder / "tsconfig.json").write_text("{}")
    home.trust()
    return home


def start(home: Home) -> subprocess.Popen[str]:
    """Start a run that writes every file and then waits for a model that does not come back."""
    writes = [{"name": "write", "arguments": {"path": path, "content": text}} for path, text in FILES.items()]
    turns = [{"tools": writes}, {"text": "later", "wait": "never.flag"}]
    home.write("play.yaml", json.dumps({"turns": turns}))
    return home.popen("run", "--json", "--ask", "allow", "--model", "replay:play.yaml", "go")


def below(pid: int) -> dict[int, str]:
    """Return the living descendants of a process with their command lines."""
    found: dict[int, str] = {}
    try:
        children = psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return found
    for child in children:
        try:
            found[child.pid] = " ".join(child.cmdline())
        except psutil.NoSuchProcess:
            continue
    return found


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def assert_all_gone(pids: dict[int, str]) -> None:
    end = time.monotonic() + 10  # it takes under 4 s on a machine with nothing else to do
    while (left := {pid: line for pid, line in pids.items() if alive(pid)}) and time.monotonic() < end:
        time.sleep(0.05)
    assert left == {}


def end(process: subprocess.Popen[str], number: int) -> None:
    process.send_signal(number)
    assert process.stdout is not None
    process.stdout.close()
    process.wait(timeout=20)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda number: number.name)
def test_five_servers_at_work_end_with_the_shell(shell: Home, number: signal.Signals) -> None:
    process = start(shell)
    assert process.stdout is not None
    verdicts: dict[str, str] = {}
    while len(verdicts) < len(FILES):
        event = json.loads(process.stdout.readline())
        if event["type"] == "diagnostics_reported":
            verdicts[event["path"]] = event["verdict"]
    assert verdicts == dict.fromkeys(FILES, "fresh")
    pids = below(process.pid)
    assert [word for word in WORDS if not any(word in line for line in pids.values())] == []
    end(process, number)
    assert_all_gone(pids)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_a_server_that_is_just_starting_ends_with_the_shell(shell: Home, number: signal.Signals) -> None:
    process = start(shell)
    until = time.monotonic() + 60
    pids: dict[int, str] = {}
    while not any("typescript-language-server" in line for line in pids.values()):
        assert time.monotonic() < until, "no server was started"
        time.sleep(0.01)
        pids = below(process.pid)
    end(process, number)
    assert_all_gone(pids)
