"""Search and selection on rows: what is counted, what is highlighted, what is copied."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from harness_tui.tui.transcript import search as search_module
from harness_tui.tui.transcript.blocks import MarkdownBlock, ToolBlock, UserBlock
from harness_tui.tui.transcript.model import Block, TranscriptModel
from harness_tui.tui.transcript.search import Search
from harness_tui.tui.transcript.selection import Point, Selection
from harness_tui.tui.transcript.texts import answer_of, code_of, last_code


def model(*blocks: Block) -> list[Block]:
    made = TranscriptModel()
    for block in blocks:
        made.add(block)
    return made.blocks


def found(text: str, *blocks: Block) -> list[tuple[int, int]]:
    search = Search(text)
    every = model(*blocks)
    while not search.advance(every):
        pass
    return [(match.block.index, match.nth) for match in search.matches]


def test_everything_is_searched_also_across_marks_of_markdown() -> None:
    blocks = (
        UserBlock("/go", sent="look at NEEDLE"),
        ToolBlock("c1", "bash", "Run", '{"command": "needle"}', output="a needle, a needle"),
        MarkdownBlock("a **need**le and a `needle`"),
        MarkdownBlock("a nee**dle**"),
    )
    assert found("needle", *blocks) == [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (3, 0)]
    assert found("NEEDLE", *blocks) == [(0, 0)]
    assert found("(", *blocks) == []


def test_a_long_session_is_searched_in_slices_and_what_is_new_is_looked_at_again() -> None:
    blocks = model(*(UserBlock(f"x {number}") for number in range(50)))
    search = Search("x")
    slices = 0
    while not search.advance(blocks, budget=0):
        slices += 1
    assert slices == 49  # one block at least in each
    search.begin(20)
    assert search.present is not None
    assert search.present.block.index == 20
    blocks[49] = UserBlock("nothing")
    search.look_again(49)
    assert search.advance(blocks)
    assert (len(search.matches), search.current) == (49, 20)
    search.current = 48
    search.step(1)
    assert search.current == 0


def test_matches_are_highlighted_by_cells_also_behind_wide_text() -> None:
    row = Strip([Segment("日本 ab", Style(bold=True)), Segment("ab e\u0301 ab", None)])
    shown = Search("ab").show(row, current=False)
    assert shown.text == row.text
    assert shown.cell_length == row.cell_length
    assert [s.text for s in shown if s.style is not None and s.style.reverse] == ["ab", "ab", "ab"]


def test_a_selection_leaves_the_frame_out_and_joins_what_was_wrapped() -> None:
    block = MarkdownBlock("x")
    block.index = 0
    texts = ("● One", "", "  │ python", "  │   def f", "  │↪(x):", "  ▌ quote", "✓ Run")
    rows = [Strip([Segment(text.ljust(20))]) for text in texts]
    whole = Selection(Point(block, 0), Point(block, 6), lines=True)
    assert whole.text(lambda _: rows) == "One\n\npython\n  def f(x):\nquote\n✓ Run"
    part = Selection(Point(block, 3, 6), Point(block, 0, 2))  # from below to above
    assert part.text(lambda _: rows) == "One\n\npython\n  d"


def test_the_code_of_a_long_block_that_came_in_parts_is_whole() -> None:
    answer = "Text\n\n```py\nfirst = 1\n\nsecond = 2\n```"
    pieces = (MarkdownBlock("Text", first=True, answer=answer), MarkdownBlock("```py\nfirst = 1\n```"))
    blocks = model(*pieces, MarkdownBlock("```py\n\nsecond = 2\n```"), UserBlock("next"))
    assert code_of(blocks, 1) == code_of(blocks, 2) == ["first = 1\n\nsecond = 2"]
    assert last_code(blocks) == "first = 1\n\nsecond = 2"
    assert answer_of(blocks, 2) == answer
    assert answer_of(blocks, 3) == ""


def test_a_search_that_finds_too_much_stops_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "MOST_MATCHES", 10)
    blocks = model(*(UserBlock("e e e") for _ in range(50)))
    search = Search("e")
    assert search.advance(blocks)
    assert (len(search.matches), search.is_full) == (12, True)
