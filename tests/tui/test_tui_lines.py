from __future__ import annotations

from harness_tui.tui.lines import cut_cells, cut_cells_start, line_cells, plain, two_ends, wrap


def texts(text: str, width: int) -> list[str]:
    return [plain(line) for line in wrap([(text, "")], width)]


def test_words_are_kept_whole_and_a_long_word_is_cut_at_the_edge() -> None:
    assert texts("one two three", 7) == ["one two", "three"]
    assert texts("a abcdefghij b", 4) == ["a", "abcd", "efgh", "ij b"]


def test_line_ends_stay_and_an_empty_text_is_one_empty_line() -> None:
    assert texts("a\n\nb", 10) == ["a", "", "b"]
    assert texts("", 10) == [""]


def test_wide_characters_are_counted_by_cells_and_never_split() -> None:
    assert texts("日本語", 4) == ["日本", "語"]
    assert texts("日本語", 5) == ["日本", "語"]
    assert all(line_cells(line) <= 5 for line in wrap([("ab 日本語 👨‍👩‍👧 é", "")], 5))


def test_a_joined_emoji_stays_in_one_piece() -> None:
    family = "👨‍👩‍👧"
    assert texts(f"abc{family}", 4) == ["abc", family]


def test_a_character_wider_than_the_line_still_ends() -> None:
    assert texts("日本", 1) == ["日", "本"]


def test_styles_go_with_their_letters_over_a_break() -> None:
    assert wrap([("one ", "a"), ("two three", "b")], 7) == [
        (("one ", "a"), ("two", "b")),
        (("three", "b"),),
    ]


def test_prefixes_take_room_and_later_lines_are_indented() -> None:
    assert [plain(line) for line in wrap([("aa bb cc", "")], 6, first=(("- ", ""),))] == ["- aa", "  bb", "  cc"]


def test_cut_text_ends_or_begins_with_a_mark() -> None:
    assert cut_cells("abcdef", 4) == "abc…"
    assert cut_cells("日本語", 4) == "日…"
    assert cut_cells_start("/srv/project", 6) == "…oject"
    assert cut_cells("abc", 3) == "abc"
    assert cut_cells("abc", 0) == ""


def test_two_ends_fill_the_width_and_the_left_gives_way() -> None:
    assert plain(two_ends((("left", ""),), (("right", ""),), 12)) == "left   right"
    assert plain(two_ends((("a long left side", ""),), (("right", ""),), 12)) == "a lon… right"


def test_blanks_at_the_start_stay_and_blanks_at_a_break_go() -> None:
    assert texts("    indented code", 14) == ["    indented", "code"]
    assert texts("one   two", 4) == ["one", "two"]
    assert texts("one   two", 9) == ["one   two"]
