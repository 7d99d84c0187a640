"""A registry per test that leaves nothing behind, and small programs to start."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from harness_tui.children import processes
from harness_tui.children.registry import ChildRegistry

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}


@pytest.fixture
async def registry(tmp_path: Path) -> AsyncIterator[ChildRegistry]:
    made = ChildRegistry(tmp_path / "state", environ=ENVIRON)
    yield made
    await made.close()


@pytest.fixture
def python() -> str:
    return sys.executable


@pytest.fixture
def pid_in() -> Callable[[Path], Awaitable[int]]:
    """Wait until a program has written its pid into a file."""

    async def read(path: Path) -> int:
        async with asyncio.timeout(10):
            while not (path.exists() and path.read_text().strip()):
                await asyncio.sleep(0.01)
        return int(path.read_text())

    return read


@pytest.fixture
def gone() -> Callable[[int], Awaitable[bool]]:
    """Tell whether a pid ends within five seconds."""

    async def check(pid: int) -> bool:
        for _ in range(500):
            running = processes.look(pid)
            if running is None or running.zombie:
                return True
            await asyncio.sleep(0.01)
        return False

    return check
