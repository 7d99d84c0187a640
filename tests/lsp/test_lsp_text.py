"""Lines, columns, files and URIs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.lsp.text import NotADocumentError, changed_range, code_point_column, read_snapshot, split_lines
from harness_tui.lsp.uris import from_uri, same_path, to_uri


def test_only_the_three_line_ends_of_the_protocol_end_a_line():
    assert split_lines("a\nb\r\nc\rd\x0ce\u2028f\x85g\x1ch") == ["a", "b", "c", "d\x0ce\u2028f\x85g\x1ch"]
    assert split_lines("") == [""]
    assert split_lines("a\n") == ["a", ""]


@pytest.mark.parametrize(
    ("character", "encoding", "column"),
    [
        # "😀é漢!" is 4+2+3+1 bytes, 2+1+1+1 UTF-16 units, 4 code points
        (0, "utf-8", 1),
        (4, "utf-8", 2),
        (6, "utf-8", 3),
        (9, "utf-8", 4),
        (10, "utf-8", 5),
        (3, "utf-8", 1),  # inside the first character
        (99, "utf-8", 5),
        (2, "utf-16", 2),
        (3, "utf-16", 3),
        (4, "utf-16", 4),
        (1, "utf-16", 1),
        (99, "utf-16", 5),
        (2, "utf-32", 3),
        (-3, "utf-16", 1),
    ],
)
def test_a_column_counts_code_points_from_one(character, encoding, column):
    assert code_point_column("😀é漢!", character, encoding) == column


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20), st.data())
def test_every_place_is_found_again_in_both_encodings(line, data):
    index = data.draw(st.integers(0, len(line)))
    assert code_point_column(line, len(line[:index].encode()), "utf-8") == index + 1
    assert code_point_column(line, len(line[:index].encode("utf-16-le")) // 2, "utf-16") == index + 1


def test_a_document_is_read_without_its_byte_order_mark_and_with_its_line_ends(tmp_path):
    file = tmp_path / "a.py"
    file.write_bytes(b"\xef\xbb\xbfa\r\nb\n")
    assert read_snapshot(file).text == "a\r\nb\n"


@pytest.mark.parametrize(
    ("data", "code"), [(b"a\0", "binary"), (b"\xff\xfe", "encoding"), (b"x" * 11, "too-large"), (None, "missing")]
)
def test_what_is_no_document_says_why(tmp_path, data, code):
    file = tmp_path / "a"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(NotADocumentError) as caught:
        read_snapshot(file, max_bytes=10)
    assert caught.value.code == code


def test_a_pipe_is_refused_and_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotADocumentError, match="not a regular file"):
        read_snapshot(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["a b.py", "é漢.py", "#.py", "%41.py", "+@[x].py", "q?.py", "a&b=c;d.py"])
def test_a_path_survives_its_uri(name):
    path = Path("/root folder") / name
    assert from_uri(to_uri(path)) == path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/%28x%29.py", "/a/(x).py"),
        ("file:///a/(x).py", "/a/(x).py"),
        ("file://localhost/a/b.py", "/a/b.py"),
        ("FILE:///a/../b.py", "/b.py"),
        ("file:///a/b#c.py", "/a/b#c.py"),
        ("untitled:Untitled-1", None),
        ("jdt://contents/x.class", None),
        ("file://server/share/x", None),
        ("file:///a%00b", None),
        ("relative.py", None),
        ("file://[bad", None),
        ("", None),
    ],
)
def test_a_uri_becomes_a_path_or_nothing(uri, path):
    assert from_uri(uri) == (Path(path) if path is not None else None)


def test_a_server_that_follows_links_or_composes_letters_still_means_the_same_file(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    (real / "a.py").write_text("")
    (tmp_path / "link").symlink_to(real)
    assert same_path(real / "a.py", [tmp_path / "link" / "a.py"]) == tmp_path / "link" / "a.py"
    assert same_path(Path("/x/e\u0301.py"), [Path("/x/\u00e9.py")]) == Path("/x/\u00e9.py")
    assert same_path(Path("/x/a.py"), [Path("/y/a.py"), Path("/x/b.py")]) is None


def applied(text: str, change, encoding) -> str:
    """Do to ``text`` what a server does with an entry of ``contentChanges``."""

    def offset(place):
        lines = text.split("\n")
        column = code_point_column(lines[place["line"]], place["character"], encoding) - 1
        return sum(len(line) + 1 for line in lines[: place["line"]]) + column

    return text[: offset(change["range"]["start"])] + change["text"] + text[offset(change["range"]["end"]) :]


LINES = st.lists(st.sampled_from(["", "a", "b", "é漢😀", "a\r"]), max_size=6)


@given(
    LINES,
    LINES,
    st.sampled_from(["", "tail", "漢😀"]),
    st.sampled_from(["", "tail", "b😀"]),
    st.sampled_from(["utf-8", "utf-16"]),
)
def test_the_lines_that_changed_make_the_new_text_of_the_old_one(before, after, old_end, new_end, encoding):
    old, new = "\n".join([*before, old_end]), "\n".join([*after, new_end])
    change = changed_range(old, new, encoding)
    assert change is not None
    assert applied(old, change, encoding) == new


def test_only_the_line_that_changed_is_sent_and_nothing_is_guessed_about_lone_returns():
    old = "one\ntwo\nthree\n"
    place = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
    assert changed_range(old, "one\n2\nthree\n", "utf-16") == {"range": place, "text": "2\n"}
    assert changed_range("a\rb\n", "a\rc\n", "utf-16") is None
