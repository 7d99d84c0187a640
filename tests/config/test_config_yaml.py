"""YAML with line numbers, and what is saved of files that are damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness_tui.config.yaml_source import parse_yaml, read_yaml

PATH = Path("c.yaml")


def test_every_key_and_item_has_its_line():
    document = parse_yaml("a: 1\nb:\n  - x\n  - {c: 2}\n", PATH)
    assert document.values == {"a": 1, "b": ["x", {"c": 2}]}
    assert document.where(("b", 1, "c")) == "c.yaml:4"
    assert document.where(("b", 1, "unknown")) == "c.yaml:4"
    assert document.where(("nothing",)) == "c.yaml:1"


def test_an_empty_file_is_an_empty_mapping():
    for text in ("", "\n# only a comment\n", "---\n"):
        document = parse_yaml(text, PATH)
        assert (document.values, document.broken, document.problems) == ({}, False, ())


def test_keys_are_names_as_they_are_written():
    assert parse_yaml("on: 1\n8080: 2\nno: 3\n", PATH).values == {"on": 1, "8080": 2, "no": 3}


def test_a_duplicate_key_is_a_warning_with_both_lines_and_the_last_one_counts():
    document = parse_yaml("a: 1\nb: 2\na: 3\n", PATH)
    assert document.values == {"a": 3, "b": 2}
    [problem] = document.problems
    assert (problem.where, problem.code, problem.level) == ("c.yaml:3", "duplicate-key", "warning")
    assert "line 1" in problem.message


def test_what_looks_like_a_date_stays_text_even_when_it_is_none():
    assert parse_yaml("a: 2026-13-02\nb: 2026-01-02\n", PATH).values == {"a": "2026-13-02", "b": "2026-01-02"}


def test_anchors_and_merges_work_and_keep_the_lines_of_their_keys():
    document = parse_yaml("base: &b {x: 1, y: 2}\nother:\n  <<: *b\n  y: 3\n", PATH)
    assert document.values["other"] == {"y": 3, "x": 1}
    assert document.line(("other", "y")) == 4
    assert document.line(("other", "x")) == 1


def test_anchors_that_stand_for_very_much_are_an_error_and_not_a_hang():
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
    document = parse_yaml(f"a0: &a0 [{', '.join('x' * 10)}]\n{levels}", PATH)
    assert document.broken
    assert [problem.code for problem in document.problems] == ["too-large"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: [1, 2\n", 3),
        ("a: b: c\n", 1),
        ("a: 1\n\tb: 2\n", 2),
        ("a: *nothing\n", 1),
        ("a: &x [*x]\n", 1),
        ("a: 1\n---\nb: 2\n", 2),
        ("{? [a]: b}\n", 1),
        ("[" * 3000, 1),
        ("a:\n" + "\n".join(" " * n + "a:" for n in range(1, 80)), 51),
    ],
)
def test_what_is_no_yaml_is_a_problem_with_its_line(text: str, line: int):
    document = parse_yaml(text, PATH)
    assert document.broken
    assert document.problems[-1].where == f"c.yaml:{line}"


def test_an_unknown_tag_is_a_problem_and_its_neighbours_stay():
    document = parse_yaml("a: !secret x\nb: 2\n", PATH)
    assert document.values["b"] == 2
    assert not document.broken
    assert "!secret" in document.problems[0].message


def test_a_file_cut_in_half_keeps_the_items_before_the_cut():
    text = "permission:\n  - {permission: bash, pattern: 'rm *', action: deny}\n  - {permission: bash, pattern: 'l"
    document = parse_yaml(text, PATH)
    assert document.broken
    assert document.values == {"permission": [{"permission": "bash", "pattern": "rm *", "action": "deny"}]}


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"a: \xff\n", "not-utf8"), (b"a: 1\n\x00\n", "binary"), (b"x" * (1024 * 1024 + 1), "too-large")],
    ids=["not UTF-8", "NUL", "too large"],
)
def test_a_file_that_is_no_text_is_a_problem(tmp_path: Path, data: bytes, code: str):
    path = tmp_path / "c.yaml"
    path.write_bytes(data)
    document = read_yaml(path)
    assert document.broken
    assert document.problems[0].code == code


def test_a_fifo_does_not_hang(tmp_path: Path):
    os.mkfifo(tmp_path / "c.yaml")
    document = read_yaml(tmp_path / "c.yaml")
    assert document.broken
    assert "not a regular file" in document.problems[0].message


def test_a_byte_order_mark_is_not_part_of_the_first_key(tmp_path: Path):
    path = tmp_path / "c.yaml"
    path.write_bytes(b"\xef\xbb\xbfmodel: a/b\r\nmode: ask\r\n")
    assert read_yaml(path).values == {"model": "a/b", "mode": "ask"}
