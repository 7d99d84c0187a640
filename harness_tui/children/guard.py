"""Our end of the guard: one small process per shell that ends what is left when the shell is killed.

It is started with the first child, told of every further one, and killed at a clean end, when nothing is left. Nothing
here ever stops a child from starting: without a guard the ledger still tells the next start what is left.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

PROGRAM: Final = Path(__file__).with_name("guard_program.py")
_STARTS: Final = 5


class Guard:
    """The guard of one shell. Not safe for use from several threads at once: the registry holds its lock."""

    def __init__(self, shell: str, ledger: Path | None) -> None:
        self._shell = shell
        self._ledger = ledger
        self._process: subprocess.Popen[bytes] | None = None
        self._children: dict[int, float] = {}
        self._starts = 0
        self.problem: str | None = None

    @property
    def pid(self) -> int | None:
        """The guard's own process id while it runs."""
        return self._process.pid if self._process is not None else None

    def started(self, pid: int, started: float) -> None:
        """Tell of a child; starts the guard with the first one, and again when somebody has killed it."""
        self._children[pid] = started
        if self._process is not None and self._process.poll() is None and self._say(f"+{pid} {started!r}\n"):
            return
        self._start()

    def ended(self, pid: int) -> None:
        """Tell that nothing of a child is left."""
        if self._children.pop(pid, None) is not None and self._process is not None:
            self._say(f"-{pid}\n")

    def renew(self) -> None:
        """Start it again when somebody has killed it while there was something to guard; a few times at most."""
        if self._process is not None and self._process.poll() is not None and self._children and self._starts < _STARTS:
            self._start()

    def dismiss(self) -> None:
        """End it: nothing is left to guard. Blocks for a moment."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)

    def let_finish(self) -> None:
        """Let the guard do its work now: it ends by itself once nothing is left. Does not block."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _start(self) -> None:
        self.dismiss()
        self._starts += 1
        arguments = [self._shell, str(os.getpid()), str(self._ledger.absolute()) if self._ledger else ""]
        try:
            # No mark of ours and hardly any environment: nothing that looks for the shell's children finds the guard.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(PROGRAM), *arguments],
                cwd="/",
                env={"LC_ALL": "C"},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self.problem = f"what is left after a kill will be ended by the next start only: {error}"
            return
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)  # one that is stopped must not stop us
        self._say("".join(f"+{pid} {started!r}\n" for pid, started in self._children.items()))

    def _say(self, text: str) -> bool:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            os.write(self._process.stdin.fileno(), text.encode())
        except (OSError, ValueError) as error:
            self.problem = str(error)
            return False
        return True


def _end(process: subprocess.Popen[bytes]) -> None:
    # Killed before its pipe is closed: it takes the end of the pipe for our death.
    process.kill()
    process.wait()
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
