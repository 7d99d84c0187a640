"""The servers that ``install.py`` put into a folder, for the tests that run against them, and short words for these."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("HARNESS_TEST_SERVERS", Path(__file__).parents[2] / ".servers"))
WARM_S = 8.0
COLD_S = 60.0
VERDICTS: Counter[str] = Counter()
"""How often each word was the verdict of a server that had given one before, in this process."""


def environment(*kinds: str) -> dict[str, str]:
    """Return an environment whose PATH begins with the binaries of the named installations.

    Skips the test without them, with the command that would make one or with the one that failed. No kind at all is the
    environment as it is; the kind ``any`` only wants that there are installations.
    """
    if not kinds:
        return dict(os.environ)
    kinds = tuple(kind for kind in kinds if kind != "any")
    if not (FOLDER / "installed.json").exists():
        pytest.skip("no servers: make test-servers installs them")
    installed: dict[str, dict[str, str]] = json.loads((FOLDER / "installed.json").read_text())
    for kind in kinds:
        if "bin" not in installed.get(kind, {}):
            pytest.skip(installed.get(kind, {}).get("error", f"{kind}: make test-servers installs it"))
    path = [installed[kind]["bin"] for kind in kinds]
    path += [str(FOLDER.resolve() / "node")] if (FOLDER / "node").exists() else []
    return {**os.environ, "PATH": os.pathsep.join([*path, os.environ["PATH"]])}


def pool_of(bench: Any, environ: dict[str, str], *built_in: str) -> Any:
    """Return a pool over the named servers that waits as long as a busy machine needs."""
    return bench.pool(built_in=built_in, environ=environ, wait=WARM_S, cold_wait=COLD_S)


async def checked(pool: Any, file: Path, text: str) -> Any:
    """Write ``text`` as the tools do and return the verdict on it."""
    written = file.with_name(file.name + ".new")
    written.write_text(text)
    written.replace(file)
    await pool.touch(file)
    return await pool.diagnostics(file)


def errors(verdict: Any) -> list[int]:
    """Return the lines with an error."""
    return [item.line for item in verdict.items if item.severity == "error"]


def strategies(verdict: Any) -> list[tuple[str, str | None]]:
    """Return which server answered in which way."""
    return [(server.name, server.strategy) for server in verdict.servers]


def summary() -> str:
    """Say how many of the verdicts of warm servers were known."""
    total = VERDICTS.total()
    known = VERDICTS["fresh"] + VERDICTS["unchanged"]
    counts = ", ".join(f"{count} {word}" for word, count in sorted(VERDICTS.items()))
    return f"verdicts of warm servers: {counts}; {100 * known / max(1, total):.1f} % fresh or unchanged"
