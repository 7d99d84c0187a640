"""From a changed file to the verdict of ty: through the pool, and by a client that does nothing else.

    python probe_lsp.py

Both have a server of their own over the same project. The bare client sends the new text and asks for the diagnostics
of it, which is the rule by which the pool ends too. Prints the median milliseconds of both.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

from measure import BIN

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.settings import LspServerSettings, LspSettings
from harness_tui.lsp.catalog import BUILT_IN
from harness_tui.lsp.pool import LspPool

ROUNDS, WARM = 60, 5
HEAD = "\n\n".join(f"def step_{n}(value: int) -> int:\n    return value + {n}" for n in range(150))


def text_of(turn: int) -> str:
    """Return the file of a round: with one error in every second one."""
    wrong = f'\n\nresult: int = "{turn}"\n' if turn % 2 else f"\n\nresult: int = {turn}\n"
    return HEAD + wrong


class Silent:
    """An ``EventSink`` that keeps nothing."""

    def emit(self, event: object) -> None:
        """Let it go."""


class Bare:
    """JSON-RPC with one server, as short as it can be."""

    def __init__(self, process: asyncio.subprocess.Process, uri: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self.uri = process, uri
        self.writer, self.reader = process.stdin, process.stdout
        self.last = 0

    def send(self, method: str, params: Any, number: int | None = None) -> None:
        """Write one message."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        self._write(message)

    def _write(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    async def ask(self, method: str, params: Any) -> Any:
        """Send a request and return its result; the server's own requests are answered with nothing."""
        self.last += 1
        self.send(method, params, self.last)
        while True:
            head = await self.reader.readuntil(b"\r\n\r\n")
            size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            message = json.loads(await self.reader.readexactly(size))
            if "method" in message and "id" in message:
                items = message["params"].get("items", []) if isinstance(message.get("params"), dict) else []
                self._write({"jsonrpc": "2.0", "id": message["id"], "result": [None for _ in items] or None})
            elif message.get("id") == self.last:
                return message["result"]

    async def verdict(self, text: str, version: int) -> list[Any]:
        """Send the text and return the diagnostics of it."""
        document = {"uri": self.uri, "version": version}
        self.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        report = await self.ask("textDocument/diagnostic", {"textDocument": {"uri": self.uri}})
        return report["items"]


async def bare_client(folder: Path, file: Path) -> Bare:
    """Start ty and open the file."""
    process = await asyncio.create_subprocess_exec(
        BIN / "ty", "server", cwd=folder, stdin=-1, stdout=-1, stderr=asyncio.subprocess.DEVNULL, limit=1 << 24
    )
    client = Bare(process, file.as_uri())
    abilities = {"textDocument": {"diagnostic": {}, "synchronization": {}}}
    root = {"rootUri": folder.as_uri(), "workspaceFolders": [{"uri": folder.as_uri(), "name": "bench"}]}
    await client.ask("initialize", {"processId": os.getpid(), "capabilities": abilities, **root})
    client.send("initialized", {})
    document = {"uri": client.uri, "languageId": "python", "version": 1, "text": file.read_text()}
    client.send("textDocument/didOpen", {"textDocument": document})
    return client


def project(name: str) -> tuple[Path, Path]:
    """Make a project of one file."""
    folder = Path.cwd() / name
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "bench"\nversion = "1"\n')
    file = folder / "steps.py"
    file.write_text(text_of(0))
    return folder, file


async def measure() -> dict[str, float]:
    """Time both in turn."""
    (ours, our_file), (theirs, their_file) = project("ours"), project("theirs")
    children = ChildRegistry()
    others = {spec.name: LspServerSettings(spec.name, disabled=True) for spec in BUILT_IN if spec.name != "ty"}
    settings, paths = LspSettings(servers=others), os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    pool = LspPool(ours, settings, spawner=children, sink=Silent(), trusted=True, cold_wait=30, environ=paths)
    client = await bare_client(theirs, their_file)
    times: dict[str, list[float]] = {"pool": [], "client": []}
    try:
        for turn in range(1, ROUNDS):
            text, wrong = text_of(turn), turn % 2
            our_file.write_text(text)
            start = time.perf_counter()
            await pool.touch(our_file)
            verdict = await pool.diagnostics(our_file, 30)
            times["pool"].append((time.perf_counter() - start) * 1e3)
            start = time.perf_counter()
            items = await client.verdict(text, turn + 1)
            times["client"].append((time.perf_counter() - start) * 1e3)
            if len(verdict.items) != wrong or len(items) != wrong:
                raise SystemExit(f"round {turn}: {verdict} and {items}, {wrong} expected")
    finally:
        client.process.kill()
        await client.process.wait()
        await pool.close()
        await children.close()
    return {way: statistics.median(values[WARM:]) for way, values in times.items()}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure())))
