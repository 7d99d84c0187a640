"""A long session, as a person has it: the product as it is shipped beside the floor, fed by the same model.

5,000 tokens at 200 a second while somebody types, then sixty short turns, then page up and resize in what has become a
long transcript, then the terminal goes away. The session store is on, the panel Diagnostics is open.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from floors import Model, model_server, wait_for
from measure import HARNESS, Place, rest, scratch, settled
from table import Row
from terminal import cpu_seconds, memory
from watched import ScreenError, Watched

TOKENS, RATE = 5_000, 200
TURNS, SHORT, QUICK = 60, 300, 2_000
PAGES = 6
PAGE_UP, PAGE_DOWN, ESCAPE, ENTER, PANEL = "\x1b[5~", "\x1b[6~", "\x1b", "\r", "\x1bOQ"
MIB = 2**20


@dataclass
class Figures:
    """What one session gave: seconds, bytes, MiB."""

    tokens_cpu: float = 0.0
    turns_cpu: float = 0.0
    keys: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    resizes: list[float] = field(default_factory=list)
    memory_start: float = 0.0
    memory_end: float = 0.0
    written: int = 0
    lag: float = 0.0
    turns: list[float] = field(default_factory=list)
    left: int = 0


def session(runs: int) -> Iterator[Row]:
    """Every row of the long session."""
    ours: list[Figures] = []
    floors: list[Figures] = []
    for turn in range(max(2, runs // 3)):
        for mine in (True, False) if turn % 2 == 0 else (False, True):
            (ours if mine else floors).append(_play(mine=mine))

    def both(key: str, name: str, scale: float = 1.0) -> Row:
        figure, floor = (statistics.median(getattr(one, name) * scale for one in rows) for rows in (ours, floors))
        return Row(key, figure, floor)

    def times(key: str, name: str) -> Row:
        figure, floor = (statistics.median(v for one in rows for v in getattr(one, name)) for rows in (ours, floors))
        return Row(key, figure * 1e3, floor * 1e3)

    yield both("tokens", "tokens_cpu")
    yield both("turns", "turns_cpu")
    yield times("stream-key", "keys")
    yield Row("stream-key-p95", 1e3 * statistics.median(_p95(one.keys) for one in ours))
    yield times("page", "pages")
    yield Row("page-limit", 1e3 * max(statistics.median(one.pages) for one in ours))
    yield times("resize", "resizes")
    yield both("memory", "memory_end")
    yield Row("growth", statistics.median(one.memory_end - one.memory_start for one in ours))
    yield Row("bytes", statistics.median(one.written for one in ours) / 1e6)
    yield Row("lag", 1e3 * statistics.median(one.lag for one in ours))
    last, first = (
        statistics.median(v for one in ours for v in one.turns[part]) for part in (slice(-10, None), slice(10))
    )
    yield Row("last-turns", 1e3 * last, 1e3 * first)
    yield Row("left", float(max(one.left for one in ours)))


def stream(runs: int) -> Iterator[Row]:
    """5,000 tokens in the product beside one plain ``Static`` that gets the same."""
    figures: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(max(2, runs // 3)):
        for mine in (True, False) if turn % 2 == 0 else (False, True):
            figures[mine].append(_stream_alone(mine=mine))
    yield Row("stream", statistics.median(figures[True]), statistics.median(figures[False]))


def _stream_alone(*, mine: bool) -> float:
    with scratch() as place, model_server(place.folder) as model, _opened(place, model, mine, "static") as terminal:
        _answer(terminal, model, 50, QUICK, "warm")
        return _measured(terminal, lambda: _answer(terminal, model, TOKENS, 2 * RATE, "m001"))


def _opened(place: Place, model: Model, mine: bool, view: str) -> AbstractContextManager[Watched]:
    place.configure(model.configuration)
    return settled(place, [HARNESS] if mine else model.floor(view))


def _measured(terminal: Watched, work: Callable[[], object]) -> float:
    before = cpu_seconds(terminal.process.pid)
    work()
    terminal.quiet(still=0.7)
    return cpu_seconds(terminal.process.pid) - before


def _submit(terminal: Watched, count: int, rate: int, mark: str) -> float:
    terminal.send(f"say {count} at {rate} until {mark}")
    terminal.see(f"until {mark}")
    at = time.perf_counter()
    terminal.send(ENTER)
    return at


def _answer(
    terminal: Watched, model: Model, count: int, rate: int, mark: str, keys: list[float] | None = None
) -> float:
    """Ask, wait for the answer's end on the screen, and return the seconds from Enter to it.

    With ``keys`` one is typed every 0.4 s meanwhile, and its echo is kept there.
    """
    begun = _submit(terminal, count, rate, mark)
    if keys is not None:
        wait_for(model, "first", mark, 10)
        while model.when("last", mark) is None:
            if (took := terminal.key()) is not None:
                keys.append(took)
            terminal.settle(0.35)
    seen = terminal.pump(lambda: terminal.shows(f"end{mark}"), count / rate + 15)
    if seen is None:
        raise ScreenError(f"the end of the answer {mark} is not on the screen:\n{terminal.text()}")
    return seen - begun


def _play(*, mine: bool) -> Figures:
    found = Figures()
    with scratch() as place, model_server(place.folder) as model, _opened(place, model, mine, "lines") as terminal:
        if mine:
            terminal.send(PANEL)
            terminal.see("No diagnostics yet")
            terminal.send(ESCAPE)
            rest(terminal)
        _answer(terminal, model, 50, QUICK, "warm")
        terminal.quiet()
        found.memory_start = memory(terminal.process.pid)[0] / MIB
        before = terminal.bytes_out
        found.tokens_cpu = _measured(terminal, lambda: _answer(terminal, model, TOKENS, RATE, "m001", found.keys))
        found.written = terminal.bytes_out - before
        terminal.clear()
        found.turns_cpu = _measured(terminal, lambda: found.turns.extend(_turns(terminal, model)))
        found.lag = _lag(terminal, model)
        found.pages = _pages(terminal)
        for size in ((100, 30), (120, 40)):
            found.resizes.append(terminal.resize_seen(*size))
        found.memory_end = memory(terminal.process.pid)[0] / MIB
        terminal.hang_up()
        time.sleep(3.0)
        terminal.process.poll()
        found.left = len(terminal.leftovers())
    return found


def _lag(terminal: Watched, model: Model) -> float:
    """Seconds from the last token to its place on the screen, in what is a long transcript by now."""
    lags: list[float] = []
    for number in range(5):
        mark = f"lag{number}"
        _submit(terminal, 100 + number, RATE, mark)
        seen = terminal.see(f"end{mark}", 15)
        lags.append(seen - wait_for(model, "last", mark, 5))
        terminal.settle(0.3)  # the end of the stream comes after its last word
    return statistics.median(lags)


def _turns(terminal: Watched, model: Model) -> Iterator[float]:
    for number in range(TURNS):
        yield _answer(terminal, model, SHORT, QUICK, f"t{number:03d}")
        terminal.settle(0.1)


def _pages(terminal: Watched) -> list[float]:
    """Page up: seconds until more than five rows changed."""
    times: list[float] = []
    terminal.quiet()
    for _ in range(PAGES):
        before, start = list(terminal.rows), time.perf_counter()
        terminal.send(PAGE_UP)
        at = terminal.pump(lambda before=before: sum(map(str.__ne__, before, terminal.rows)) > 5, 2.0)
        if at is None:
            raise ScreenError(f"page up moved nothing; the screen is:\n{terminal.text()}")
        times.append(at - start)
        terminal.settle(0.25)
    for _ in range(PAGES + 1):
        terminal.send(PAGE_DOWN)
        terminal.settle(0.1)
    return times


def _p95(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.95))]
