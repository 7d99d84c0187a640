"""Arguments: which forms are live, what they stand for, and what stays text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.library.arguments import read_line
from harness_tui.library.template import compile_template, fill

TEN = "$1$2$3$4$5$6$7$8$9"


def filled(
    body: str, args_line: str = "", names: dict[str, int] | None = None, *, hinted: bool = False, **variables: str
) -> str:
    template = compile_template(body, names or {}, hinted=hinted, shell=False)
    return fill(template.tokens, read_line(args_line), template.highest, variables)


@pytest.mark.rule("3.2.3", "3.2.4", "3.2.5", "3.2.6", "3.2.7", "3.2.8")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a  b\tc\nd", ["a", "b", "c", "d"]),
        ('"hello world" next', ["hello world", "next"]),
        ("'hello world' next", ["hello world", "next"]),
        ("don't break it's", ["don't", "break", "it's"]),
        ('"open quote', ['"open', "quote"]),
        ('say "a"b c" end', ["say", 'a"b c', "end"]),
        (r'"a \"b\" \\ c" d', [r'a "b" \ c', "d"]),
        (r'"ends with \" x', ['"ends', "with", r"\"", "x"]),
        (r"'a\' b", ["a\\", "b"]),
        (r"C:\tmp\new file", [r"C:\tmp\new", "file"]),
        ('key="a b" c', ["key=a b", "c"]),
        ("key='a b' c", ["key=a b", "c"]),
        ('wo"r d"s', ['wo"r', 'd"s']),
        ('"" b', ["", "b"]),
        ("   ", []),
        ("a\x00b", ["ab"]),
    ],
)
def test_words_are_split_with_an_eye_for_prose(line: str, words: list[str]) -> None:
    assert list(read_line(line).values) == words


@pytest.mark.rule("3.2.17")
def test_the_rest_keeps_its_blanks_and_loses_its_group_quotes() -> None:
    assert read_line('a "b  c"\n\td').rest(2) == "b  c\n\td"


@pytest.mark.rule("3.2.9", "3.2.10", "3.2.11", "3.2.17", "3.2.18", "3.2.19", "3.2.20")
@pytest.mark.parametrize(
    ("body", "line", "text"),
    [
        ("${ARGUMENTS}!", "a  'b'", "a  'b'!"),
        ("$ARGUMENTS[0]-$ARGUMENTS[1]-$ARGUMENTS[9]", "a 'b c'", "a-b c-"),
        ("$ARGUMENTS[x]", "a", "a[x]"),
        ("${1}/${2}", "a b c", "a/b"),
        ("$1 ${2}", "a b c", "a b"),
        ("$1 $ARGUMENTS[1]", "a b c", "a b"),
        ("$2", "a b c", "b c"),
        ("${1:-x}", "", "x"),
        ("${1:-$2}", "", "$2"),
        ("${ARGUMENTS:-}", "", ""),
        ("a${1:-open", "v", "a${1:-open"),
        ("$1 $3", "a b c d", "a c d"),
    ],
)
def test_each_form_gives_its_own_part_of_the_line(body: str, line: str, text: str) -> None:
    assert filled(body, line) == text


@pytest.mark.rule("3.2.14", "3.2.15")
@pytest.mark.parametrize(
    "body",
    [
        "$0",
        "$01",
        "$100",
        "$1.50",
        "$1,000",
        "$5k",
        "$5M.",
        "$9B",
        "${0}",
        "${01}",
        "${100:-x}",
        "$arguments",
        "$ARGUMENTS_X",
        "${ARGUMENTS[0]}",
    ],
)
def test_what_only_looks_like_a_form_is_text(body: str) -> None:
    assert filled(body, "v") == body


@pytest.mark.rule("3.2.15")
@pytest.mark.parametrize(("body", "text"), [("$1.", "v."), ("$1, then", "v, then"), ("$1kg", "vkg"), ("US$1", "USv")])
def test_an_end_of_sentence_or_a_unit_is_no_money(body: str, text: str) -> None:
    assert filled(body, "v") == text


@pytest.mark.rule("3.2.16", "3.2.17")
def test_a_number_from_ten_on_needs_all_smaller_ones() -> None:
    assert filled("$10", "a b") == "$10"
    assert filled("$1 costs $10", "a") == "a costs $10"
    assert filled(f"{TEN} $10 $11", "a b c d e f g h i j k l") == "abcdefghi j k l"
    assert filled(f"{TEN} $11", "a b c d e f g h i j k l") == "abcdefghi j k l $11"


@pytest.mark.rule("3.2.12", "3.2.13")
def test_declared_names_match_the_longest_identifier() -> None:
    names = {"issue": 1, "branch": 2}
    assert filled("$issue ${branch:-main} $issues ${issues} $Issue", "7", names) == "7 main $issues ${issues} $Issue"


@pytest.mark.rule("3.2.26", "3.2.27")
@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"\$1 $1", "$1 v"),
        (r"\$ARGUMENTS $1", "$ARGUMENTS v"),
        (r"\${1:-x} $1", "${1:-x} v"),
        (r"\$name $1", "$name v"),
        (r"\$0 \$5k $1", "$0 $5k v"),
        (r"\\$1", r"\\v"),
        (r"\\\$1", r"\\\v"),
        (r"\$PATH \n $1", r"\$PATH \n v"),
    ],
)
def test_one_backslash_keeps_a_form_and_goes_away(body: str, text: str) -> None:
    assert filled(body, "v", {"name": 2}) == text


@pytest.mark.rule("3.2.21", "3.2.26")
def test_numbers_in_fences_are_code_unless_something_announces_arguments() -> None:
    fence = "```sh\nawk '{print $1}' \\$2\n```"
    assert filled(fence, "v") == fence
    assert filled(f"$1\n{fence}", "v") == "v\n```sh\nawk '{print v}' $2\n```"
    assert filled(fence, "v w", hinted=True) == "```sh\nawk '{print v w}' $2\n```"


@pytest.mark.rule("3.2.15", "3.2.21")
def test_an_amount_outside_a_fence_announces_nothing() -> None:
    assert filled("About $1.50 and $12\n```\n$1\n```", "v") == "About $1.50 and $12\n```\n$1\n```"


@pytest.mark.rule("3.2.22", "3.2.23", "3.2.25")
def test_the_whole_line_is_live_in_fences_and_in_code() -> None:
    assert filled("~~~\n$ARGUMENTS\n~~~\n`$1`", "v w") == "~~~\nv w\n~~~\n`v w`"


@pytest.mark.rule("3.2.25")
def test_a_longer_fence_holds_a_shorter_one_and_an_open_one_runs_to_the_end() -> None:
    text = "````\n```\n$1\n```\n$1\n````\n"
    assert filled(text, "v") == text
    assert filled("    ```\n$1\n$1", "v") == "    ```\n$1\n$1"


@pytest.mark.rule("3.2.23", "3.2.25")
def test_backticks_in_one_line_are_code_and_no_fence() -> None:
    assert filled("```$1```\n$1", "v") == "```v```\nv"


@pytest.mark.rule("3.2.24")
def test_comments_are_inert_and_what_is_in_them_does_not_count() -> None:
    body = "<!-- $1\n```\n$ARGUMENTS -->`<!--` $2"
    assert filled(body, "a b c") == "<!-- $1\n```\n$ARGUMENTS -->`<!--` b c"
    assert compile_template("<!-- $1 -->", {}, hinted=False, shell=False).takes_arguments is False


@pytest.mark.rule("3.2.24")
def test_a_comment_without_end_is_text() -> None:
    assert filled("<!-- $1", "v") == "<!-- v"


@pytest.mark.rule("3.6.11")
def test_variables_are_braced_only_and_known_only() -> None:
    body = "${HARNESS_PROJECT_DIR} $HARNESS_PROJECT_DIR ${CLAUDE_SKILL_DIR} ${HOME}"
    assert filled(body, HARNESS_PROJECT_DIR="/p") == "/p $HARNESS_PROJECT_DIR ${CLAUDE_SKILL_DIR} ${HOME}"


@pytest.mark.rule("3.1.7", "3.2.2")
@given(st.text(max_size=80))
def test_values_are_data_whatever_they_hold(line: str) -> None:
    expected = line.replace("\x00", "").strip()
    assert filled("<$ARGUMENTS>", line) == f"<{expected}>"


@pytest.mark.rule("3.1.3")
@given(st.text(st.sampled_from("ab `$!@<>-\\{}1\n~\"'"), max_size=60))
def test_reading_a_template_loses_nothing(body: str) -> None:
    template = compile_template(body, {}, hinted=False, shell=True)
    if template.takes_arguments or template.shell_parts or "\\" in body:
        return
    text = ""
    for token in template.tokens:
        inner = fill(getattr(token, "parts", (token,)), read_line(""), 0, {})
        quoted = getattr(token, "quoted", None)
        text += inner if quoted is None else f'@"{inner}"' if quoted else f"@{inner}"
    assert text == body


@pytest.mark.rule("3.2.3", "3.2.7")
@given(st.text(max_size=80))
def test_any_argument_line_gives_words_that_stand_in_it(line: str) -> None:
    read = read_line(line)
    for word in read.words:
        assert 0 <= word.start < word.end <= len(read.text)
    assert [word.start for word in read.words] == sorted(word.start for word in read.words)
