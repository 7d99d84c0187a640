"""Approvals of several shells at once, any of which is killed at any time: nothing is lost and nothing is torn."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

from harness_tui.permissions.approvals_file import ApprovalsFile

SHELLS = 8
EACH = 20
KILLS = 6

SHELL = """
import sys
from pathlib import Path
from harness_tui.permissions.approvals_file import ApprovalsFile, StoredApproval
file, shell, each = ApprovalsFile(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
for number in range(each):
    root = "/project" if number % 2 else None
    file.add([StoredApproval(root, "bash", f"tool-{shell}-{number} *", "2026-01-01T00:00:00Z")])
    print(f"tool-{shell}-{number} *", flush=True)
"""


def start(path: Path, shell: int | str, each: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", SHELL, str(path), str(shell), str(each)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def stored(path: Path) -> set[str]:
    entries, problems = ApprovalsFile(path).read()
    assert problems == []
    return {entry.pattern for entry in entries}


def test_eight_shells_that_approve_at_once_and_are_killed_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state/approvals.json"
    rng = random.Random(7)
    shells = [start(path, number, EACH) for number in range(SHELLS)]
    try:
        for shell in shells:
            assert shell.stdout is not None
            assert shell.stdout.readline() == "ready\n"
        for victim in rng.sample(shells, KILLS):
            time.sleep(rng.random() * 0.02)
            victim.kill()
            if path.exists():
                json.loads(path.read_text())
        told: set[str] = set()
        for shell in shells:
            assert shell.stdout is not None
            out = shell.stdout.read()
            assert shell.wait(60) in (0, -9)
            # The last line of one that was killed may be half a line.
            told |= {line for line in out.splitlines() if line.endswith(" *")}
    finally:
        for shell in shells:
            shell.kill()
            shell.wait()
    kept = stored(path)
    assert told <= kept
    assert len(kept) - len(told) <= KILLS  # one that was written just before its shell was killed
    assert len(told) >= (SHELLS - KILLS) * EACH
    # Nothing is in the way of the next shell, and nothing lies about.
    last = start(path, "last", 1)
    last.communicate(timeout=60)
    assert stored(path) == kept | {"tool-last-0 *"}
    assert {entry.name for entry in path.parent.iterdir()} == {"approvals.json", "approvals.json.lock"}
