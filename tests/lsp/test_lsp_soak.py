"""Two agents edit one project at random, each with language servers of its own: nothing fails, leaks or lies.

``HARNESS_SOAK_SECONDS`` says for how long; ``make soak`` gives it a minute, the tests a moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness_tui.config.settings import LspServerSettings
from harness_tui.core.errors import StalePreviewError, ToolError
from harness_tui.core.events import Notice, ServerChanged
from harness_tui.tools.toolset import BuiltinTools

pytestmark = [pytest.mark.real, pytest.mark.timeout(0)]

SECONDS = float(os.environ.get("HARNESS_SOAK_SECONDS", "0.6"))
LONG = SECONDS > 30
MIB = 1024 * 1024
GOOD = (
    "import os\n\n\ndef {name}(value: int) -> int:\n    return value + {number}\n\n\nprint(os.sep, {name}({number}))\n"
)
BAD = GOOD + "wrong: int = '{number}'\n"
ASSIGNMENT = ("invalid-assignment", "reportAssignmentType")
"""What the type checkers call the error of the last line."""
THIRD = LspServerSettings("second-checker", ("basedpyright-langserver", "--stdio"), (".py",), settings={})
"""The group of type checkers has one server for each file; as an entry of its own this one answers beside it."""


class Agent:
    """Does one thing after the other in a project that it shares; ``done`` counts what."""

    def __init__(self, bench: Any, context: Any, number: int) -> None:
        third = (THIRD,) if LONG else ()
        self.pool = bench.pool(*third, built_in=("ty", "ruff"), wait=20.0, cold_wait=60.0)
        self.tools = BuiltinTools(bench.registry, self.pool)
        self.pool.offer_edits(self.tools.joint)
        self.context = replace(context, session=f"s{number}", origin="call")
        self.files = [bench.project / f"m{index}.py" for index in range(6)]
        self.random = random.Random(number)
        self.done: dict[str, int] = {}
        self.checked = 0

    async def work(self, until: float) -> None:
        """Work until the loop's clock shows ``until``."""
        loop = asyncio.get_running_loop()
        while loop.time() < until:
            act = self.random.choice(
                (self.write, self.write, self.edit, self.rename, self.fix, self.remove, self.check)
            )
            file = self.random.choice(self.files)
            with contextlib.suppress(StalePreviewError):  # the other one was there first: nothing was written
                await act(file)
            self.done[act.__name__] = self.done.get(act.__name__, 0) + 1

    async def call(self, name: str, **arguments: Any) -> Any:
        every = [*self.tools.tools(), *self.pool.tools()]
        (tool,) = [tool for tool in every if tool.spec.name == name]
        return await tool.run(await tool.prepare(arguments, self.context), self.context)

    async def write(self, file: Path) -> None:
        text = self.random.choice((GOOD, BAD)).format(name=f"name_{file.stem}", number=self.random.randrange(1000))
        await self.call("write", path=file.name, content=text)

    async def edit(self, file: Path) -> None:
        with contextlib.suppress(ToolError):  # not there, or not in it any more
            await self.call("edit", path=file.name, old="value + ", new="value +  ")

    async def rename(self, file: Path) -> None:
        with contextlib.suppress(ToolError):
            await self.call("rename", symbol=f"name_{file.stem}", to=f"name_{file.stem}", path=file.name)
        with contextlib.suppress(ToolError):
            await self.call("rename", symbol="value", to=f"v{self.random.randrange(99)}", path=file.name)

    async def fix(self, file: Path) -> None:
        with contextlib.suppress(ToolError):
            await self.call("quick_fix", path=file.name, line=1)

    async def remove(self, file: Path) -> None:
        file.unlink(missing_ok=True)  # as a command would
        await self.pool.touch(file)

    async def check(self, file: Path) -> None:
        before = file.read_bytes() if file.exists() else None
        verdict = await self.pool.diagnostics(file)
        after = file.read_bytes() if file.exists() else None
        if before == after and verdict.verdict in ("fresh", "unchanged") and verdict.reason is None:
            lines = (before or b"").decode().splitlines()
            there = {number for number, line in enumerate(lines, 1) if line.startswith("wrong:")}
            said = {item.line for item in verdict.items if item.code in ASSIGNMENT}
            assert there == said, (before, verdict)
            self.checked += 1


def resident(pids: list[int]) -> int:
    total = 0
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            total += psutil.Process(pid).memory_info().rss
    return total


def family(pools: list[Any]) -> list[int]:
    pids = [entry.pid for pool in pools for entry in pool.status() if entry.pid is not None]
    return pids + [child.pid for pid in pids for child in psutil.Process(pid).children(recursive=True)]


async def test_two_agents_edit_one_project_at_random(bench, context):
    agents = [Agent(bench, context, number) for number in (1, 2)]
    for agent in agents:
        await agent.write(agent.files[0])
    pools = [agent.pool for agent in agents]
    loop = asyncio.get_running_loop()
    end = loop.time() + SECONDS
    sizes: list[tuple[float, float]] = []

    async def watch() -> None:
        while loop.time() < end:
            await asyncio.sleep(SECONDS / 12)
            gc.collect()
            sizes.append((resident([os.getpid()]) / MIB, resident(family(pools)) / MIB))

    await asyncio.gather(watch(), *(agent.work(end) for agent in agents))
    for agent in agents:
        print(f"done: {agent.done}; {agent.checked} verdicts held to the text")
        assert agent.done
    print("MiB of the shell and of the servers:", [f"{own:.0f} {theirs:.0f}" for own, theirs in sizes])
    faults = [event for event in bench.sink.of(Notice) if event.level != "info"]
    assert faults == []
    assert [event for event in bench.sink.of(ServerChanged) if event.state in ("crashed", "disabled", "absent")] == []
    started = {entry.name for pool in pools for entry in pool.status() if entry.pid is not None}
    assert started == {"ty", "ruff", *(("second-checker",) if LONG else ())}
    if LONG:  # the first third is for warming up
        (own, theirs), (own_end, theirs_end) = sizes[len(sizes) // 3], sizes[-1]
        assert own_end - own < 24
        assert theirs_end < 1.25 * theirs + 50
    for agent in agents:
        await agent.tools.close()
