"""The pattern language: ``*``, ``?``, everything else literal, the whole value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.core.patterns import (
    escape,
    first_wildcard,
    is_literal,
    literal_head,
    literal_text,
    matches,
    unescaped,
)

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
        (r"a\*", "a*", True),
        (r"a\*", "ab", False),
        (r"a\?b", "a?b", True),
        (r"a\?b", "axb", False),
        (r"a\\*", "a\\bc", True),
        (r"a\\*", "a*", False),
        (r"a\b", r"a\b", True),
        (r"ls \*", "ls", False),
        (r"ls \*", "ls *", True),
    ],
)
def test_a_pattern_fits_the_whole_value(pattern: str, value: str, fits: bool) -> None:
    assert matches(pattern, value) is fits


def reference(pattern: str, value: str) -> bool:
    """Match by trying every split: slow, short and obviously right."""
    if not pattern:
        return not value
    slashes = len(pattern) - len(pattern.lstrip("\\"))
    if slashes and pattern[slashes : slashes + 1] in ("*", "?"):
        literal = "\\" * (slashes // 2) + (pattern[slashes] if slashes % 2 else "")
        rest = pattern[slashes + slashes % 2 :]
        return value.startswith(literal) and reference(rest, value[len(literal) :])
    if slashes:
        return value.startswith("\\" * slashes) and reference(pattern[slashes:], value[slashes:])
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


@given(LETTERS, LETTERS)
def test_an_escaped_text_fits_itself_and_nothing_else(text: str, other: str) -> None:
    pattern = escape(text)
    assert is_literal(pattern)
    assert unescaped(pattern) == literal_head(pattern) == literal_text(pattern) == text
    assert matches(pattern, other) is (other == text)


@pytest.mark.parametrize(("pattern", "place"), [("abc", 3), ("a*c", 1), (r"a\*?", 3), (r"a\\*", 3), ("", 0)])
def test_the_first_wildcard_is_found_behind_escapes(pattern: str, place: int) -> None:
    assert first_wildcard(pattern) == place


def test_a_pattern_of_many_wildcards_takes_time_that_grows_with_the_value_alone() -> None:
    value = "ab" * 30_000
    assert not matches("*a" * 40 + "c", value)
    assert matches("*a" * 40 + "*", value)
