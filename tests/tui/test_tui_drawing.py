from __future__ import annotations

from datetime import UTC, datetime

import pytest

from harness_tui.tui.lines import line_cells, plain
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
from harness_tui.tui.transcript.drawing import BlockRenderer, duration, text_of
from harness_tui.tui.transcript.model import Block


def shown(block: Block, width: int = 40, *, details: bool = False) -> list[str]:
    renderer = BlockRenderer()
    renderer.details = details
    return [plain(line) for line in renderer.draw(block, width)]


def tool(state: str = "done", **fields: object) -> ToolBlock:
    block = ToolBlock("c1", "bash", "Run ls", '{"command": "ls"}')
    block.state = state  # type: ignore[assignment]
    for name, value in fields.items():
        setattr(block, name, value)
    return block


def test_a_message_has_its_mark_and_an_empty_line_after_it() -> None:
    assert shown(UserBlock("hello\nyou")) == ["❯ hello", "  you", ""]


def test_a_command_shows_its_source_and_unfolds_to_what_was_sent() -> None:
    block = UserBlock("/review a", "Look at a.\nSay more.", "review.md")
    assert shown(block) == ["❯ /review a", "  ▸ from review.md, 2 lines sent", ""]
    block.folded = False
    assert shown(block) == ["❯ /review a", "  ▾ from review.md, 2 lines sent", "  │ Look at a.", "  │ Say more.", ""]


def test_the_answer_has_a_mark_at_its_first_block_only() -> None:
    assert shown(MarkdownBlock("text", first=True)) == ["● text", ""]
    assert shown(MarkdownBlock("- a\n- b")) == ["  • a", "  • b", ""]


def test_each_state_of_a_call_has_its_own_sign() -> None:
    signs = {state: shown(tool(state))[0][0] for state in ("running", "waiting", "done", "failed", "denied")}
    assert signs == {"running": "…", "waiting": "?", "done": "✓", "failed": "✗", "denied": "⊘"}


def test_a_long_output_is_folded_and_says_how_much_is_hidden() -> None:
    output = "\n".join(f"row {number}" for number in range(20))
    lines = shown(tool(output=output, seconds=2.0))
    assert lines[0] == "✓ Run ls  2.0 s"
    assert lines[1] == "  … 14 more lines (Ctrl+O shows all)"
    assert lines[-1] == "  │ row 19"
    assert len(lines) == 8
    assert shown(tool(output=output), details=True)[-20:] == [f"  │ row {number}" for number in range(20)]


TWENTY = "\n".join(f"row {number}" for number in range(20))


def test_what_the_model_only_looked_at_takes_one_line_until_it_is_unfolded() -> None:
    for name in ("read", "list", "glob", "grep", "skill", "todo", "diagnostics"):
        block = tool(output=TWENTY, note="20 lines")
        block.tool = name
        assert shown(block) == ["✓ Run ls  20 lines"]
        block.folded = False
        assert shown(block)[-1] == "  │ row 19"


def test_the_result_of_a_server_shows_three_lines_from_its_start_also_under_a_name_of_ours() -> None:
    for name in ("time_now", "read"):
        block = tool(output=TWENTY, source="mcp:time")
        block.tool = name
        assert shown(block)[1:] == ["  │ row 0", "  │ row 1", "  │ row 2", "  … 17 more lines (Ctrl+O shows all)"]


def test_a_failure_shows_its_end_whatever_the_tool() -> None:
    block = tool("failed", output=TWENTY)
    block.tool = "read"
    assert shown(block)[1:] == ["  … 14 more lines (Ctrl+O shows all)", *(f"  │ row {n}" for n in range(14, 20))]


def test_what_a_person_read_by_hand_is_shown_from_its_start() -> None:
    block = tool(output=TWENTY, by_hand=True)
    block.tool = "read"
    assert shown(block)[1] == "  │ row 0"
    assert shown(block)[-1] == "  … 4 more lines (Ctrl+O shows all)"


def test_a_long_title_is_cut_to_one_line_and_stands_whole_when_unfolded() -> None:
    block = tool(note="exit code 1", seconds=2.0)
    block.title = "Run " + "x" * 100
    assert shown(block, 60) == [f"✓ Run {'x' * 32}…  exit code 1 · 2.0 s"]
    block.folded = False
    assert "".join(shown(block)).count("x") >= 100


def test_errors_stand_under_the_edit_that_caused_them() -> None:
    lines = shown(tool(diff="@@ -1 +1 @@\n-a\n+b\n", output="edited", problems=("L1: no b here",)))
    assert lines == ["✓ Run ls", "      ⋯", "  1 - a", "  1 + b", "  ✗ L1: no b here"]


def test_an_edit_shows_its_diff_in_the_place_of_its_output() -> None:
    lines = shown(tool(diff="@@ -1 +1 @@\n-a\n+b\n", output="edited"))
    assert lines == ["✓ Run ls", "      ⋯", "  1 - a", "  1 + b"]


def test_what_waits_for_the_person_is_not_shown_twice() -> None:
    assert shown(tool("waiting", diff="@@ -1 +1 @@\n-a\n+b\n", note="waiting for you")) == ["? Run ls  waiting for you"]


def test_reasoning_is_short_while_it_comes_and_folded_after() -> None:
    block = ReasoningBlock("one\ntwo\nthree\nfour")
    assert shown(block) == ["… thinking", "  │ two", "  │ three", "  │ four", ""]
    block.open, block.seconds = False, 4.0
    assert shown(block) == ["▸ thought for 4.0 s", ""]


def test_notices_questions_and_ends_say_it_in_words() -> None:
    assert shown(NoticeBlock("error", "mcp", "gone", "restart it")) == ["✗ mcp: gone", "  → restart it", ""]
    assert shown(QuestionBlock("q", "docs", "Which?")) == ["? docs asks: Which?", "  → waiting for you", ""]
    assert shown(RunEndBlock("completed", seconds=65, calls=2)) == ["  1 min 5 s · 2 calls", ""]
    assert shown(RunEndBlock("cancelled", seconds=1)) == ["⊘ cancelled  1.0 s", ""]
    assert shown(RunEndBlock("failed", "no key", "add one")) == ["✗ failed: no key", "  → add one", ""]
    assert shown(SummaryBlock("Summed up", "text")) == ["  ▸ Summed up", ""]


def test_a_block_after_a_call_keeps_its_distance() -> None:
    block = MarkdownBlock("text", first=True)
    block.after_call = True
    assert shown(block) == ["", "● text", ""]


def test_times_are_written_for_people() -> None:
    assert [duration(seconds) for seconds in (0.24, 9.96, 12.4, 61)] == ["0.2 s", "10.0 s", "12 s", "1 min 1 s"]


def test_no_block_is_wider_than_the_screen() -> None:
    wide = "日本語 " * 20 + "x" * 50
    blocks: list[Block] = [
        UserBlock(wide, wide, wide, (wide,)),
        MarkdownBlock(wide),
        ReasoningBlock(wide),
        tool("failed", output=wide, note=wide, cut=wide, source="mcp:x"),
        NoticeBlock("info", "s", wide, wide),
        QuestionBlock("q", "s", wide, wide),
        SummaryBlock(wide, wide),
        RunEndBlock("failed", wide, wide),
    ]
    for width in (10, 21, 80):
        for block in blocks:
            assert all(line_cells(line) <= width for line in BlockRenderer().draw(block, width)), type(block).__name__


def test_a_call_that_runs_shows_its_last_lines_and_for_how_long() -> None:
    block = tool("running", output="\n".join(f"line {n}" for n in range(20)), started="2026-01-02T03:04:05.000Z")
    renderer = BlockRenderer(now=lambda: datetime(2026, 1, 2, 3, 4, 12, 900_000, tzinfo=UTC))
    lines = text_of(renderer.draw(block, 40)).split("\n")
    assert lines[0] == "… Run ls  7 s"
    assert lines[-1] == "  │ line 19"
    assert len(lines) == 8  # the title, what is left out, the last six
    block.started = "2026-01-02T03:04:12.000Z"
    assert text_of(renderer.draw(block, 40)).startswith("… Run ls\n")  # too short to be of interest


def test_a_block_that_cannot_be_drawn_says_so_and_shows_its_text(caplog: pytest.LogCaptureFixture) -> None:
    block = MarkdownBlock("as it was", tokens=[object()])  # no parser gives such a token
    lines = shown(block, 100)
    assert lines == [
        "✗ this cannot be drawn: AttributeError: 'object' object has no attribute 'nesting'",
        "  │ as it was",
        "",
    ]
    assert "cannot be drawn" in caplog.text


def test_a_wide_screen_shows_a_change_side_by_side() -> None:
    block = tool(diff="@@ -1 +1 @@\n-a\n+b\n")
    assert "1 - a" in shown(block, 121)[2]
    assert "│ 1 + b" in shown(block, 121)[2]
    assert "│" not in "".join(shown(block, 118))
