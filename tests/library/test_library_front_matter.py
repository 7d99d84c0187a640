"""Front matter: what can be kept is kept, what cannot is told with its line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_tui.library.coercion import Reader, split_tools
from harness_tui.library.diagnostics import Findings
from harness_tui.library.front_matter import Document, read_document
from harness_tui.library.plain_yaml import is_beyond, read_plain
from harness_tui.library.yaml_loader import FrontMatterYamlError, parse

KEYS = {"description", "argument-hint", "agent", "hidden", "timeout", "allowed-tools", "name"}


def read(text: str | bytes) -> Document:
    return read_document(text.encode() if isinstance(text, str) else text, "f.md", KEYS)


def texts(text: str, *keys: str) -> tuple[str | None, ...]:
    reader = Reader(read(text), Findings("f.md"))
    return tuple(reader.text(key) for key in keys)


@pytest.mark.rule("3.8.11")
def test_text_without_a_first_fence_is_all_body() -> None:
    document = read("Hello\n---\nagent: x\n---\n")
    assert document.entries is None
    assert document.body == "Hello\n---\nagent: x\n---\n"
    assert document.diagnostics == ()


@pytest.mark.rule("3.1.2")
def test_the_first_closing_line_ends_the_front_matter_and_later_rules_stay() -> None:
    document = read("---\nagent: plan\n---\nA\n---\nB")
    assert document.body == "A\n---\nB"
    assert document.body_line == 4


@pytest.mark.rule("3.8.11")
def test_three_hyphens_inside_a_value_do_not_close() -> None:
    assert texts("---\ndescription: a --- b\nagent: plan\n---\nx", "description", "agent") == ("a --- b", "plan")


@pytest.mark.rule("3.8.11")
def test_a_rule_as_first_line_is_no_front_matter() -> None:
    document = read("---\nJust words.\n")
    assert document.entries is None
    assert document.error is None
    assert document.body == "---\nJust words.\n"


@pytest.mark.rule("3.8.10", "3.8.11")
def test_an_unclosed_header_with_a_key_is_an_error() -> None:
    document = read("---\nagent: plan\nGo\n")
    assert document.error == "unterminated-frontmatter"
    assert "front matter" in str(document.diagnostics[0])


@pytest.mark.rule("3.8.11")
@pytest.mark.parametrize("before", ["\n", "<!-- note -->\n", "# Title\n\n"])
def test_a_header_that_starts_late_is_text_with_a_warning(before: str) -> None:
    document = read(f"{before}---\nagent: plan\n---\nGo")
    assert document.entries is None
    (warning,) = document.diagnostics
    assert "first line" in warning.message
    assert warning.line == before.count("\n") + 1


@pytest.mark.rule("3.1.2", "3.8.11")
def test_marks_and_line_ends_of_other_systems_are_normalised() -> None:
    document = read(b"\xef\xbb\xbf---\r\nagent: plan\r---\r\nA\rB\r\n")
    assert document.body == "A\nB\n"
    assert document.diagnostics == ()


@pytest.mark.rule("3.8.11")
def test_bytes_that_are_no_text_are_replaced_with_a_warning() -> None:
    document = read(b"ok\n\xff\n")
    assert document.body == "ok\n\ufffd\n"
    assert [(item.code, item.line) for item in document.diagnostics] == [("encoding", 2)]


@pytest.mark.rule("3.8.10")
def test_a_nul_byte_makes_a_file_binary() -> None:
    assert read(b"a\n\x00").error == "binary-file"


@pytest.mark.rule("3.8.5")
def test_limits_hold_for_the_header_and_the_file() -> None:
    assert read("---\nagent: " + "x" * (16 * 1024) + "\n---\n").error == "frontmatter-too-large"
    fits = "agent: " + "x" * (16 * 1024 - 7)
    assert read(f"---\n{fits}\n---\nb").error is None
    assert read("x" * (256 * 1024)).error is None
    assert read("x" * (256 * 1024 + 1)).error == "template-too-large"


@pytest.mark.rule("3.8.2", "3.8.3", "3.8.1")
@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("argument-hint: [a] [b]", "[a] [b]"),
        ('argument-hint: "x" y', '"x" y'),
        ("description: Use when: x", "Use when: x"),
        ("description: 'don't'", "don't"),
        ("description: @file first", "@file first"),
        ("description: %done", "%done"),
        ("description: *bold* text", "*bold* text"),
        ("description: &anchor text", "&anchor text"),
        ("description: !tag text", "!tag text"),
        ("description: `code` first", "`code` first"),
        ("description: <a: b>", "<a: b>"),
        ("description: bell \x07", "bell"),
    ],
)
def test_a_value_that_is_no_yaml_is_kept_as_text_with_a_warning(line: str, value: str) -> None:
    key = line.partition(":")[0]
    document = read(f"---\nagent: plan\n{line}\n---\nx")
    found = Reader(document, Findings("f.md")).text(key)
    assert (found or "").strip(" \x07") == value
    assert Reader(document, Findings("f.md")).text("agent") == "plan"
    assert any("YAML" in item.message and item.line == 3 for item in document.diagnostics)


@pytest.mark.rule("3.8.3")
def test_a_list_begun_on_the_key_line_is_rescued() -> None:
    document = read("---\nallowed-tools: - Read\n  - Grep\nagent: plan\n---\n")
    reader = Reader(document, Findings("f.md"))
    assert reader.tools("allowed-tools") == ("Read", "Grep")
    assert reader.text("agent") == "plan"


@pytest.mark.rule("3.8.2")
def test_a_tab_after_a_key_costs_a_warning_and_no_value() -> None:
    document = read("---\ndescription:\tTabbed\nagent: plan\n---\n")
    reader = Reader(document, Findings("f.md"))
    assert (reader.text("description"), reader.text("agent")) == ("Tabbed", "plan")
    assert any("YAML" in item.message for item in document.diagnostics)


@pytest.mark.rule("3.8.3")
def test_a_rescued_block_text_keeps_its_words() -> None:
    text = "---\ndescription: |\n  one\n\ttwo\nargument-hint: [a] [b]\n---\n"
    assert texts(text, "description") == ("one\ntwo",)


@pytest.mark.rule("3.8.4")
@pytest.mark.parametrize(
    ("written", "value"),
    [("yes", "yes"), ("1.10", "1.10"), ("007", "007"), ("12:30", "12:30"), ("2026-13-02", "2026-13-02"), ("=", "=")],
)
def test_words_that_yaml_would_retype_stay_text(written: str, value: str) -> None:
    assert texts(f"---\ndescription: {written}\n---\n", "description") == (value,)


@pytest.mark.rule("3.8.1")
@pytest.mark.parametrize("written", ["", "~", "null", "Null"])
def test_a_plain_null_is_the_same_as_nothing(written: str) -> None:
    assert texts(f"---\ndescription: {written}\nagent: a\n---\n", "description", "agent") == (None, "a")


@pytest.mark.rule("3.8.1")
def test_a_quoted_null_is_text() -> None:
    assert texts('---\ndescription: "null"\n---\n', "description") == ("null",)


@pytest.mark.rule("3.8.11", "3.8.9")
def test_the_last_of_two_equal_keys_wins_with_a_warning() -> None:
    document = read("---\nagent: a\nagent: b\n---\n")
    assert Reader(document, Findings("f.md")).text("agent") == "b"
    assert [(item.code, item.line) for item in document.diagnostics] == [("duplicate-key", 3)]
    assert "duplicate" in document.diagnostics[0].message


@pytest.mark.rule("3.8.11")
def test_an_underscore_is_a_hyphen_and_another_case_a_warning() -> None:
    document = read("---\nargument_hint: x\nDescription: y\n---\n")
    reader = Reader(document, Findings("f.md"))
    assert (reader.text("argument-hint"), reader.text("description")) == ("x", "y")
    assert [item.code for item in document.diagnostics] == ["key"]


@pytest.mark.rule("3.8.11")
def test_an_unknown_key_is_left_alone() -> None:
    assert read("---\nshortcut: ctrl+x\nBig: [1, {a: b}]\n---\nx").diagnostics == ()


@pytest.mark.rule("3.8.11")
@pytest.mark.parametrize("header", ["- a\n- b", "just words", "[a, b]"])
def test_front_matter_that_is_no_map_is_text_with_a_warning(header: str) -> None:
    document = read(f"---\n{header}\n---\nbody")
    assert document.mapping is False
    assert document.body == f"---\n{header}\n---\nbody"
    assert "mapping" in document.diagnostics[-1].message


@pytest.mark.rule("3.8.11")
def test_an_empty_header_is_a_map_without_keys() -> None:
    document = read("---\n# nothing\n---\nbody")
    assert document.entries == {}
    assert document.body == "body"


@pytest.mark.rule("3.8.11")
def test_a_number_sign_that_yaml_takes_for_a_comment_is_told() -> None:
    document = read("---\ndescription: Fix issue #12\nagent: plan # the careful one\n---\n")
    assert [(item.code, item.line) for item in document.diagnostics] == [("comment", 2)]
    assert "#12" in document.diagnostics[0].message


@pytest.mark.rule("3.8.4", "3.8.11")
def test_lists_and_maps_where_text_is_wanted() -> None:
    findings = Findings("f.md")
    text = "---\nargument-hint: [a, b]\ndescription:\n  - one\n  - two\nagent:\n  k: v\nname: {x}\n---\n"
    reader = Reader(read(text), findings)
    assert reader.text("argument-hint") == "[a, b]"
    assert reader.text("description") == "one, two"
    assert reader.text("agent") is None
    assert reader.text("name") == "{x}"
    assert len(findings.items) == 4
    assert all("string" in item.message for item in findings.items)


@pytest.mark.rule("3.8.11")
@pytest.mark.parametrize("word", ["yes", "On", "TRUE", "1"])
def test_words_of_consent_are_true(word: str) -> None:
    assert Reader(read(f"---\nhidden: {word}\n---\n"), Findings("f")).flag("hidden") is True


@pytest.mark.rule("3.8.11")
@pytest.mark.parametrize("word", ["no", "Off", "false", "0"])
def test_words_of_refusal_are_false(word: str) -> None:
    assert Reader(read(f"---\nhidden: {word}\n---\n"), Findings("f")).flag("hidden", default=True) is False


@pytest.mark.rule("3.8.11")
def test_another_word_for_a_boolean_gives_the_default_and_a_warning() -> None:
    findings = Findings("f.md")
    assert Reader(read("---\nhidden: perhaps\n---\n"), findings).flag("hidden", default=True) is True
    assert findings.items[0].line == 2


@pytest.mark.rule("3.3.15")
@pytest.mark.parametrize(("written", "value", "told"), [("45", 45, 0), ("0", 1, 1), ("601", 600, 1), ("soon", None, 1)])
def test_a_number_is_kept_within_its_limits(written: str, value: float | None, told: int) -> None:
    findings = Findings("f.md")
    assert Reader(read(f"---\ntimeout: {written}\n---\n"), findings).number("timeout", low=1, high=600) == value
    assert len(findings.items) == told


@pytest.mark.rule("3.8.11")
def test_tool_names_split_outside_parentheses_only() -> None:
    assert split_tools("Bash(git add:*, -A), Read Edit,Grep") == ("Bash(git add:*, -A)", "Read", "Edit", "Grep")


@pytest.mark.rule("3.8.1")
def test_nesting_without_end_is_refused_quickly() -> None:
    document = read("---\nx: " + "[" * 3000 + "\nagent: plan\n---\nok")
    assert Reader(document, Findings("f")).text("agent") == "plan"
    assert any("YAML" in item.message for item in document.diagnostics)


@pytest.mark.rule("3.8.8")
@given(st.text(max_size=300))
def test_any_header_is_read_without_an_exception(header: str) -> None:
    document = read(f"---\n{header}\n---\nbody")
    assert document.error in (None, "binary-file", "unterminated-frontmatter")


_WORDS = [
    "a",
    "a b",
    "é",
    "1.5",
    "(z)",
    "$1",
    "=",
    "~",
    "a'b",
    '"q r"',
    "'q'",
    "a: b",
    "x #y",
    "b:",
    "-",
    "[a]",
    "[a, b c]",
    "[]",
]
_VALUE = st.sampled_from(_WORDS) | st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), max_size=9)
_LINE = st.one_of(
    st.builds("k: {}".format, _VALUE),
    st.builds("key:{}".format, st.sampled_from(["", " >", " |", " >-", " |-"])),
    st.builds("  {}{}".format, st.sampled_from(["- ", "m: ", "", " "]), _VALUE),
    st.sampled_from(["", "# note", "   "]),
)


@pytest.mark.rule("3.8.1")
@settings(max_examples=200)
@given(st.lists(_LINE, min_size=1, max_size=5).map("\n".join))
def test_the_quick_reader_agrees_with_yaml_wherever_it_answers(header: str) -> None:
    quick = read_plain(header)
    if quick is None:
        return
    try:
        slow = parse(header)
    except FrontMatterYamlError as problem:
        raise AssertionError(f"{header!r} is no YAML: {problem}") from problem
    assert quick == slow


@pytest.mark.rule("3.8.1")
def test_the_quick_reader_answers_for_the_usual_shapes() -> None:
    header = (
        "name: a-b\ndescription: >\n  one\n  two\n\ntags: [x, y z]\nmetadata:\n  author: me\ntools:\n- Read\n- Edit"
    )
    quick = read_plain(header)
    assert quick == parse(header)
    assert quick is not None
    assert quick.pairs is not None
    assert [pair.key for pair in quick.pairs] == ["name", "description", "tags", "metadata", "tools"]


@pytest.mark.rule("3.8.2")
@pytest.mark.parametrize("value", ["[a] [b]", "[file] and more", "[] x", "[a, b] --c"])
def test_what_is_known_to_be_no_yaml_is_none(value: str) -> None:
    assert is_beyond(value)
    with pytest.raises(FrontMatterYamlError):
        parse(f"k: {value}")
    for fine in ("[a]", "[a] # b", "[a, [b]]", "text [a] [b]"):
        assert not is_beyond(fine)
