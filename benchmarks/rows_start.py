"""Start, version, one run, and what an idle shell holds."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator

import psutil
from floors import Model, model_server
from measure import BIN, FLOOR, HARNESS, Place, child_cpu, cpu_of, first_frame, quoted, scratch, settled, wall
from table import Row, each_in_turn, in_turn
from terminal import memory
from watched import Watched

MIB = 2**20
AHEAD = "typed before the first frame"


def version(runs: int) -> Iterator[Row]:
    """``--version`` beside an interpreter that does nothing."""
    with scratch() as place:
        figure, floor = in_turn(
            runs * 3,
            lambda: wall([HARNESS, "--version"], place),
            lambda: wall([sys.executable, "-c", "pass"], place),
        )
    yield Row("version", figure, floor)


def start(runs: int) -> Iterator[Row]:
    """First frame and ready, beside the floor; what is typed before either must be there."""
    with scratch() as place:
        first_frame([HARNESS], place)
        first_frame(FLOOR, place)
        ours: list[tuple[float, float]] = []
        floors: list[tuple[float, float]] = []
        for turn in range(runs):
            for mine in (True, False) if turn % 2 == 0 else (False, True):
                (ours if mine else floors).append(first_frame([HARNESS] if mine else FLOOR, place))
        for index, key in enumerate(("frame", "ready")):
            figure, floor = (statistics.median(pair[index] for pair in rows) for rows in (ours, floors))
            yield Row(key, figure, floor)
        yield Row("ahead", float(max(_lost(place) for _ in range(3))))


def _lost(place: Place) -> int:
    with place.open([HARNESS]) as terminal:
        terminal.send(AHEAD)
        seen = terminal.pump(lambda: terminal.shows(AHEAD), 10)
        return 0 if seen is not None else len(AHEAD)


def run(runs: int) -> Iterator[Row]:
    """A headless one-turn run beside ``import textual.app``, in CPU time."""
    with scratch() as place:
        (place.project / "play.yaml").write_text("turns:\n  - text: Hello.\n")
        argv = [HARNESS, "run", "--model", "replay:play.yaml", "hi"]
        child_cpu(argv, place)
        figure, floor = in_turn(
            runs,
            lambda: child_cpu(argv, place),
            lambda: child_cpu([sys.executable, "-c", "import textual.app"], place),
        )
    yield Row("run", figure, floor)


def idle(runs: int) -> Iterator[Row]:
    """Memory and CPU of a shell that waits: nothing configured, one MCP server, after an answer."""
    turns = max(2, runs // 2)
    shares: list[float] = []
    with scratch() as place:

        def ours() -> float:
            with settled(place, [HARNESS]) as terminal:
                shares.append(100 * cpu_of(terminal, 4.0) / 4.0)
                return memory(terminal.process.pid)[1] / MIB

        def floor() -> float:
            with settled(place, FLOOR) as terminal:
                return memory(terminal.process.pid)[1] / MIB

        figure, base = in_turn(turns, ours, floor)
        yield Row("idle", figure, base)
        yield Row("idle-cpu", statistics.median(shares))
        place.configure(f"mcp:\n  time: {{command: [{quoted(BIN / 'mcp-server-time')}]}}\n")
        yield Row("idle-mcp", in_turn(turns, lambda: _with_server(place))[0], base)
    with scratch() as place, model_server(place.folder) as model:
        place.configure(model.configuration)
        yield Row("idle-answer", each_in_turn(1, lambda: _after_answer(place))[0][0], base)
        place.configure(model.as_provider("anthropic"))
        pairs = [_while_a_library_is_imported(place, model) for _ in range(turns)]
        yield Row("idle-library", statistics.median(memory_ for memory_, _, _ in pairs), base)
        busy, quiet = ([key for pair in pairs for key in pair[index]] for index in (1, 2))
        yield Row("import-key", statistics.median(busy), statistics.median(quiet))


def _own(terminal: Watched) -> float:
    """The program itself, without its servers."""
    return psutil.Process(terminal.process.pid).memory_full_info().pss / MIB


def _with_server(place: Place) -> float:
    with settled(place, [HARNESS]) as terminal:
        terminal.settle(3.0)
        return _own(terminal)


def _after_answer(place: Place) -> float:
    with settled(place, [HARNESS]) as terminal:
        terminal.send("say 50 at 2000 until m001\r")
        terminal.see("endm001")
        terminal.settle(2.0)
        return _own(terminal)


def _while_a_library_is_imported(place: Place, model: Model) -> tuple[float, list[float], list[float]]:
    """Memory after an answer through the library of a provider; keys in ms while it is imported, and before."""
    with settled(place, [HARNESS]) as terminal:
        quiet = [1000 * took for took in terminal.keys(20)]
        terminal.send("say 50 at 2000 until m002")
        terminal.see("until m002")
        terminal.send("\r")
        terminal.settle(0.1)
        busy: list[float] = []
        while model.when("first", "m002") is None and len(busy) < 200:
            if (took := terminal.key()) is not None:
                busy.append(1000 * took)
            terminal.settle(0.03)
        terminal.see("endm002")
        terminal.settle(2.0)
        return _own(terminal), busy, quiet
