"""One block of the transcript as styled lines: what every kind of block looks like."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.tui.lines import Line, Span, cells, cut_cells, cut_line, plain, wrap
from harness_tui.tui.transcript.blocks import (
    FOLDED_LINES,
    MarkdownBlock,
    NoticeBlock,
    QuestionBlock,
    ReasoningBlock,
    RunEndBlock,
    SummaryBlock,
    ToolBlock,
    UserBlock,
)
from harness_tui.tui.transcript.diff import DiffRow, colour, parse_diff, unified_lines
from harness_tui.tui.transcript.diff_split import SPLIT_CELLS, split_lines
from harness_tui.tui.transcript.highlight import Highlighter
from harness_tui.tui.transcript.model import Block
from harness_tui.tui.transcript.texts import copied_text

log = logging.getLogger(__name__)

OPEN_LINES: Final = 400
"""Lines of an unfolded output that are drawn; the rest is in the file that the block names, or in the record."""

_SIGNS: Final = {
    "running": ("…", "accent"),
    "waiting": ("?", "warning bold"),
    "done": ("✓", "ok"),
    "failed": ("✗", "error"),
    "denied": ("⊘", "warning"),
}
_LEVELS: Final = {"info": ("i", "info"), "warning": ("!", "warning bold"), "error": ("✗", "error bold")}
_ENDS: Final = {
    "cancelled": ("⊘", "warning", "cancelled"),
    "failed": ("✗", "error bold", "failed"),
    "refused": ("⊘", "warning", "stopped: not allowed"),
    "step_limit": ("!", "warning", "stopped: step limit reached"),
}
_SHOWN_FROM_S: Final = 2
"""A call that runs shows for how long from here on."""
_ERROR_CHARS: Final = 2_000
_INDENT: Final[Line] = (("  ", ""),)
_PROBLEM: Final[Line] = (("  ✗ ", "error"),)
_RULE: Final[Line] = (("  │ ", "muted"),)


def _utc_now() -> datetime:
    return datetime.now(UTC)


def duration(seconds: float) -> str:
    """Return a time for people: ``0.2 s``, ``12 s``, ``3 min 5 s``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


_MARKS: Final = {"steer": "» ", "shell": "! ", "diagnostics": "✚ ", "task": "✚ ", "hook": "⚑ "}
"""What stands before a message that nobody typed as a prompt, by its origin."""


class BlockRenderer:
    """Draws blocks at a width; ``details`` unfolds every output."""

    def __init__(self, highlighter: Highlighter | None = None, now: Callable[[], datetime] = _utc_now) -> None:
        self.highlighter = highlighter or Highlighter()
        self.details = False
        self._now = now
        self._width = 80

    def draw(self, block: Block, width: int) -> list[Line]:
        """Return the lines of ``block``, none wider than ``width`` cells.

        Calls stand close together; everything else ends with an empty line, and begins with one after a call.
        """
        self._width = width
        try:
            lines = self._lines(block, width)
        except Exception as error:  # one block never ends the session: it says what is wrong, and the others go on
            log.exception("the block %d (%s) cannot be drawn", block.index, type(block).__name__)
            lines = self._broken(block, error, width)
        if block.undone:
            lines = [tuple((text, "muted strike" if text.strip() else "") for text, _ in line) for line in lines]
            if isinstance(block, UserBlock) and block.origin == "prompt":
                lines += wrap([("taken back: the model does not see it", "muted")], width, first=_INDENT)
        if isinstance(block, ToolBlock):
            return lines
        return [*([()] if block.after_call else []), *lines, ()]

    def _lines(self, block: Block, width: int) -> list[Line]:
        match block:
            case UserBlock():
                return self._user(block, width)
            case MarkdownBlock():
                return self._markdown(block, width)
            case ReasoningBlock():
                return self._reasoning(block, width)
            case ToolBlock():
                return self._tool(block, width)
            case NoticeBlock():
                return self._notice(block, width)
            case QuestionBlock():
                return self._question(block, width)
            case SummaryBlock():
                return self._folding(block, block.head, block.text, width)
            case RunEndBlock():
                return self._end(block, width)
            case _:
                raise AssertionError(f"no drawing for {type(block).__name__}")

    def _broken(self, block: Block, error: Exception, width: int) -> list[Line]:
        """Draw a block that cannot be drawn as it should be: what went wrong, and its text as it is."""
        said = clean_for_display(f"this cannot be drawn: {type(error).__name__}: {error}", one_line=True)
        lines = wrap([(cut_end(said, _ERROR_CHARS), "error")], width, first=(("✗ ", "error bold"),))
        text = cut_end(copied_text(block), _ERROR_CHARS)
        body = [line for row in text.split("\n")[:FOLDED_LINES] for line in self._row(row, width)]
        return lines + body[:FOLDED_LINES]

    def unfolded(self, block: Block) -> bool:
        """Whether the block shows everything: its own state, turned round by ``details``."""
        return block.folded is self.details

    def _user(self, block: UserBlock, width: int) -> list[Line]:
        mark = _MARKS.get(block.origin, "❯ ")
        style = "user" if block.origin in ("prompt", "steer") else "muted"
        lines = wrap([(block.typed, "bold" if style == "user" else "")], width, first=((mark, style),))
        limit = FOLDED_LINES * 2 if block.origin == "prompt" else FOLDED_LINES
        lines = self._limit(block, lines, limit)
        if block.attachments:
            lines.extend(wrap([(f"with {', '.join(block.attachments)}", "muted")], width, first=_INDENT))
        if block.sent is not None:
            head = f"from {block.source}, {_count(block.sent)} sent"
            lines.extend(self._folding(block, head, block.sent, width))
        return lines

    def _markdown(self, block: MarkdownBlock, width: int) -> list[Line]:
        from harness_tui.tui.transcript.markdown import MarkdownRenderer
        from harness_tui.tui.transcript.splitter import parser

        tokens = block.tokens if block.tokens is not None else parser().parse(block.source)
        block.tokens = None
        lines = MarkdownRenderer(width - 2, self.highlighter).render(tokens)
        if not lines:
            lines = wrap([(block.source, "")], width - 2)
        mark: Line = (("● ", "accent"),) if block.first else _INDENT
        return [(*mark, *lines[0]), *((*_INDENT, *line) if line else () for line in lines[1:])]

    def _reasoning(self, block: ReasoningBlock, width: int) -> list[Line]:
        lines = wrap([(block.text.strip(), "muted italic")], width, first=_RULE, rest=_RULE)
        if block.open:
            return [(("… thinking", "muted"),), *lines[-3:]]
        took = f" for {duration(block.seconds)}" if block.seconds is not None else ""
        mark = "▾" if self.unfolded(block) else "▸"
        head: Line = ((f"{mark} thought{took}", "muted"),)
        return [head, *lines] if self.unfolded(block) else [head]

    def _tool(self, block: ToolBlock, width: int) -> list[Line]:
        sign, style = _SIGNS[block.state]
        notes = [note for note in (block.note, block.source) if note]
        if block.state == "running" and (running := self._running_for(block)) >= _SHOWN_FROM_S:
            notes.append(duration(running) if running >= 10 else f"{running} s")
        elif block.seconds is not None and block.seconds >= 0.1:
            notes.append(duration(block.seconds))
        said = block.title
        if not self.unfolded(block):  # one line, unless a reason is longer than half of it
            said = cut_cells(said, max(width // 2, width - 4 - cells(" · ".join(notes))))
        title: list[Span] = [(said, "bold")]
        if notes:
            title.append((f"  {' · '.join(notes)}", "muted"))
        lines = wrap(title, width, first=((f"{sign} ", style),))
        if self.unfolded(block) and block.arguments not in ("", "{}"):
            lines.extend(wrap([(block.arguments, "muted")], width, first=_RULE, rest=_RULE))
        lines.extend(self._tool_body(block, width))
        problems = [line for text in block.problems for line in wrap([(text, "error")], width, first=_PROBLEM)]
        lines.extend(self._limit(block, problems, FOLDED_LINES))
        if block.cut and (block.kept or self.unfolded(block)):
            lines.extend(wrap([(block.cut, "warning")], width, first=_RULE, rest=_RULE))
        return lines

    def _running_for(self, block: ToolBlock) -> int:
        """Return the whole seconds since a call began, 0 where that is not known."""
        try:
            return int((self._now() - datetime.fromisoformat(block.started)).total_seconds())
        except (ValueError, TypeError):
            return 0

    def _tool_body(self, block: ToolBlock, width: int) -> list[Line]:
        lines: list[Line] = []
        if block.state == "waiting":
            return lines  # the request shows what would happen
        if block.diff:
            rows = parse_diff(block.diff)
            shown = rows[: OPEN_LINES if self.unfolded(block) else FOLDED_LINES * 2 + 1]
            body = [(*_INDENT, *line) for line in self._diff(shown, width - 2)]
            lines.extend(self._limit(block, body, FOLDED_LINES * 2, hidden=len(rows) - len(shown)))
        show_output = block.output and (not block.diff or block.state == "failed" or self.unfolded(block))
        if show_output:
            text = block.output if len(block.output) < 200_000 else block.output[-200_000:]
            source = text.removesuffix("\n").split("\n")  # of a command that runs the last line is whole
            end, keep = block.kept < 0, OPEN_LINES if self.unfolded(block) else abs(block.kept)
            if not keep:
                return lines
            shown = source[-keep:] if end else source[:keep]
            body = [line for row in shown for line in self._row(row, width)]
            lines.extend(self._limit(block, body, keep, hidden=len(source) - len(shown), tail=end))
        return lines

    def _diff(self, rows: list[DiffRow], width: int) -> list[Line]:
        colour(rows, self.highlighter)
        return split_lines(rows, width) if width >= SPLIT_CELLS else unified_lines(rows, width)

    def _row(self, row: str, width: int) -> list[Line]:
        return wrap([(row, "muted")], width, first=_RULE, rest=_RULE)

    def _limit(self, block: Block, lines: list[Line], limit: int, *, hidden: int = 0, tail: bool = False) -> list[Line]:
        """Cut ``lines`` to ``limit`` where the block is folded, and say how much is hidden."""
        if self.unfolded(block):
            limit = OPEN_LINES
        if len(lines) > limit + 1:
            hidden += len(lines) - limit
            lines = lines[-limit:] if tail else lines[:limit]
        if hidden <= 0:
            return lines
        how = "" if self.unfolded(block) else " (Ctrl+O shows all)"
        more = cut_line((("  ", ""), (f"… {hidden:,} more lines{how}", "muted")), self._width)
        return [more, *lines] if tail else [*lines, more]

    def _folding(self, block: Block, head: str, text: str, width: int) -> list[Line]:
        mark = "▾" if self.unfolded(block) else "▸"
        lines = wrap([(f"{mark} {head}", "muted")], width, first=_INDENT)
        if self.unfolded(block):
            body = [line for row in text.split("\n") for line in wrap([(row, "muted")], width, first=_RULE, rest=_RULE)]
            lines.extend(self._limit(block, body, OPEN_LINES))
        return lines

    def _notice(self, block: NoticeBlock, width: int) -> list[Line]:
        sign, style = _LEVELS[block.level]
        spans: list[Span] = [(f"{block.source}: ", "muted")] if block.source else []
        lines = wrap(
            [*spans, (block.text, style if block.level == "error" else "")], width, first=((f"{sign} ", style),)
        )
        if block.hint:
            lines.extend(wrap([(block.hint, "muted")], width, first=(("  → ", "muted"),)))
        return self._limit(block, lines, FOLDED_LINES * 2)

    def _question(self, block: QuestionBlock, width: int) -> list[Line]:
        spans: list[Span] = [(f"{block.source} asks: ", "muted"), (block.title, "bold")]
        lines = wrap(spans, width, first=(("? ", "warning bold"),))
        answer = block.answer if block.answer is not None else "waiting for you"
        lines.extend(wrap([(answer, "muted")], width, first=(("  → ", "muted"),)))
        return lines

    def _end(self, block: RunEndBlock, width: int) -> list[Line]:
        took = duration(block.seconds) if block.seconds is not None else ""
        calls = f"{block.calls} call{'s' if block.calls != 1 else ''}" if block.calls else ""
        rest = " · ".join(part for part in (took, calls) if part)
        if block.reason == "completed":
            return [(("  ", ""), (rest or "done", "muted"))]
        sign, style, word = _ENDS.get(block.reason, ("!", "warning", block.reason))
        spans: list[Span] = [(word, style)]
        if block.text:
            spans.append((f": {block.text}", ""))
        if rest:
            spans.append((f"  {rest}", "muted"))
        lines = wrap(spans, width, first=((f"{sign} ", style),))
        if block.hint:
            lines.extend(wrap([(block.hint, "muted")], width, first=(("  → ", "muted"),)))
        return lines


def _count(text: str) -> str:
    lines = text.count("\n") + 1
    return f"{lines} line{'s' if lines != 1 else ''}"


def text_of(lines: list[Line]) -> str:
    """Return drawn lines as text."""
    return "\n".join(plain(line) for line in lines)
