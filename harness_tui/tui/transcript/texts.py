"""What a block says as plain text: to be copied, to be searched, to find code and commands in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness_tui.tui.transcript.blocks import (
    MarkdownBlock,
    NoticeBlock,
    QuestionBlock,
    ReasoningBlock,
    RunEndBlock,
    SummaryBlock,
    ToolBlock,
    UserBlock,
)
from harness_tui.tui.transcript.model import Block


def copied_text(block: Block) -> str:
    """Return what copying the block means: of an answer its Markdown, of a call its output or its change."""
    match block:
        case UserBlock():
            return block.typed
        case MarkdownBlock():
            return block.source
        case ReasoningBlock() | SummaryBlock():
            return block.text.strip()
        case ToolBlock():
            return block.diff or block.output or block.command or block.title
        case NoticeBlock() | RunEndBlock():
            return "\n".join(part for part in (block.text, block.hint) if part)
        case QuestionBlock():
            return "\n".join(part for part in (block.title, block.answer) if part)
        case _:
            return ""


def searched_text(block: Block) -> str:
    """Return everything that the block holds, folded or not."""
    match block:
        case UserBlock():
            return _joined(block.typed, block.sent, *block.attachments)
        case ReasoningBlock():
            return block.text
        case ToolBlock():
            return _joined(block.title, block.arguments, block.note, block.diff, block.output, *block.problems)
        case NoticeBlock():
            return _joined(f"{block.source}: {block.text}" if block.source else block.text, block.hint)
        case QuestionBlock():
            return _joined(f"{block.source} asks: {block.title}", block.answer)
        case SummaryBlock():
            return _joined(block.head, block.text)
        case _:
            return copied_text(block)


def _joined(*parts: str | None) -> str:
    return "\n".join(part for part in parts if part)


def whole_output(block: Block) -> str:
    """Return what a folded block hides: of a call its arguments, change and output, of a command what was sent."""
    match block:
        case ToolBlock():
            return _joined(block.arguments if block.arguments != "{}" else "", block.diff, block.output)
        case UserBlock(sent=str(sent)):
            return sent
        case _:
            return copied_text(block)


def answer_of(blocks: Sequence[Block], index: int) -> str:
    """Return the whole answer that the piece at ``index`` belongs to; empty where it is none."""
    if not isinstance(blocks[index], MarkdownBlock):
        return ""
    first = next((place for place in range(index, -1, -1) if _begins_answer(blocks[place])), index)
    begin = blocks[first]
    if isinstance(begin, MarkdownBlock) and begin.answer is not None:
        return begin.answer
    pieces: list[str] = []
    for place in range(first, len(blocks)):
        block = blocks[place]
        if place > first and (_begins_answer(block) or not isinstance(block, MarkdownBlock)):
            break
        pieces.append(copied_text(block))
    return "\n\n".join(pieces)


def last_answer(blocks: Sequence[Block]) -> str:
    """Return the latest answer as Markdown, empty where there is none."""
    place = next((place for place in reversed(range(len(blocks))) if isinstance(blocks[place], MarkdownBlock)), None)
    return answer_of(blocks, place) if place is not None else ""


def code_of(blocks: Sequence[Block], index: int) -> list[str]:
    """Return the code blocks in the block at ``index``; of a piece of a long one the whole."""
    block = blocks[index]
    if isinstance(block, MarkdownBlock):
        own, every = _fences(block.source), _fences(answer_of(blocks, index))
        return [next((whole for whole in every if part in whole), part) for part in own]
    return _fences(block.typed) if isinstance(block, UserBlock) else []


def last_code(blocks: Sequence[Block]) -> str:
    """Return the last code block of the latest answer that has one; empty where there is none."""
    for place in reversed(range(len(blocks))):
        if isinstance(blocks[place], MarkdownBlock) and (found := code_of(blocks, place)):
            return found[-1]
    return ""


def command_of(block: Block) -> str:
    """Return the command that a block shows, empty where it shows none."""
    match block:
        case ToolBlock():
            return block.command
        case UserBlock(origin="shell"):
            return block.typed
        case _:
            return ""


def _begins_answer(block: Block) -> bool:
    return isinstance(block, MarkdownBlock) and block.first


def _fences(source: str) -> list[str]:
    from harness_tui.tui.transcript.splitter import parser

    tokens: list[Any] = parser().parse(source)
    return [token.content.removesuffix("\n") for token in tokens if token.type in ("fence", "code_block")]
