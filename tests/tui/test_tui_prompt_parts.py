from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.library.own_commands import OWN_COMMANDS, find_own, split_command
from harness_tui.library.slash_completion import (
    Candidate,
    SlashCompleter,
    name_being_typed,
    name_typed,
)
from harness_tui.tui.lines import line_cells, plain
from harness_tui.tui.prompt.completion import candidate_line
from harness_tui.tui.prompt.history import PromptHistory
from harness_tui.tui.prompt.paste import PasteShelf


def completer(*names: str) -> SlashCompleter:
    made = SlashCompleter()
    made.use([Candidate(name) for name in names])
    return made


def names(found: object) -> list[str]:
    return [candidate.name for candidate in found]  # type: ignore[attr-defined]


def test_a_match_at_the_start_stands_before_one_in_a_part_and_one_anywhere() -> None:
    made = completer("preview", "team/review", "review", "review-all", "other")
    assert names(made.candidates("rev")) == ["review", "review-all", "team/review", "preview"]


def test_the_whole_name_stands_first_and_case_does_not_matter() -> None:
    assert names(completer("review-all", "review").candidates("REVIEW")) == ["review", "review-all"]


def test_nothing_typed_offers_everything_in_order_and_of_two_names_the_first() -> None:
    made = SlashCompleter()
    made.use([Candidate("help", "own"), Candidate("review"), Candidate("help", "other")])
    assert [(c.name, c.description) for c in made.candidates("")] == [("help", "own"), ("review", "")]


@given(st.lists(st.text("ab/-", max_size=4), max_size=8), st.lists(st.text("abA/-", max_size=3), max_size=8))
def test_what_was_asked_before_never_changes_an_answer(known: list[str], typed: list[str]) -> None:
    made = completer(*known)
    for prefix in typed:
        assert names(made.candidates(prefix)) == names(completer(*known).candidates(prefix))


def test_a_replaced_list_is_searched_anew() -> None:
    made = completer("review")
    assert names(made.candidates("re")) == ["review"]
    made.use([Candidate("release")])
    assert names(made.candidates("re")) == ["release"]


def test_hints_belong_to_names() -> None:
    made = SlashCompleter()
    made.use([Candidate("review", hint="[path]")])
    assert made.hint("review", 0) == "[path]"
    assert made.hint("other", 0) == ""


@pytest.mark.parametrize(
    ("text", "cursor", "prefix"),
    [
        ("/re", 3, "re"),
        ("/review", 3, "re"),
        ("/", 1, ""),
        ("/", 0, None),
        ("/review ", 8, None),
        ("//re", 4, None),
        ("say /re", 7, None),
        ("", 0, None),
    ],
)
def test_a_name_is_completed_only_at_the_start_of_the_message(text: str, cursor: int, prefix: str | None) -> None:
    assert name_being_typed(text, cursor) == prefix


def test_a_hint_is_due_right_after_the_name() -> None:
    assert name_typed("/review ") == ("review", 0)
    assert name_typed("/review a b ") == ("review", 2)
    assert name_typed("/review") is None
    assert name_typed("/review a") is None
    assert name_typed("/ ") is None


def test_a_candidate_never_leaves_its_row() -> None:
    candidate = Candidate("name-日本語", "about 日本語 " * 10, "[a] [b]", "project")
    for width in (10, 30, 80):
        assert line_cells(candidate_line(candidate, width, width // 2)) <= width
    assert "untrusted" in plain(candidate_line(Candidate("x", "about", reason="untrusted folder"), 60, 10))


def test_the_history_goes_back_and_forth_and_keeps_the_draft() -> None:
    history = PromptHistory()
    history.add("one")
    history.add("two")
    history.add("two")
    assert history.older("draft") == "two"
    assert history.older("two") == "one"
    assert history.older("one") is None
    assert history.newer() == "two"
    assert history.newer() == "draft"
    assert history.newer() is None


def test_an_empty_history_gives_nothing() -> None:
    history = PromptHistory()
    history.add("  ")
    assert history.older("x") is None
    assert history.newer() is None


def test_a_small_paste_stays_and_a_long_one_becomes_a_chip() -> None:
    shelf = PasteShelf()
    ten = "\n".join("x" * 10)
    assert shelf.shelve(ten) == ten
    assert shelf.shelve(ten + "\nx") == "[pasted 11 lines #1]"
    assert shelf.shelve("y" * 2001) == "[pasted 2,001 characters #2]"


def test_chips_expand_in_place_and_pastes_are_not_looked_into() -> None:
    shelf = PasteShelf()
    first = "\n".join(["[pasted 12 lines #2]"] * 11)
    second = "\n".join(["b"] * 12)
    text = f"see {shelf.shelve(first)} and {shelf.shelve(second)}."
    assert shelf.expand(text) == f"see {first} and {second}."
    assert shelf.expand("nothing") == "nothing"


def test_own_commands_are_found_by_name_and_alias() -> None:
    assert find_own("clear") is find_own("new")
    assert find_own("exit") is find_own("quit")
    assert find_own("review") is None


def test_every_reserved_name_is_in_the_table_once() -> None:
    reserved = [
        "help",
        "new",
        "resume",
        "fork",
        "model",
        "agent",
        "mode",
        "compact",
        "context",
        "undo",
        "redo",
        "call",
        "permissions",
        "mcp",
        "lsp",
        "skills",
        "commands",
        "trust",
        "config",
        "theme",
        "export",
        "copy",
        "editor",
        "ps",
        "doctor",
        "quit",
        "find",
        "rewind",
        "logs",
    ]
    assert sorted(own.name for own in OWN_COMMANDS) == sorted(reserved)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("/model a/b", ("model", "a/b")),
        ("/help", ("help", "")),
        ("/call read  {}", ("call", "read  {}")),
        ("/say one\ntwo three", ("say", "one\ntwo three")),
        ("//literal", None),
        ("text", None),
        ("/", None),
    ],
)
def test_a_line_is_split_into_name_and_arguments(text: str, parts: tuple[str, str] | None) -> None:
    assert split_command(text) == parts


def test_descriptions_stand_below_each_other_whatever_the_hints_are() -> None:
    candidates = [Candidate("a", "about", hint) for hint in ("", "[x]", "[twenty and more cells]")]
    lines = [plain(candidate_line(candidate, 60, 20)) for candidate in candidates]
    assert {line.index("about") for line in lines} == {22}
