from __future__ import annotations

from harness_tui.tui.lines import line_cells, plain
from harness_tui.tui.transcript.diff import count_changes, diff_lines, parse_diff
from harness_tui.tui.transcript.diff_split import split_lines
from harness_tui.tui.transcript.highlight import Highlighter

DIFF = """--- a/calc.py
+++ b/calc.py
@@ -1,4 +1,4 @@ def top
 def add(a, b):
-    return a - b
+    return a + b

-- a comment
+-- another comment
"""


def test_lines_have_their_numbers_and_signs() -> None:
    assert [plain(line) for line in diff_lines(DIFF, 40)] == [
        "    ⋯ def top",
        "1   def add(a, b):",
        "2 -     return a - b",
        "2 +     return a + b",
        "3   ",
        "4 - - a comment",
        "4 + -- another comment",
    ]


def test_what_differs_within_a_line_is_underlined() -> None:
    removed, added = diff_lines(DIFF, 40)[2:4]
    assert ("-", "removed underline") in removed
    assert ("+", "added underline") in added


def test_changes_are_counted() -> None:
    assert count_changes(DIFF) == (2, 2)
    assert count_changes("") == (0, 0)


def test_a_removed_line_that_looks_like_a_header_is_a_line() -> None:
    text = "@@ -1,2 +1,1 @@\n--- old heading\n text\n"
    assert [plain(line) for line in diff_lines(text, 40)] == ["    ⋯", "1 - -- old heading", "1   text"]


def test_lines_that_replace_each_other_in_equal_number_are_compared_one_by_one() -> None:
    rows = parse_diff("@@ -1,2 +1,2 @@\n-first = 1\n-second = 1\n+first = 2\n+second = 2\n")
    assert [(row.text, row.marks) for row in rows[1:]] == [
        ("first = 1", [(8, 9)]),
        ("second = 1", [(9, 10)]),
        ("first = 2", [(8, 9)]),
        ("second = 2", [(9, 10)]),
    ]


def test_a_diff_has_the_colours_of_its_language_once_they_are_loaded() -> None:
    highlighter = Highlighter()
    assert ("return", "keyword") not in [span for line in diff_lines(DIFF, 40, highlighter) for span in line]
    assert highlighter.take_wanted() == {"file:x.py"}
    highlighter.load({"file:x.py"})
    lines = diff_lines(DIFF, 40, highlighter)
    assert ("def", "keyword") in lines[1]
    assert ("return", "removed keyword") in lines[2]
    assert [plain(line) for line in lines] == [plain(line) for line in diff_lines(DIFF, 40)]
    highlighter.load({"file:nosuch.zzz"})
    assert highlighter.lines("text", "file:nosuch.zzz") is None


def test_strings_of_changed_lines_keep_the_colour_of_the_change() -> None:
    highlighter = Highlighter()
    highlighter.load({"file:x.py"})
    text = '--- a/a.py\n+++ /dev/null\n@@ -1,2 +1,1 @@\n-x = "old"\n y = "kept"\n'
    removed, kept = diff_lines(text, 40, highlighter)[1:]
    assert {style for text, style in removed if "old" in text} == {"removed"}
    assert "string" in {style for _, style in kept}


def test_side_by_side_what_replaces_something_stands_beside_it() -> None:
    shown = [plain(line) for line in split_lines(parse_diff(DIFF), 61)]
    assert shown == [
        "    ⋯ def top",
        "1   def add(a, b):            │ 1   def add(a, b):",
        "2 -     return a - b          │ 2 +     return a + b",
        "3                             │ 3   ",
        "4 - - a comment               │ 4 + -- another comment",
    ]


def test_side_by_side_a_line_without_a_partner_leaves_the_other_side_empty_and_wide_text_keeps_the_columns() -> None:
    text = "@@ -1,1 +1,3 @@\n-日本語日本語日本語\n+日本\n+👩‍👩‍👧 e\u0301\n+last\n"
    lines = split_lines(parse_diff(text), 31)
    assert [plain(line) for line in lines] == [
        "    ⋯",
        "1 - 日本語日本 │ 1 + 日本",
        "    語日本語   │ ",
        "               │ 2 + 👩‍👩‍👧 e\u0301",
        "               │ 3 + last",
    ]
    bars = {line_cells(line[: next(i for i, span in enumerate(line) if span[0] == " │ ")]) for line in lines[1:]}
    assert bars == {14}
    assert max(line_cells(line) for line in lines) <= 31
