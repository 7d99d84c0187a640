"""What the line front end reads from and writes to: whole lines, appended, never a cursor movement."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Final, Protocol, TextIO, TypeVar

from harness_tui.core.text import clean_for_display

if TYPE_CHECKING:
    from harness_tui.workspace.front import WorkspaceBackend

T = TypeVar("T")

_BLOCK: Final = 65_536
_BURST_S: Final = 0.03
"""Lines that come closer than this were pasted: they are one message."""
_MAX_LINE: Final = 4 * 1_048_576


class Interrupted(Exception):
    """Ctrl+C came as a key."""


class Terminal(Protocol):
    """Somebody who reads and writes lines."""

    @property
    def interactive(self) -> bool:
        """Whether a person types at it: lines may come at any time."""
        ...

    def write(self, text: str) -> None:
        """Show one or more lines, made safe for a terminal."""
        ...

    async def read_line(self, prompt: str) -> str | None:
        """Return what is typed, without its end; ``None`` at the end of the input. Raises :class:`Interrupted`."""
        ...

    async def use(self, backend: WorkspaceBackend) -> None:
        """Complete what ``backend``, which is open, offers."""
        ...

    def remind(self, prompt: str) -> None:
        """Show the prompt again, where it was written over by lines."""
        ...

    async def lend(self, work: Awaitable[T]) -> T:
        """Let ``work``, a program on the terminal, have it meanwhile."""
        ...


class Lines(Protocol):
    """Where one question is asked and answered."""

    def write(self, text: str) -> None:
        """Show lines, made safe for a terminal."""
        ...

    async def read_line(self, prompt: str) -> str | None:
        """Return what is typed, ``None`` at the end of the input."""
        ...


class LineTerminal:
    """Plain standard input and output; works with pipes, files and ``TERM=dumb``."""

    def __init__(self, descriptor: int, output: TextIO) -> None:
        self._descriptor = descriptor
        self._output = output
        self._rest = b""
        self._ended = False
        self._prompt_open = False
        self._waiting: asyncio.Future[bytes] | None = None
        self.interactive = os.isatty(descriptor)

    def write(self, text: str) -> None:
        """Show lines; what stands behind a prompt begins a line of its own. A reader that went away ends the input."""
        start = "\n" if self._prompt_open else ""
        self._prompt_open = False
        self._put(f"{start}{clean_for_display(text)}\n")

    def _put(self, text: str) -> None:
        try:
            self._output.write(text)
            self._output.flush()
        except (OSError, ValueError):
            self._ended = True

    async def read_line(self, prompt: str) -> str | None:
        """Return one line; lines that were pasted together come as one text."""
        if prompt:
            self.remind(prompt)
        lines = [await self._next()]
        self._prompt_open = False
        while lines[-1] is not None and self.interactive and (b"\n" in self._rest or self._more()):
            lines.append(await self._next())
        text = "\n".join(line for line in lines if line is not None)
        return text if text or lines[0] is not None else None

    async def lend(self, work: Awaitable[T]) -> T:
        """Let ``work`` have the terminal: nothing is read from it meanwhile."""
        loop, waiting = asyncio.get_running_loop(), self._waiting
        if waiting is not None:
            loop.remove_reader(self._descriptor)
        try:
            return await work
        finally:
            if waiting is not None and not waiting.done():
                loop.add_reader(self._descriptor, self._take_into, waiting)

    async def use(self, backend: WorkspaceBackend) -> None:
        """Nothing is completed here."""

    def remind(self, prompt: str) -> None:
        """Show the prompt again, where a person types."""
        if self.interactive and not self._prompt_open:
            self._put(prompt)
            self._prompt_open = True

    def _more(self) -> bool:
        try:
            return bool(select.select([self._descriptor], [], [], _BURST_S)[0]) and not self._ended
        except (OSError, ValueError):
            return False

    async def _next(self) -> str | None:
        while b"\n" not in self._rest and not self._ended and len(self._rest) < _MAX_LINE:
            block = await self._read()
            self._ended = not block
            self._rest += block
        if not self._rest:
            return None
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")

    async def _read(self) -> bytes:
        """Return the next bytes, none at the end. No thread waits for them, which nothing could stop."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[bytes] = loop.create_future()
        try:
            loop.add_reader(self._descriptor, self._take_into, waiting)
        except OSError:  # a regular file is always ready
            return _take(self._descriptor)
        self._waiting = waiting
        try:
            return await waiting
        finally:
            self._waiting = None
            loop.remove_reader(self._descriptor)

    def _take_into(self, waiting: asyncio.Future[bytes]) -> None:
        if not waiting.done():
            waiting.set_result(_take(self._descriptor))


def _take(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _BLOCK)
    except OSError:  # the terminal is gone
        return b""


def standard_terminal() -> LineTerminal:
    """Return the terminal of this process."""
    return LineTerminal(sys.stdin.fileno(), sys.stdout)
