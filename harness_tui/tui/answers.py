"""Answers and reasoning in the transcript: deltas pile up, and become blocks once per tick."""

from __future__ import annotations

from harness_tui.core.text import clean_for_display
from harness_tui.tui.state import SessionState
from harness_tui.tui.tool_text import seconds_between
from harness_tui.tui.transcript.blocks import MarkdownBlock, ReasoningBlock
from harness_tui.tui.transcript.model import Block, TranscriptModel
from harness_tui.tui.transcript.splitter import AnswerSplitter, CleanStream, split_whole


class AnswerLog:
    """The text of a session's model. ``replaying``: it comes from a record, and nobody looks until it is over."""

    def __init__(self, transcript: TranscriptModel, state: SessionState) -> None:
        self.replaying = False
        self._transcript = transcript
        self._state = state
        self._replayed = ""
        self._splitter: AnswerSplitter | None = None
        self._open: MarkdownBlock | None = None
        self._answer_from = 0
        self._reasoning: ReasoningBlock | None = None
        self._reasoning_clean = CleanStream()
        self._reasoning_started = ""

    def text(self, text: str) -> None:
        """Take a piece of an answer."""
        if self.replaying:
            self._replayed += text
            return
        if self._splitter is None:
            self._splitter, self._open = AnswerSplitter(), None
            self._answer_from = len(self._transcript.blocks)
            self._state.activity = "answering"
        self._splitter.add(text)

    def reason(self, text: str, moment: str) -> None:
        """Take a piece of reasoning."""
        if self._reasoning is None:
            self._reasoning, self._reasoning_started = ReasoningBlock(), moment
            self._reasoning_clean = CleanStream()
            self._state.activity = "thinking"
            self._transcript.add(self._reasoning)
        self._reasoning.text += self._reasoning_clean.feed(text)
        self._transcript.touch(self._reasoning)

    def flush(self) -> None:
        """Turn what piled up into blocks."""
        if self._splitter is not None and self._splitter.waiting:
            self._show(*self._splitter.take())

    def finish_text(self, text: str) -> None:
        """An answer is whole."""
        whole = clean_for_display(text)
        shown = whole.strip("\n")
        self._replayed = ""
        if self._splitter is None:  # of a record: one block, parsed when somebody looks at it
            if whole.strip():
                self._transcript.add(MarkdownBlock(shown, first=True, answer=shown))
            return
        self._show(*self._splitter.take(last=True))
        arrived = self._splitter.arrived
        self._splitter = self._open = None
        if arrived != text:  # deltas were lost or merged away: the finished text is the truth
            self._replace(whole)
        for block in self._transcript.blocks[self._answer_from :]:
            if isinstance(block, MarkdownBlock) and block.first:
                block.answer = shown

    def finish_reasoning(self, text: str, moment: str) -> None:
        """Reasoning is whole."""
        block = self._reasoning or ReasoningBlock()
        if self._reasoning is None:
            self._transcript.add(block)
        block.text, block.open = clean_for_display(text).strip(), False
        block.seconds = seconds_between(self._reasoning_started, moment)
        self._transcript.touch(block)
        self._reasoning, self._reasoning_started = None, ""

    def end(self) -> None:
        """The run is over: what is open stays as it is."""
        if self._replayed:  # an answer that broke off has no finished text
            self.finish_text(self._replayed)
        if self._splitter is not None:
            self._show(*self._splitter.take(last=True))
        self._splitter = self._open = None
        if self._reasoning is not None:
            self._reasoning.open = False
            self._transcript.touch(self._reasoning)
            self._reasoning = None

    def _show(self, done: list[MarkdownBlock], rest: MarkdownBlock | None) -> None:
        blocks: list[Block] = [*done, *([rest] if rest is not None else [])]
        if self._open is not None:
            self._transcript.replace(self._open.index, blocks)
        else:
            for block in blocks:
                self._transcript.add(block)
        self._open = rest

    def _replace(self, whole: str) -> None:
        blocks = self._transcript.blocks
        kept = [block for block in blocks[self._answer_from :] if not isinstance(block, MarkdownBlock)]
        self._transcript.cut(self._answer_from)
        for block in [*split_whole(whole), *kept]:
            self._transcript.add(block)
