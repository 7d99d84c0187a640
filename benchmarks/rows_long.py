"""What 5,000 blocks of transcript cost: to resume, to type under, to append to, to switch away from, to resize."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator

from measure import HARNESS, HERE, Place, first_frame, make_session, quoted, scratch, settled
from table import Row, in_turn
from terminal import cpu_seconds
from watched import Watched

BLOCKS_A_TURN = 4
TURNS = 5_000 // BLOCKS_A_TURN
LAST = f"return {TURNS - 1}"
FOCUS_OUT, FOCUS_IN = "\x1b[O", "\x1b[I"


def long(runs: int) -> Iterator[Row]:
    """Each with a long session and an empty one in turn."""
    with scratch() as place:
        resumed = [HARNESS, "--session", make_session(place, 1_000)]
        first_frame(resumed, place)
        yield Row(
            "resume",
            *in_turn(runs, lambda: first_frame(resumed, place)[0], lambda: first_frame([HARNESS], place)[0]),
        )
    yield Row("append", *in_turn(max(2, runs // 2), lambda: _append(5_000), lambda: _append(50)))
    with scratch() as place:
        (place.project / "play.yaml").write_text("turns: []\n")
        place.configure(
            f"model: {quoted('replay:' + str(place.project / 'play.yaml'))}\n"
        )  # nothing to tell at a start
        argv = [HARNESS, "--session", make_session(place, TURNS)]
        yield Row("echo", *_echoes(place, argv, runs))
        for key, measure in (("focus", _focus), ("resize-5000", _resize)):
            yield Row(
                key,
                *in_turn(
                    max(2, runs // 2),
                    lambda measure=measure: measure(place, argv, LAST),
                    lambda measure=measure: measure(place, [HARNESS], None),
                ),
            )


def _echoes(place: Place, argv: list[str], runs: int) -> tuple[float, float]:
    """Median milliseconds of a key in both, which are open at the same time and typed into in turn."""
    with settled(place, argv, LAST) as full, settled(place, [HARNESS]) as empty:
        figure, floor = in_turn(2 * runs, lambda: _keys(full), lambda: _keys(empty))
    return figure, floor


def _append(blocks: int) -> float:
    """CPU milliseconds for one more block, from the program that shows the transcript alone."""
    with scratch() as place:
        report = place.folder / "append"
        argv = [sys.executable, str(HERE / "probe_append.py"), str(blocks), str(report)]
        with settled(place, argv, f"block {blocks - 1}") as terminal:
            terminal.send("a")
            terminal.see("the last of all", 60)
            terminal.settle(0.2)
        return float(report.read_text())


def _keys(terminal: Watched) -> float:
    return statistics.median(terminal.keys(12)) * 1e3


def _focus(place: Place, argv: list[str], last: str | None) -> float:
    def out_and_in(terminal: Watched) -> None:
        terminal.send(FOCUS_OUT)
        terminal.settle(0.15)
        terminal.send(FOCUS_IN)
        terminal.settle(0.15)

    with settled(place, argv, last) as terminal:
        return _cpu_each(terminal, 20, lambda _: out_and_in(terminal))


def _resize(place: Place, argv: list[str], last: str | None) -> float:
    with settled(place, argv, last) as terminal:
        sizes = ((100, 30), (120, 40))
        return _cpu_each(terminal, 8, lambda turn: terminal.resize_seen(*sizes[turn % 2]))


def _cpu_each(terminal: Watched, count: int, work: Callable[[int], object]) -> float:
    """CPU milliseconds of each of ``count`` turns of ``work``."""
    before = cpu_seconds(terminal.process.pid)
    for turn in range(count):
        work(turn)
    return (cpu_seconds(terminal.process.pid) - before) / count * 1e3
