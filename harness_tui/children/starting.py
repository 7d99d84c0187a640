"""The checks before a start and the words for what went wrong: every error names the program or the folder."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from harness_tui.children.child import ManagedChild
from harness_tui.children.lookup import find_binary
from harness_tui.children.pipes import ErrorRing, ReadPipe, drain_to, read_pipe, write_pipe
from harness_tui.children.stderr_log import StderrLog
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import STOP_GRACE_S

_REAP_S: Final = 1.0


def resolve_program(argv: Sequence[str], owner: str, cwd: Path, environment: Mapping[str, str]) -> str:
    """Return the path of ``argv[0]`` for a start in ``cwd``. Raises ``HarnessError`` that names what is missing."""
    if not argv or not argv[0]:
        raise HarnessError("there is no program to start", where=owner, code="not-found")
    if not cwd.is_dir():
        what = "is not a folder" if cwd.exists() else "does not exist"
        raise HarnessError(
            f"the folder to start in {what}: {cwd}", where=owner, mend="create it, or name another cwd", code="cwd"
        )
    name = argv[0]
    if "/" in name and not name.startswith("~/"):
        name = os.path.join(cwd, name)
    found = find_binary(name, path=environment.get("PATH", os.defpath))
    if found is not None:
        return str(found)
    if "/" in name and Path(os.path.expanduser(name)).is_file():
        raise HarnessError(
            f"{argv[0]} may not be executed", where=owner, mend=f"chmod +x {argv[0]}", code="not-executable"
        )
    raise HarnessError(
        f"the program {argv[0]!r} was not found",
        where=owner,
        mend="install it, or name it by its absolute path",
        code="not-found",
    )


def start_error(error: OSError | ValueError, program: str, owner: str) -> HarnessError:
    """Return what a failed start says to a person."""
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.ENOEXEC, errno.EPERM):
        return HarnessError(
            f"{program} cannot be executed: {error.strerror}",
            where=owner,
            mend="it must be an executable for this machine, or a script whose first line names its interpreter",
            code="not-executable",
        )
    if isinstance(error, FileNotFoundError):
        return HarnessError(
            f"the interpreter that {program} names was not found", where=owner, mend="install it", code="not-found"
        )
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        return HarnessError(
            "the arguments are longer than the system takes",
            where=owner,
            mend="write the long part into a file, and name that",
            code="too-long",
        )
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return HarnessError(f"{program} could not be started: {text}", where=owner, code="spawn")


async def connect_pipes(
    child: ManagedChild, process: subprocess.Popen[bytes], stdout_limit: int, log: StderrLog | None
) -> None:
    """Connect the pipes of a process that was just started to the running loop, and hand them to ``child``."""
    ring = ErrorRing()
    writer: asyncio.StreamWriter | None = None
    output: ReadPipe | None = None
    errors: asyncio.ReadTransport | None = None
    if process.stdin is not None:
        writer = await write_pipe(process.stdin)
    if process.stdout is not None:
        output = await read_pipe(process.stdout, stdout_limit)
    if process.stderr is not None:
        errors = await drain_to(ring, log, process.stderr)
    child.connect(stdin=writer, output=output, errors=errors, ring=ring, log=log)


async def start_or_discard(
    start: Callable[[], subprocess.Popen[bytes]], discard: Callable[[subprocess.Popen[bytes]], None]
) -> subprocess.Popen[bytes]:
    """Start a process in a thread; a cancel meanwhile is passed on only when the process is gone again."""
    starting = asyncio.ensure_future(asyncio.to_thread(start))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        ending = asyncio.ensure_future(_discard_started(starting, discard))
        while not ending.done():  # a second cancel does not make the process stay
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(ending)
        raise


async def _discard_started(
    starting: asyncio.Future[subprocess.Popen[bytes]], discard: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    await asyncio.wait({starting})
    if starting.exception() is None:
        await asyncio.to_thread(discard, starting.result())


def kill_group(pid: int) -> None:
    """Send KILL to the group that ``pid`` leads, if there is one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def discard(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that nobody took over, reap it and close its pipes. Blocks for a moment."""
    kill_group(process.pid)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_REAP_S)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def terminate(process: subprocess.Popen[bytes]) -> None:
    """End a process that shares our group: TERM, then KILL. Blocks."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(STOP_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(STOP_GRACE_S)
