"""The pattern language: ``*``, ``?``, everything else literal, the whole value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.core.patterns import literal_text, matches

LETTERS = st.text(alphabet="ab/. [](){}+^$|\\-\n*?", max_size=12)


@pytest.mark.parametrize(
    ("pattern", "value", "fits"),
    [
        ("*", "", True),
        ("*", "a/b\nc", True),
        ("", "", True),
        ("", "a", False),
        ("a", "a", True),
        ("a", "ab", False),
        ("a", "ba", False),
        ("a*", "a", True),
        ("*.py", "src/a.py", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a?c", "a\nc", True),
        ("a.c", "abc", False),
        ("[ab]", "a", False),
        ("[ab]", "[ab]", True),
        ("git status *", "git status", True),
        ("git status *", "git status -s", True),
        ("git status *", "git statusx", False),
        ("git status *", "git status ", True),
        ("ls *", "lsx", False),
        ("ls*", "lsx", True),
        (" *", "", True),
        ("a\nb", "a\nb", True),
        ("Git", "git", False),
        ("a$", "a\n", False),
    ],
)
def test_a_pattern_fits_the_whole_value(pattern: str, value: str, fits: bool) -> None:
    assert matches(pattern, value) is fits


def reference(pattern: str, value: str) -> bool:
    """Match by trying every split: slow, short and obviously right."""
    if not pattern:
        return not value
    if pattern[0] == "*":
        return reference(pattern[1:], value) or (bool(value) and reference(pattern, value[1:]))
    return bool(value) and pattern[0] in ("?", value[0]) and reference(pattern[1:], value[1:])


@given(LETTERS, LETTERS)
def test_a_pattern_does_what_trying_every_split_does(pattern: str, value: str) -> None:
    expected = reference(pattern, value)
    if pattern.endswith(" *"):
        expected = expected or reference(pattern[:-2], value)
    assert matches(pattern, value) is expected


@given(st.text(alphabet=st.characters(exclude_characters="*?"), max_size=20))
def test_a_text_without_wildcards_fits_itself_alone(text: str) -> None:
    assert matches(text, text)
    assert not matches(text, text + "x")


def test_literal_text_is_what_stands_for_itself() -> None:
    assert literal_text("*.en?v*") == ".env"
