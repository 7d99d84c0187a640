from __future__ import annotations

import pytest

from harness_tui.core import events as ev
from harness_tui.core.event_parts import (
    ArgumentsPreview,
    CommandPart,
    CommandPreview,
    DiffPreview,
    Offer,
    OfferedRule,
    Preview,
    PreviewFile,
    UrlPreview,
)
from harness_tui.core.forms import FormError, Step, read_answer
from harness_tui.core.intents import Answer
from harness_tui.core.values import Question, QuestionOption
from harness_tui.tui.approval.choices import choices_for, preview_lines, title_of
from harness_tui.tui.approval.page import ApprovalPage, QuestionPage
from harness_tui.tui.approval.view import RequestView, Sheet, detail_lines, entry_line
from harness_tui.tui.lines import line_cells, plain
from harness_tui.tui.theme import Palette

RULE = OfferedRule("bash", "git status *", "allow")


def request(preview: Preview, *offers: Offer) -> ev.PermissionRequested:
    return ev.PermissionRequested("req_1", "c1", "bash", ("git status -s",), preview, offers)


def body(preview: Preview, width: int = 60) -> list[str]:
    return [plain(line) for line in preview_lines(request(preview), width)]


def test_once_and_no_are_always_offered_and_each_offer_shows_its_exact_rules() -> None:
    event = request(ArgumentsPreview({}), Offer("session", (RULE,)), Offer("project", (RULE, RULE)))
    choices = choices_for(event)
    assert [choice.label for choice in choices] == [
        "Yes, once",
        "Yes, for this session",
        "Yes, always in this project",
        "No",
        "No, and tell the model what to do instead",
    ]
    assert choices[1].rules == ("allow bash git status *",)
    assert len(choices[2].rules) == 2


def test_a_choice_names_the_offer_that_it_takes() -> None:
    event = request(ArgumentsPreview({}), Offer("session", (RULE,)), Offer("session", (RULE,)))
    page = ApprovalPage(event, "Run git status")
    assert page.choose(0) == Answer("req_1", "allow", scope="once")
    assert page.choose(1) == Answer("req_1", "allow", scope="session", offer=0)
    assert page.choose(2) == Answer("req_1", "allow", scope="session", offer=1)
    assert page.choose(3) == Answer("req_1", "deny")


def sheet(lines: int, *rules: str) -> Sheet:
    """The sheet of an edit: a body of ``lines`` lines and one offer for each rule, at 76 cells."""
    offers = tuple(Offer("session", (OfferedRule("edit", rule, "allow"),)) for rule in rules)
    page = ApprovalPage(request(ArgumentsPreview({}), *offers), "Edit a.py", "/srv/shop")
    entries = page.entries()
    return Sheet(
        width=76,
        head=[(("head", ""),)],
        body=[((f"line {number}", ""),) for number in range(1, lines + 1)],
        entries=[entry_line(entry, 76) for entry in entries],
        details=[detail_lines(entry, 76) for entry in entries],
        foot=[(("foot", ""),)],
    )


def rows_of(view: RequestView) -> list[str]:
    return [plain(line) for line, _ in view.lines]


def test_nine_choices_take_a_line_each_and_the_preview_gets_the_other_rows() -> None:
    view = RequestView(Palette())
    assert view.show(sheet(40, *(f"/srv/shop/{letter}.py" for letter in "abcdef")), 18) == 18
    rows = rows_of(view)
    assert rows[1:12] == [f"line {number}" for number in range(1, 12)]
    assert rows[12] == "… 29 more lines (PgDn)"
    assert rows[13:17] == [
        " 1. Yes, once",
        " 2. Yes, for this session: allow edit ./a.py",
        " 3. Yes, for this session: allow edit ./b.py",
        " 4. Yes, for this session: allow edit ./c.py".ljust(74) + "↓5",
    ]
    assert rows[-1] == "foot"


def test_below_the_choices_stands_exactly_what_the_marked_one_would_store() -> None:
    view = RequestView(Palette())
    view.marked = 6
    view.show(sheet(40, *(f"/srv/shop/{letter}.py" for letter in "abcdef")), 18)
    rows = rows_of(view)
    assert " 7. Yes, for this session: allow edit ./f.py" in rows
    assert rows[-2:] == ["would store: allow edit /srv/shop/f.py", "foot"]


def test_a_rule_of_many_lines_is_shown_whole_over_the_preview() -> None:
    pattern = "x" * 400
    view = RequestView(Palette())
    view.marked = 1
    view.show(sheet(2, pattern), 18)
    rows = rows_of(view)
    assert rows[1] == "would store: allow edit"
    assert sum(row.count("x") for row in rows) > 400  # the choice itself holds a part of it
    assert rows.index("line 1") == 8


def test_a_short_preview_leaves_room_for_every_choice() -> None:
    view = RequestView(Palette())
    view.show(sheet(3, *(f"/srv/shop/{letter}.py" for letter in "abcdef")), 18)
    assert sum(". " in row for row in rows_of(view)) == 9


def test_in_a_tiny_room_the_marked_choice_is_in_sight() -> None:
    view = RequestView(Palette())
    for place in range(9):
        view.marked = place
        assert view.show(sheet(40, *(f"/srv/shop/{letter}.py" for letter in "abcdef")), 2) == 2
        assert any(row.startswith(f" {place + 1}. ") for row in rows_of(view))


def test_a_note_is_asked_for_and_goes_with_the_no() -> None:
    page = ApprovalPage(request(ArgumentsPreview({})), "")
    assert page.choose(2) is None
    assert page.text_prompt == "What should the model do instead?"
    assert page.submit_text("  ") is None
    assert page.submit_text(" use git diff ") == Answer("req_1", "deny", note="use git diff")


def test_escape_leaves_the_note_first_and_says_no_then() -> None:
    page = ApprovalPage(request(ArgumentsPreview({})), "")
    page.choose(2)
    assert page.escape() is None
    assert page.text_prompt is None
    assert page.escape() == Answer("req_1", "deny")


def test_the_title_says_what_and_shows_what_cannot_be_seen() -> None:
    assert title_of(request(ArgumentsPreview({})), "Run git status") == "Allow bash: Run git status?"
    event = ev.PermissionRequested("r", "c", "edit", ("a\u202eb.py",), ArgumentsPreview({}), ())
    assert title_of(event, "") == "Allow edit: a<U+202E>b.py?"


def test_a_command_is_shown_whole_and_the_rules_on_one_that_stands_alone() -> None:
    parts = (CommandPart("echo a", "allow"), CommandPart("rm b", "ask"))
    assert body(CommandPreview("echo a &&\nrm b", parts, "/srv")) == ["│ echo a &&", "│ rm b", "in /srv"]
    assert body(CommandPreview("echo a", parts[:1], "/srv")) == ["│ echo a", "✓ echo a  allowed", "in /srv"]


def compound(*offers: Offer) -> ApprovalPage:
    parts = (CommandPart("git status", "allow"), CommandPart("rm b", "ask"), CommandPart("> log", "ask"))
    return ApprovalPage(request(CommandPreview("git status; rm b > log", parts, "/srv"), *offers), "Run it")


def test_each_part_of_a_command_is_ticked_and_stands_before_the_choices() -> None:
    page = compound(Offer("session", (RULE,)))
    entries = [(entry.key, entry.ticked, entry.label, entry.brief) for entry in page.entries()]
    assert entries[:3] == [
        ("", True, "git status", "allowed"),
        ("", True, "rm b", "asks"),
        ("", True, "> log", "asks"),
    ]
    assert [(key, label) for key, _, label, _ in entries[3:]] == [
        ("1", "Yes, once"),
        ("2", "Yes, for this session"),
        ("3", "No"),
        ("4", "No, and tell the model what to do instead"),
    ]
    assert page.first == 3
    assert plain(entry_line(page.entries()[1], 40)) == "    [x] rm b  asks"
    assert page.choose(3) == Answer("req_1", "allow", scope="once")


def test_without_a_part_nothing_is_stored_and_the_call_is_refused_with_what_was_left_out() -> None:
    page = compound(Offer("session", (RULE,)))
    assert page.choose(1) is None
    assert [entry.ticked for entry in page.entries()[:3]] == [True, False, True]
    assert [(entry.key, entry.label) for entry in page.entries()[3:]] == [
        ("1", "No, not with what is not ticked; the model is told"),
        ("2", "No"),
        ("3", "No, and tell the model what to do instead"),
    ]
    assert detail_lines(page.entries()[3], 40)[-1] == (("refuses: rm b", "muted"),)
    assert page.choose(3) == Answer("req_1", "allow", scope="once", parts=(0, 2))
    assert page.choose(1) is None
    assert [entry.label for entry in page.entries()[3:]][:2] == ["Yes, once", "Yes, for this session"]


def test_a_command_of_one_part_has_nothing_to_tick() -> None:
    page = ApprovalPage(request(CommandPreview("rm b", (CommandPart("rm b", "ask"),), "/srv")), "")
    assert (page.first, [entry.ticked for entry in page.entries()]) == (0, [None] * 3)
    assert plain(entry_line(page.entries()[0], 60)) == " 1. Yes, once: it cannot be allowed for longer"


def test_the_mode_is_offered_by_what_it_does() -> None:
    page = ApprovalPage(request(DiffPreview("a.py", "", "h"), Offer("session", (), mode="accept-edits")), "")
    entry = page.entries()[1]
    assert entry.label == "Yes, and allow edits in this project from here on"
    assert entry.details[0].startswith("mode accept-edits: edits in the project are not asked about")
    assert page.choose(1) == Answer("req_1", "allow", scope="session", offer=0)


def test_the_tenth_choice_is_taken_with_zero() -> None:
    offers = tuple(Offer("session", (OfferedRule("edit", name, "allow"),)) for name in "abcdefg")
    page = ApprovalPage(request(ArgumentsPreview({}), *offers), "")
    assert [entry.key for entry in page.entries()] == list("1234567890")


@pytest.mark.parametrize(("width", "rows"), [(76, 19), (36, 11), (36, 8), (20, 4), (20, 3)])
def test_at_every_size_there_is_a_little_of_what_would_happen_and_the_marked_entry(width: int, rows: int) -> None:
    parts = tuple(CommandPart(f"step {number} {'x' * 60}", "ask") for number in range(30))
    command = "\n".join(part.command for part in parts)
    page = ApprovalPage(request(CommandPreview(command, parts, "/srv"), Offer("session", (RULE,))), "Run it")
    view = RequestView(Palette())
    for marked in range(len(page.entries())):
        view.marked = marked
        laid = Sheet(
            width=width,
            head=[(("? Allow bash", ""),)],
            body=page.body(width),
            entries=[entry_line(entry, width) for entry in page.entries()],
            details=[detail_lines(entry, width) for entry in page.entries()],
            foot=[(("keys", ""),)],
        )
        assert view.show(laid, rows) <= rows
        assert marked in [place for _, place in view.lines]
        # A label or a rule that is cut is shown whole first.
        assert any(place is None and "│" in plain(line) for line, place in view.lines) or laid.details[marked]
        assert all(line_cells(line) <= width for line, _ in view.lines)


def test_what_does_not_fit_is_counted_on_the_edge_of_what_is_shown() -> None:
    view = RequestView(Palette())
    view.marked = 4
    view.show(sheet(40, *(f"/srv/shop/{letter}.py" for letter in "abcdef")), 4)
    assert rows_of(view) == [
        "head",
        "would store: allow edit /srv/shop/d.py".ljust(68) + "PgDn ↓40",
        " 5. Yes, for this session: allow edit ./d.py".ljust(71) + "↑4 ↓4",
        "foot",
    ]


def test_a_call_that_repeats_itself_says_so() -> None:
    event = ev.PermissionRequested("r", "c", "doom_loop", ("read",), ArgumentsPreview({"path": "a"}), ())
    assert plain(preview_lines(event, 200)[0]).startswith("The model repeats itself")


def test_a_diff_says_which_file_and_how_much() -> None:
    lines = body(DiffPreview("a.py", "@@ -1 +1 @@\n-a\n+b\n", "hash"))
    assert lines == ["a.py  +1 -1", "    ⋯", "1 - a", "1 + b"]
    assert body(DiffPreview("a.py", "@@ -0,0 +1 @@\n+b\n"))[0] == "new file a.py  +1 -0"


def test_a_change_of_several_files_names_each_before_its_diff() -> None:
    files = (
        PreviewFile("a.py", 1, 1, "h1", "h2"),
        PreviewFile("new.py", 1, 0, None, "h3"),
        PreviewFile("old.py", 0, 0, "h4"),
    )
    text = "diff a.py\n--- a.py\n+++ a.py\n@@ -1 +1 @@\n-a\n+b\ndiff new.py\nmoved from old.py\n@@ -0,0 +1 @@\n+b\n"
    assert body(DiffPreview("a.py", text, "h1", files=files)) == [
        "a.py  +1 -1",
        "new file new.py  +1 -0",
        "goes: old.py  +0 -0",
        "    a.py",
        "    ⋯",
        "1 - a",
        "1 + b",
        "    new.py",
        "    moved from old.py",
        "    ⋯",
        "1 + b",
    ]


def test_arguments_are_shown_by_name_and_texts_as_they_are() -> None:
    assert body(ArgumentsPreview({"path": "a.py", "n": 3, "text": "one\ntwo"})) == [
        "path: a.py",
        "n: 3",
        "text:",
        "│ one",
        "│ two",
    ]
    assert body(ArgumentsPreview({})) == ["no arguments"]


def test_a_page_shows_its_host_apart_from_its_address() -> None:
    assert body(UrlPreview("https://example.test/a?b=c", "example.test")) == [
        "host example.test",
        "https://example.test/a?b=c",
    ]


def test_previews_hold_no_control_character_and_fit_the_width() -> None:
    evil = "\x1b[2J日本語 [/bold] \x07" * 10
    for preview in (
        DiffPreview(evil, f"@@ -1 +1 @@\n-{evil}\n+x\n"),
        CommandPreview(evil, (CommandPart(evil, "ask"), CommandPart("b", "deny")), evil),
        ArgumentsPreview({evil: evil}),
        UrlPreview(evil, evil),
    ):
        for line in preview_lines(request(preview), 30):
            assert "\x1b" not in plain(line)
            assert "\x07" not in plain(line)


def form(schema: dict[str, object]) -> QuestionPage:
    return QuestionPage(ev.QuestionAsked("q1", "docs", "Set up", schema={"type": "object", **schema}))


def test_one_question_is_answered_by_one_choice() -> None:
    options = (QuestionOption("red"), QuestionOption("blue", "like the sky"))
    page = QuestionPage(ev.QuestionAsked("q1", "agent", "Colour", (Question("c", "Which?", options),)))
    assert [entry.label for entry in page.entries()] == ["red", "blue"]
    assert page.text_prompt == "Another answer"
    assert page.choose(1) == Answer("q1", "accept", content={"c": "blue"})


def test_several_choices_are_ticked_and_then_done() -> None:
    options = (QuestionOption("a"), QuestionOption("b"), QuestionOption("c"))
    page = QuestionPage(
        ev.QuestionAsked("q1", "agent", "t", (Question("x", "?", options, multiple=True, custom=False),))
    )
    assert page.text_prompt is None
    assert page.choose(2) is None
    assert page.choose(0) is None
    assert [entry.ticked for entry in page.entries()] == [True, False, True, None]
    assert page.choose(3) == Answer("q1", "accept", content={"x": ["a", "c"]})


def test_a_form_goes_field_by_field_and_is_confirmed_at_the_end() -> None:
    page = form(
        {
            "properties": {
                "name": {"type": "string"},
                "size": {"type": "integer"},
                "kind": {"enum": ["x", "y"]},
                "ok": {"type": "boolean"},
            },
            "required": ["name", "kind", "ok"],
        }
    )
    assert page.submit_text("box") is None
    assert page.submit_text("many") is None
    assert page.error == "'many' is no integer"
    assert page.submit_text("12") is None
    assert page.error == ""
    assert page.choose(1) is None
    assert page.choose(0) is None
    assert [entry.label for entry in page.entries()] == ["Send", "Decline", "Cancel"]
    assert page.choose(0) == Answer("q1", "accept", content={"name": "box", "size": 12, "kind": "y", "ok": True})


def test_what_is_not_required_can_be_left_out_and_what_is_cannot() -> None:
    fields = {"a": {"type": "string"}, "b": {"enum": ["x"]}, "c": {"enum": ["y", "z"], "default": "z"}, "d": {}}
    page = form({"properties": fields, "required": ["d"]})
    assert (page.entries(), page.text_prompt) == ([], "Answer (may be empty)")
    assert page.submit_text("") is None
    assert [entry.label for entry in page.entries()] == ["x", "Leave out"]
    assert page.choose(1) is None
    assert [entry.label for entry in page.entries()] == ["y", "z", 'Take the default: "z"']
    assert page.choose(2) is None
    assert page.submit_text("") is None
    assert "needed" in page.error
    assert page.submit_text("w") is None
    assert page.choose(0) == Answer("q1", "accept", content={"c": "z", "d": "w"})


def test_escape_goes_back_a_step_and_cancels_at_the_first() -> None:
    page = form({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}})
    page.submit_text("x")
    assert page.escape() is None
    assert page.escape() == Answer("q1", "cancel")


def test_a_page_to_open_shows_its_address_and_can_be_declined() -> None:
    page = QuestionPage(ev.QuestionAsked("q1", "docs", "Log in", url="https://example.test/login"))
    assert plain(page.body(80)[0]) == "Open this page yourself: https://example.test/login"
    assert page.choose(1) == Answer("q1", "decline")


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [("integer", "3", 3), ("number", "2.5", 2.5), ("array", "a, b,", ["a", "b"]), ("object", '{"a": 1}', {"a": 1})],
)
def test_typed_answers_are_read_as_their_kind(kind: str, text: str, value: object) -> None:
    assert read_answer(Step("x", "", kind=kind), text) == value


def test_a_typed_answer_that_does_not_fit_says_why() -> None:
    with pytest.raises(FormError, match="is no object"):
        read_answer(Step("x", "", kind="object"), "{")
    assert read_answer(Step("x", "", default="d"), " ") == "d"


def test_a_schema_without_properties_asks_only_for_consent() -> None:
    page = form({})
    assert [entry.label for entry in page.entries()] == ["Send", "Decline", "Cancel"]
    assert page.choose(0) == Answer("q1", "accept", content={})
    assert all(line_cells(line) <= 20 for line in page.body(20))
