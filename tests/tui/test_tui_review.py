"""The review of a change: parts taken or not, texts of the person's own, and what is answered in the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.fake_backend import FakeBackend
from fakes.tui_screen import screen_text, until
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.core import events as ev
from harness_tui.core.errors import ToolError
from harness_tui.core.event_parts import DiffPreview, FileEdit, Offer, OfferedRule
from harness_tui.core.intents import Answer
from harness_tui.core.seams import ProposedFile
from harness_tui.core.values import SourceRef
from harness_tui.tui.approval.page import ApprovalPage
from harness_tui.tui.approval.review import FileReview, Review
from harness_tui.tui.lines import line_cells, plain

BEFORE = "".join(f"line {number}\n" for number in range(1, 21))
AFTER = BEFORE.replace("line 2\n", "LINE 2\n").replace("line 18\n", "line 18\nline 18b\n")
FILE = ProposedFile("a.py", BEFORE, AFTER)


def asked(request: str = "req_1", path: str = "a.py", **more: Any) -> ev.PermissionRequested:
    text = f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-old\n+new\n"
    offers = (Offer("session", (OfferedRule("edit", path, "allow"),)),)
    return ev.PermissionRequested(request, "c1", "edit", (path,), DiffPreview(path, text, "h"), offers, **more)


def test_each_run_of_lines_that_differ_is_a_part_and_one_left_out_stays_as_it_is() -> None:
    file = FileReview(FILE)
    assert [(part.a, part.b, part.c, part.d) for part in file.parts] == [(1, 2, 1, 2), (18, 18, 18, 19)]
    assert (file.edits(), file.result()) == ((), AFTER)
    file.tick(0)
    assert file.result() == BEFORE.replace("line 18\n", "line 18\nline 18b\n")
    file.tick(1)
    assert (file.result(), file.edits()) == (None, (FileEdit("a.py", None),))
    file.tick_all()
    assert file.result() == AFTER


def test_lines_between_parts_are_shown_once_and_at_most_three_around_them() -> None:
    file = FileReview(FILE)
    above, skipped, below = file.context(0)
    assert ([row.old for row in above], skipped, [row.old for row in below]) == ([1], False, [3, 4, 5])
    above, skipped, below = file.context(1)
    assert ([row.old for row in above], skipped, [row.old for row in below]) == ([16, 17, 18], True, [19, 20])
    near = FileReview(ProposedFile("b", BEFORE, BEFORE.replace("line 2\n", "x\n").replace("line 6\n", "y\n")))
    assert [[row.old for row in rows] for rows in (near.context(0)[2], near.context(1)[0])] == [[], [3, 4, 5]]


def test_an_edited_text_is_what_is_written_and_can_be_forgotten() -> None:
    file = FileReview(FILE)
    file.tick(0)
    assert file.present() == BEFORE.replace("line 18\n", "line 18\nline 18b\n")
    file.edit("mine\n")
    assert (file.edited, file.taken, file.edits()) == (True, 1, (FileEdit("a.py", "mine\n"),))
    file.edit(BEFORE)
    assert (file.parts, file.edits()) == ([], (FileEdit("a.py", None),))
    file.reset()
    assert (file.edited, file.edits()) == (False, ())


def test_a_new_file_and_a_last_line_without_an_end() -> None:
    new = FileReview(ProposedFile("n", None, "a\nb"))
    assert [row.text for row in new.rows(0)] == ["a", "b", "no line end at the end of the file"]
    new.tick(0)
    assert new.result() is None
    assert FileReview(ProposedFile("n", None, "")).result() == ""


def test_of_a_part_no_more_lines_are_drawn_than_are_wanted() -> None:
    file = FileReview(ProposedFile("a", "old\n" * 50, "new\n" * 70))
    assert (file.size(0), len(file.rows(0)), len(file.rows(0, 60)), file.rows(0, -5)) == (120, 120, 60, [])


async def test_a_change_of_very_many_lines_is_drawn_in_part_and_says_so(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await reviewing(app, pilot, backend, ProposedFile("big", None, "line\n" * 40_000))
        await until(lambda: "part 1 of 1" in screen_text(app))
        await pilot.press("end")
        await until(lambda: "… 37000 more lines: e shows them in your editor" in screen_text(app))
        await pilot.press("y")
        await until(lambda: bool(answers(backend)))
        assert answers(backend)[0].edits is None


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "\x0b\n", "d\r\n"]), max_size=12)


@given(lines, lines, st.sampled_from(["", "x"]), st.sets(st.integers(0, 12)))
def test_all_parts_give_the_proposal_none_gives_what_is_there_and_any_choice_is_told_apart(
    old: list[str], new: list[str], end: str, left_out: set[int]
) -> None:
    before, after = "".join(old) + end, "".join(new)
    file = FileReview(ProposedFile("f", before, after))
    assert (after if file.parts else None) == file.result()
    file.left_out = set(range(len(file.parts)))
    assert file.result() is None
    file.left_out = left_out & set(range(len(file.parts)))
    result = file.result()
    again = FileReview(ProposedFile("f", before, before if result is None else result))
    assert len(again.parts) <= file.taken
    for part in range(len(file.parts)):
        file.rows(part)
        file.context(part)


def test_a_review_says_what_is_left_and_shows_it_as_a_diff() -> None:
    review = Review([FILE, ProposedFile("b.py", "x\n", "y\n")])
    assert (review.summary(), review.edits()) == ("", ())
    review.files[0].tick(0)
    review.files[1].edit("z\n")
    assert review.summary() == "2 of 3 parts, 1 file edited"
    assert "diff b.py\n--- b.py\n+++ b.py\n@@ -1 +1 @@\n-x\n+z\n" in review.diff_text()
    review.files[0].tick(1)
    review.files[1].tick_all()
    assert (review.empty, review.diff_text()) == (True, "")


def test_a_page_allows_what_was_reviewed_in_every_scope_and_says_so() -> None:
    page = ApprovalPage(asked(), "Edit a.py")
    edits = (FileEdit("a.py", "mine\n"),)
    page.use_review(edits, "1 file edited", "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-old\n+mine\n", empty=False)
    assert [entry.label for entry in page.entries()][:3] == [
        "Yes, once, as reviewed",
        "Yes, for this session, as reviewed",
        "No",
    ]
    assert page.choose(0) == Answer("req_1", "allow", scope="once", edits=edits)
    assert page.choose(1) == Answer("req_1", "allow", scope="session", offer=0, edits=edits)
    assert page.choose(2) == Answer("req_1", "deny")
    shown = [plain(line) for line in page.body(60)]
    assert shown[0] == "as you reviewed it: 1 file edited"
    assert "1 + mine" in shown
    page.use_review((), "", "", empty=False)
    assert page.choose(0) == Answer("req_1", "allow", scope="once")
    assert "1 + new" in [plain(line) for line in page.body(60)]


def test_the_rules_that_ask_are_shown_where_somebody_wants_to_know() -> None:
    page = ApprovalPage(asked(asked_by=("edit * ask (bundled)", "edit a* ask (~/.config/x.yaml:3)")), "Edit a.py")
    page.toggle_why()
    assert [plain(line) for line in page.body(60)][:3] == [
        "asked by edit * ask (bundled)",
        "asked by edit a* ask (~/.config/x.yaml:3)",
        "for a.py",
    ]
    page.toggle_why()
    assert "asked by" not in plain(page.body(60)[0])


async def reviewing(app: Any, pilot: Any, backend: FakeBackend, *files: ProposedFile, key: str = "v") -> None:
    backend.session.proposals["req_1"] = files
    backend.session.publish(ev.ToolStarted("c1", "edit", "Edit a.py", {}, SourceRef("builtin")), asked(), run="run_1")
    await until(lambda: "v review" in screen_text(app))
    await pilot.press(key)


def answers(backend: FakeBackend) -> list[Any]:
    return [intent for intent in backend.session.sent if isinstance(intent, Answer)]


async def test_a_part_is_taken_out_and_the_rest_is_allowed(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await reviewing(app, pilot, backend, FILE)
        await until(lambda: "[x] part 1 of 2" in screen_text(app))
        await pilot.press("f1")
        await until(lambda: "Take a part of the change out" in screen_text(app))
        await pilot.press("escape", "space")
        await until(lambda: "[ ] part 1 of 2" in screen_text(app) and "1 of 2 parts" in screen_text(app))
        await pilot.press("y")
        await until(lambda: bool(answers(backend)))
        left = BEFORE.replace("line 18\n", "line 18\nline 18b\n")
        assert answers(backend) == [Answer("req_1", "allow", scope="once", edits=(FileEdit("a.py", left),))]
        await until(lambda: app.prompt.has_focus)


async def test_what_is_edited_is_kept_over_a_way_back_and_allowed_from_the_question(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await reviewing(app, pilot, backend, FILE)
        await until(lambda: "LINE 2" in screen_text(app) and "part 1 of 2" in screen_text(app))
        await pilot.press("e")
        await until(lambda: "no editor can be opened" in screen_text(app))
        review = app.screen._review  # a screen without a terminal lends nothing to an editor
        review.files[0].edit(AFTER.replace("LINE 2", "my line"))
        await pilot.press("escape")
        await until(lambda: "as you reviewed it: 1 file edited" in screen_text(app))
        await pilot.press("1")
        await until(lambda: bool(answers(backend)))
        assert answers(backend)[0].edits == (FileEdit("a.py", AFTER.replace("LINE 2", "my line")),)


async def test_with_nothing_left_y_allows_nothing(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await reviewing(app, pilot, backend, FILE)
        await until(lambda: "part 1 of 2" in screen_text(app))
        await pilot.press("a", "y")
        await until(lambda: "nothing of the change is left" in screen_text(app))
        assert answers(backend) == []
        await pilot.press("escape")
        await until(lambda: "say no, or review it again" in screen_text(app))


async def test_a_review_of_what_is_not_asked_any_more_goes(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await reviewing(app, pilot, backend, FILE)
        await until(lambda: "part 1 of 2" in screen_text(app))
        backend.session.publish(ev.PermissionResolved("c1", "deny", "once", request="req_1"), run="run_1")
        await until(lambda: "is not asked about any more" in screen_text(app))
        await until(lambda: app.prompt.has_focus)
        assert answers(backend) == []


async def test_a_change_that_cannot_be_reviewed_says_why(open_app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_app() as (app, pilot, backend):

        async def fail(_: str) -> Any:
            raise ToolError("the file is not UTF-8", where="a.py")

        monkeypatch.setattr(backend.session, "proposal", fail)
        await reviewing(app, pilot, backend)
        await until(lambda: "cannot be reviewed: the file is not UTF-8" in screen_text(app))


async def test_what_is_typed_elsewhere_while_a_request_waits_goes_nowhere_unseen(open_app: Any) -> None:
    async with open_app(grace=30.0) as (app, pilot, backend):
        backend.session.publish(asked(), run="run_1")
        await until(lambda: app.controller._bar.display)
        app.controller._bar._end_grace()
        await pilot.press("f2")
        await until(lambda: "Diagnostics 0" in screen_text(app))
        await pilot.press("1", "enter")
        await until(lambda: "keys are taken in a moment" in screen_text(app))
        assert (app.prompt.text, backend.session.sent) == ("", [])


async def test_a_second_request_waits_in_sight(open_app: Any) -> None:
    async with open_app() as (app, _, backend):
        backend.session.publish(asked(), run="run_1")
        backend.session.publish(replace(asked("req_2", "b.py"), call="c2"), run="run_1")
        await until(lambda: "then: Allow edit: b.py?" in screen_text(app))
        backend.session.publish(replace(asked("req_3", "c.py"), call="c3"), run="run_1")
        await until(lambda: "2 more, next: Allow edit: b.py?" in screen_text(app))


@pytest.mark.parametrize("size", [(140, 40), (80, 24), (50, 12), (20, 5)])
async def test_several_files_are_gone_through_at_every_size(open_app: Any, size: tuple[int, int]) -> None:
    hostile = ProposedFile("src/" + "漢字" * 30 + ".py", "\x1b[31mred\tend\n", "\u202egreen\n")
    async with open_app(size=size) as (app, pilot, backend):
        backend.session.proposals["req_1"] = (FILE, hostile)
        backend.session.publish(asked(), run="run_1")
        await until(lambda: app.controller._bar.display)  # a small screen does not say it
        await pilot.press("v")
        await until(lambda: app.screen.__class__.__name__ == "ReviewScreen")
        await pilot.press("right_square_bracket", "s", "down", "pagedown", "end", "home", "s", "n", "p", "tab", "tab")
        await pilot.press("left_square_bracket", "escape")
        await until(lambda: app.screen.__class__.__name__ != "ReviewScreen")
        shown = screen_text(app)
        assert "\x1b" not in shown
        assert all(line_cells(((line, ""),)) <= size[0] for line in shown.splitlines())
