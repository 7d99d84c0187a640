"""Reading what servers say, item by item."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.core.values import DiagnosticItem, RelatedPlace
from harness_tui.lsp.diagnostics import merge, read_items

ROOT = Path("/p")


def read(raw, text="one\ntwo\n"):
    return read_items(raw, path="a.py", lines=text.split("\n"), encoding="utf-16", root=ROOT)


def place(line, start, end):
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def test_a_whole_diagnostic_is_read():
    raw = {
        "range": place(1, 0, 3),
        "severity": 2,
        "code": 402,
        "source": "lint",
        "message": "first\n\nhelp: second",
        "relatedInformation": [
            {"location": {"uri": "file:///p/b.py", "range": place(4, 2, 3)}, "message": "declared here"},
            {"location": {"uri": "file:///p/a.py", "range": place(0, 1, 2)}, "message": "and here"},
            {"location": {"uri": "file:///q/c.py", "range": place(0, 0, 0)}, "message": "elsewhere"},
            {"location": {"uri": "untitled:x"}, "message": "nowhere"},
        ],
    }
    assert read([raw]).items == (
        DiagnosticItem(
            "a.py",
            2,
            1,
            2,
            4,
            "warning",
            "first\n\nhelp: second",
            "402",
            "lint",
            (
                RelatedPlace("b.py", 5, 3, "declared here"),
                RelatedPlace("a.py", 1, 2, "and here"),
                RelatedPlace("/q/c.py", 1, 1, "elsewhere"),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("value", "severity"),
    [
        (1, "error"),
        (2, "warning"),
        (3, "info"),
        (4, "hint"),
        (0, "error"),
        (9, "error"),
        (None, "error"),
        ("2", "error"),
    ],
)
def test_an_unknown_severity_counts_as_an_error(value, severity):
    assert read([{"range": place(0, 0, 1), "message": "m", "severity": value}]).items[0].severity == severity


@pytest.mark.parametrize(
    ("code", "text"),
    [(7, "7"), ("E1", "E1"), (1.5, "1.5"), ({"value": "E2", "target": "x"}, "E2"), (None, None), ([], None)],
)
def test_a_code_may_have_any_shape(code, text):
    assert read([{"range": place(0, 0, 1), "message": "m", "code": code}]).items[0].code == text


def test_places_outside_the_text_are_moved_to_its_end():
    beyond = read(
        [{"range": {"start": {"line": 9, "character": 9}, "end": {"line": 12, "character": 0}}, "message": "m"}]
    )
    assert [(item.line, item.column, item.end_line, item.end_column) for item in beyond.items] == [(3, 1, 3, 1)]
    backwards = read(
        [{"range": {"start": {"line": 1, "character": 2}, "end": {"line": 0, "character": 0}}, "message": "m"}]
    )
    assert [(item.line, item.column, item.end_line, item.end_column) for item in backwards.items] == [(2, 3, 2, 3)]


def test_one_broken_item_never_costs_the_others():
    found = read(["text", None, {"message": "good", "range": place(0, 0, 1)}, 5])
    assert ([item.message for item in found.items], found.broken) == (["good"], 3)


def test_an_item_without_message_or_range_is_kept():
    assert [(item.message, item.line) for item in read([{}]).items] == [("(no message)", 1)]


def test_the_same_finding_of_two_servers_is_shown_once_with_the_graver_severity():
    def item(severity, source, message="bad  name"):
        return DiagnosticItem("a.py", 1, 1, 1, 2, severity, message, None, source)

    assert merge([[item("warning", "one")], [item("error", "two", "bad name")]]) == (item("error", "two", "bad name"),)
    assert len(merge([[item("warning", "one")], [item("warning", "two", "other")]])) == 2


def test_items_are_sorted_by_place_then_severity():
    raw = [
        {"range": place(1, 0, 1), "message": "c", "severity": 1},
        {"range": place(0, 2, 3), "message": "b", "severity": 2},
        {"range": place(0, 2, 3), "message": "a", "severity": 1},
    ]
    assert [item.message for item in read(raw).items] == ["a", "b", "c"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(
        JSON
        | st.fixed_dictionaries(
            {},
            optional={
                "range": JSON | st.fixed_dictionaries({"start": JSON, "end": JSON}),
                "message": JSON,
                "severity": JSON,
                "code": JSON,
                "source": JSON,
                "relatedInformation": JSON,
            },
        ),
        max_size=5,
    )
)
def test_whatever_comes_is_read_or_counted_as_broken(raw):
    found = read(raw)
    assert len(found.items) + found.broken <= len(raw)
    for item in found.items:
        assert 1 <= item.line <= item.end_line <= 3
        assert item.message
