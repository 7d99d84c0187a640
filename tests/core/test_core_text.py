"""Nothing foreign reaches a terminal as an order, and cut text says how much is missing."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness_tui.core.text import clean_for_display, cut_end, cut_ends, cut_middle


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain 日本語 👨‍👩‍👧 é", "plain 日本語 👨‍👩‍👧 é"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[Hgone", "gone"),
        ("a\x1b]52;c;aGk=\x07b", "ab"),
        ("a\x1b]52;c;aGk=\x1b\\b", "ab"),
        ("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ("\x1b]0;title", ""),
        ("a\x1bPq#0\x1b\\b", "ab"),
        ("a\x1b_app\x1b\\b", "ab"),
        ("\x1b(0x", "x"),
        ("\x1b", ""),
        ("\x9b31mred", "red"),
        ("\x90\x9c", "\ufffd\ufffd"),
        ("a\x00b", "a\u2400b"),
        ("a\x07b\x08c", "a\u2407b\u2408c"),
        ("a\x7fb", "a\u2421b"),
        ("50%\r100%", "50%\n100%"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\u2028b\u2029c", "a\nb\nc"),
        ("a\tb\nc", "a\tb\nc"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("a\u200bb\u2066c\u2069\ufeff", "abc"),
        ("a\U000e0041b", "ab"),
        ("a\ud800b", "a\ufffdb"),
    ],
)
def test_a_text_is_shown_without_anything_that_a_terminal_obeys(text: str, clean: str) -> None:
    assert clean_for_display(text) == clean


def test_one_line_has_no_line_ends_and_invisible_characters_can_be_shown() -> None:
    assert clean_for_display(" a\n\tb\r\nc ", one_line=True) == "a b c"
    assert clean_for_display("a\u202eb\u200b", show_invisible=True) == "a<U+202E>b<U+200B>"


@given(st.text(alphabet=st.characters() | st.sampled_from("\x1b\x9b[]\\;0m\x07\r\u202e")))
def test_no_control_character_is_left_and_cleaning_again_changes_nothing(text: str) -> None:
    clean = clean_for_display(text)
    left = {character for character in clean if unicodedata.category(character) in ("Cc", "Cs")}
    assert left <= {"\n", "\t"}
    assert not set(clean) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069")
    assert clean_for_display(clean) == clean
    clean.encode()


def test_a_short_text_is_not_cut() -> None:
    cut = cut_middle("a\nb\n", max_bytes=4, max_lines=2)
    assert (cut.text, cut.omitted) == ("a\nb\n", 0)


def test_too_many_lines_keep_head_and_tail() -> None:
    text = "".join(f"{number}\n" for number in range(1, 10))
    cut = cut_middle(text, max_bytes=1000, max_lines=4)
    assert cut.text == "1\n2\n[... 12 bytes left out ...]\n9\n"
    assert cut.omitted == 12


def test_one_long_line_is_cut_inside_and_never_inside_a_character() -> None:
    cut = cut_middle("ä" * 100, max_bytes=60, max_lines=10)
    head, note, tail = cut.text.split("\n")
    assert (head, tail) == ("ä" * 10, "ä" * 5)
    assert cut.omitted == 200 - 30
    assert note == "[... 170 bytes left out ...]"


@given(st.text(max_size=300), st.integers(60, 160), st.integers(3, 9))
@example("0" * 12 + "\f" + "\x80" * 12 + "\U00010000" * 6, 60, 3)
def test_what_is_kept_and_what_is_missing_make_the_whole(text: str, max_bytes: int, max_lines: int) -> None:
    cut = cut_middle(text, max_bytes=max_bytes, max_lines=max_lines)
    size = len(text.encode())
    if not cut.omitted:
        assert cut.text == text
        return
    assert len(cut.text.encode()) <= max_bytes
    assert len(cut.text.splitlines()) <= max_lines
    note = f"[... {cut.omitted} bytes left out ...]\n"
    head, tail = cut.text.split(note)
    kept = size - cut.omitted
    assert kept <= max_bytes
    assert len(tail.encode()) + len(head.encode()) - kept in (0, 1)
    assert text.endswith(tail)
    assert text.startswith(head) or text.startswith(head[:-1])


def test_a_note_and_what_follows_in_any_case_count_for_the_limits() -> None:
    text = "".join(f"{number}\n" for number in range(1, 10))
    cut = cut_middle(text, max_bytes=1000, max_lines=6, note="[more in f]", after="[exit code 1]")
    assert cut.text == "1\n2\n[... 12 bytes left out ...]\n9\n[more in f]\n[exit code 1]"
    assert cut_middle("a\nb", max_bytes=9, max_lines=3, note="[no]", after="[yes]").text == "a\nb\n[yes]"
    assert (
        cut_middle("a\nb\nc", max_bytes=99, max_lines=3, after="[yes]").text == "a\n[... 3 bytes left out ...]\n[yes]"
    )


def test_ends_that_are_at_hand_are_cut_like_the_whole() -> None:
    lines = [f"line {number}\n" for number in range(1_000)]
    text = "".join(lines)
    limits = {"max_bytes": 400, "max_lines": 20}
    whole = cut_middle(text, **limits, note="[n]")
    assert cut_ends("".join(lines[:200]), "".join(lines[-200:]), len(text), **limits, note="[n]") == whole
    assert len(whole.text) <= 400


def test_cut_end_marks_what_it_cut() -> None:
    assert cut_end("abcdef", 4) == "abc…"
    assert cut_end("abcd", 4) == "abcd"
    assert cut_end("abcdef", 0) == "…"
