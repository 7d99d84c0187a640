"""One server process with its peer: started through the spawner, watched, and stopped with all its children."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.seams import Child, ProcessSpawner
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.lsp.rpc import OnNotification, OnRequest, OnText, Peer, PeerClosedError, RpcError
from harness_tui.lsp.spec import ServerSpec
from harness_tui.lsp.trace import Trace

SHUTDOWN_S: Final = 1.0
STOP_GRACE_S: Final = 1.4
PROBE_S: Final = 2.0
_STATUS_S: Final = 0.15
_INHERITED: Final = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "NODE_PATH", "GOPATH", "CARGO_HOME", "RUSTUP_HOME")


class ServerProcess:
    """A running server. The stream's end and the process's end both end the peer, whichever is seen first.

    A launcher may die while its child keeps the pipes open, and a server may close its output and live on.
    """

    def __init__(self, child: Child, peer: Peer) -> None:
        self._child = child
        self.peer = peer
        self._watch = asyncio.get_running_loop().create_task(self._watch_exit(), name=f"{child.owner} exit")

    @property
    def pid(self) -> int:
        """The process id."""
        return self._child.pid

    @property
    def exited(self) -> bool:
        """Whether the process itself is gone."""
        return self._child.returncode is not None

    async def exit_reason(self) -> str | None:
        """Say how the process ended, ``None`` when it runs on; one that is about to end is waited for a moment."""
        return await _exit_reason(self._child)

    def complaint(self) -> str:
        """Return the last line of its standard error, or the first line of junk on its output; may be empty."""
        lines = [line for line in self._child.stderr_tail().splitlines() if line.strip()]
        return cut_end(clean_for_display(lines[-1] if lines else self.peer.skipped, one_line=True), 300)

    async def memory(self) -> int:
        """Return the resident bytes of it with what it started."""
        return await self._child.memory()

    async def stop(self) -> None:
        """End it: ``shutdown``, ``exit``, close its input, then TERM and KILL to the group, each with a time limit."""
        await self._child.stop(self._say_goodbye, grace=STOP_GRACE_S)
        self.peer.end("was stopped")
        self._watch.cancel()

    async def _say_goodbye(self) -> None:
        with contextlib.suppress(PeerClosedError, RpcError, TimeoutError):  # the steps that follow need no answer
            await self.peer.request("shutdown", timeout=SHUTDOWN_S)
        with contextlib.suppress(PeerClosedError):
            self.peer.notify("exit")
        if self._child.stdin is not None:
            self._child.stdin.close()  # some servers only end by this

    async def _watch_exit(self) -> None:
        self.peer.end(exit_text(await self._child.wait()))


async def start_process(
    spawner: ProcessSpawner,
    spec: ServerSpec,
    argv: Sequence[str],
    root: Path,
    *,
    on_request: OnRequest,
    on_notification: OnNotification,
    on_end: OnText,
    on_fault: OnText,
    trace: Trace,
) -> ServerProcess:
    """Start ``argv`` in ``root``; ``trace`` keeps its messages. Raises ``HarnessError`` when it cannot be started."""
    child = await spawner.spawn(
        argv, owner=f"lsp:{spec.name}", cwd=root, env=spec.env, inherit=_INHERITED, stdin="pipe", stdout="pipe"
    )
    if child.stdin is None or child.stdout is None:
        await child.stop()
        raise HarnessError("the server was started without pipes", where=spec.name)

    async def explain_end() -> str:
        return await _exit_reason(child) or "closed its output"

    peer = Peer(
        child.stdout,
        child.stdin,
        on_request=on_request,
        on_notification=on_notification,
        on_end=on_end,
        on_fault=on_fault,
        explain_end=explain_end,
        trace=trace,
    )
    process = ServerProcess(child, peer)
    peer.start()
    return process


async def _exit_reason(child: Child) -> str | None:
    # Pipes break a moment before the exit status is known, and the status says more.
    try:
        return exit_text(await asyncio.wait_for(child.wait(), _STATUS_S))
    except TimeoutError:
        return None


async def probe(spawner: ProcessSpawner, spec: ServerSpec, binary: str, root: Path) -> str | None:
    """Run ``binary`` with the probe's arguments; return what is wrong with it, ``None`` when it works."""
    try:
        child = await spawner.spawn(
            [binary, *spec.probe], owner=f"lsp:{spec.name}", cwd=root, env=spec.env, inherit=_INHERITED, stdout="null"
        )
    except HarnessError as error:
        return error.what
    try:
        status = await asyncio.wait_for(child.wait(), PROBE_S)
    except TimeoutError:
        return f"{binary} {' '.join(spec.probe)} did not end within {PROBE_S:g} s"
    finally:
        await child.stop(grace=0.5)
    if status == 0:
        return None
    lines = child.stderr_tail().strip().splitlines()
    said = f": {cut_end(clean_for_display(lines[-1], one_line=True), 200)}" if lines else ""
    return f"{binary} does not work, it {exit_text(status)}{said}"


def exit_text(status: int) -> str:
    """Say how a process ended."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
