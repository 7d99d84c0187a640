"""Whether many commands and skills are felt: at the start, and at a key while the completion is open."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack

from measure import HARNESS, Place, first_frame, scratch, settled
from table import Row, in_turn
from watched import ScreenError, Watched

FEW, MANY = 10, 1_000
WANTED, ABOUT = "zyx", "the one that is looked for"


def library(runs: int) -> Iterator[Row]:
    """1,000 commands and 1,000 skills beside 10 and 10."""
    with ExitStack() as stack:
        many, few = (_filled(stack.enter_context(scratch()), count) for count in (MANY, FEW))
        for place in (many, few):
            first_frame([HARNESS], place)
        yield Row("library-start", *in_turn(runs, lambda: _ready(many), lambda: _ready(few)))
        with settled(many, [HARNESS]) as full, settled(few, [HARNESS]) as small:  # both open: keys come in turn
            yield Row("library-key", *in_turn(2 * runs, lambda: _keys(full), lambda: _keys(small)))


def _filled(place: Place, count: int) -> Place:
    config = place.home / ".config" / "harness"
    folders = (config / "commands", place.home / ".claude" / "commands")  # a folder is read up to 500 files
    for folder in folders:
        folder.mkdir(parents=True)
    for number in range(count - 1):
        (folders[number % 2] / f"step-{number:04d}.md").write_text(
            f"---\ndescription: Does step {number} of the work\nargument-hint: FILE\n---\nDo step {number} with $1.\n"
        )
    (folders[1] / f"{WANTED}.md").write_text(f"---\ndescription: {ABOUT}\n---\nDo it.\n")
    for number in range(count):
        folder = config / "skills" / f"craft-{number:04d}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(
            f"---\nname: craft-{number:04d}\ndescription: Knows how craft {number} is done. Use for it.\n---\n# Craft\n"
        )
    return place


def _ready(place: Place) -> float:
    return first_frame([HARNESS], place)[1]


def _keys(terminal: Watched) -> float:
    """The median milliseconds from a key of a command's name to it on the screen, the command in the list."""
    times: list[float] = []
    for _ in range(3):
        terminal.send("/")
        terminal.see("Does step")
        for end in range(1, len(WANTED) + 1):
            start = time.perf_counter()
            terminal.send(WANTED[end - 1])
            at = terminal.pump(lambda end=end: _completed(terminal, WANTED[:end]), 5.0)
            if at is None:
                raise ScreenError(f"{WANTED[:end]!r} is not completed; the screen is:\n{terminal.text()}")
            times.append(at - start)
        terminal.send(b"\x7f" * (len(WANTED) + 1))
        terminal.pump(lambda: not terminal.shows(ABOUT), 5.0)
        terminal.settle(0.8)  # the look at the folders, in the pause, is over
    return statistics.median(times) * 1e3


def _completed(terminal: Watched, typed: str) -> bool:
    return terminal.shows(ABOUT) and any(f" /{typed} " in row and ABOUT not in row for row in terminal.rows)
