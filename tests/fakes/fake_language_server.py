"""A language server in this process whose faults are chosen call by call: no child, so that a thousand lives are cheap.

It knows one rule: the first line of a document is its whole truth. What it says is one error whose message is the first
line of the text that it was sent, so that whoever reads an error knows which text it is about.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness_tui.core.errors import HarnessError
from harness_tui.lsp.framing import FrameDecoder, frame

Way = Literal["pull", "late pull", "push", "push without version"]
Fault = Literal["", "stale", "twice", "modified", "cancelled", "silent", "dies", "error", "same"]


@dataclass
class FakePlan:
    """How the server behaves: one way to report, then for each text in turn a fault and a delay in seconds."""

    way: Way
    steps: Sequence[tuple[Fault, float]]
    _steps: Iterator[tuple[Fault, float]] = field(init=False)

    def __post_init__(self) -> None:
        self._steps = iter(self.steps)

    def step(self) -> tuple[Fault, float]:
        """Return what happens next; nothing out of the ordinary once the plan is over."""
        return next(self._steps, ("", 0.0))


class FakeLife:
    """One life of the server, and the child that the pool sees."""

    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader

    def __init__(self, plan: FakePlan, owner: str, pid: int) -> None:
        self.plan = plan
        self.owner, self.pid = owner, pid
        self.returncode: int | None = None
        self.texts: dict[str, tuple[int, str]] = {}
        self.before: dict[str, tuple[int, str]] = {}
        self._exit = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> FakeLife:
        here, there = socket.socketpair()
        self.stdout, self.stdin = await asyncio.open_connection(sock=here)
        self._reader, self._writer = await asyncio.open_connection(sock=there)
        self._start(self._serve())
        return self

    # --- the child -------------------------------------------------------------------------------

    def stderr_tail(self) -> str:
        return ""

    async def wait(self) -> int:
        await self._exit.wait()
        return self.returncode or 0

    async def left(self) -> Sequence[int]:
        await self.wait()
        return ()

    async def gone(self) -> None:
        await self.wait()

    async def memory(self) -> int:
        return 0

    async def stop(self, polite: Callable[[], Awaitable[None]] | None = None, *, grace: float = 2.0) -> int | None:
        if polite is not None and self.returncode is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(polite(), grace)
        self._end(0)
        for writer in (self._writer, self.stdin):
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        return self.returncode

    def _end(self, status: int) -> None:
        if self.returncode is None:
            self.returncode = status
        self._exit.set()
        self._writer.close()
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()

    # --- the server ------------------------------------------------------------------------------

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _send(self, message: Mapping[str, Any]) -> None:
        if not self._writer.is_closing():
            self._writer.write(frame({"jsonrpc": "2.0", **message}))

    async def _serve(self) -> None:
        decoder = FrameDecoder()
        with suppress(OSError):
            while data := await self._reader.read(65_536):
                for body in decoder.feed(data):
                    self._take(json.loads(body))
        self._end(0)

    def _take(self, message: dict[str, Any]) -> None:
        params = message.get("params") or {}
        match message.get("method"):
            case "initialize":
                provider = {"interFileDependencies": False, "workspaceDiagnostics": False}
                offers = {"textDocumentSync": 1} | ({"diagnosticProvider": provider} if self.plan.way == "pull" else {})
                self._send({"id": message["id"], "result": {"capabilities": offers}})
            case "textDocument/didOpen":
                document = params["textDocument"]
                self._know(document["uri"], document["version"], document["text"])
            case "textDocument/didChange":
                document = params["textDocument"]
                self._know(document["uri"], document["version"], params["contentChanges"][-1]["text"])
            case "textDocument/diagnostic":
                self._start(self._answer(message["id"], params["textDocument"]["uri"]))
            case "shutdown":
                self._send({"id": message["id"], "result": None})
            case "exit":
                self._end(0)
            case _:
                pass

    def _know(self, uri: str, version: int, text: str) -> None:
        if uri in self.texts:
            self.before[uri] = self.texts[uri]
        self.texts[uri] = (version, text)
        if self.plan.way != "pull":
            self._start(self._publish_soon(uri, version, text))

    async def _publish_soon(self, uri: str, version: int, text: str) -> None:
        fault, delay = self.plan.step()
        before = self.before.get(uri)
        if fault == "dies":
            self._end(1)
            return
        if self.plan.way == "late pull":
            provider = {"id": "late", "method": "textDocument/diagnostic", "registerOptions": {}}
            await asyncio.sleep(delay)
            self._send({"id": "r", "method": "client/registerCapability", "params": {"registrations": [provider]}})
            return
        if self.plan.way == "push without version":
            if fault != "silent":
                self._publish(uri, None, text)  # in the order of the texts, as such servers do
            return
        if fault == "stale" and before is not None:
            self._publish(uri, *before)
        await asyncio.sleep(delay)
        if fault == "silent":
            return
        if fault == "twice":
            self._publish(uri, version, text)
        self._publish(uri, version, text)

    def _publish(self, uri: str, version: int | None, text: str) -> None:
        stamp = {} if version is None else {"version": version}
        params = {"uri": uri, "diagnostics": [_error(text)], **stamp}
        self._send({"method": "textDocument/publishDiagnostics", "params": params})

    async def _answer(self, number: Any, uri: str) -> None:
        fault, delay = self.plan.step()
        version, text = self.texts[uri]
        if delay:
            await asyncio.sleep(delay)
        match fault:
            case "dies":
                self._end(1)
            case "silent":
                return
            case "error":
                self._send({"id": number, "error": {"code": -32603, "message": "broken"}})
            case "modified" | "cancelled":
                code = -32801 if fault == "modified" else -32802
                self._send({"id": number, "error": {"code": code, "message": fault}})
            case "same" if self.before.get(uri) is None:
                self._send({"id": number, "result": {"kind": "full", "items": [_error(text)], "resultId": text}})
            case "stale" if self.texts[uri][0] != version:
                # The text changed while it thought: what it found is about the old one.
                self._send({"id": number, "result": {"kind": "full", "items": [_error(text)]}})
            case _:
                text = self.texts[uri][1] if self.texts[uri][0] == version else text
                self._send({"id": number, "result": {"kind": "full", "items": [_error(text)]}})


def _error(text: str) -> dict[str, Any]:
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    return {"range": place, "severity": 1, "message": text.split("\n")[0]}


class FakeLives:
    """The spawner: each start is another life of the server, up to ``most``."""

    def __init__(self, plan: FakePlan, *, most: int = 4) -> None:
        self._plan = plan
        self._most = most
        self.lives: list[FakeLife] = []

    async def spawn(self, argv: Sequence[str], *, owner: str, cwd: Path, **_: Any) -> FakeLife:
        if len(self.lives) == self._most:
            raise HarnessError("it does not start any more", where=argv[0])
        life = FakeLife(self._plan, owner, 1_000_000 + len(self.lives))
        self.lives.append(life)
        return await life.open()
