"""A terminal whose output is stamped as it is read, for figures of a few milliseconds.

The screen emulator is slower than the programs that are measured. So a thread reads and stamps, and what is drawn later
counts from its stamp.
"""

from __future__ import annotations

import contextlib
import os
import queue
import random
import select
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from terminal import Terminal

LETTERS = "qxzjvkwy"
"""What is typed while keys are timed: pairs of these stand in no text that is shown."""

_TAIL = 5
_LONGEST = 40


class ScreenError(Exception):
    """The screen does not show what it must: a figure for it would mean nothing."""


class Watched(Terminal):
    """One program on one pseudo-terminal, its output stamped. ``rows`` is the screen's text, ``changed`` its time."""

    def __init__(self, argv: list[str], **fields: Any) -> None:
        super().__init__(argv, **fields)
        sys.setswitchinterval(0.0005)
        self.rows = [""] * self.screen.pyte.lines
        self.changed = self.started
        self._parts: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
        self._letters = random.Random(11)
        self._typed = ""
        self._reading = threading.Event()
        self._reading.set()
        self._thread = threading.Thread(target=self._collect, daemon=True)
        self._thread.start()

    # --- reading -------------------------------------------------------------------------------------

    def _collect(self) -> None:
        while self._reading.is_set():
            try:
                ready, _, _ = select.select([self._master], [], [], 0.05)
                data = os.read(self._master, 1 << 16) if ready else None
            except BlockingIOError:
                continue
            except (OSError, ValueError):
                data = b""
            if data is not None:
                self._parts.put((time.perf_counter(), data))
            if data == b"":
                return

    def pump(self, until: Callable[[], bool], timeout: float) -> float | None:
        """Draw until ``until()`` holds; return when what made it so was read, or ``None``."""
        at = time.perf_counter()
        end = at + timeout
        while not until():
            left = end - time.perf_counter()
            if self.ended or (left <= 0 and self._parts.empty()):
                return None
            try:
                at, data = self._parts.get(timeout=max(0.0005, min(0.02, left)))
            except queue.Empty:
                at = time.perf_counter()
                continue
            if data:
                self._draw(at, data)
            else:
                self.ended = True
        return at

    def _draw(self, at: float, data: bytes) -> None:
        self.bytes_out += len(data)
        if reply := self.screen.feed(data):
            self.send(reply)
        screen = self.screen.pyte
        for y in screen.dirty:
            if y < len(self.rows):
                line = screen.buffer[y]
                text = "".join([line[x].data for x in range(screen.columns)]).rstrip()
                if text != self.rows[y]:
                    self.rows[y], self.changed = text, at
        screen.dirty.clear()

    def text(self) -> str:
        """Return the screen as lines without trailing blanks."""
        return "\n".join(self.rows)

    def shows(self, text: str) -> bool:
        """Whether a row holds ``text``."""
        return any(text in row for row in self.rows)

    def see(self, text: str, timeout: float = 20.0) -> float:
        """Wait until a row holds ``text`` and return when it came. Raises ``ScreenError``."""
        at = self.pump(lambda: self.shows(text), timeout)
        if at is None:
            raise ScreenError(f"{text!r} did not come within {timeout:g} s; the screen is:\n{self.text()}")
        return at

    def quiet(self, still: float = 0.5, limit: float = 8.0) -> float:
        """Draw until nothing changes for ``still`` seconds; return the time of the last change."""
        end = time.perf_counter() + limit
        while time.perf_counter() < end and not self.ended:
            self.pump(lambda: False, 0.05)
            if self._parts.empty() and time.perf_counter() - self.changed > still:
                break
        return self.changed

    # --- doing ---------------------------------------------------------------------------------------

    def key(self, timeout: float = 5.0) -> float | None:
        """Type one letter and return the seconds until it is seen; ``None`` for the first ones of a word."""
        if len(self._typed) >= _LONGEST:
            self.clear()
        self._typed += self._letters.choice(LETTERS)
        start = time.perf_counter()
        self.send(self._typed[-1])
        tail = self._typed[-_TAIL:]
        at = self.pump(lambda: self.shows(tail), timeout)
        if at is None:
            raise ScreenError(f"a key was lost ({tail!r}); the screen is:\n{self.text()}")
        return at - start if len(tail) == _TAIL else None

    def clear(self) -> None:
        """Take away what :meth:`key` typed."""
        self.send(b"\x7f" * len(self._typed))
        self._typed = ""
        self.pump(lambda: False, 0.2)

    def keys(self, count: int, pause: float = 0.03) -> list[float]:
        """Type until ``count`` keys are timed, and return their seconds."""
        times: list[float] = []
        while len(times) < count:
            if (took := self.key()) is not None:
                times.append(took)
            self.pump(lambda: False, pause)
        self.clear()
        return times

    def resize_seen(self, columns: int, rows: int) -> float:
        """Give the terminal another size and return the seconds until the last change of its text."""
        self.screen.pyte.resize(rows, columns)
        self.rows = [line.rstrip() for line in self.screen.pyte.display]
        start = self.changed = time.perf_counter()
        self.resize(columns, rows, tell=False)
        return self.quiet(still=0.7) - start

    def hang_up(self) -> None:
        """Close the terminal window, its reader first: a closed number may soon be another file's."""
        self._reading.clear()
        with contextlib.suppress(RuntimeError):
            self._thread.join(2)
        super().hang_up()
