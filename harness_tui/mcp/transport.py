"""Our stdio transport: a server as a child of ours, spoken to in lines of JSON.

It differs from the SDK's in what the SDK does not give: the process is spawned through the one spawner, lines are
assembled in linear time under a limit, bytes that are no message are counted and passed over, the end of the process is
noticed even when a child of it keeps the pipe open, and its whole group is ended with it. Imports the SDK: loaded with
the first server, in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from types import TracebackType
from typing import Final, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.limits import MCP_MESSAGE_BYTES, MIB
from harness_tui.core.paths import expand
from harness_tui.core.seams import Child, ProcessSpawner
from harness_tui.mcp.exchange import Exchange
from harness_tui.mcp.framing import Line, LineAssembler
from harness_tui.mcp.reasons import StartError

_CHUNK_BYTES: Final = 256 * 1024
_THREAD_BYTES: Final = 128 * 1024
_DRAIN_S: Final = 0.25
_FLUSH_S: Final = 0.5
_EXIT_S: Final = 0.5
_GRACE_S: Final = 2.0
_WRITE_AHEAD: Final = 256

Inbound: TypeAlias = MemoryObjectSendStream[SessionMessage | Exception]
Streams: TypeAlias = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]


class StdioTransport:
    """An SDK transport: entering starts the server and gives its two streams, leaving ends it and its group.

    ``lost`` is set when nothing more can come from it, by its own end or by ours. ``went_away`` tells that it was the
    server's doing; once ``settled`` is set, ``own_returncode`` is how its process ended by itself, ``None`` when it
    still ran and had only closed its output.
    """

    kind: Final = "stdio"

    def __init__(self, server: McpServerSettings, *, spawner: ProcessSpawner, root: Path, exchange: Exchange) -> None:
        self._server = server
        self._spawner = spawner
        self._root = root
        self._exchange = exchange
        self._child: Child | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping: asyncio.Task[int | None] | None = None
        self._inbound: Inbound | None = None
        self._outbound: MemoryObjectReceiveStream[SessionMessage] | None = None
        self.lost = asyncio.Event()
        self.settled = asyncio.Event()
        self.went_away = False
        self.own_returncode: int | None = None

    @property
    def pid(self) -> int | None:
        """The process id, once there is one."""
        return self._child.pid if self._child is not None else None

    def stderr_tail(self) -> str:
        """Return the last lines of the server's standard error."""
        return self._child.stderr_tail() if self._child is not None else ""

    async def __aenter__(self) -> Streams:
        server = self._server
        self._child = await self._spawner.spawn(
            server.command,
            owner=f"mcp:{server.name}",
            cwd=expand(server.cwd, self._root) if server.cwd else self._root,
            env=server.env,
            needs=server.inherit,
            stdin="pipe",
            stdout="pipe",
            stdout_limit=MIB,
        )
        # Nothing awaits between the start and here: a cancelled connect never loses the process.
        if self._child.stdin is None or self._child.stdout is None:
            raise StartError("was started without its pipes", where=server.name)
        self._inbound, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, self._outbound = anyio.create_memory_object_stream[SessionMessage](_WRITE_AHEAD)
        reader = asyncio.create_task(self._read(self._child.stdout, self._inbound), name=f"mcp-read:{server.name}")
        self._tasks = [
            reader,
            asyncio.create_task(self._write(self._child.stdin, self._outbound), name=f"mcp-write:{server.name}"),
            asyncio.create_task(self._watch(self._child, reader), name=f"mcp-watch:{server.name}"),
        ]
        return read, write

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A task of its own: whoever waits here may be cancelled, the server is ended all the same.
        self._stopping = self._stopping or asyncio.create_task(self._stop(), name=f"mcp-stop:{self._server.name}")
        await asyncio.shield(self._stopping)

    async def _stop(self) -> int | None:
        child = self._child
        if child is None:
            return None
        if not self._tasks:
            self.settled.set()
            return await child.stop(grace=_GRACE_S)
        reader, writer, watcher = self._tasks

        async def polite() -> None:
            if self._inbound is not None:
                self._inbound.close()
            await asyncio.wait({writer}, timeout=_FLUSH_S)
            if child.stdin is not None:
                child.stdin.close()

        if self.lost.is_set() and not self.settled.is_set():
            self.went_away = True
            # The end of its output comes just before its own end: without this moment we would be the ones to end it.
            await asyncio.wait({watcher}, timeout=_EXIT_S)
        self.settled.set()
        try:
            return await child.stop(polite, grace=_GRACE_S)
        finally:
            for task in (reader, writer, watcher):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            if self._outbound is not None:
                self._outbound.close()
            self.lost.set()

    async def _read(self, stdout: asyncio.StreamReader, inbound: Inbound) -> None:
        lines = LineAssembler(MCP_MESSAGE_BYTES)
        try:
            while chunk := await stdout.read(_CHUNK_BYTES):
                await self._deliver(lines.feed(chunk), inbound)
            await self._deliver(lines.finish(), inbound)
        except (ConnectionError, OSError) as error:
            self._exchange.remark(f"reading its output failed: {error}")
        finally:
            inbound.close()
            self.lost.set()

    async def _deliver(self, lines: list[Line], inbound: Inbound) -> None:
        for line in lines:
            large = isinstance(line, bytes) and len(line) > _THREAD_BYTES
            messages = await asyncio.to_thread(self._parse, line) if large else self._parse(line)
            for message in messages:
                # Once the session is gone the rest is read and dropped: a server that blocks on a full pipe could
                # not see that its input was closed.
                with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await inbound.send(message)

    def _parse(self, line: Line) -> list[SessionMessage]:
        return [SessionMessage(message) for message in self._exchange.messages(line)]

    async def _write(self, stdin: asyncio.StreamWriter, outbound: MemoryObjectReceiveStream[SessionMessage]) -> None:
        try:
            async for item in outbound:
                self._exchange.sent(item.message)
                stdin.write(wire_form(item.message) + b"\n")
                await stdin.drain()
        except (ConnectionError, OSError):
            # It takes no more input: whoever waits for an answer must know at once.
            if self._inbound is not None:
                self._inbound.close()
            self.lost.set()

    async def _watch(self, child: Child, reader: asyncio.Task[None]) -> None:
        returncode = await child.wait()
        if not self.settled.is_set():
            self.went_away, self.own_returncode = True, returncode
            self.settled.set()
        await asyncio.wait({reader}, timeout=_DRAIN_S)
        reader.cancel()


def wire_form(message: JSONRPCMessage) -> bytes:
    """Return ``message`` as one line of JSON, without its end; what UTF-8 has no room for is escaped."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except ValueError:
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True), default=str).encode("ascii")
