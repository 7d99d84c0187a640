"""The product's transcript in a program of its own: how much CPU one more block costs.

    python probe_append.py BLOCKS REPORT

Shows a transcript of BLOCKS blocks. The key ``a`` appends a hundred more, each drawn before the next one comes, and
writes the CPU milliseconds of one into REPORT.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

os.environ["TEXTUAL_FPS"] = "120"

from textual.app import App, ComposeResult
from textual.widgets import Input

from harness_tui.tui.theme import Palette
from harness_tui.tui.transcript.blocks import MarkdownBlock, UserBlock
from harness_tui.tui.transcript.model import Block, TranscriptModel
from harness_tui.tui.transcript.view import TranscriptView

ADDED = 100
FRAME_S = 1 / 60


class Probe(App[None]):
    """Transcript over input, as the product has them."""

    CSS = "TranscriptView { height: 1fr; }"

    def __init__(self, blocks: int, report: Path) -> None:
        super().__init__()
        self.model = TranscriptModel()
        self.view = TranscriptView(self.model, Palette())
        self.count, self.report = blocks, report

    def compose(self) -> ComposeResult:
        """Yield the two."""
        yield self.view
        yield Input()

    def on_mount(self) -> None:
        """Fill the transcript."""
        for number in range(self.count):
            self.model.add(block(number, f"block {number}"))
        self.view.sync()
        self.view.focus()

    def on_transcript_view_typed(self) -> None:
        """Begin."""
        self.run_worker(self.append())

    async def append(self) -> None:
        """Append, one block a frame."""
        start = time.process_time()
        for number in range(ADDED):
            self.model.add(block(number, "the last of all" if number == ADDED - 1 else f"more {number}"))
            self.view.sync()
            await asyncio.sleep(FRAME_S)
        self.report.write_text(str((time.process_time() - start) / ADDED * 1e3))


def block(number: int, name: str) -> Block:
    """Return a question or a piece of an answer."""
    if number % 4 == 0:
        return UserBlock(f"{name}: what comes after this?")
    return MarkdownBlock(f"{name} has **bold** words, `code` and a sentence that is a little longer than the others.")


if __name__ == "__main__":
    Probe(int(sys.argv[1]), Path(sys.argv[2])).run()
