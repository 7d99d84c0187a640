"""Exposed names: allowed characters, no clash, the same in any order, and an exact way back."""

from __future__ import annotations

import hashlib
import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.mcp.names import exposed_names


def suffix(server: str, tool: str) -> str:
    return hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()[:8]


def test_a_name_is_server_underscore_tool() -> None:
    assert exposed_names([("time", "get_current_time")]) == {"time_get_current_time": ("time", "get_current_time")}


def test_other_characters_become_underscores() -> None:
    assert exposed_names([("my.server", "list/all")]) == {"my_server_list_all": ("my.server", "list/all")}


def test_a_name_of_64_characters_stays_and_one_of_65_gets_a_hash() -> None:
    fits, over = "t" * 62, "t" * 63
    names = exposed_names([("s", fits), ("s", over)])
    assert names[f"s_{fits}"] == ("s", fits)
    hashed = f"s_{'t' * 53}_{suffix('s', over)}"
    assert len(hashed) == 64
    assert names[hashed] == ("s", over)


def test_two_exact_claimants_of_one_name_both_get_a_hash() -> None:
    names = exposed_names([("a", "b_c"), ("a_b", "c")])
    assert names == {f"a_b_c_{suffix('a', 'b_c')}": ("a", "b_c"), f"a_b_c_{suffix('a_b', 'c')}": ("a_b", "c")}


def test_the_one_that_needed_no_replacement_keeps_its_name() -> None:
    names = exposed_names([("a", "b.c"), ("a", "b_c")])
    assert names == {"a_b_c": ("a", "b_c"), f"a_b_c_{suffix('a', 'b.c')}": ("a", "b.c")}


def test_a_reserved_name_gets_a_hash() -> None:
    names = exposed_names([("bash", "output")], {"bash_output"})
    assert names == {f"bash_output_{suffix('bash', 'output')}": ("bash", "output")}


def test_a_tool_that_is_named_like_a_hashed_name_does_not_take_it() -> None:
    mimic = f"b_c_{suffix('a', 'b.c')}"
    names = exposed_names([("a", "b.c"), ("a", "b_c"), ("a", mimic)])
    assert len(names) == 3
    assert names[f"a_{mimic}"] == ("a", mimic)
    assert sorted(names.values()) == sorted([("a", "b.c"), ("a", "b_c"), ("a", mimic)])


@pytest.mark.parametrize("order", list(itertools.permutations([("a", "b_c"), ("a_b", "c"), ("a", "b.c")])))
def test_the_order_of_servers_and_tools_does_not_matter(order: tuple[tuple[str, str], ...]) -> None:
    assert exposed_names(order) == exposed_names(sorted(order))


@given(st.sets(st.tuples(st.text("ab._-é", min_size=1, max_size=40), st.text("ab._-/", min_size=1, max_size=40))))
def test_every_pair_has_exactly_one_allowed_name(pairs: set[tuple[str, str]]) -> None:
    names = exposed_names(pairs)
    assert sorted(names.values()) == sorted(pairs)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)
