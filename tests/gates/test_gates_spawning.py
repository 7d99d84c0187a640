"""Only ``children`` starts processes: the linter knows every way, and finds each of them when it is seeded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUFF = Path(sys.executable).parent / "ruff"

NAMED = {
    "subprocess",
    "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
    "os.system",
    "os.popen",
    "pty",
    "multiprocessing",
    "concurrent.futures.ProcessPoolExecutor",
    "anyio.open_process",
    "anyio.run_process",
    "mcp.client.stdio",
    "webbrowser",
}
FAMILIES = {f"os.{name}" for name in dir(os) if name.startswith(("spawn", "posix_spawn", "exec", "fork"))}


def findings(root: Path, file: str, source: str) -> list[str]:
    """Return the codes that the linter gives ``source`` when it lies at ``file``."""
    done = subprocess.run(
        [
            str(RUFF),
            "check",
            "--no-cache",
            "--select",
            "TID251",
            "--output-format",
            "concise",
            "--stdin-filename",
            file,
            "-",
        ],
        cwd=root,
        input=source,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return [line for line in done.stdout.splitlines() if "TID251" in line]


def test_every_way_to_start_a_process_is_banned(project: dict[str, Any]) -> None:
    banned = set(project["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"])
    assert {"os.fork", "os.execv", "os.posix_spawn", "os.spawnv"} <= FAMILIES
    assert (NAMED | FAMILIES) - banned == set()


def test_the_ban_is_lifted_for_children_alone(project: dict[str, Any]) -> None:
    exceptions = project["tool"]["ruff"]["lint"]["per-file-ignores"]
    lifted = {pattern for pattern, codes in exceptions.items() if any("TID251".startswith(code) for code in codes)}
    assert {pattern for pattern in lifted if "harness_tui" in pattern} == {"harness_tui/children/*.py"}


def test_nothing_in_the_product_takes_the_ban_back(root: Path) -> None:
    lifted = [
        path.relative_to(root).as_posix()
        for path in sorted((root / "harness_tui").rglob("*.py"))
        if "children" not in path.parts and "TID251" in path.read_text()
    ]
    assert lifted == []


@pytest.mark.parametrize("name", sorted(NAMED | FAMILIES))
def test_a_seeded_use_is_found(root: Path, name: str) -> None:
    module, _, attribute = name.rpartition(".")
    source = (
        f"import {name}\n"
        if name in ("pty", "subprocess", "multiprocessing", "webbrowser")
        else (f"from {module} import {attribute}\n")
    )
    assert len(findings(root, "harness_tui/tools/seeded.py", source)) == 1


def test_a_use_through_the_module_is_found_too(root: Path) -> None:
    source = "import os\nimport asyncio\nos.system('x')\nasyncio.create_subprocess_exec('x')\n"
    assert len(findings(root, "harness_tui/mcp/seeded.py", source)) == 2


def test_children_may(root: Path) -> None:
    assert findings(root, "harness_tui/children/seeded.py", "import subprocess\n") == []
