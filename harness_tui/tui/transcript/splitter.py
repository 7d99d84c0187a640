"""Cuts an answer that still arrives into finished Markdown blocks and one open rest, so that streaming costs O(rest).

Two things are held back: the end of the text when it may be the first half of an escape sequence or of a line end, and,
as the open block, everything from the last top-level block on. A fence or a list that grows without end is committed
in parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from harness_tui.core.text import clean_for_display
from harness_tui.tui.transcript.blocks import MarkdownBlock

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

LONG_LINES: Final = 60
"""An open fence or list longer than this is committed in parts."""

_KEEP_LINES: Final = 8
_HOLD_CHARS: Final = 256


class CleanStream:
    """Cleans text that arrives in pieces: what may be cut in the middle of a sequence waits for its rest."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str, *, last: bool = False) -> str:
        """Return what of ``piece`` (and of what was held back) can be shown."""
        text = self._held + piece
        self._held = ""
        if last or not text:
            return clean_for_display(text)
        hold = len(text) - 1 if text.endswith("\r") else len(text)
        escape = max(text.rfind("\x1b"), text.rfind("\x9b"))
        if escape >= 0 and len(text) - escape < _HOLD_CHARS:
            hold = min(hold, escape)
        self._held = text[hold:]
        return clean_for_display(text[:hold])


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """Return the one Markdown parser; imported at the first answer."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def top_level(tokens: Sequence[Any]) -> list[tuple[int, int]]:
    """Return ``(line, index of token)`` for each top-level block."""
    return [(t.map[0], i) for i, t in enumerate(tokens) if t.level == 0 and t.map and t.nesting >= 0]


class AnswerSplitter:
    """One answer on its way. Pieces go in by :meth:`add`; :meth:`take` parses once and gives blocks."""

    def __init__(self) -> None:
        self._clean = CleanStream()
        self._parts: list[str] = []
        self._all: list[str] = []
        self._rest = ""
        self._first = True

    @property
    def waiting(self) -> bool:
        """Whether something arrived since the last :meth:`take`."""
        return bool(self._parts)

    @property
    def arrived(self) -> str:
        """Everything that came, as it came."""
        return "".join(self._all)

    def add(self, piece: str) -> None:
        """Take a piece as it came."""
        self._all.append(piece)
        self._parts.append(piece)

    def take(self, *, last: bool = False) -> tuple[list[MarkdownBlock], MarkdownBlock | None]:
        """Return finished blocks and the open rest; with ``last`` there is no rest."""
        text = self._rest + self._clean.feed("".join(self._parts), last=last)
        self._parts.clear()
        tokens = parser().parse(text)
        tops = top_level(tokens)
        lines = text.split("\n")
        lines = [line + "\n" for line in lines[:-1]] + lines[-1:]
        done: list[MarkdownBlock] = []
        if not tops and text.strip():  # link definitions alone give no token: show them as they are
            tops = [(0, 0)]
        elif tops:
            tops[0] = (0, tops[0][1])
        first_open = len(tops) if last else _first_open(tops, lines)
        for place, (line, index) in enumerate(tops[:first_open]):
            end_line, end_index = tops[place + 1] if place + 1 < len(tops) else (len(lines), len(tokens))
            done.append(self._block("".join(lines[line:end_line]), tokens[index:end_index]))
        if first_open < len(tops):
            line, index = tops[first_open]
            return self._leave_open(done, tokens[index:], lines[line:])
        self._rest = ""
        return done, None

    def _leave_open(
        self, done: list[MarkdownBlock], tokens: Sequence[Any], lines: list[str]
    ) -> tuple[list[MarkdownBlock], MarkdownBlock | None]:
        if len(lines) > LONG_LINES and tokens:
            cut, prefix = _cut_of(tokens, lines)
            if cut:
                closing = _closing(tokens[0]) if tokens[0].type == "fence" else ""
                done.append(self._block("".join(lines[:cut]) + closing, None))
                lines = [prefix, *lines[cut:]] if prefix else lines[cut:]
                tokens = parser().parse("".join(lines))
        self._rest = "".join(lines)
        first = self._first
        rest = self._block(self._rest, tokens)
        rest.open = True
        self._first = first
        return done, rest

    def _block(self, source: str, tokens: Sequence[Any] | None) -> MarkdownBlock:
        block = MarkdownBlock(source.rstrip("\n"), self._first, tokens=tokens)
        self._first = False
        return block


def _first_open(tops: list[tuple[int, int]], lines: list[str]) -> int:
    """Return the first block that may still change: the last, and the one before it while a line is half written."""
    half_line = len(tops) > 1 and tops[-1][0] == len(lines) - 1 and lines[-1] != ""
    return max(0, len(tops) - (2 if half_line else 1))


def split_whole(text: str) -> list[MarkdownBlock]:
    """Return the blocks of a whole, cleaned answer."""
    splitter = AnswerSplitter()
    splitter.add(text)
    return splitter.take(last=True)[0]


def _cut_of(tokens: Sequence[Any], lines: list[str]) -> tuple[int, str]:
    """Return how many lines of a long open block can be committed, and what the rest must begin with."""
    head = tokens[0]
    if head.type == "fence":
        for place in range(len(lines) - _KEEP_LINES, LONG_LINES // 2, -1):
            if not lines[place].strip():
                return place, lines[0]
        return len(lines) - _KEEP_LINES, lines[0]
    if head.type in ("bullet_list_open", "ordered_list_open"):
        items = [t.map[0] - head.map[0] for t in tokens if t.type == "list_item_open" and t.level == 1]
        return (items[-1], "") if items and items[-1] > 0 else (0, "")
    return 0, ""


def _closing(fence: Any) -> str:
    return f"{fence.markup}\n"
