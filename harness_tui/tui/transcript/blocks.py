"""The kinds of blocks that a transcript holds. Their texts are cleaned for display already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias

from harness_tui.tui.transcript.model import Block

FOLDED_LINES: Final = 8
"""Lines of a tool's output that a folded block still shows."""


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
    is_call: ClassVar[bool] = True

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
