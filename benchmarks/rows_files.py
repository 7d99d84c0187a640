"""Completion of files behind ``@`` among 100,000 of them: what keys take, and how long a screen would stand still."""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from measure import scratch
from table import Row
from watched import ScreenError

from harness_tui.children.registry import ChildRegistry
from harness_tui.tools.file_index import FileIndex
from harness_tui.tools.file_ranking import FileNames, with_folders
from harness_tui.tui.run import THREAD_SLICE_S

FILES = 100_000
WORDS = [
    "src",
    "core",
    "view",
    "model",
    "index",
    "session",
    "parser",
    "table",
    "client",
    "config",
    "button",
    "dialog",
    "queue",
    "cache",
    "store",
    "http",
    "route",
]
TYPED = ("sesspy9", "core/tab", "vw99", "compeltion", "queue", "zzzz")


def files(runs: int) -> Iterator[Row]:
    """The list as ripgrep gives it, then every key of what somebody types."""
    sys.setswitchinterval(THREAD_SLICE_S)  # as in the shell
    with scratch() as place:
        _fill(place.project)
        figures = [asyncio.run(_typed(place.project)) for _ in range(max(1, min(runs, 5)))]
    listing, first, further, block, floor = (statistics.median(values) for values in zip(*figures, strict=True))
    yield Row("files-list", listing)
    yield Row("files-first", first)
    yield Row("files-key", further)
    yield Row("files-block", block, floor)


def _paths() -> list[str]:
    count = len(WORDS)
    return [
        f"{WORDS[n % count]}/{WORDS[n // count % count]}_{n // 5_000}/{WORDS[n // 7 % count]}{n}.py"
        for n in range(FILES)
    ]


def _fill(root: Path) -> None:
    made: set[Path] = set()
    for path in _paths():
        file = root / path
        if file.parent not in made:
            made.add(file.parent)
            file.parent.mkdir(parents=True)
        file.touch()


async def _typed(root: Path) -> tuple[float, float, float, float, float]:
    """Return milliseconds: the list, the slowest first key, the slowest further one, how late the loop is.

    The last is how late it is beside a thread that does nothing but count.
    """
    with tempfile.TemporaryDirectory() as state:
        registry = ChildRegistry(Path(state) / "ledger", logs=Path(state) / "logs")
        index = FileIndex(registry, root)
        try:
            start = time.perf_counter()
            if len((await index.find("", 100)).paths) != 100:
                raise ScreenError("the files are not found")
            listing = (time.perf_counter() - start) * 1e3
            names = FileNames(with_folders(_paths()))
            blocks: list[float] = []
            ticking = asyncio.create_task(_watch_loop(blocks))
            first, further = 0.0, 0.0
            for word in TYPED:
                for end in range(1, len(word) + 1):
                    took = await asyncio.to_thread(_search, names, word[:end])
                    first, further = (max(first, took), further) if end == 1 else (first, max(further, took))
            ticking.cancel()
            await asyncio.wait([ticking])
            counting = asyncio.create_task(_watch_loop(floor := list[float]()))
            await asyncio.to_thread(_count, time.perf_counter() + 1.0)
            counting.cancel()
            await asyncio.wait([counting])
            return listing, first, further, _late(blocks), _late(floor)
        finally:
            await index.close()
            await registry.close()


async def _watch_loop(blocks: list[float]) -> None:
    """Note how much later than asked for the loop goes on."""
    while True:
        start = time.perf_counter()
        await asyncio.sleep(0.001)
        blocks.append((time.perf_counter() - start) * 1e3 - 1.0)


def _search(names: FileNames, text: str) -> float:
    start = time.thread_time()
    names.best(text, 100)
    return (time.thread_time() - start) * 1e3


def _late(delays: list[float]) -> float:
    """Return the 99th part of a hundred: the very longest is what else runs on the machine."""
    return sorted(delays)[len(delays) * 99 // 100]


def _count(end: float) -> int:
    number = 0
    while time.perf_counter() < end:
        number += 1
    return number
