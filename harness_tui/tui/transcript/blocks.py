"""The kinds of blocks that a transcript holds. Their texts are cleaned for display already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias

from harness_tui.tui.transcript.model import Block

FOLDED_LINES: Final = 8
"""Lines of a text that a folded block still shows; twice as many of a message or a diff."""

_ROUTINE: Final = frozenset({"read", "list", "glob", "grep", "skill", "todo", "diagnostics", "lsp"})
_TAIL_LINES: Final = 6
_HEAD_LINES: Final = 3


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
    folds: ClassVar[bool] = True

    @property
    def size(self) -> int:
        return len(self.typed) + 80


@dataclass(slots=True, eq=False)
class MarkdownBlock(Block):
    """One top-level piece of an answer. ``first`` begins the answer; ``open`` may still grow.

    ``tokens`` may hold the parsed form for the next drawing, which takes it away. ``answer`` is, in the first piece of
    a finished one, the text of all.
    """

    source: str
    first: bool = False
    open: bool = False
    tokens: Sequence[Any] | None = None
    answer: str | None = None

    @property
    def size(self) -> int:
        return len(self.source)


@dataclass(slots=True, eq=False)
class ReasoningBlock(Block):
    """The model's reasoning. ``seconds`` once it is over."""

    text: str = ""
    open: bool = True
    seconds: float | None = None
    folds: ClassVar[bool] = True


ToolState: TypeAlias = Literal["running", "waiting", "done", "failed", "denied"]


@dataclass(slots=True, eq=False)
class ToolBlock(Block):
    """A call: what it is, how it goes, what it gave.

    ``note`` is one line beside the state (a reason, progress, a size). ``diff`` is a unified diff, ``cut`` says where
    the whole of a long output is, ``whole`` is that file, ``problems`` are the errors that language servers found after
    an edit. ``command`` is what a shell runs, ``path`` the file that it is about. ``by_hand``: the person made it.
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
    whole: str = ""
    command: str = ""
    path: str = ""
    problems: tuple[str, ...] = ()
    by_hand: bool = False
    started: str = ""
    seconds: float | None = None
    is_call: ClassVar[bool] = True
    folds: ClassVar[bool] = True

    @property
    def kept(self) -> int:
        """Lines of its output that it shows while folded; negative: the last ones, which tell how it went."""
        if self.by_hand and self.state == "done" and self.tool != "bash":
            return 2 * FOLDED_LINES  # the person wanted to see it
        if self.state in ("running", "failed", "denied") or self.tool in ("bash", "task"):
            return -_TAIL_LINES
        return 0 if self.tool in _ROUTINE and self.source in ("", "skill", "lsp") else _HEAD_LINES

    @property
    def size(self) -> int:
        lines = min(abs(self.kept), self.output.count("\n") + 1) + min(2 * FOLDED_LINES, self.diff.count("\n"))
        return 80 * (lines + len(self.problems))


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
    folds: ClassVar[bool] = True


@dataclass(slots=True, eq=False)
class RunEndBlock(Block):
    """The end of a run: ``reason`` is the event's word."""

    reason: str
    text: str = ""
    hint: str | None = None
    seconds: float | None = None
    calls: int = 0
