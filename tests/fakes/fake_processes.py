"""Processes that only say what they were asked to run: for thousands of commands in a second, and for none of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class FakeProcesses:
    """Stands in for the spawner: each process writes ``ran(N)``, N from 0, and ends; what was asked for is kept."""

    def __init__(self) -> None:
        self.argv: list[list[str]] = []
        self.env: list[dict[str, str]] = []

    async def spawn(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None, **_: Any
    ) -> FakeProcess:
        found = FakeProcess(f"ran({len(self.argv)})".encode())
        self.argv.append(list(argv))
        self.env.append(dict(env or {}))
        return found


class FakeProcess:
    """A process that has ended with ``output``."""

    pid = 0
    owner = "bash"
    returncode = 0
    stdin = None

    def __init__(self, output: bytes) -> None:
        self.stdout = asyncio.StreamReader()
        self.stdout.feed_data(output)
        self.stdout.feed_eof()

    def stderr_tail(self) -> str:
        return ""

    async def left(self) -> Sequence[int]:
        return ()

    async def wait(self) -> int:
        return 0

    async def stop(self, *_: Any, **__: Any) -> None:
        return None
