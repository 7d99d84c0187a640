"""Diffs that a person approves: right, counted, and quick for long files."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.tools.diffs import make_diff

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "  d"]), max_size=40)


@given(LINES, LINES)
def test_it_is_the_unified_diff_of_the_standard_library_in_effect(old: list[str], new: list[str]) -> None:
    before, after = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)
    diff = make_diff(before, after, "f")
    assert apply(old, diff.text) == new
    body = diff.text.splitlines()[2:]
    assert diff.added == sum(line.startswith("+") for line in body)
    assert diff.removed == sum(line.startswith("-") for line in body)
    assert diff.added - diff.removed == len(new) - len(old)


def apply(old: list[str], patch: str) -> list[str]:
    """A patch program of a few lines: independent of how the diff was made."""
    result: list[str] = []
    place = 0
    for line in patch.splitlines()[2:]:
        if line.startswith("@@"):
            start, _, length = line.split()[1][1:].partition(",")
            first = int(start) - (0 if length == "0" else 1)
            result += old[place:first]
            place = first
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert old[place] == line[1:]
            if line.startswith(" "):
                result.append(old[place])
            place += 1
    return result + old[place:]


def test_the_usual_form() -> None:
    old = [f"line {number}" for number in range(1, 21)]
    new = [*old[:9], "changed", *old[10:], "more"]
    expected = "\n".join(difflib.unified_diff(old, new, "f", "f", lineterm="")) + "\n"
    assert make_diff("\n".join(old) + "\n", "\n".join(new) + "\n", "f").text == expected


def test_a_new_file_comes_from_nowhere() -> None:
    assert make_diff("", "x\n", "f", created=True).text == "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+x\n"


@pytest.mark.parametrize(("before", "after"), [("", ""), ("a\n", "a\n"), ("a\r\n", "a\n")])
def test_no_changed_line_is_no_text(before: str, after: str) -> None:
    assert make_diff(before, after, "f").text == ""


def test_a_very_long_change_is_shown_without_matching_and_cut() -> None:
    before = "".join(f"{number}\n" for number in range(50_000))
    after = "".join(f"{number} x\n" for number in range(50_000))
    diff = make_diff("head\n" + before, "head\n" + after, "f")
    assert (diff.added, diff.removed) == (50_000, 50_000)
    assert "bytes left out" in diff.text
    assert len(diff.text) < 52_000


def test_a_change_far_into_a_long_text_is_found_with_its_lines() -> None:
    lines = [f"{number}\n" for number in range(1, 300_001)]
    changed = [*lines[:149_999], "new\n", "more\n", *lines[150_000:]]
    diff = make_diff("".join(lines), "".join(changed).replace("\n", "\r\n"), "a")
    assert (diff.added, diff.removed) == (2, 1)
    assert diff.text == (
        "--- a\n+++ a\n@@ -149997,7 +149997,8 @@\n 149997\n 149998\n 149999\n-150000\n+new\n+more\n"
        " 150001\n 150002\n 150003\n"
    )
