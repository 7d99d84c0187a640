"""What the product adds to a call of an MCP server and to the verdict of a language server.

The probes run in processes of their own, so that nothing of the bench disturbs their loops; each measures figure and
floor in turn and prints both.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator

from measure import HERE, scratch
from table import Row
from watched import ScreenError


def mcp(runs: int) -> Iterator[Row]:
    """A call over the SDK's own client, through the pool, and through the gate with events and record."""
    found = _probe("probe_mcp.py", "calls", runs=max(2, runs // 2))
    yield Row("mcp", found["pool"], found["client"])
    yield Row("mcp-gate", found["gate"], found["client"])


def large(runs: int) -> Iterator[Row]:
    """How long a result of 16 MB keeps the loop from anything else, and what more of them leave behind."""
    found = _probe("probe_mcp.py", "large", runs=max(2, runs // 2))
    yield Row("mcp-large", found["block"], found["parse"])
    yield Row("mcp-memory", found["growth"])


def sizes(runs: int) -> Iterator[Row]:
    """Results of some size, and many calls at once, through the pool."""
    found = _probe("probe_mcp_many.py", "sizes", runs=max(2, runs // 2))
    yield Row("mcp-1mb", found["pool1"], found["client1"])
    yield Row("mcp-4mb", found["pool4"], found["client4"])
    yield Row("mcp-parallel", found["pool20"], found["client20"])


def starts(runs: int) -> Iterator[Row]:
    """Ten servers at the start of a session."""
    found = _probe("probe_mcp_many.py", "starts", runs=max(2, runs // 3))
    yield Row("mcp-starts", found["pool"], found["client"])
    yield Row("mcp-at-once", found["most"])


def lsp(runs: int) -> Iterator[Row]:
    """From a changed file to the verdict."""
    found = _probe("probe_lsp.py", runs=max(2, runs // 2))
    yield Row("lsp", found["pool"], found["client"])


def _probe(script: str, *words: str, runs: int) -> dict[str, float]:
    results: list[dict[str, float]] = []
    for _ in range(runs):
        with scratch() as place:
            argv = [sys.executable, str(HERE / script), *words]
            done = subprocess.run(
                argv, cwd=place.project, env=place.env, stdin=subprocess.DEVNULL, capture_output=True, text=True
            )
        if done.returncode:
            raise ScreenError(f"{script} failed: {done.stderr.strip().splitlines()[-1:]}")
        results.append(json.loads(done.stdout.splitlines()[-1]))
    return {key: statistics.median(result[key] for result in results) for key in results[0]}
