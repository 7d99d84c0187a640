"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import copy
import re

import pytest

from harness_tui.core.late_pattern import late_pattern


def test_a_late_pattern_is_used_like_a_compiled_one() -> None:
    made, late = re.compile("(a)(b)?", re.IGNORECASE), late_pattern("(a)(b)?", re.IGNORECASE)
    for text in ("AB", "xa", "b"):
        assert [found.span() for found in late.finditer(text)] == [found.span() for found in made.finditer(text)]
    assert late.sub("-", "Ab a") == "- -"
    assert (late.pattern, late.groups, late.flags) == (made.pattern, made.groups, made.flags)
    assert late_pattern(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_a_method_is_looked_up_once() -> None:
    late = late_pattern("a")
    assert late.match is late.match


def test_a_fault_is_raised_by_the_first_use_and_not_before() -> None:
    late = late_pattern("(")
    with pytest.raises(re.error, match="unterminated subpattern"):
        late.match("x")


def test_a_copy_is_a_pattern_as_well() -> None:
    assert copy.deepcopy(late_pattern("a+")).fullmatch("aaa")
