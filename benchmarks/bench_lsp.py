"""From a changed file to the verdict, of each language server: through the pool, and by a client of its own.

    python benchmarks/bench_lsp.py SERVERS [--only NAME] [--rounds N] [--json FILE]

``SERVERS`` is a folder that ``tests/servers/install.py`` has filled. Each server runs twice over the same files. The
bare client ends by the rule by which the pool ends with that server: an answer to a pull, the answers of tsserver, a
publish for the version and then quiet, or clangd's word that it is idle. Both are asked in turn, so that a busy machine
slows both. ``cold`` is the first verdict with the start of the server in it. Then: a set of 10,000 items and how long
it holds up the loop, and a file of 20,000 lines.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import BIN
from probe_lsp import Bare, Silent

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.settings import LspServerSettings, LspSettings
from harness_tui.lsp.built_in import BUILT_IN
from harness_tui.lsp.diagnostics import KEPT_ITEMS
from harness_tui.lsp.pool import LspPool
from harness_tui.lsp.protocol import initialize_params

WARM = 3
TSSERVER = ("syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync")


@dataclass(frozen=True)
class Case:
    """One server: what it is called, what it needs, and two texts of a file, with an error and without."""

    title: str
    name: str
    kinds: tuple[str, ...]
    file: str
    bad: str
    good: str
    rule: str
    also: tuple[tuple[str, str], ...] = ()


PYTHON = "\n\n".join(f"def step_{n}(value: int) -> int:\n    return value + {n}" for n in range(150)) + "\n\n"
LARGE = "".join(f"name_{n}: int = {n}\n" for n in range(20_000))
TYPESCRIPT = "".join(f"export function step{n}(value: number): number {{ return value + {n}; }}\n" for n in range(150))
CONFIG = (("tsconfig.json", '{"compilerOptions": {"strict": true}}'),)
CASES = (
    Case("ty", "ty", (), "a.py", PYTHON + 'x: int = "t"\n', PYTHON + "x: int = 1\n", "pull"),
    Case("ruff", "ruff", (), "a.py", PYTHON + "print(nobody)\n", PYTHON + "print(1)\n", "pull"),
    Case("basedpyright", "basedpyright", (), "a.py", PYTHON + 'x: int = "t"\n', PYTHON + "x: int = 1\n", "pull"),
    Case("clangd", "clangd", ("clangd",), "a.c", "int f(void) { return x; }\n", "int f(void) { return 1; }\n", "idle"),
    Case(
        "tsserver, TypeScript 5.9",
        "typescript-language-server",
        ("ts5",),
        "a.ts",
        TYPESCRIPT + 'export const x: number = "t";\n',
        TYPESCRIPT + "export const x: number = 1;\n",
        "tsserver",
        CONFIG,
    ),
    Case(
        "TypeScript 7",
        "typescript",
        ("ts7",),
        "a.ts",
        TYPESCRIPT + 'export const x: number = "t";\n',
        TYPESCRIPT + "export const x: number = 1;\n",
        "pull",
        CONFIG,
    ),
    Case("vscode-json", "json", ("web",), "a.json", '{"a": 1,}\n', '{"a": 1}\n', "pull"),
    Case("yaml", "yaml", ("yaml",), "a.yaml", "a: [1\n", "a: [1]\n", "push"),
    Case("ty, 20,000 lines", "ty", (), "a.py", LARGE + 'x: int = "t"\n', LARGE + "x: int = 1\n", "pull"),
)


def environment(servers: Path, kinds: tuple[str, ...]) -> dict[str, str]:
    """Return the environment with the installations on its PATH. Raises ``LookupError`` with what is missing."""
    file = servers / "installed.json"
    installed = json.loads(file.read_text()) if file.exists() else {}
    for kind in kinds:
        entry = installed.get(kind, {"error": f"{kind} is not installed: tests/servers/install.py {servers}"})
        if "error" in entry:
            raise LookupError(entry["error"])
    found = [installed[kind]["bin"] for kind in kinds]
    return os.environ | {"PATH": os.pathsep.join([*found, str(BIN), str(servers / "node"), os.environ["PATH"]])}


class Client(Bare):
    """A bare client that also waits for what is pushed."""

    def __init__(self, process: asyncio.subprocess.Process, uri: str) -> None:
        super().__init__(process, uri)
        self.answers: dict[int, asyncio.Future[Any]] = {}
        self.published: tuple[int | None, list[Any], float] = (None, [], 0.0)
        self.idle = 0.0
        self.pulls = False
        self.news = asyncio.Event()
        self.reading = asyncio.get_running_loop().create_task(self.read())

    async def read(self) -> None:
        """Take what comes."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await self.reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                self.take(json.loads(await self.reader.readexactly(size)))

    def take(self, message: dict[str, Any]) -> None:
        """Take one message; the server's own requests are answered with nothing."""
        method, params = message.get("method"), message.get("params")
        if method is None:
            self.answers.pop(message["id"]).set_result(message)
        elif "id" in message:
            items = params.get("items", []) if isinstance(params, dict) else []
            self.pulls = self.pulls or "textDocument/diagnostic" in json.dumps(params)
            self._write({"jsonrpc": "2.0", "id": message["id"], "result": [None for _ in items] or None})
        elif method == "textDocument/publishDiagnostics" and params["uri"] == self.uri:
            self.published = (params.get("version"), params["diagnostics"], time.perf_counter())
        elif method == "textDocument/clangd.fileStatus" and params["state"] == "idle":
            self.idle = time.perf_counter()
        self.news.set()

    async def ask(self, method: str, params: Any) -> Any:
        """Send a request and return its result; one that is refused for now is sent again."""
        while True:
            self.last += 1
            answer = self.answers[self.last] = asyncio.get_running_loop().create_future()
            self.send(method, params, self.last)
            message = await answer
            if message.get("error", {}).get("code") in (-32801, -32802):
                await asyncio.sleep(0.05)
                continue
            return message.get("result")

    async def until(self, settle: float, version: int, sent: float) -> list[Any]:
        """Wait for a publish for ``version``, then until it is quiet for ``settle`` seconds."""
        while True:
            self.news.clear()
            known, items, at = self.published
            fits = at > sent and (known is None or known >= version)
            left = at + settle - time.perf_counter()
            if fits and left <= 0:
                return items
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.news.wait(), left if fits else 30)

    async def until_idle(self, version: int, sent: float) -> list[Any]:
        """Wait for a publish for ``version`` and for the end of the work on it."""
        while True:
            self.news.clear()
            known, items, at = self.published
            if at > sent and known is not None and known >= version and self.idle > at - 0.01:
                return items
            await asyncio.wait_for(self.news.wait(), 30)

    async def verdict_by(self, rule: str, path: Path, text: str, version: int, settle: float) -> list[Any]:
        """Send the text, whole, and return the diagnostics of it by ``rule``."""
        sent = time.perf_counter()
        document = {"uri": self.uri, "version": version}
        self.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        match rule:
            case "pull":
                return (await self.ask("textDocument/diagnostic", {"textDocument": {"uri": self.uri}}))["items"]
            case "tsserver":
                calls = [
                    self.ask(
                        "workspace/executeCommand",
                        {"command": "typescript.tsserverRequest", "arguments": [command, {"file": str(path)}]},
                    )
                    for command in TSSERVER
                ]
                return [item for answer in await asyncio.gather(*calls) for item in answer["body"]]
            case "idle":
                return await self.until_idle(version, sent)
            case _:
                return await self.until(settle, version, sent)


@asynccontextmanager
async def bare_client(pool: LspPool, folder: Path, file: Path, environ: dict[str, str]) -> AsyncIterator[Client]:
    """Start what the pool started, in ``folder``, and show it ``file``."""
    (ours,) = pool.running()
    process = await asyncio.create_subprocess_exec(
        *ours.argv,
        cwd=folder,
        stdin=-1,
        stdout=-1,
        stderr=asyncio.subprocess.DEVNULL,
        limit=1 << 26,
        env=environ,
        start_new_session=True,
    )
    client = Client(process, file.as_uri())
    try:
        await client.ask("initialize", initialize_params(ours.spec, folder))
        client.send("initialized", {})
        client.send("workspace/didChangeConfiguration", {"settings": ours.spec.settings})
        language = ours.spec.language(file)
        document = {"uri": client.uri, "languageId": language, "version": 1, "text": file.read_text()}
        client.send("textDocument/didOpen", {"textDocument": document})
        yield client
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # the whole group: some are started by a script that waits for them
        await process.wait()
        client.reading.cancel()


async def measure(case: Case, servers: Path, rounds: int) -> dict[str, Any]:
    """Time both in turn; milliseconds, and the words of the pool's warm verdicts."""
    environ = environment(servers, case.kinds)
    with tempfile.TemporaryDirectory(prefix="harness-lsp-") as scratch:
        ours, theirs = (Path(scratch).resolve() / name / "project" for name in ("ours", "theirs"))
        for folder in (ours, theirs):
            folder.mkdir(parents=True)
            for name, text in ((case.file, case.good), *case.also):
                (folder / name).write_text(text)
        entries = {
            spec.name: LspServerSettings(spec.name, disabled=True) for spec in BUILT_IN if spec.name != case.name
        }
        children = ChildRegistry()
        pool = LspPool(
            ours,
            LspSettings(servers=entries),
            spawner=children,
            sink=Silent(),
            trusted=True,
            cold_wait=60,
            environ=environ,
        )
        try:
            start = time.perf_counter()
            first = await pool.diagnostics(ours / case.file, 60)
            cold = (time.perf_counter() - start) * 1e3
            if first.verdict != "fresh":
                raise LookupError(f"{case.title}: {first.verdict}: {first.reason}")
            async with bare_client(pool, theirs, theirs / case.file, environ) as client:
                return {"cold": cold} | await in_turn(case, pool, client, (ours, theirs), rounds)
        finally:
            await pool.close()
            await children.close()


async def in_turn(case: Case, pool: LspPool, client: Client, folders: tuple[Path, Path], rounds: int) -> dict[str, Any]:
    """Change the file of both and wait for both verdicts, one after the other."""
    ours, theirs = (folder / case.file for folder in folders)
    settle = pool.running()[0].spec.settle
    times: dict[str, list[float]] = {"pool": [], "client": []}
    words: list[str] = []
    for turn in range(rounds + WARM):
        wrong = turn % 2 == 0
        text = f"{case.bad if wrong else case.good}" + ("\n" * (turn // 2 % 2) if case.file != "a.json" else "")
        ours.write_text(text)
        start = time.perf_counter()
        await pool.touch(ours)
        verdict = await pool.diagnostics(ours)
        times["pool"].append((time.perf_counter() - start) * 1e3)
        words.append(verdict.verdict)
        theirs.write_text(text)
        start = time.perf_counter()
        items = await client.verdict_by(case.rule, theirs, text, turn + 2, settle)
        times["client"].append((time.perf_counter() - start) * 1e3)
        errors = [item for item in verdict.items if item.severity == "error"]
        if verdict.verdict in ("fresh", "unchanged") and bool(errors) != wrong:
            raise SystemExit(f"{case.title}, round {turn}: {verdict}, an error {'' if wrong else 'not '}expected")
        if bool(items) != wrong and case.title != "ruff":
            raise SystemExit(f"{case.title}, round {turn}: the bare client found {items}")
    return {way: statistics.median(values[WARM:]) for way, values in times.items()} | {"words": words[WARM:]}


FLOOD = """
import json, sys
def send(message):
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body)); sys.stdout.buffer.flush()
while line := sys.stdin.buffer.readline():
    length = int(line.split(b":")[1]); sys.stdin.buffer.readline()
    message = json.loads(sys.stdin.buffer.read(length))
    if message.get("method") in ("initialize", "shutdown"):
        send({"jsonrpc": "2.0", "id": message["id"], "result": {"capabilities": {"textDocumentSync": 1}}})
    elif message.get("method") == "exit":
        break
    elif message.get("method", "").startswith("textDocument/did") and "version" in message["params"]["textDocument"]:
        document = message["params"]["textDocument"]
        items = [{"range": {"start": {"line": n, "character": 0}, "end": {"line": n, "character": 1}}, "severity": 1,
                  "message": f"number {n} of version {document['version']}"} for n in range(10_000)]
        params = {"uri": document["uri"], "version": document["version"], "diagnostics": items}
        send({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params})
"""


async def flood(rounds: int) -> dict[str, Any]:
    """Take sets of 10,000 items; milliseconds to the verdict, and the longest time that the loop was held up."""
    with tempfile.TemporaryDirectory(prefix="harness-lsp-") as scratch:
        file = Path(scratch).resolve() / "a.txt"
        entries = {spec.name: LspServerSettings(spec.name, disabled=True) for spec in BUILT_IN}
        entries["flood"] = LspServerSettings("flood", (sys.executable, "-S", "-c", FLOOD), (".txt",))
        children = ChildRegistry()
        pool = LspPool(
            file.parent,
            LspSettings(servers=entries),
            spawner=children,
            sink=Silent(),
            trusted=True,
            cold_wait=60,
            environ=dict(os.environ),
        )
        longest, took = [0.0], []

        async def beat() -> None:
            while True:
                before = time.perf_counter()
                await asyncio.sleep(0.001)
                longest.append((time.perf_counter() - before) * 1e3 - 1)

        beating = asyncio.get_running_loop().create_task(beat())
        try:
            for turn in range(rounds):
                file.write_text(f"{turn}\n" * 10_000)
                start = time.perf_counter()
                verdict = await pool.diagnostics(file, 60)
                took.append((time.perf_counter() - start) * 1e3)
                if (verdict.verdict, len(verdict.items)) != ("fresh", KEPT_ITEMS):
                    raise SystemExit(f"{verdict.verdict} with {len(verdict.items)} items")
        finally:
            beating.cancel()
            await pool.close()
            await children.close()
    return {"took": statistics.median(took), "longest": max(longest)}


def main() -> int:
    """Measure what is there; the exit code is 1 when a server could not be measured."""
    parser = argparse.ArgumentParser(description="Verdicts of language servers, beside a bare client.")
    parser.add_argument("servers", type=Path)
    parser.add_argument("--only", action="append", help="only this server; may be repeated")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results: dict[str, Any] = {}
    missed = 0
    print(f"{'server':26} {'cold':>8} {'pool':>8} {'bare':>8} {'more':>8}  fresh or unchanged")
    for case in CASES:
        if options.only and case.name not in options.only:
            continue
        try:
            found = asyncio.run(measure(case, options.servers.resolve(), options.rounds))
        except LookupError as error:
            missed += 1
            print(f"{case.title:26} skipped: {error}")
            continue
        words = found.pop("words")
        found["known"] = sum(word in ("fresh", "unchanged") for word in words) / len(words)
        results[case.title] = found
        more = found["pool"] - found["client"]
        numbers = f"{found['cold']:8.0f} {found['pool']:8.1f} {found['client']:8.1f} {more:+8.1f}"
        print(f"{case.title:26} {numbers}  {100 * found['known']:.0f} % of {len(words)}", flush=True)
    if not options.only:
        results["10,000 items"] = found = asyncio.run(flood(10))
        print(
            f"a set of 10,000 items: {found['took']:.0f} ms to the verdict, the loop held up {found['longest']:.0f} ms"
        )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
