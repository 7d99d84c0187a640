"""The child process that holds a local model: started at the first request, ended when nobody asks any more.

One model is in memory at a time: starting another one ends those that nobody waits for.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import secrets
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.core.errors import HarnessError
from harness_tui.core.record import record
from harness_tui.core.redaction import REDACTOR
from harness_tui.core.seams import Child, ModelError, ProcessSpawner
from harness_tui.core.text import clean_for_display, cut_end

PROGRAM: Final = Path(__file__).with_name("local_server.py")
LIBRARY: Final = "xllamacpp"
INSTALL: Final = "install it: pip install 'harness-tui[local]'"
CONTEXT: Final = 8192
"""Tokens that fit where nothing is configured: a model's own limit may need more memory than there is."""

LOAD_S: Final = 300.0
IDLE_S: Final = 300.0
STOP_S: Final = 1.0
_MOST_THREADS: Final = 8
_SAID_CHARS: Final = 400


def installed() -> bool:
    """Tell whether the extra ``local`` is there; imports nothing."""
    return importlib.util.find_spec(LIBRARY) is not None


@record
class Served:
    """Where a running model answers; ``key`` was made for this process alone."""

    address: str
    key: str


class Engines:
    """The local models of one project."""

    def __init__(self, spawner: ProcessSpawner, *, idle: float = IDLE_S) -> None:
        self._spawner = spawner
        self._idle = idle
        self._all: list[Engine] = []

    def engine(self, name: str, path: Path, *, context: int | None, threads: int | None) -> Engine:
        """Return the engine of one model; nothing is started before it is used."""
        made = Engine(self, self._spawner, name, path, context or CONTEXT, threads or default_threads(), self._idle)
        self._all.append(made)
        return made

    async def make_room(self, wanted: Engine) -> None:
        """End every engine that nobody waits for, but ``wanted``."""
        await asyncio.gather(*(engine.stop() for engine in self._all if engine is not wanted and not engine.busy))

    async def close(self) -> None:
        """End all of them."""
        await asyncio.gather(*(engine.stop() for engine in self._all))


class Engine:
    """One model's process. Made by :class:`Engines` only."""

    def __init__(
        self,
        engines: Engines,
        spawner: ProcessSpawner,
        name: str,
        path: Path,
        context: int,
        threads: int,
        idle: float,
    ) -> None:
        self._engines = engines
        self._spawner = spawner
        self._name = name
        self._path = path
        self.context = context
        self._threads = threads
        self._idle = idle
        self._child: Child | None = None
        self._served: Served | None = None
        self._starting = asyncio.Lock()
        self._users = 0
        self._resting: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether somebody waits for an answer."""
        return self._users > 0

    @property
    def pid(self) -> int | None:
        """The process that holds the model, while there is one."""
        return self._child.pid if self._child is not None and self._child.returncode is None else None

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[Served]:
        """Give the running model for the block; it is loaded first where it is not. Raises ``ModelError``."""
        self._users += 1
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None
        try:
            async with self._starting:
                served = self._served if self.pid is not None else None
                if served is None:
                    await self._engines.make_room(self)
                    served = await self._start()
            yield served
        finally:
            self._users -= 1
            if not self.busy and self._child is not None:
                self._resting = asyncio.create_task(self._rest(), name=f"unload {self._name} when nobody asks")

    async def stop(self) -> None:
        """End the process; returns when it is gone."""
        resting, self._resting = self._resting, None
        if resting is not None and resting is not asyncio.current_task():
            resting.cancel()
        child, self._child, self._served = self._child, None, None
        if child is not None:
            await child.stop(grace=STOP_S)

    async def ended(self) -> str | None:
        """Say how the process ended, ``None`` while it runs. It is given a moment: a socket closes first."""
        child = self._child
        if child is None:
            return None
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(child.wait(), 0.5)
        return None if child.returncode is None else _exit_text(child)

    async def _rest(self) -> None:
        await asyncio.sleep(self._idle)
        await self.stop()

    async def _start(self) -> Served:
        key = secrets.token_urlsafe(24)
        REDACTOR.add(key)
        try:
            child = await self._spawner.spawn(
                [sys.executable, "-I", str(PROGRAM)],
                owner=f"model:{self._name}",
                cwd=Path("/"),
                stdin="pipe",
            )
        except HarnessError as error:
            raise ModelError("server", f"the process of {self._name} did not start: {error}") from error
        self._child = child
        try:
            address = await self._ask(child, key)
        except BaseException:
            await asyncio.shield(self.stop())
            raise
        self._served = Served(address, key)
        return self._served

    async def _ask(self, child: Child, key: str) -> str:
        wanted = {"path": str(self._path), "context": self.context, "threads": self._threads, "key": key}
        assert child.stdin is not None
        assert child.stdout is not None
        line = b""
        try:
            async with asyncio.timeout(LOAD_S):
                child.stdin.write(json.dumps(wanted).encode() + b"\n")
                await child.stdin.drain()
                line = await child.stdout.readline()
                if not line:
                    await child.wait()
        except TimeoutError as error:
            text = f"{self._path} was not loaded within {LOAD_S:.0f} s"
            raise ModelError("timeout", text, hint="take a smaller model") from error
        except (OSError, ValueError):
            await child.wait()
        if not line:
            raise ModelError("request", f"{self._path} cannot be loaded: {_exit_text(child)}", hint=_hint(child))
        try:
            said: Any = json.loads(line)
        except ValueError as error:
            raise ModelError("server", f"the process of {self._name} gave no answer that can be read") from error
        fields = cast(dict[str, Any], said)
        if "address" not in fields:
            why = cut_end(clean_for_display(str(fields.get("error")), one_line=True), _SAID_CHARS)
            hint = "is it a whole GGUF file that this version of llama.cpp knows, and is there enough memory?"
            raise ModelError("request", f"{self._path} cannot be loaded: {why}", hint=hint)
        return str(fields["address"])


def default_threads() -> int:
    """Return how many threads compute where nothing is configured: all that we may use, eight at most."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        count = os.cpu_count() or 1
    return max(1, min(count, _MOST_THREADS))


def _exit_text(child: Child) -> str:
    code = child.returncode
    how = f"its process ended with exit code {code}"
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            how = f"its process was ended by {signal.Signals(-code).name}"
    tail = child.stderr_tail().strip()
    return f"{how}: {cut_end(tail.splitlines()[-1], _SAID_CHARS)}" if tail else how


def _hint(child: Child) -> str | None:
    match child.returncode:
        case -4:  # SIGILL
            return "this machine's processor lacks what xllamacpp is compiled for (AVX2)"
        case -9:  # SIGKILL
            return "there may be too little memory: take a smaller model, or a smaller 'context'"
        case _:
            return None
