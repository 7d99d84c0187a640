"""The terminal of the full-screen program: given back as it was on every way out, and taken again after a stop.

Textual's driver does most of it. This one also survives a terminal that is gone (writing never fails and never waits
for nobody), a SIGCONT that nobody expects, and Ctrl+Z under a launcher such as ``make`` or ``uv run``, which has to
stop as well.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import termios
import time
from typing import TYPE_CHECKING, Final

from textual import events
from textual.drivers.linux_driver import LinuxDriver

from harness_tui.core.foreground import key_arrived

if TYPE_CHECKING:
    from typing import Any

    from textual.app import App

    Attributes = list[Any]

RESET: Final = (
    "\x1b[?2026l\x1b[?2004l\x1b[?7h\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"
    "\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""Ends every mode that the program sets: synchronized output, bracketed paste, no wrap, reports of size and mouse,
kitty keys, the other screen, no cursor, reports of focus. Written only where the driver could not do it."""

_STOPS_WITHIN_S: Final = 0.25
_TRIES: Final = 100


class _Output:
    """Standard error, which the screen is drawn on. Once writing has failed, what is written goes nowhere."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._gone = False

    def write(self, text: str) -> None:
        if not self._gone:
            try:
                self._file.write(text)
            except (OSError, ValueError):
                self._gone = True

    def flush(self) -> None:
        if not self._gone:
            try:
                self._file.flush()
            except (OSError, ValueError):
                self._gone = True

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()


class TerminalDriver(LinuxDriver):
    """Draws on the terminal and reads from it. ``taken`` tells whether its modes are those of the program."""

    def __init__(self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: Any = None) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file: Any = _Output(sys.__stderr__)
        self.taken = False
        self._leaving = False
        self._stopping = False
        self._continued = False
        self._given: Attributes | None = None

    def write(self, data: str) -> None:
        """Write to the terminal while it is ours."""
        thread = self._writer_thread
        if thread is not None and thread.is_alive():
            thread.write(data)

    def start_application_mode(self) -> None:
        """Take the terminal; does nothing in the background, where it belongs to others."""
        before = self._writer_thread
        super().start_application_mode()
        self.taken = self._writer_thread is not before

    def stop_application_mode(self) -> None:
        """Give the terminal back as it was."""
        if not self.taken or self._leaving:
            return
        self._leaving = True
        try:
            self.write("\x1b[?2026l\x1b[?1016l")  # set in a frame, and by Textual with pixels of the mouse
            super().stop_application_mode()
        finally:
            self.taken = self._leaving = False

    def disable_input(self) -> None:
        """Read no more. Once the terminal is given back, what is typed is for others and is not thrown away."""
        if self.taken:
            super().disable_input()

    def suspend_application_mode(self) -> None:
        """Give the terminal away for a while."""
        super().suspend_application_mode()
        self._given = attributes(self.fileno)

    def resume_application_mode(self) -> None:
        """Take the terminal again. A program of the person's that crashed may have left it in any state."""
        if not self._must_signal_resume:
            restore(self.fileno, self._given)
        super().resume_application_mode()

    def run_input_thread(self) -> None:
        """Read until the end; a terminal that is gone is no failure, whoever watches it ends the program."""
        with contextlib.suppress(OSError):
            super().run_input_thread()

    def process_message(self, message: Any) -> None:
        """Hand on what was read; a key goes before work that can wait."""
        if isinstance(message, events.Key):
            key_arrived()
        super().process_message(message)

    # --- stopped by the person, continued by their shell -----------------------------------------------

    def _sigtstp_application(self, *_: object) -> None:
        """Give the terminal back, then stop with the whole process group, as a program does that knows of no signals.

        The system itself decides whether there is a shell that could continue us; without one nothing stops.
        """
        if not self._auto_restart:  # a program of the person's has the terminal; it has stopped too
            os.kill(os.getpid(), signal.SIGSTOP)
            return
        if self._stopping:
            return
        self._stopping, self._continued = True, False
        if self.taken:
            self.suspend_application_mode()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        try:
            os.killpg(os.getpgrp(), signal.SIGTSTP)
            end = time.monotonic() + _STOPS_WITHIN_S
            while not self._continued and time.monotonic() < end:
                time.sleep(0.01)  # stopped here; a signal to the whole process need not arrive at once
        finally:
            signal.signal(signal.SIGTSTP, self._sigtstp_application)
            self._stopping = False
        self._take_again()

    def _sigcont_application(self, *_: object) -> None:
        self._continued = True
        if self._stopping or not self._auto_restart:
            return
        if self.taken:  # stopped by SIGSTOP: the shell has used the terminal in between
            self.suspend_application_mode()
        self._take_again()

    def _take_again(self) -> None:
        # In the background each try stops us until the next SIGCONT; without a terminal each fails at once.
        for _ in range(_TRIES):
            self._must_signal_resume = True
            self.resume_application_mode()
            if self.taken:
                self._app.call_later(self._app.refresh, layout=True)  # the screen may hold anything by now
                return


def use_terminal_driver(app: App[Any]) -> None:
    """Let ``app`` draw with our driver where it would with Textual's for a terminal; in a browser it has another."""
    if app.driver_class is LinuxDriver:
        app.driver_class = TerminalDriver


def attributes(descriptor: int) -> Attributes | None:
    """Return the settings of the line discipline, ``None`` without a terminal."""
    try:
        return termios.tcgetattr(descriptor)
    except (termios.error, OSError):
        return None


def restore(descriptor: int, before: Attributes | None) -> None:
    """Put back what was changed and not put back: after an end that the driver could not take part in."""
    if before is None or attributes(descriptor) in (None, before):
        return
    with contextlib.suppress(termios.error, OSError):
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
    with contextlib.suppress(OSError):
        # Opened anew, so that a terminal that takes nothing does not keep us waiting and others do not notice.
        screen = os.open(os.ttyname(descriptor), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(screen, RESET.encode())
        finally:
            os.close(screen)
