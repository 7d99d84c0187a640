"""An edit that a server proposes is read whole or refused whole, and its places mean what the protocol says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.core.errors import HarnessError
from harness_tui.core.seams import TextChange
from harness_tui.lsp.text import PositionEncoding, character_of, split_lines
from harness_tui.lsp.workspace_edit import PlacedText, read_workspace_edit, text_changes

URI = "file:///p/a%20b.py"
PATH = Path("/p/a b.py")


def span(*numbers: Any) -> dict[str, Any]:
    a, b, c, d = numbers
    return {"start": {"line": a, "character": b}, "end": {"line": c, "character": d}}


def text(new: str, *numbers: Any) -> dict[str, Any]:
    return {"range": span(*(numbers or (0, 0, 0, 1))), "newText": new}


def document(*edits: Any, uri: Any = URI, version: Any = 3) -> dict[str, Any]:
    return {"textDocument": {"uri": uri, "version": version}, "edits": list(edits)}


def test_both_shapes_are_read_and_the_versioned_one_counts():
    (file,) = read_workspace_edit({"changes": {URI: [text("x", 1, 2, 1, 3)]}})
    assert (file.path, file.version, file.edits) == (PATH, None, [PlacedText((1, 2), (1, 3), "x")])
    both = {"changes": {URI: [text("x")]}, "documentChanges": [document(text("y"))]}
    (file,) = read_workspace_edit(both)
    assert (file.version, [edit.text for edit in file.edits]) == (3, ["y"])
    annotated = {"documentChanges": [document(text("y") | {"annotationId": "1"})], "changeAnnotations": {"1": {}}}
    assert len(read_workspace_edit(annotated)) == 1
    for nothing in (None, {}, {"changes": {}}, {"changes": None}, {"documentChanges": [document()]}):
        assert read_workspace_edit(nothing) == []


def test_a_file_is_meant_by_its_new_path_once_it_was_moved():
    edit = {
        "documentChanges": [
            document(text("one")),
            {"kind": "rename", "oldUri": URI, "newUri": "file:///p/new.py"},
            document(text("two", 5, 0, 5, 1), uri="file:///p/new.py"),
            {"kind": "create", "uri": "file:///p/made.py", "options": {"ignoreIfExists": True}},
            document(text("three", 0, 0, 0, 0), uri="file:///p/made.py"),
        ]
    }
    moved, made = read_workspace_edit(edit)
    assert (moved.path, moved.moved_to, [e.text for e in moved.edits]) == (PATH, Path("/p/new.py"), ["one", "two"])
    assert (made.path, made.created, made.may_exist, len(made.edits)) == (Path("/p/made.py"), True, True, 1)


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ([], "it is no object"),
        ({"documentChanges": {}}, "documentChanges is no list"),
        ({"changes": []}, "changes is no object"),
        ({"documentChanges": [None]}, "an entry is no object"),
        ({"documentChanges": [{"kind": "delete", "uri": URI}]}, "it would delete a file"),
        ({"documentChanges": [{"kind": "chmod\n\x1b[2J", "uri": URI}]}, "it would chmod a file"),
        ({"documentChanges": [document(text("x"), uri="untitled:1")]}, "names something that is no file"),
        ({"documentChanges": [document(text("x"), uri=7)]}, "names something that is no file"),
        ({"documentChanges": [document(text("x"), uri="file:///p/a%00b")]}, "names something that is no file"),
        ({"changes": {URI: {}}}, "edits is no list"),
        ({"changes": {URI: ["x"]}}, "a part has no range, or no text"),
        ({"changes": {URI: [{"range": span(0, 0, 0, 1), "newText": None}]}}, "a part has no range, or no text"),
        ({"changes": {URI: [{"newText": "x"}]}}, "a part has no range, or no text"),
        ({"changes": {URI: [text("x", 0, -1, 0, 1)]}}, "a part has no place"),
        ({"changes": {URI: [text("x", 0, True, 0, 1)]}}, "a part has no place"),
        ({"changes": {URI: [text("x", 0, 1.0, 0, 2)]}}, "a part has no place"),
        ({"changes": {URI: [text("x", 0, None, 0, 2)]}}, "a part has no place"),
        ({"changes": {URI: [text("x", 1, 0, 0, 0)]}}, "a part ends before it starts"),
        ({"documentChanges": [document({"range": span(0, 0, 0, 0), "snippet": {}})]}, "it holds a snippet"),
        ({"changes": {URI: [text("x") | {"insertTextFormat": 2}]}}, "it holds a snippet"),
        ({"documentChanges": [document(text("x")), {"kind": "create", "uri": URI}]}, "that it has named before"),
        (
            {"documentChanges": [document(text("x")), {"kind": "rename", "oldUri": "file:///b", "newUri": URI}]},
            "onto one that it has named before",
        ),
        ({"changes": {URI: [text("x")] * 100_001}}, "more than 100000 parts"),
        ({"changes": {URI: [text("x" * 11_000_000)] * 2}}, "20971520 characters"),
    ],
)
def test_what_has_no_known_shape_refuses_the_whole(edit, why):
    whole = edit
    if isinstance(edit, dict) and isinstance(edit.get("documentChanges"), list):
        whole = {"documentChanges": [document(text("good"), uri="file:///p/good.py"), *edit["documentChanges"]]}
    with pytest.raises(HarnessError, match=why) as caught:
        read_workspace_edit(whole)
    assert caught.value.code == "workspace-edit"
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("encoding", "character", "offset"),
    [("utf-16", 3, 2), ("utf-8", 6, 2), ("utf-32", 2, 2), ("utf-16", 99, 4), ("utf-8", 99, 4), ("utf-32", 99, 4)],
)
def test_columns_count_in_the_server_s_units_and_end_with_the_line(encoding, character, offset):
    (change,) = text_changes([PlacedText((0, character), (0, character), "x")], ["😀éa+", "b"], encoding, "a")
    assert change == TextChange(offset, offset, "x")


def test_beyond_the_last_line_is_the_end_of_the_text():
    whole = PlacedText((0, 0), (2**31 - 1, 0), "new\n")
    assert text_changes([whole], ["one", "two", ""], "utf-16", "a") == (TextChange(0, 8, "new\n"),)


def test_a_place_inside_a_character_and_parts_that_overlap_are_refused():
    with pytest.raises(HarnessError, match="inside a character") as caught:
        text_changes([PlacedText((1, 1), (1, 2), "x")], ["", "😀"], "utf-16", "a.py")
    assert caught.value.where == "a.py:2"
    parts = [PlacedText((0, 0), (0, 3), "x"), PlacedText((0, 2), (0, 4), "y")]
    with pytest.raises(HarnessError, match="two of its parts overlap"):
        text_changes(parts, ["abcdef"], "utf-16", "a.py")
    touching = [PlacedText((0, 3), (0, 4), "y"), PlacedText((0, 0), (0, 3), "x"), PlacedText((0, 3), (0, 3), "+")]
    assert len(text_changes(touching, ["abcdef"], "utf-16", "a.py")) == 3


@given(
    st.text(alphabet="aé漢😀\n\r\x0c\u2028", max_size=30),
    st.sampled_from(["utf-8", "utf-16", "utf-32"]),
    st.data(),
)
def test_every_place_between_characters_is_found(content: str, encoding: PositionEncoding, data: st.DataObject):
    lines = split_lines(content)
    number = data.draw(st.integers(0, len(lines) - 1))
    column = data.draw(st.integers(0, len(lines[number])))
    place = (number, character_of(lines[number], column + 1, encoding))
    (change,) = text_changes([PlacedText(place, place, "x")], lines, encoding, "a")
    assert change.start == sum(len(line) + 1 for line in lines[:number]) + column
