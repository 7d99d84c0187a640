"""Runs the shell parts of a template, one after the other, each within its limits.

A part that fails is no error: its output and exit code are what the model is told. Cancelling stops the running part
with everything that it started.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness_tui.children.lookup import find_shell
from harness_tui.children.unattended import UNATTENDED
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import BASH_DRAIN_S, SHELL_PART_CHARS
from harness_tui.core.record import record
from harness_tui.core.seams import Child, ProcessSpawner

SHELL_PARTS: Final = 20
SHELL_SECONDS: Final = 30.0
SHELL_SECONDS_LOW: Final = 1.0
SHELL_SECONDS_HIGH: Final = 600.0

_KEPT_BYTES: Final = 8 * SHELL_PART_CHARS
_CHUNK: Final = 65_536
_SEQUENCES: Final = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?"
)


@dataclass(slots=True)
class _Output:
    """What a part wrote, up to a bound; the rest is counted and let go, so that the part never blocks."""

    data: bytearray = field(default_factory=bytearray)
    dropped: int = 0

    def take(self, chunk: bytes) -> None:
        kept = chunk[: max(0, _KEPT_BYTES - len(self.data))]
        self.data += kept
        self.dropped += len(chunk) - len(kept)

    def text(self) -> str:
        text = _SEQUENCES.sub("", self.data.decode("utf-8", "replace")).replace("\x00", "").replace("\r\n", "\n")
        if self.dropped or len(text.rstrip("\n")) > SHELL_PART_CHARS:
            return f"{text[:SHELL_PART_CHARS]}\n[output truncated after {SHELL_PART_CHARS} characters]"
        return text.rstrip("\n")


@record
class ShellRunner:
    """Runs parts in ``root`` with the words as parameters and ``env`` added; ``seconds`` is the limit of each."""

    spawner: ProcessSpawner
    root: Path
    words: Sequence[str]
    env: Mapping[str, str]
    seconds: float = SHELL_SECONDS

    async def run(self, command: str) -> str:
        """Return the output of ``command`` as it goes into the message. Raises ``HarnessError`` if it cannot start."""
        shell = str(find_shell(self.root))
        try:
            child = await self.spawner.spawn(
                [shell, "-c", command, "harness", *self.words],
                owner="bash",
                cwd=self.root,
                env=UNATTENDED | dict(self.env),
                stdin="null",
                stdout="pipe",
                stderr="stdout",
            )
        except (OSError, ValueError) as error:
            raise HarnessError(f"a shell part could not be started: {error}", where=command, code="shell") from error
        output = _Output()
        try:
            ended = await self._within_limit(child, output)
        finally:
            # What the part left running goes too; a cancelled caller still waits for the end of it.
            await asyncio.shield(_stop(child))
        return self._told(output.text(), child.returncode or 0, ended)

    async def _within_limit(self, child: Child, output: _Output) -> bool:
        """Tell whether the part ended by itself in time."""
        reading = asyncio.ensure_future(_read(child, output))
        try:
            async with asyncio.timeout(self.seconds):
                await child.wait()
            await _drained(reading, output)
        except TimeoutError:
            return False
        finally:
            reading.cancel()
        return True

    def _told(self, text: str, status: int, ended: bool) -> str:
        if not ended:
            note = f"[timed out after {self.seconds:g} s]"
        elif status:
            note = f"[exit code {status if status > 0 else 128 - status}]"
        else:
            return text
        return f"{text}\n{note}" if text else note


async def _read(child: Child, output: _Output) -> None:
    if child.stdout is None:
        return
    while chunk := await child.stdout.read(_CHUNK):
        output.take(chunk)


async def _drained(reading: asyncio.Future[None], output: _Output) -> None:
    """Wait for the end of the output, or until nothing more comes although somebody still holds the pipe."""
    size = -1
    while not reading.done() and size != len(output.data) + output.dropped:
        size = len(output.data) + output.dropped
        await asyncio.wait([reading], timeout=BASH_DRAIN_S)


async def _stop(child: Child) -> None:
    await child.stop()
