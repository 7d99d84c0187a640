"""Whether many tools of MCP servers are felt: at the start, and at a key while the completion of ``/call`` is open."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

from measure import HARNESS, HERE, Place, first_frame, quoted, scratch, settled
from table import Row, in_turn
from watched import ScreenError, Watched

FEW, MANY = 10, 2_000
TYPED, WANTED = "bench_unu", "bench_unused"
START = "/call "


def tools(runs: int) -> Iterator[Row]:
    """2,000 tools of one server beside 10, known from its manifest."""
    with ExitStack() as stack:
        many, few = (_known(stack.enter_context(scratch()), count) for count in (MANY, FEW))
        for place in (many, few):
            first_frame([HARNESS], place)
        ready = in_turn(runs, lambda: first_frame([HARNESS], many)[1], lambda: first_frame([HARNESS], few)[1])
        yield Row("mcp-tools-start", *ready)
        with (
            settled(many, [HARNESS], "idle") as full,
            settled(few, [HARNESS], "idle") as small,
        ):  # both open: keys come in turn
            yield Row("mcp-tools-key", *in_turn(2 * runs, lambda: _keys(full), lambda: _keys(small)))


def _known(place: Place, count: int) -> Place:
    """Configure the server, and let it be asked once for its tools."""
    command = f"[{quoted(sys.executable)}, {quoted(HERE / 'probe_server.py')}]"
    place.configure(f"mcp:\n  bench: {{command: {command}, env: {{TOOLS: {quoted(str(count))}}}}}\n")
    argv = [HARNESS, "mcp", "tools", "--json"]
    told = subprocess.run(
        argv, cwd=place.project, env=place.env, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if told.stdout.count('"server": "bench"') < count:
        raise ScreenError(f"the tools of the server are not known: {told.stderr.strip()[-200:]}")
    return place


def _keys(terminal: Watched) -> float:
    """The median milliseconds from a key of a tool's name to it on the screen while the list is open."""
    times: list[float] = []
    terminal.send(START)
    if terminal.pump(lambda: terminal.shows("bench_step_"), 10.0) is None:  # asked for when /call stands there
        raise ScreenError(f"no tool is offered; the screen is:\n{terminal.text()}")
    terminal.settle(0.3)
    for end in range(1, len(TYPED) + 1):
        start = time.perf_counter()
        terminal.send(TYPED[end - 1])
        at = terminal.pump(lambda end=end: _typed(terminal, TYPED[:end]), 5.0)
        if at is None:
            raise ScreenError(f"{TYPED[:end]!r} does not stand in the prompt; the screen is:\n{terminal.text()}")
        times.append(at - start)
    if terminal.pump(lambda: terminal.shows(WANTED), 5.0) is None:
        raise ScreenError(f"{WANTED} is not offered; the screen is:\n{terminal.text()}")
    terminal.send(b"\x7f" * (len(TYPED) + len(START)))
    terminal.pump(lambda: not terminal.shows(START.strip()), 5.0)
    terminal.settle(0.3)
    return statistics.median(times) * 1e3


def _typed(terminal: Watched, name: str) -> bool:
    return any(f"{START}{name} " in row for row in terminal.rows)
