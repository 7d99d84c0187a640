"""Markdown to styled lines at a width, straight from markdown-it's tokens.

Raw HTML is shown as text, links show their target, and nothing of the source is left out. A table that does not fit is
drawn row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from harness_tui.tui.lines import Line, Span, wrap
from harness_tui.tui.transcript.highlight import Highlighter
from harness_tui.tui.transcript.table import table_lines

_BULLETS: Final = ("•", "◦", "▪")
_MARKS: Final = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
_NARROW: Final = 8


class MarkdownRenderer:
    """Draws token lists. ``width`` in cells."""

    def __init__(self, width: int, highlighter: Highlighter | None = None) -> None:
        self._width = max(1, width)
        self._highlighter = highlighter

    def render(self, tokens: Sequence[Any]) -> list[Line]:
        """Return the lines of a document, one empty line between blocks."""
        return self._blocks(list(tokens), self._width, depth=0, tight=False)

    def _blocks(self, tokens: list[Any], width: int, *, depth: int, tight: bool) -> list[Line]:
        lines: list[Line] = []
        index = 0
        while index < len(tokens):
            end = _end_of(tokens, index)
            if lines and not tight:
                lines.append(())
            lines.extend(self._block(tokens[index:end], width, depth))
            index = end
        return lines

    def _block(self, tokens: list[Any], width: int, depth: int) -> list[Line]:
        head, inner = tokens[0], tokens[1:-1]
        match head.type:
            case "heading_open":
                style = "heading underline" if head.tag == "h1" else "heading"
                return self._inline(inner, width, style)
            case "paragraph_open":
                return self._inline(inner, width, "")
            case "fence" | "code_block":
                return self._code(head, width)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(head, inner, width, depth)
            case "blockquote_open":
                lines = self._blocks(inner, max(_NARROW, width - 2), depth=depth, tight=False)
                return [(("▌ ", "muted"), *line) for line in lines]
            case "hr":
                return [(("─" * min(width, 40), "muted"),)]
            case "table_open":
                header, rows = _table(inner)
                return table_lines(header, rows, width)
            case _:
                return wrap([(head.content.rstrip("\n"), "")], width)

    def _inline(self, tokens: list[Any], width: int, style: str) -> list[Line]:
        spans = [span for token in tokens for span in inline_spans(token.children or (), style)]
        return wrap(spans, width)

    def _list(self, head: Any, inner: list[Any], width: int, depth: int) -> list[Line]:
        number = int(head.attrGet("start") or 1) if head.type == "ordered_list_open" else None
        items: list[list[Any]] = []
        index = 0
        while index < len(inner):
            end = _end_of(inner, index)
            items.append(inner[index + 1 : end - 1])
            index = end
        tight = all(token.hidden for item in items for token in item if token.type == "paragraph_open")
        lines: list[Line] = []
        last = len(str(number + len(items) - 1)) if number is not None else 0
        for place, item in enumerate(items):
            marker = f"{number + place:>{last}}. " if number is not None else _BULLETS[min(depth, 2)] + " "
            pad = " " * len(marker)
            if lines and not tight:
                lines.append(())
            body = self._blocks(item, max(_NARROW, width - len(marker)), depth=depth + 1, tight=tight) or [()]
            lines.append(((marker, "accent"), *body[0]))
            lines.extend(((pad, ""), *line) if line else () for line in body[1:])
        return lines

    def _code(self, token: Any, width: int) -> list[Line]:
        code = token.content.removesuffix("\n").replace("\t", "    ")
        language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
        coloured = self._highlighter.lines(code, language) if self._highlighter else None
        rows: list[list[Span]] = coloured if coloured is not None else [[(row, "")] for row in code.split("\n")]
        bar: Line = (("│ ", "muted"),)
        lines: list[Line] = [(("│ ", "muted"), (language, "muted"))] if language else []
        for row in rows:
            lines.extend(wrap(row, width, first=bar, rest=(("│", "muted"), ("↪", "muted"))))
        return lines


def inline_spans(tokens: Sequence[Any], style: str = "") -> list[Span]:
    """Return the spans of inline tokens; ``style`` lies under all of them."""
    spans: list[Span] = []
    marks: list[str] = [style] if style else []
    target, start = "", 0
    for token in tokens:
        words = " ".join(marks)
        match token.type:
            case "text" | "html_inline" | "text_special":
                spans.append((token.content, words))
            case "code_inline":
                spans.append((token.content, f"{words} code".strip()))
            case "softbreak":
                spans.append((" ", words))
            case "hardbreak":
                spans.append(("\n", ""))
            case "strong_open" | "em_open" | "s_open":
                marks.append(_MARKS[token.type])
            case "strong_close" | "em_close" | "s_close":
                marks.pop()
            case "link_open":
                target, start = str(token.attrGet("href") or ""), len(spans)
                marks.append("link")
            case "link_close":
                marks.pop()
                shown = "".join(text for text, _ in spans[start:])
                if target and target not in (shown, f"mailto:{shown}"):
                    spans.append((f" ({target})", "muted"))
            case "image":
                spans.append((f"[image: {token.content}] ({token.attrGet('src') or ''})", f"{words} muted".strip()))
            case _:
                spans.append((token.content, words))
    return spans


def _end_of(tokens: list[Any], index: int) -> int:
    """Return the index after the block that starts at ``index``."""
    depth = 0
    for place in range(index, len(tokens)):
        depth += tokens[place].nesting
        if depth <= 0:
            return place + 1
    return len(tokens)


def _table(tokens: list[Any]) -> tuple[list[list[Span]], list[list[list[Span]]]]:
    """Return a table's header cells and its rows of cells."""
    header: list[list[Span]] = []
    rows: list[list[list[Span]]] = []
    row: list[list[Span]] = []
    in_head = False
    for token in tokens:
        match token.type:
            case "thead_open":
                in_head = True
            case "thead_close":
                in_head = False
            case "tr_open":
                row = []
            case "tr_close" if in_head:
                header = row
            case "tr_close":
                rows.append(row)
            case "inline":
                row.append(inline_spans(token.children or (), "bold" if in_head else ""))
            case _:
                pass
    return header, rows
