"""Whether many commands and skills are felt: at the start, at a key while the completion is open, and in themselves."""

from __future__ import annotations

import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from measure import HARNESS, Place, first_frame, scratch, settled
from table import Row, in_turn
from watched import ScreenError, Watched

from harness_tui.config.places import Places
from harness_tui.config.project import Project
from harness_tui.library.arguments import read_line
from harness_tui.library.library import Library
from harness_tui.library.slash_completion import Candidate, SlashCompleter
from harness_tui.library.template import compile_template, fill

FEW, MANY = 10, 1_000
FILLING = "Do it with care, say what you did, and stop where you are not sure about $1.\n" * 50
SIZE = 4_096
WANTED, ABOUT = "zyx", "the one that is looked for"


def library(runs: int) -> Iterator[Row]:
    """1,000 commands and 1,000 skills of 4 kB each beside 10 and 10."""
    with ExitStack() as stack:
        many, few = (_filled(stack.enter_context(scratch()), count) for count in (MANY, FEW))
        for place in (many, few):
            first_frame([HARNESS], place)
        yield Row("library-start", *in_turn(runs, lambda: _ready(many), lambda: _ready(few)))
        with settled(many, [HARNESS]) as full, settled(few, [HARNESS]) as small:  # both open: keys come in turn
            yield Row("library-key", *in_turn(2 * runs, lambda: _keys(full), lambda: _keys(small)))
        yield from _alone(many, runs)


def _alone(place: Place, runs: int) -> Iterator[Row]:
    """What is measured without a screen."""
    cold, warm, plain = in_turn(
        runs, lambda: _look(place, fresh=True), lambda: _look(place), lambda: _plain_look(place.home)
    )
    yield Row("library-cold", cold)
    yield Row("library-warm", warm)
    yield Row("library-look", warm, plain)
    completer = SlashCompleter()
    completer.use([Candidate(f"{kind}-{number:04d}") for kind in ("step", "craft") for number in range(MANY)])
    yield Row("library-complete", *in_turn(runs, lambda: _slowest_key(completer)))
    one, two, four = in_turn(runs, *(lambda times=times: _expansion(times) for times in (1, 2, 4)))
    yield Row("library-expand-2", two, 2 * one)
    yield Row("library-expand-4", four, 4 * one)


def _cpu(work: Callable[[], object]) -> float:
    """Return the milliseconds of processor time that ``work`` takes."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e3


def _look(place: Place, *, fresh: bool = False) -> float:
    base = place.folder / "alone"
    cache = base / "cache"
    if fresh:
        shutil.rmtree(cache, ignore_errors=True)
    places = Places(place.home / ".config/harness", base / "data", base / "state", cache)
    library = Library(
        Project(place.project, place.project),
        places,
        trusted=True,
        environ={"HOME": str(place.home)},
        bundled_commands=base,
        bundled_skills=base,
    )
    spent = _cpu(library.refresh)
    if (len(library.commands()), len(library.skills())) != (MANY, MANY):
        raise ScreenError(f"{len(library.commands())} commands and {len(library.skills())} skills were found")
    return spent


def _plain_look(home: Path) -> float:
    def look() -> int:
        return sum(os.stat(os.path.join(folder, file)).st_size for folder, _, files in os.walk(home) for file in files)

    return _cpu(look)


def _slowest_key(completer: SlashCompleter) -> float:
    def key(text: str) -> float:
        return _cpu(lambda: completer.candidates(text))

    return max(
        key(word[:end]) for word in ("step-09", "craft-1", "tep", "sp9", "zzz") for end in range(1, len(word) + 1)
    )


def _expansion(times: int) -> float:
    # 26 characters a placeholder: 2,500 of them in 64 kB.
    body = "Look into the text at $1. Take ${2:-that one} for it.\n" * (1_250 * times)

    def expand() -> str:
        template = compile_template(body, {}, hinted=False, shell=True)
        return fill(template.tokens, read_line("this that"), template.highest, {})

    return _cpu(expand)


def _filled(place: Place, count: int) -> Place:
    config = place.home / ".config" / "harness"
    folders = (config / "commands", place.home / ".claude" / "commands")  # a folder is read up to 500 files
    for folder in folders:
        folder.mkdir(parents=True)
    for number in range(count - 1):
        (folders[number % 2] / f"step-{number:04d}.md").write_text(
            _sized(f"---\ndescription: Does step {number} of the work\nargument-hint: FILE\n---\nDo step {number}.\n")
        )
    (folders[1] / f"{WANTED}.md").write_text(f"---\ndescription: {ABOUT}\n---\nDo it.\n")
    for number in range(count):
        folder = config / "skills" / f"craft-{number:04d}"
        folder.mkdir(parents=True)
        head = f"name: craft-{number:04d}\ndescription: Knows how craft {number} is done. Use for it."
        (folder / "SKILL.md").write_text(_sized(f"---\n{head}\n---\n# Craft\n"))
    return place


def _sized(text: str) -> str:
    return (text + FILLING)[:SIZE]


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
