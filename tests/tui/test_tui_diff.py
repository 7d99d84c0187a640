from __future__ import annotations

from harness_tui.tui.lines import plain
from harness_tui.tui.transcript.diff import count_changes, diff_lines

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
