"""The entry of the full-screen front end: prepares the terminal's surroundings, runs the app, cleans up after it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp

BACKEND: Final = "harness_tui.workspace.front:create_backend"
"""Where the backend comes from: ``module:factory``, imported after the first frame."""

THREAD_SLICE_S: Final = 0.001
"""How long a thread that scans, parses or imports keeps a key waiting, several times a key; 5 ms by default."""

TERMINAL_LOOK_S: Final = 0.5
"""How often it is looked whether the terminal is still there."""

THREADS_END_S: Final = 1.0
"""How long threads may take to end after everything was closed."""

STUCK_S: Final = 3.0
"""When a program that is to end, and whose loop does not run, is ended from outside; its guard ends the children."""

END_S: Final = 10.0
"""When it is ended although its loop runs: what it still closes does not come to an end."""

_ANSWER_S: Final = 0.5
_NAMES: Final = "SIGHUP SIGINT SIGQUIT SIGTERM SIGUSR1 SIGUSR2 SIGALRM SIGVTALRM SIGPROF SIGXCPU SIGPWR SIGIO"
SIGNALS: Final = tuple(signal.Signals[name] for name in _NAMES.split() if name in signal.Signals.__members__)
"""Signals that would end the program at once, with the terminal as it is. Those that tell of a crash do."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asked for; satisfies ``backend.StartOptions``. ``message`` is sent first."""

    agent: str | None = None
    model: str | None = None
    mode: str | None = None
    session: str | None = None
    continue_latest: bool = False
    message: str | None = None
    mouse: bool = True


def run(start: Path, *, options: Options | None = None, backend: str = BACKEND) -> int:
    """Run the TUI in ``start`` until the person leaves; return the exit code.

    0 after a normal end, 1 when the program failed, 2 where there is no terminal, 128 + n after signal n. Whatever the
    way out: the terminal is restored first, then the backend is closed.
    """
    if problem := terminal_problem():
        print(problem, file=sys.stderr)  # noqa: T201
        return 2
    prepare_process()
    from harness_tui.tui import guard, pasting
    from harness_tui.tui.app import HarnessApp
    from harness_tui.tui.terminal import attributes, restore, use_terminal_driver

    pasting.install()
    descriptor = sys.stdin.fileno()
    before = attributes(descriptor)

    def force(code: int) -> None:
        restore(descriptor, before)
        os._exit(code)

    app = HarnessApp(start, options or Options(), backend)
    use_terminal_driver(app)
    app.options = replace(app.options, mouse=_use_start_values(app))
    guarding = guard.install(app)
    try:
        code = asyncio.run(run_app(app, force, terminal=descriptor))
    except Exception as error:  # noqa: BLE001 - whatever it is, the terminal is given back and the person told
        guarding.fatal, code = guarding.fatal or error, 1
    finally:
        restore(descriptor, before)
    if guarding.fatal is not None:
        with contextlib.suppress(OSError):  # the terminal may be gone
            print(guard.short_report(guarding.fatal, _reported(guarding.fatal)), file=sys.stderr)  # noqa: T201
    _let_go_of_a_dead_terminal()
    _end_without_stuck_threads(code)
    return code


def _use_start_values(app: HarnessApp) -> bool:
    """Let the first frame look as it is configured; return whether the mouse is ours."""
    from harness_tui.config.places import Places
    from harness_tui.core.errors import HarnessError

    try:
        file = Places.from_environment().start_file
    except HarnessError:  # told when the project is opened
        return app.options.mouse
    if not file.exists():
        return app.options.mouse
    from harness_tui.config.start_values import read_start_values

    values = read_start_values(file)
    app.appearance.use_start_values(values)
    look = values.get("look")
    return app.options.mouse and not (isinstance(look, dict) and look.get("mouse") is False)


def _reported(error: BaseException) -> Path | None:
    from harness_tui.config.places import Places
    from harness_tui.tui.guard import write_report

    return write_report(error, Places.from_environment().logs)


def prepare_process() -> None:
    """Set what must be set before Textual is imported, and how soon a thread lets the loop go on."""
    os.environ.setdefault("TEXTUAL_FPS", "120")  # read when textual is imported: a key waits 8 ms at most
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)  # inherited from a launcher they would pin the size for ever
    sys.setswitchinterval(THREAD_SLICE_S)


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.__stderr__ is not None and sys.__stderr__.isatty()


def terminal_problem() -> str | None:
    """Say why there can be no full-screen program here, or ``None``."""
    if not _at_terminal():
        return "harness: no terminal here; `harness chat` goes line by line, `harness run MESSAGE` needs nobody"
    if os.environ.get("TERM", "") in ("dumb", ""):
        return "harness: TERM says that this terminal cannot place text; `harness chat` goes line by line"
    return None


async def run_app(
    app: HarnessApp,
    force: Callable[[int], None],
    *,
    terminal: int | None = None,
    size: tuple[int, int] | None = None,
) -> int:
    """Run ``app`` until it is left, then close its backend; return the exit code.

    ``force`` ends the process at once, where it would not end by itself. ``terminal`` is looked after, ``None`` where
    there is none; ``size`` is what is drawn on then, as columns and rows.
    """
    ending = _Ending(app, force)
    for number in SIGNALS:
        signal.signal(number, ending.on_signal)
    watching = (
        asyncio.create_task(_watch_terminal(app, terminal), name="watch the terminal") if terminal is not None else None
    )
    try:
        await app.run_async(mouse=app.options.mouse, size=size)
    finally:
        if watching is not None:
            watching.cancel()
        if problem := await app.close_backend():
            with contextlib.suppress(OSError):  # the terminal may be gone: there is nobody to tell
                print(f"harness: {problem}", file=sys.stderr)  # noqa: T201
        ending.over()
    return app.return_code or 0


class _Ending:
    """Leaves at a signal, also when the loop does not run any more because the terminal takes nothing."""

    def __init__(self, app: HarnessApp, force: Callable[[int], None]) -> None:
        self._app = app
        self._force = force
        self._loop = asyncio.get_running_loop()
        self._watching: threading.Thread | None = None
        self._over = threading.Event()

    def on_signal(self, number: int, _frame: object) -> None:
        """Leave; when the loop has not run by then, or the program is still there much later, end it."""
        if self._watching is None:
            self._watching = threading.Thread(target=self._watch, args=(128 + number,), name="end", daemon=True)
            self._watching.start()
        self._loop.call_soon_threadsafe(self._app.leave, 128 + number)

    def over(self) -> None:
        """The program has ended in order. A signal that comes now must not disturb what is left to do."""
        self._over.set()
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def _watch(self, code: int) -> None:
        runs = threading.Event()
        if self._over.wait(STUCK_S - _ANSWER_S):
            return
        with contextlib.suppress(RuntimeError):  # it is closed by now
            self._loop.call_soon_threadsafe(runs.set)
        if self._over.wait(_ANSWER_S) or (runs.is_set() and self._over.wait(END_S - STUCK_S)):
            return
        self._force(code)


async def _watch_terminal(app: HarnessApp, descriptor: int) -> None:
    """Leave when the terminal is gone. A hang-up need not come as a signal: not to a process without a controlling
    terminal, and not through a launcher that ignores it; reading then gives nothing, at once and for ever."""
    from harness_tui.tui.terminal import attributes

    # Asked for its settings, not polled: not every system polls terminals.
    while attributes(descriptor) is not None:  # noqa: ASYNC110 - nothing tells us
        await asyncio.sleep(TERMINAL_LOOK_S)
    app.leave(128 + signal.SIGHUP)


def _end_without_stuck_threads(code: int) -> None:
    """End the process now when a thread would keep it: everything of ours is closed, and it must not outlive that."""
    end = time.monotonic() + THREADS_END_S
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join(max(0.0, end - time.monotonic()))
            if thread.is_alive():
                os._exit(code)


def _let_go_of_a_dead_terminal() -> None:
    # What is still buffered for a terminal that went away is tried again when Python ends; its failure would take the
    # place of the exit code.
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is None:
            continue
        try:
            stream.flush()
        except OSError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
