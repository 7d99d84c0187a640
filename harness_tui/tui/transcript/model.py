"""What the transcript shows, as plain data: blocks in order, and which of them changed since the view looked.

Every text in here is cleaned for display already. A block's ``version`` grows with each change, so that whoever draws
can keep what it has drawn. The model is never pruned; the view draws only what is in sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

FOLDED_LINES: Final = 8
"""Lines of a tool's output that a folded block still shows."""


@dataclass(slots=True, eq=False)
class Block:
    """The base of every block. ``index`` is its place in the model; ``after_call``: a call stands before it."""

    version: int = field(default=0, init=False)
    index: int = field(default=-1, init=False)
    folded: bool = field(default=True, init=False)
    after_call: bool = field(default=False, init=False)

    @property
    def size(self) -> int:
        """Return the rough number of characters that it shows, for estimates of its height."""
        return 40


@dataclass(slots=True, eq=False)
class UserBlock(Block):
    """A message of the person. ``typed`` is what was typed, ``sent`` what the model gets when that differs.

    ``source`` tells where a command came from, ``origin`` ``prompt``, ``steer``, ``shell`` or ``diagnostics``.
    """

    typed: str
    sent: str | None = None
    source: str | None = None
    attachments: tuple[str, ...] = ()
    origin: str = "prompt"

    @property
    def size(self) -> int:
        return len(self.typed) + 80


@dataclass(slots=True, eq=False)
class MarkdownBlock(Block):
    """One top-level piece of an answer. ``first`` begins the answer; ``open`` may still grow.

    ``tokens`` may hold the parsed form for the next drawing, which takes it away.
    """

    source: str
    first: bool = False
    open: bool = False
    tokens: Sequence[Any] | None = None

    @property
    def size(self) -> int:
        return len(self.source)


@dataclass(slots=True, eq=False)
class ReasoningBlock(Block):
    """The model's reasoning. ``seconds`` once it is over."""

    text: str = ""
    open: bool = True
    seconds: float | None = None


ToolState: TypeAlias = Literal["running", "waiting", "done", "failed", "denied"]


@dataclass(slots=True, eq=False)
class ToolBlock(Block):
    """A call: what it is, how it goes, what it gave.

    ``note`` is one line beside the state (a reason, progress, a size). ``diff`` is a unified diff, ``cut`` says where
    the whole of a long output is.
    """

    call: str
    tool: str
    title: str
    arguments: str = ""
    source: str = ""
    state: ToolState = "running"
    note: str = ""
    output: str = ""
    diff: str = ""
    cut: str = ""
    started: str = ""
    seconds: float | None = None

    @property
    def size(self) -> int:
        return 80 * (1 + min(FOLDED_LINES, self.output.count("\n") + self.diff.count("\n") + 1))


@dataclass(slots=True, eq=False)
class NoticeBlock(Block):
    """Something a person should know."""

    level: Literal["info", "warning", "error"]
    source: str
    text: str
    hint: str | None = None

    @property
    def size(self) -> int:
        return len(self.text) + len(self.hint or "") + 80


@dataclass(slots=True, eq=False)
class QuestionBlock(Block):
    """A question to the person and, later, how it was answered."""

    request: str
    source: str
    title: str
    answer: str | None = None


@dataclass(slots=True, eq=False)
class SummaryBlock(Block):
    """History that was replaced by a summary; ``head`` is one line."""

    head: str
    text: str


@dataclass(slots=True, eq=False)
class RunEndBlock(Block):
    """The end of a run: ``reason`` is the event's word."""

    reason: str
    text: str = ""
    hint: str | None = None
    seconds: float | None = None
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """What the view must look at: everything from ``first_new`` on, and ``touched`` blocks before it."""

    first_new: int
    touched: tuple[Block, ...]
    reset: bool


class TranscriptModel:
    """The blocks in order. Whoever changes a block calls :meth:`touch`."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._first_new = 0
        self._touched: dict[int, Block] = {}
        self._reset = True

    def add(self, block: Block) -> None:
        """Append ``block``."""
        block.index = len(self.blocks)
        block.after_call = bool(self.blocks) and isinstance(self.blocks[-1], ToolBlock)
        self.blocks.append(block)

    def touch(self, block: Block) -> None:
        """Tell that ``block`` changed."""
        block.version += 1
        if 0 <= block.index < self._first_new:
            self._touched[block.index] = block

    def replace(self, index: int, blocks: Sequence[Block]) -> None:
        """Put ``blocks`` in the place of the one at ``index``; those after it move."""
        if blocks:
            blocks[0].after_call = self.blocks[index].after_call
        self.blocks[index : index + 1] = blocks
        for place in range(index, len(self.blocks)):
            self.blocks[place].index = place
        self._first_new = min(self._first_new, index)
        self._touched = {place: block for place, block in self._touched.items() if place < index}

    def cut(self, index: int) -> None:
        """Forget the blocks from ``index`` on."""
        del self.blocks[index:]
        self._first_new = min(self._first_new, index)
        self._touched = {place: block for place, block in self._touched.items() if place < index}

    def clear(self) -> None:
        """Forget every block."""
        self.blocks.clear()
        self._touched.clear()
        self._first_new, self._reset = 0, True

    def reset_changes(self) -> None:
        """Make the next look one at everything: another view begins."""
        self._touched.clear()
        self._first_new, self._reset = 0, True

    def take_changes(self) -> Changes:
        """Return what changed since the last call."""
        changes = Changes(self._first_new, tuple(self._touched.values()), self._reset)
        self._first_new, self._reset = len(self.blocks), False
        self._touched.clear()
        return changes
