"""Which blocks belong to which run: what an undo takes back is seen as taken back, and its message comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from harness_tui.core import events as ev
from harness_tui.core.envelope import Envelope
from harness_tui.core.text import clean_for_display
from harness_tui.tui.transcript.blocks import NoticeBlock, UserBlock
from harness_tui.tui.transcript.model import TranscriptModel

Turned: TypeAlias = ev.UndoApplied | ev.RedoApplied


@dataclass(slots=True)
class _Span:
    """The blocks from ``start`` to ``end`` (``None``: the run goes on); ``text`` is the message as it was."""

    start: int
    end: int | None = None
    text: str = ""


class RunBlocks:
    """Follows the runs of one transcript, which follow each other."""

    def __init__(self, transcript: TranscriptModel) -> None:
        self._transcript = transcript
        self._spans: dict[str, _Span] = {}
        self.returned: str | None = None
        """What belongs back into the prompt and was not put there yet; empty: what was put there goes."""

    def begin(self, envelope: Envelope) -> None:
        """Look at an event before its blocks are made."""
        if envelope.run is None or isinstance(envelope.event, ev.UndoApplied | ev.RedoApplied):
            return
        span = self._spans.setdefault(envelope.run, _Span(len(self._transcript.blocks)))
        if isinstance(envelope.event, ev.RunStarted):
            span.text = clean_for_display(envelope.event.message.text)

    def end(self, envelope: Envelope) -> None:
        """Look at an event after its blocks were made."""
        if isinstance(envelope.event, ev.RunFinished) and envelope.run in self._spans:
            self._spans[envelope.run].end = len(self._transcript.blocks)

    def turn(self, event: Turned, *, past: bool) -> NoticeBlock:
        """Show a run as taken back, or in force again, and return what is told of it; ``past``: it is history."""
        is_undone = isinstance(event, ev.UndoApplied)
        span = self._spans.get(event.run, _Span(0, 0))
        blocks = self._transcript.blocks[span.start : span.end]
        for block in blocks:
            block.undone = is_undone
            self._transcript.touch(block)
        if not past:
            first = next((block for block in blocks if isinstance(block, UserBlock)), None)
            typed = first.typed if first is not None and first.sent is not None else span.text
            self.returned = (typed or self.returned) if is_undone else ""
        done = "taken back" if is_undone else "in force again"
        text = f"Run {event.run} {done}; files: {', '.join(event.paths) or 'none'}"
        hint = f"changed since, left alone: {', '.join(event.conflicts)}" if event.conflicts else ""
        return NoticeBlock("info", "undo", clean_for_display(text), clean_for_display(hint) or None)
