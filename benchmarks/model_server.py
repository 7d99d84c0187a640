"""A model on loopback that says what the message asks for: ``say 300 at 2000 until m001``.

That is 300 tokens of Markdown, 2,000 a second, the last word ``endm001``. One event a token, a token at most five
characters: the text is the same in every run and for every program that asks. Prints its address, and writes down when
the first and the last token of an answer were written.

    python model_server.py LOG
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ORDER = re.compile(r"say (\d+) at (\d+) until (\w+)")
TOKEN = re.compile(r"\n+ *| *\S{1,5}| +")
NOUNS = [
    "cache",
    "index",
    "queue",
    "socket",
    "parser",
    "ledger",
    "signal",
    "buffer",
    "worker",
    "module",
    "record",
    "window",
    "policy",
    "answer",
    "editor",
]
VERBS = [
    "reads",
    "keeps",
    "splits",
    "drops",
    "joins",
    "counts",
    "closes",
    "checks",
    "writes",
    "sorts",
    "names",
    "moves",
    "holds",
    "opens",
    "sends",
]
ASIDES = [
    "at once",
    "before the next request",
    "in a thread of its own",
    "until the end of the file",
    "only when it is asked",
]
CODE = (
    "python\ndef total(rows: list[int], start: int = {n}) -> int:\n    for row in rows:\n        if row > start:\n"
    "            start += row  # the larger ones\n    return start",
    'sh\nset -e\nfor name in *.txt; do\n  sort -u "$name" | head -n {n}\ndone',
    'json\n{{\n  "limit": {n},\n  "names": ["first", "second"],\n  "open": true\n}}',
    "rust\nfn total(rows: &[u64]) -> u64 {{\n    rows.iter().filter(|row| **row > {n}).sum()\n}}",
)


def sentence(pick: random.Random, length: int) -> str:
    """A sentence of about ``length`` clauses, some words marked up."""
    clauses: list[str] = []
    for _ in range(length):
        noun, other = pick.choice(NOUNS), pick.choice(NOUNS)
        marked = pick.choice(("{}", "{}", "{}", "`{}`", "**{}**", "*{}*", "[{}](docs/a.md)")).format(other)
        clauses.append(f"the {noun} {pick.choice(VERBS)} the {marked} {pick.choice(ASIDES)}")
    text = ", and ".join(clauses)
    return text[0].upper() + text[1:] + "."


def block(pick: random.Random, place: int) -> str:
    """One block of Markdown: headings, prose, lists, code, tables and quotes in turn."""
    match place % 8:
        case 0:
            return f"{'#' * pick.randint(2, 3)} Part {place // 8 + 1}: {sentence(pick, 1)}"
        case 1 | 3 | 6:
            return " ".join(sentence(pick, 2) for _ in range(pick.randint(2, 3)))
        case 2:
            return "\n".join(f"- {sentence(pick, 1)}\n  - {sentence(pick, 1)}" for _ in range(3))
        case 4:
            return "```" + pick.choice(CODE).format(n=pick.randint(2, 99)) + "\n```"
        case 5:
            rows = "\n".join(
                f"| {pick.choice(NOUNS)} | {pick.randint(1, 999)} | {pick.choice(ASIDES)} |" for _ in range(4)
            )
            return f"| part | count | when |\n|---|---:|---|\n{rows}"
        case _:
            return "\n".join(f"> {sentence(pick, 1)}" for _ in range(2))


def tokens_of(count: int, mark: str) -> list[str]:
    """Return ``count`` tokens; the last is the end mark, in a paragraph of its own."""
    pick = random.Random(f"bench {mark}")
    text, place = "", 0
    found: list[str] = []
    while len(found) < count:
        text += block(pick, place) + "\n\n"
        place += 1
        found = TOKEN.findall(text)
    kept = found[: max(0, count - 2)]
    fence = "\n```" if "".join(kept).count("```") % 2 else ""
    return [*kept, f"{fence}\n\n", f"end{mark}"]


class Handler(BaseHTTPRequestHandler):
    """Answers chat completions and Anthropic messages; anything else gets an empty list of models."""

    log: Path
    lock = threading.Lock()

    def do_GET(self) -> None:
        """There is one model."""
        self._plain({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        """Stream what the last message asks for."""
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
        orders = ORDER.findall(json.dumps(body["messages"][-1]["content"]))
        count, rate, mark = orders[-1] if orders else ("2", "1000", "none")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        stream = self._messages if self.path.endswith("/messages") else self._stream
        try:
            stream(tokens_of(int(count), mark), float(rate), mark)
        except OSError:
            self._note("broken", mark)

    def _stream(self, tokens: list[str], rate: float, mark: str) -> None:
        self._paced(tokens, rate, mark, lambda token: self._event({"content": token}))
        self._event({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def _messages(self, tokens: list[str], rate: float, mark: str) -> None:
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "a", "type": "message", "role": "assistant", "model": "scripted", "content": []}
        self._named("message_start", message=message | {"stop_reason": None, "stop_sequence": None, "usage": usage})
        self._named("content_block_start", index=0, content_block={"type": "text", "text": ""})
        self._paced(
            tokens,
            rate,
            mark,
            lambda token: self._named("content_block_delta", index=0, delta={"type": "text_delta", "text": token}),
        )
        self._named("content_block_stop", index=0)
        self._named("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage=usage)
        self._named("message_stop")

    def _paced(self, tokens: list[str], rate: float, mark: str, write: Callable[[str], None]) -> None:
        start = time.perf_counter()
        for place, token in enumerate(tokens):
            if (wait := start + place / rate - time.perf_counter()) > 0:
                time.sleep(wait)
            write(token)
            if place == 0:
                self._note("first", mark)
        self._note("last", mark)

    def _named(self, kind: str, **fields: object) -> None:
        self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode())

    def _event(self, delta: dict[str, str], finish: str | None = None) -> None:
        data = {"id": "a", "object": "chat.completion.chunk", "model": "scripted"}
        data["choices"] = [{"index": 0, "delta": delta, "finish_reason": finish}]  # type: ignore[assignment]
        self.wfile.write(b"data: " + json.dumps(data).encode() + b"\n\n")

    def _plain(self, data: object) -> None:
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _note(self, event: str, mark: str) -> None:
        line = json.dumps({"event": event, "mark": mark, "at": time.perf_counter()})
        with self.lock, self.log.open("a") as file:
            file.write(line + "\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def main() -> None:
    """Serve until the bench goes away: its end of our input is then closed."""
    Handler.log = Path(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
