"""The floor of a long session: as little as a Textual program can do to show the same answers.

    python floor_session.py URL lines|static

``lines`` is one widget over rows that are rendered already, beside a prompt: it keeps rendered rows only from some
block on, counts its place from the end, refreshes the rows that differ, and renders older blocks when somebody goes
there. ``static`` is one plain ``Static`` in a scroll that gets the whole text at every tick. Both take what arrived
fifteen times a second.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import threading
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import ClassVar
from urllib.parse import urlsplit

os.environ["TEXTUAL_FPS"] = "120"  # as the product has it; read when textual is imported

from markdown_it import MarkdownIt
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.events import Key
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static, TextArea

TICKS = 15


class Lines(Widget):
    """The transcript as rows. ``back`` is how many rows the reader is away from the end."""

    DEFAULT_CSS = "Lines { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.rendered_from = 0
        self.rows: list[Strip] = []
        self.rest = ""
        self.rest_rows: list[Strip] = []
        self.back = 0
        self.seen: list[Strip] = []
        self.parser = MarkdownIt("commonmark").enable("table")
        self.console = Console(force_terminal=True, color_system="truecolor", width=80)

    def render_source(self, source: str) -> list[Strip]:
        """Return the rows of a block, an empty one after it."""
        shown = Text(source, "bold") if source.startswith("> say") else Markdown(source)
        width = max(8, self.size.width - 1)
        lines = self.console.render_lines(shown, self.console.options.update_width(width), pad=False)
        return [*(Strip(line).adjust_cell_length(self.size.width) for line in lines), Strip.blank(self.size.width)]

    def add(self, source: str) -> None:
        """Append a whole block."""
        self.sources.append(source)
        self.rows += self.render_source(source)

    def take(self, text: str, *, last: bool) -> None:
        """Take a piece of the answer: blocks that are over become rows for good."""
        self.rest += text
        begins = [t.map[0] for t in self.parser.parse(self.rest) if t.map and t.level == 0 and t.nesting >= 0]
        lines = self.rest.splitlines(keepends=True)
        bounds = [0, *begins[1:]] + ([len(lines)] if last else [])
        for start, end in pairwise(bounds):
            self.add("".join(lines[start:end]))
        self.rest = "" if last else "".join(lines[bounds[-1] :])
        self.rest_rows = self.render_source(self.rest) if self.rest else []
        self.settle()

    def settle(self) -> None:
        """Refresh the rows in sight that differ."""
        height = self.size.height
        need = self.back + height
        while self.rendered_from and len(self.rows) + len(self.rest_rows) < need:
            self.rendered_from -= 1
            self.rows[0:0] = self.render_source(self.sources[self.rendered_from])
        total = len(self.rows) + len(self.rest_rows)
        self.back = max(0, min(self.back, total - height))
        end = total - self.back
        start = max(0, end - height)
        now = self.rows[start:end] + self.rest_rows[max(0, start - len(self.rows)) : max(0, end - len(self.rows))]
        before, self.seen = self.seen, now
        different = [y for y in range(height) if before[y : y + 1] != now[y : y + 1]]
        if different:
            first = different[0]
            self.refresh(Region(0, first, self.size.width, different[-1] + 1 - first))

    def on_resize(self) -> None:
        """Forget every row; those in sight are rendered again."""
        self.rows, self.rendered_from, self.seen = [], len(self.sources), []
        self.rest_rows = self.render_source(self.rest) if self.rest else []
        self.settle()

    def page(self, way: int) -> None:
        """Move by a page; -1 is up."""
        self.back = max(0, self.back - way * (self.size.height - 1))
        self.settle()

    def render_line(self, y: int) -> Strip:
        """Return a row."""
        return self.seen[y] if y < len(self.seen) else Strip.blank(self.size.width)


class Plain(VerticalScroll):
    """The whole text in one ``Static``."""

    DEFAULT_CSS = "Plain { height: 1fr; }"

    def compose(self) -> ComposeResult:
        """Yield it."""
        self.whole = ""
        self.static = Static(markup=False)
        yield self.static

    def add(self, source: str) -> None:
        """Append a message."""
        self.whole += f"{source}\n\n"

    def take(self, text: str, *, last: bool) -> None:
        """Append a piece of the answer and go to the end."""
        self.whole += text + ("\n\n" if last else "")
        self.static.update(self.whole)
        self.scroll_end(animate=False)

    def settle(self) -> None:
        """Nothing waits."""

    def page(self, way: int) -> None:
        """Move by a page."""
        self.scroll_relative(y=way * self.size.height, animate=False)


class Prompt(TextArea):
    """Several lines; Enter sends."""

    DEFAULT_CSS = "Prompt { height: 5; }"

    async def _on_key(self, event: Key) -> None:
        if event.key != "enter":
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        text, self.text = self.text, ""
        self.app.ask(text)


class Floor(App[None]):
    """Transcript over prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page(-1)", priority=True),
        Binding("pagedown", "page(1)", priority=True),
    ]

    def __init__(self, url: str, view: Lines | Plain) -> None:
        super().__init__()
        self.url = urlsplit(url)
        self.view = view
        self.messages: list[dict[str, str]] = []
        self.waiting = 0
        self.arrived: SimpleQueue[str | None] = SimpleQueue()

    def compose(self) -> ComposeResult:
        """Yield the two."""
        yield self.view
        prompt = Prompt()
        prompt.cursor_blink = False
        yield prompt

    def on_mount(self) -> None:
        """Take keys."""
        self.query_one(Prompt).focus()
        self.ticks = self.set_interval(1 / TICKS, self.tick, pause=True)

    def action_page(self, way: int) -> None:
        """Move by a page."""
        self.view.page(way)

    def ask(self, text: str) -> None:
        """Send a message."""
        self.waiting += 1
        self.view.add(f"> {text}")
        self.view.settle()
        self.messages.append({"role": "user", "content": text})
        threading.Thread(target=self.receive, daemon=True).start()
        self.ticks.resume()

    def receive(self) -> None:
        """Read the answer in a thread; ``None`` is its end."""
        body = json.dumps({"model": "scripted", "stream": True, "messages": self.messages})
        connection = http.client.HTTPConnection(self.url.netloc)
        connection.request("POST", f"{self.url.path}/chat/completions", body)
        whole: list[str] = []
        for line in connection.getresponse():
            if line.startswith(b"data: {"):
                piece = json.loads(line[6:])["choices"][0]["delta"].get("content")
                if piece:
                    whole.append(piece)
                    self.arrived.put(piece)
        connection.close()
        self.messages.append({"role": "assistant", "content": "".join(whole)})
        self.arrived.put(None)

    def tick(self) -> None:
        """Hand over what arrived."""
        pieces: list[str] = []
        last = False
        try:
            while not last:
                piece = self.arrived.get_nowait()
                last = piece is None
                pieces.append(piece or "")
        except Empty:
            pass
        if pieces:
            self.view.take("".join(pieces), last=last)
        if last:
            self.waiting -= 1
            if not self.waiting:
                self.ticks.pause()


if __name__ == "__main__":
    Floor(sys.argv[1], Lines() if sys.argv[2] == "lines" else Plain()).run()
