from __future__ import annotations

from harness_tui.tui.lines import Line, line_cells, plain
from harness_tui.tui.transcript.highlight import Highlighter
from harness_tui.tui.transcript.markdown import MarkdownRenderer
from harness_tui.tui.transcript.splitter import parser


def draw(source: str, width: int = 40, highlighter: Highlighter | None = None) -> list[Line]:
    return MarkdownRenderer(width, highlighter).render(parser().parse(source))


def shown(source: str, width: int = 40) -> list[str]:
    return [plain(line) for line in draw(source, width)]


def test_blocks_are_parted_by_one_empty_line() -> None:
    assert shown("# Title\ntext\n\n- a\n- b") == ["Title", "", "text", "", "• a", "• b"]


def test_inline_marks_become_styles_and_nest() -> None:
    assert draw("a **b *c*** `d`") == [
        (("a ", ""), ("b ", "bold"), ("c", "bold italic"), (" ", ""), ("d", "code")),
    ]


def test_a_link_shows_where_it_leads_unless_its_text_says_so() -> None:
    assert shown("[docs](http://example.test/a)") == ["docs (http://example.test/a)"]
    assert shown("<http://example.test/a>") == ["http://example.test/a"]


def test_lists_nest_keep_their_numbers_and_hang() -> None:
    assert shown("9. nine\n10. ten\n    - deep and wrapped", 16) == [
        " 9. nine",
        "10. ten",
        "    ◦ deep and",
        "      wrapped",
    ]


def test_a_code_line_that_is_too_long_goes_on_below() -> None:
    assert shown("```sh\nabcdefghij\n```", 8) == ["│ sh", "│ abcdef", "│↪ghij"]


def test_raw_html_and_brackets_are_text() -> None:
    assert shown("<b>x</b> [/bold] [red]") == ["<b>x</b> [/bold] [red]"]
    assert shown("<div onclick=1>\nx\n</div>") == ["<div onclick=1>", "x", "</div>"]


def test_a_table_is_as_wide_as_its_cells() -> None:
    assert shown("| name | n |\n|---|---|\n| a | 10 |\n| long | 2 |") == [
        "name │ n",
        "─────┼───",
        "a    │ 10",
        "long │ 2",
    ]


def test_a_table_that_does_not_fit_wraps_its_widest_cells() -> None:
    lines = shown("| a | text |\n|---|---|\n| 1 | some words to wrap |", 16)
    assert lines == ["a │ text", "──┼─────────────", "1 │ some words", "  │ to wrap"]


def test_a_table_with_too_many_columns_is_drawn_row_by_row() -> None:
    head = "|" + "|".join(f"column{n}" for n in range(8)) + "|\n" + "|---" * 8 + "|\n"
    lines = shown(head + "|" + "|".join("value" for _ in range(8)) + "|", 20)
    assert lines[0] == "column0: value"
    assert len(lines) == 8


def test_nothing_is_ever_wider_than_the_screen() -> None:
    wide = "日本語日本語日本語"
    source = f"# {wide} title\n\n- {wide}\n\n> quote {wide}\n\n```\n{wide}\n```\n\n| {wide} | b |\n|--|--|\n| 1 | 2 |"
    for width in (10, 13, 20, 41):
        assert all(line_cells(line) <= width for line in draw(source, width))


def test_code_is_plain_until_its_language_is_loaded() -> None:
    highlighter = Highlighter()
    assert draw("```python\ndef f(): pass\n```", 40, highlighter)[1] == (("│ ", "muted"), ("def f(): pass", ""))
    assert highlighter.take_wanted() == {"python"}
    highlighter.load({"python", "no-such-language"})
    assert (("def", "keyword")) in draw("```python\ndef f(): pass\n```", 40, highlighter)[1]
    assert draw("```no-such-language\nx\n```", 40, highlighter)[1] == (("│ ", "muted"), ("x", ""))
    assert highlighter.take_wanted() == set()
