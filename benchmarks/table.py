"""The rows of the bench: what is measured, in which form, with which budget.

A budget is a ratio to a floor, a difference to it, or a plain limit. Floors are measured in the same run, in turn with
the figure, so that a slow or busy machine slows both.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Budget:
    """What one row may cost: ``times`` the floor, ``more`` than the floor in ``unit``, or a ``limit`` in ``unit``."""

    bench: str
    name: str
    unit: str
    form: Literal["times", "more", "limit"]
    most: float

    @property
    def words(self) -> str:
        """The budget for people: ``2 x``, ``+ 0.5 ms``, ``25 MiB``."""
        match self.form:
            case "times":
                return f"{self.most:g} x"
            case "more":
                return f"+ {self.most:g} {self.unit}"
            case "limit":
                return f"{self.most:g} {self.unit}".rstrip()


BUDGETS = {
    key: Budget(bench, name, unit, form, most)
    for key, bench, name, unit, form, most in (
        ("version", "version", "--version", "ms", "times", 2.0),
        ("frame", "start", "first frame", "ms", "times", 1.35),
        ("ready", "start", "ready for typing", "ms", "times", 1.35),
        ("ahead", "start", "keys lost that were typed ahead", "", "limit", 0),
        ("run", "run", "run, one turn, CPU", "ms", "times", 1.5),
        ("idle", "idle", "idle memory (PSS)", "MiB", "times", 2.0),
        ("idle-cpu", "idle", "idle CPU", "%", "limit", 1.0),
        ("idle-mcp", "idle", "idle memory, one MCP server", "MiB", "times", 3.2),
        ("idle-answer", "idle", "idle memory after a first answer", "MiB", "times", 5.0),
        ("idle-library", "idle", "idle memory after a first pydantic_ai answer", "MiB", "times", 5.0),
        ("import-key", "idle", "key echo while pydantic_ai is imported", "ms", "times", 1.5),
        ("guard", "guard", "guard of the children, memory (RSS)", "MiB", "limit", 16.0),
        ("guard-cpu", "guard", "guard of the children, CPU while idle", "%", "limit", 1.0),
        ("guard-start", "guard", "guard of the children, start and look", "ms", "times", 3.0),
        ("resume", "long", "resume 2,000 messages, first frame", "ms", "times", 1.5),
        ("echo", "long", "key echo, 5,000 blocks", "ms", "times", 1.5),
        ("append", "long", "append a block, CPU, 5,000 over 50 blocks", "ms", "times", 2.0),
        ("focus", "long", "focus out and in, CPU, 5,000 blocks", "ms", "times", 3.0),
        ("resize-5000", "long", "resize, CPU, 5,000 blocks", "ms", "times", 3.0),
        ("stream", "stream", "5,000 tokens, CPU, over one plain Static", "s", "times", 2.0),
        ("library-start", "library", "start with 1,000 commands and skills over 10", "ms", "times", 1.2),
        ("library-key", "library", "completion key, 1,000 over 10", "ms", "times", 1.2),
        ("library-cold", "library", "1,000 commands and skills, first look, CPU", "ms", "limit", 900.0),
        ("library-warm", "library", "the same with the index, CPU", "ms", "limit", 150.0),
        ("library-look", "library", "the same over a plain look at the files, CPU", "ms", "times", 6.0),
        ("library-complete", "library", "completion among 2,000 names, slowest key, CPU", "ms", "limit", 8.0),
        ("library-expand-2", "library", "128 kB with 5,000 placeholders over twice 64 kB, CPU", "ms", "times", 1.5),
        (
            "library-expand-4",
            "library",
            "256 kB with 10,000 placeholders over four times 64 kB, CPU",
            "ms",
            "times",
            1.5,
        ),
        ("files-list", "files", "100,000 files behind @, the list", "ms", "limit", 2_000.0),
        ("files-first", "files", "the same, slowest first key, CPU", "ms", "limit", 150.0),
        ("files-key", "files", "the same, slowest further key, CPU", "ms", "limit", 50.0),
        ("files-block", "files", "the same, delay of the loop, p99, over a thread that counts", "ms", "more", 5.0),
        ("mcp", "mcp", "MCP call over the SDK's client", "ms", "more", 0.5),
        ("mcp-gate", "mcp", "MCP call with gate, events and record", "ms", "more", 2.0),
        ("mcp-large", "large", "16 MB MCP result, longest loop block", "ms", "times", 2.0),
        ("mcp-memory", "large", "five more 16 MB MCP results, growth of memory", "MiB", "limit", 64.0),
        ("mcp-1mb", "sizes", "1 MB MCP result over the SDK's client", "ms", "times", 1.5),
        ("mcp-4mb", "sizes", "4 MB MCP result over the SDK's client", "ms", "times", 1.0),
        ("mcp-parallel", "sizes", "20 MCP calls of 50 ms at once over the SDK's client", "ms", "times", 1.2),
        ("mcp-starts", "starts", "ten MCP servers ready over the SDK's client, three at a time", "s", "times", 1.2),
        ("mcp-at-once", "starts", "the most of them that started at once", "", "limit", 3),
        ("mcp-tools-start", "tools", "start with 2,000 MCP tools over 10", "ms", "times", 1.2),
        ("mcp-tools-key", "tools", "completion key of /call, 2,000 MCP tools over 10", "ms", "times", 1.2),
        ("lsp", "lsp", "LSP verdict, ty, over a bare client", "ms", "more", 5.0),
        ("tokens", "session", "long session: 5,000 tokens, CPU", "s", "times", 2.0),
        ("turns", "session", "long session: 60 turns, CPU", "s", "times", 2.5),
        ("stream-key", "session", "long session: key echo while streaming", "ms", "times", 1.5),
        ("stream-key-p95", "session", "long session: the same, p95", "ms", "limit", 25.0),
        ("page", "session", "long session: page up", "ms", "times", 2.0),
        ("page-limit", "session", "long session: page up, slowest run", "ms", "limit", 10.0),
        ("resize", "session", "long session: resize", "ms", "times", 2.0),
        ("memory", "session", "long session: memory at the end (RSS)", "MiB", "times", 2.0),
        ("growth", "session", "long session: growth of memory", "MiB", "limit", 25.0),
        ("bytes", "session", "long session: bytes written for 5,000 tokens", "MB", "limit", 2.5),
        ("lag", "session", "long session: lag after the last token", "ms", "limit", 70.0),
        ("last-turns", "session", "long session: last ten turns over first ten", "ms", "times", 1.1),
        ("left", "session", "long session: processes left after hangup", "", "limit", 0),
    )
}
"""Every row, in the order of the table; the key is what the benches name it by."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measured line. ``figure`` and ``floor`` are medians in the budget's unit; a limit has no floor."""

    key: str
    figure: float
    floor: float | None = None

    @property
    def budget(self) -> Budget:
        """What it may cost."""
        return BUDGETS[self.key]

    @property
    def measure(self) -> float:
        """What is held against the budget."""
        match self.budget.form:
            case "times":
                return self.figure / self.floor if self.floor else math.inf
            case "more":
                return self.figure - self.floor if self.floor is not None else math.inf
            case "limit":
                return self.figure

    @property
    def holds(self) -> bool:
        """Whether the budget holds. What is not a number does not."""
        return self.measure <= self.budget.most

    @property
    def result(self) -> str:
        """The measure for people."""
        match self.budget.form:
            case "times":
                return f"{self.measure:.2f} x"
            case "more":
                return f"{self.measure:+.2f} {self.budget.unit}"
            case "limit":
                return "" if self.holds else "over"

    def as_data(self) -> dict[str, object]:
        """The row as it is written to a file."""
        budget = self.budget
        named = {"bench": budget.bench, "name": budget.name, "unit": budget.unit, "form": budget.form}
        measured = {"figure": self.figure, "floor": self.floor, "measure": self.measure}
        return {"key": self.key, **named, **measured, "budget": budget.most, "holds": self.holds}

    @property
    def cells(self) -> tuple[str, ...]:
        """The row for people: what, figure, floor, result, budget, verdict."""
        unit = self.budget.unit
        floor = "" if self.floor is None else f"{number(self.floor)} {unit}"
        verdict = "holds" if self.holds else "MISSED"
        return (
            self.budget.name,
            f"{number(self.figure)} {unit}".rstrip(),
            floor,
            self.result,
            self.budget.words,
            verdict,
        )

    def __str__(self) -> str:
        return WIDTHS.format(*self.cells)


COLUMNS = ("what", "figure", "floor", "result", "budget", "verdict")
WIDTHS = "{:46} {:>11} {:>11} {:>9} {:>9}  {}"
HEADER = WIDTHS.format(*COLUMNS)

Bench = Callable[[int], Iterator[Row]]
"""A bench measures with the given number of runs and yields its rows."""


def as_markdown(rows: Iterable[Row]) -> str:
    """Return the table as the documentation has it."""
    lines = [COLUMNS, ("---", "---:", "---:", "---:", "---:", "---"), *(row.cells for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def number(value: float) -> str:
    """A figure with three digits that mean something."""
    return (
        f"{value:.0f}"
        if abs(value) >= 100 or value == int(value)
        else f"{value:.1f}"
        if value >= 10
        else f"{value:.2f}"
    )


def in_turn(runs: int, *measures: Callable[[], float]) -> list[float]:
    """Run the measures in turn, the order reversed each time, and return their medians."""
    return [statistics.median(values) for values in each_in_turn(runs, *measures)]


def each_in_turn(runs: int, *measures: Callable[[], float]) -> list[list[float]]:
    """Run the measures in turn, the order reversed each time, and return all their figures."""
    figures: list[list[float]] = [[] for _ in measures]
    for turn in range(runs):
        order = list(range(len(measures)))
        for index in order if turn % 2 == 0 else reversed(order):
            figures[index].append(measures[index]())
    return figures
