from __future__ import annotations

from typing import Any

import pytest

from harness_tui.core import events as ev
from harness_tui.core.envelope import Envelope
from harness_tui.core.event_parts import (
    ArgumentsPreview,
    CommandRef,
    Parent,
    QueueItem,
    RunError,
    ServerDetail,
    Truncation,
)
from harness_tui.core.messages import AssistantMessage, UserMessage
from harness_tui.core.values import DiagnosticItem, SourceRef
from harness_tui.tui.presenter import Presenter
from harness_tui.tui.transcript.blocks import (
    MarkdownBlock,
    NoticeBlock,
    QuestionBlock,
    ReasoningBlock,
    RunEndBlock,
    ToolBlock,
    UserBlock,
)

BUILTIN = SourceRef("builtin")
START = ev.RunStarted("build", "replay/demo", "ask", UserMessage("hello"))


def started(call: str = "c1", tool: str = "read", title: str = "Read a.py") -> ev.ToolStarted:
    return ev.ToolStarted(call, tool, title, {"path": "a.py"}, BUILTIN)


def finished(call: str = "c1", output: str = "text", *, error: bool = False, **metadata: Any) -> ev.ToolFinished:
    return ev.ToolFinished(call, "read", output, error, metadata)


def requested(request: str = "req_1", call: str = "c1") -> ev.PermissionRequested:
    return ev.PermissionRequested(request, call, "edit", ("a.py",), ArgumentsPreview({}), ())


def only(presenter: Presenter, kind: type) -> Any:
    found = [block for block in presenter.transcript.blocks if isinstance(block, kind)]
    assert len(found) == 1
    return found[0]


def sources(presenter: Presenter) -> list[str]:
    return [block.source for block in presenter.transcript.blocks if isinstance(block, MarkdownBlock)]


def test_the_messages_of_a_servers_prompt_are_shown_in_their_roles(session: Any) -> None:
    presenter = session.play(
        START,
        ev.MessageAdded(AssistantMessage("A *pixel*."), "command"),
        ev.MessageAdded(UserMessage("Which one?"), "command"),
    )
    shown = [(type(block), getattr(block, "source", None) or block.typed) for block in presenter.transcript.blocks]
    assert shown == [(UserBlock, "hello"), (MarkdownBlock, "A *pixel*."), (UserBlock, "Which one?")]


def test_an_undo_and_a_redo_tell_which_files_they_touched_and_which_they_left(session: Any) -> None:
    presenter = session.play(
        ev.UndoApplied("run_1", ("a.py", "b\x1b[2J.py"), ("c.py",)), ev.RedoApplied("run_1", (), ())
    )
    blocks = [block for block in presenter.transcript.blocks if isinstance(block, NoticeBlock)]
    assert [(block.text, block.hint) for block in blocks] == [
        ("Run run_1 taken back; files: a.py, b.py", "changed since, left alone: c.py"),
        ("Run run_1 in force again; files: none", None),
    ]


def test_what_is_taken_back_is_marked_and_its_message_comes_back_once(session: Any) -> None:
    presenter = session.play(START, ev.TextFinished("an answer"), ev.RunFinished("completed"), run="run_1")
    second = ev.RunStarted("build", "m", "ask", UserMessage("change it\x1b[2J"))
    session.play(second, started(), finished(), ev.RunFinished("completed"), run="run_2")
    session.play(ev.UndoApplied("run_2", (), ()), run="run_2")
    marked = [(type(block), block.undone) for block in presenter.transcript.blocks]
    assert [kind for kind, undone in marked if undone] == [UserBlock, ToolBlock, RunEndBlock]
    assert [kind for kind, undone in marked if not undone][-1] is NoticeBlock
    assert presenter.take_returned() == "change it"
    assert presenter.take_returned() is None
    session.play(ev.RedoApplied("run_2", (), ()), run="run_2")
    assert not any(block.undone for block in presenter.transcript.blocks)
    assert presenter.take_returned() == ""  # what was put into the prompt goes again


def test_of_several_runs_that_are_taken_back_the_first_message_comes_back(session: Any) -> None:
    presenter = session.play(START, ev.RunFinished("completed"), run="run_1")
    session.play(ev.ContextCompacted(9, 1, "s", (), ()), ev.RunFinished("completed"), run="run_2")
    session.play(ev.UndoApplied("run_2", (), ()), ev.UndoApplied("run_1", (), ()))
    assert presenter.take_returned() == "hello"
    assert all(block.undone for block in presenter.transcript.blocks[:-2])


def test_a_command_comes_back_as_it_was_typed_and_history_brings_nothing_back(session: Any) -> None:
    run = ev.RunStarted("build", "m", "ask", UserMessage("Review src now."), CommandRef("review", "commands/review.md"))
    session.presenter.expect_message("/review src")
    presenter = session.play(run, ev.RunFinished("completed"), ev.UndoApplied("run_1", (), ()), run="run_1")
    assert presenter.take_returned() == "/review src"
    past = Presenter()
    past.replay(
        [Envelope(n, "t", "s", event, "run_1") for n, event in enumerate([run, ev.UndoApplied("run_1", (), ())], 1)]
    )
    assert past.take_returned() is None
    assert only(past, UserBlock).undone


def test_a_message_shows_what_was_typed(session: Any) -> None:
    assert only(session.play(START), UserBlock).typed == "hello"
    assert session.presenter.state.running
    assert (session.presenter.state.agent, session.presenter.state.mode) == ("build", "ask")


def test_a_command_shows_its_line_and_folds_away_what_is_sent(session: Any) -> None:
    session.presenter.expect_message("/review src")
    run = ev.RunStarted("build", "m", "ask", UserMessage("Review src now."), CommandRef("review", "commands/review.md"))
    block = only(session.play(run), UserBlock)
    assert (block.typed, block.sent, block.source) == ("/review src", "Review src now.", "commands/review.md")
    assert block.folded


def test_a_command_of_a_record_shows_its_name(session: Any) -> None:
    run = ev.RunStarted("build", "m", "ask", UserMessage("text"), CommandRef("review", "x.md"))
    assert only(session.play(run), UserBlock).typed == "/review"


def test_streamed_text_is_committed_block_by_block(session: Any) -> None:
    session.play(START, ev.TextDelta("one\n\ntw"))
    session.play(ev.TextDelta("o\n"))
    assert sources(session.presenter) == ["one", "two"]
    assert session.presenter.transcript.blocks[-1].open
    session.play(ev.TextDelta("\nthree"), ev.TextFinished("one\n\ntwo\n\nthree"))
    assert sources(session.presenter) == ["one", "two", "three"]
    assert not session.presenter.transcript.blocks[-1].open


def test_the_finished_text_corrects_what_was_lost_on_the_way(session: Any) -> None:
    session.play(START, ev.TextDelta("one\n\n"), ev.TextDelta("thr"))
    session.play(ev.TextFinished("one\n\ntwo\n\nthree"))
    assert sources(session.presenter) == ["one", "two", "three"]


def test_a_text_that_breaks_off_stays_as_far_as_it_came(session: Any) -> None:
    session.play(START, ev.TextDelta("half an ans"), ev.RunFinished("failed", RunError("connection", "gone", "again")))
    assert sources(session.presenter) == ["half an ans"]
    end = only(session.presenter, RunEndBlock)
    assert (end.reason, end.text, end.hint) == ("failed", "gone", "again")
    assert session.presenter.transcript.blocks[-1] is end


def test_reasoning_is_shown_while_it_comes_and_timed(session: Any) -> None:
    session.play(START, ev.ReasoningDelta("hm"))
    block = only(session.presenter, ReasoningBlock)
    assert (block.text, block.open) == ("hm", True)
    session.play(ev.ReasoningFinished("hm, yes"))
    assert (block.text, block.open, block.seconds) == ("hm, yes", False, 1.0)


def test_a_call_goes_from_running_to_done_with_its_time(session: Any) -> None:
    session.play(START, started())
    block = only(session.presenter, ToolBlock)
    assert (block.title, block.state) == ("Read a.py", "running")
    session.play(finished(output="line\n"))
    assert (block.state, block.output, block.seconds) == ("done", "line", 1.0)


def test_the_wait_for_the_person_is_not_counted_as_time_of_the_call(session: Any) -> None:
    session.play(START, started(), requested(), ev.Notice("info", "x", "a second later"))
    session.play(ev.PermissionResolved("c1", "allow", "once", request="req_1"), finished())
    assert only(session.presenter, ToolBlock).seconds == 1.0


def test_a_failed_call_says_how(session: Any) -> None:
    session.play(START, started(), finished(output="boom", error=True, exit_code=3))
    block = only(session.presenter, ToolBlock)
    assert (block.state, block.note) == ("failed", "exit code 3")


def test_errors_of_a_file_are_counted_on_the_edit_that_made_them(session: Any) -> None:
    items = [{"severity": "error"}, {"severity": "error"}, {"severity": "warning"}]
    session.play(
        START, started(), finished(added=2, removed=1, diff="@@ -1 +1 @@\n-a\n+b\n", diagnostics={"items": items})
    )
    block = only(session.presenter, ToolBlock)
    assert block.note == "+2 -1, 2 errors"
    assert block.diff.startswith("@@")


def test_cut_output_names_the_file_that_holds_the_whole(session: Any) -> None:
    event = ev.ToolFinished("c1", "bash", "head", False, {}, Truncation("/data/out.txt", 70_000))
    session.play(START, started(), event)
    assert only(session.presenter, ToolBlock).cut == "cut; all 70,000 bytes are in /data/out.txt"


def test_output_that_arrives_is_shown_and_then_replaced_by_the_result(session: Any) -> None:
    session.play(START, started(), ev.ToolProgress("c1", output_delta="part\n"), ev.ToolProgress("c1", 1, 4, "copying"))
    block = only(session.presenter, ToolBlock)
    assert (block.output, block.note) == ("part\n", "1/4 copying")
    session.play(finished(output="all"))
    assert block.output == "all"


def test_a_request_waits_until_it_is_resolved(session: Any) -> None:
    session.play(START, started(), requested())
    assert [item.request for item in session.presenter.state.requests] == ["req_1"]
    assert only(session.presenter, ToolBlock).state == "waiting"
    assert session.presenter.state.title_of(session.presenter.state.requests[0]) == "Read a.py"
    session.play(ev.PermissionResolved("c1", "deny", "once", request="req_1", note="use b.py"))
    assert session.presenter.state.requests == []
    block = only(session.presenter, ToolBlock)
    assert (block.state, block.note) == ("denied", "denied: use b.py")
    session.play(finished(error=True))
    assert block.state == "denied"


def test_a_denied_call_names_the_rule(session: Any) -> None:
    session.play(START, started(), ev.PermissionResolved("c1", "deny", "rule", rule="edit * deny (config.yaml:3)"))
    assert only(session.presenter, ToolBlock).note == "denied (edit * deny (config.yaml:3))"


def test_requests_end_with_their_run(session: Any) -> None:
    session.play(START, started(), requested(), ev.RunFinished("cancelled"))
    assert session.presenter.state.requests == []
    assert not session.presenter.state.running
    assert only(session.presenter, ToolBlock).note == "cancelled"


def test_a_subagents_request_is_asked_and_its_steps_are_the_note_of_its_call(session: Any) -> None:
    session.play(START, started("c9", "task", "Explore"))
    session.play(
        ev.SessionStarted("/srv/project", parent=Parent("ses_1", "run_1", "c9")),
        started("d1", "bash", "Run ls"),
        requested("req_7", "d1"),
        session="ses_child",
    )
    assert only(session.presenter, ToolBlock).note == "Run ls"
    assert [item.request for item in session.presenter.state.requests] == ["req_7"]
    session.play(ev.PermissionResolved("d1", "allow", "once", request="req_7"), session="ses_child")
    assert session.presenter.state.requests == []


def test_calls_of_two_subagents_with_one_id_are_told_apart(session: Any) -> None:
    session.play(START, started("c1", "task", "explore: a"), started("c2", "task", "explore: b"))
    for child, call, request in (("ses_a", "c1", "req_a"), ("ses_b", "c2", "req_b")):
        begin = ev.SessionStarted("/srv/project", parent=Parent("ses_1", "run_1", call))
        session.play(begin, started("c1", "bash", f"Run {child}"), requested(request, "c1"), session=child)
    state = session.presenter.state
    assert [(item.request, state.title_of(item)) for item in state.requests] == [
        ("req_a", "Run ses_a"),
        ("req_b", "Run ses_b"),
    ]
    session.play(finished("c1"), session="ses_a")
    assert [item.request for item in state.requests] == ["req_b"]
    session.play(finished("c1"))  # the call of the session above: it is not the subagent's
    assert [(item.request, state.title_of(item)) for item in state.requests] == [("req_b", "Run ses_b")]


def test_a_question_is_shown_with_its_answer(session: Any) -> None:
    session.play(ev.QuestionAsked("q1", "docs", "Which one?"))
    block = only(session.presenter, QuestionBlock)
    assert block.answer is None
    session.play(ev.QuestionAnswered("q1", "accept", {"which": "b"}))
    assert block.answer == "which: b"
    assert session.presenter.state.requests == []


def test_an_event_that_comes_twice_is_taken_once(session: Any) -> None:
    envelope = session.envelope(ev.Notice("info", "x", "once"))
    session.presenter.apply(envelope)
    session.presenter.apply(envelope)
    assert only(session.presenter, NoticeBlock).text == "once"


def test_foreign_text_is_cleaned_and_markup_stays_text(session: Any) -> None:
    evil = "\x1b]52;c;QUJD\x07[/bold] [red]\x1b[2J\u202e"
    session.play(ev.RunStarted(evil, evil, "ask", UserMessage(evil)), started(title=evil), finished(output=evil))
    session.play(ev.Notice("error", evil, evil, evil), ev.TextFinished(evil), ev.QuestionAsked("q", evil, evil))
    texts: list[str] = []
    for block in session.presenter.transcript.blocks:
        for name in ("typed", "title", "output", "text", "hint", "source", "arguments"):
            texts.append(str(getattr(block, name, "")))
    assert any("[/bold] [red]" in text for text in texts)
    assert not any(character in text for text in texts for character in "\x1b\x07\u202e")


def test_a_refused_message_comes_back_once(session: Any) -> None:
    session.presenter.expect_message("/hlep me")
    session.play(ev.Notice("error", "session", "no command hlep"), ev.RunFinished("refused"))
    assert session.presenter.take_returned() == "/hlep me"
    assert session.presenter.take_returned() is None


def test_a_run_that_a_person_refused_brings_nothing_back(session: Any) -> None:
    session.presenter.expect_message("hello")
    session.play(START, ev.RunFinished("refused"))
    assert session.presenter.take_returned() is None


def test_a_call_by_hand_says_itself_how_it_went_and_adds_nothing_to_a_run(session: Any) -> None:
    session.play(started("h0"), finished("h0"), ev.RunFinished("completed"))
    session.play(START, started(), finished(), ev.RunFinished("completed"))
    session.play(started("h1"), finished("h1", error=True), ev.RunFinished("failed", RunError("tool", "gone")))
    session.play(START, started("c2"), finished("c2"), started("c3"), finished("c3"), ev.RunFinished("completed"))
    ends = [block for block in session.presenter.transcript.blocks if isinstance(block, RunEndBlock)]
    assert [end.calls for end in ends] == [1, 2]


def test_a_call_by_hand_goes_on_until_its_end(session: Any) -> None:
    state = session.play(started("h1")).state
    assert state.running
    session.play(finished("h1"), ev.RunFinished("completed"))
    assert not state.running


def test_a_message_that_never_ran_says_why(session: Any) -> None:
    session.play(ev.RunFinished("refused", RunError("usage", "no such agent")))
    assert [block.text for block in session.presenter.transcript.blocks] == ["no such agent"]


def test_where_the_whole_of_a_long_output_is_stands_once(session: Any) -> None:
    cut = Truncation("/srv/out/c1.txt", 70_000)
    output = "last row\n[the whole, 70000 bytes, is in /srv/out/c1.txt]"
    session.play(START, started(), ev.ToolFinished("c1", "bash", output, False, {}, cut))
    block = session.presenter.transcript.blocks[-1]
    assert (block.output, block.cut) == ("last row", "cut; all 70,000 bytes are in /srv/out/c1.txt")


def test_a_refused_message_is_explained_once(session: Any) -> None:
    session.play(ev.Notice("error", "session", "no such agent"), ev.RunFinished("refused", RunError("usage", "x")))
    assert [block.text for block in session.presenter.transcript.blocks] == ["no such agent"]


def edited(**report: Any) -> ev.ToolFinished:
    diff = {"path": "a.py", "diff": "@@ -1 +1 @@\n-a\n+b\n", "added": 1, "removed": 1}
    return ev.ToolFinished("c1", "edit", "Edited a.py", False, metadata=diff | report)


def test_errors_of_a_fresh_verdict_are_shown_under_the_edit_in_one_line_each(session: Any) -> None:
    items = [
        {"severity": "error", "line": 8, "message": "No overload\n\ninfo: more"},
        {"severity": "warning", "line": 9, "message": "unused"},
    ]
    session.play(START, started(), edited(diagnostics={"path": "a.py", "verdict": "fresh", "items": items}))
    block = session.presenter.transcript.blocks[-1]
    assert block.problems == ("L8: No overload",)
    assert block.note == "+1 -1, 1 error"


def test_errors_in_several_files_of_one_change_name_their_file(session: Any) -> None:
    def said(path: str, line: int) -> dict[str, Any]:
        item = {"severity": "error", "line": line, "message": "bad"}
        return {"path": path, "verdict": "fresh", "items": [item]}

    both = {"files": ["a.py", "b.py"], "diagnostics": [said("a.py", 1), said("b.py", 2)]}
    session.play(START, started(), edited(**both))
    block = session.presenter.transcript.blocks[-1]
    assert block.problems == ("a.py: L1: bad", "b.py: L2: bad")
    assert block.note == "+1 -1, 2 errors"


def test_a_late_verdict_goes_to_the_edit_that_it_is_about(session: Any) -> None:
    session.play(START, started(), edited(diagnostics={"path": "a.py", "verdict": "unknown", "items": []}))
    block = session.presenter.transcript.blocks[-1]
    assert block.problems == ()
    item = DiagnosticItem("a.py", 3, 1, 3, 2, "error", "bad")
    session.play(ev.DiagnosticsReported("a.py", "fresh", 900, ("ty",), (item, item), late=True))
    assert block.problems == ("L3: bad", "L3: bad")
    assert block.note == "+1 -1, 2 errors"
    session.play(ev.DiagnosticsReported("a.py", "fresh", 900, ("ty",), (), late=True))
    assert (block.problems, block.note) == ((), "+1 -1")


@pytest.mark.parametrize(
    ("tool", "metadata", "note"),
    [
        ("read", {"first": 1, "last": 8, "lines": 8}, "8 lines"),
        ("read", {"first": 3, "last": 8, "lines": 90}, "lines 3-8 of 90"),
        ("list", {"count": 1}, "1 entry"),
        ("glob", {"count": 2}, "2 files"),
        ("grep", {"matches": 3, "files": 2}, "3 matches in 2 files"),
        ("grep", {"matches": 0, "files": 0}, "0 matches"),
        ("grep", {"matches": "many"}, ""),
    ],
)
def test_a_call_that_only_looks_says_how_much_it_found(
    session: Any, tool: str, metadata: dict[str, Any], note: str
) -> None:
    session.play(START, started(), ev.ToolFinished("c1", tool, "text", False, metadata=metadata))
    assert session.presenter.transcript.blocks[-1].note == note


def test_panels_take_diagnostics_servers_and_notices(session: Any) -> None:
    item = DiagnosticItem("a.py", 1, 2, 1, 3, "error", "wrong")
    session.play(
        ev.DiagnosticsReported("a.py", "fresh", 5, ("ty",), (item,), False),
        ev.ServerChanged("mcp", "time", "ready", ServerDetail(tools=2)),
        ev.ServerChanged("mcp", "docs", "failed", ServerDetail()),
        ev.Notice("warning", "mcp", "docs failed"),
    )
    panels = session.presenter.panels
    assert panels.count("error") == 1
    assert panels.servers_up("mcp") == (1, 1, 2)
    assert panels.problems() == 1


def test_a_verdict_that_knows_nothing_keeps_the_items_that_were_known(session: Any) -> None:
    item = DiagnosticItem("a.py", 1, 2, 1, 3, "error", "wrong")
    session.play(ev.DiagnosticsReported("a.py", "fresh", 5, ("ty",), (item,), False))
    session.play(ev.DiagnosticsReported("a.py", "unknown", 1500, ("ty",), (), False, "no answer in time"))
    assert session.presenter.panels.count("error") == 1
    session.play(ev.DiagnosticsReported("a.py", "fresh", 5, ("ty",), (), False))
    assert session.presenter.panels.count("error") == 0


def test_a_record_is_replayed_without_parsing_and_nothing_of_it_waits(session: Any) -> None:
    history = [session.envelope(event) for event in (START, started(), requested(), ev.TextFinished("a\n\nb"))]
    presenter = Presenter()
    presenter.replay([Envelope(1, "2026-01-02T03:00:00.000Z", "ses_1", ev.SessionStarted("/srv")), *history])
    assert sources(presenter) == ["a\n\nb"]
    assert presenter.state.requests == []
    assert not presenter.state.running
    assert only(presenter, ToolBlock).note == "interrupted"


def test_states_of_earlier_processes_stay_out_of_the_panels(session: Any) -> None:
    old = session.envelope(ev.ServerChanged("mcp", "gone", "ready", ServerDetail()))
    new = session.envelope(ev.ServerChanged("mcp", "time", "ready", ServerDetail()))
    presenter = Presenter()
    presenter.replay([old, new], since=new.time)
    assert [name for _, name in presenter.panels.servers] == ["time"]


def test_merged_deltas_of_a_record_give_their_text_once(session: Any) -> None:
    history = [session.envelope(event) for event in (START, ev.TextDelta("a b"), ev.TextFinished("a b"))]
    broken = [session.envelope(event) for event in (ev.TextDelta("half"), ev.RunFinished("failed"))]
    presenter = Presenter()
    presenter.replay([*history, *broken])
    assert sources(presenter) == ["a b", "half"]


def test_usage_queue_and_changes_reach_the_state(session: Any) -> None:
    session.play(
        ev.UsageUpdated(10, 2, 0, 0, 0, 500, cost=0.25, context_limit=1000),
        ev.UsageUpdated(10, 2, 0, 0, 0, 600, cost=0.25),
        ev.SessionChanged(model="other", title="A title"),
        ev.QueueChanged((QueueItem("m1", "next", "queue"),)),
    )
    state = session.presenter.state
    assert (state.context_used, state.context_limit, state.cost) == (600, 1000, 0.5)
    assert (state.model, state.title, state.queue[0].text) == ("other", "A title", "next")


def test_a_call_that_is_asked_about_anew_waits_once(session: Any) -> None:
    def asked(request: str, call: str) -> ev.PermissionRequested:
        return ev.PermissionRequested(request, call, "edit", ("a.py",), ArgumentsPreview({}), ())

    session.play(asked("r1", "c1"), asked("r2", "c2"), asked("r3", "c1"))
    assert [request.request for request in session.presenter.state.requests] == ["r2", "r3"]


def test_the_output_of_a_command_that_a_person_ran_is_shown_once(session: Any) -> None:
    presenter = session.play(
        started(tool="bash", title="Run ls"),
        finished(output="a.py"),
        ev.MessageAdded(UserMessage("I ran a command in the shell:\n\n$ ls\na.py"), "shell"),
    )
    assert only(presenter, ToolBlock).output == "a.py"
    assert [block for block in presenter.transcript.blocks if isinstance(block, UserBlock)] == []


def test_the_first_piece_of_an_answer_holds_the_text_of_all(session: Any) -> None:
    presenter = session.play(
        ev.TextDelta("# One\n\ntwo\n\n"), ev.TextDelta("three"), ev.TextFinished("# One\n\ntwo\n\nthree")
    )
    answers = [block.answer for block in presenter.transcript.blocks if isinstance(block, MarkdownBlock)]
    assert answers == ["# One\n\ntwo\n\nthree", None, None]


def test_a_call_keeps_its_command_its_file_and_where_the_whole_output_is(session: Any) -> None:
    presenter = session.play(
        ev.ToolStarted("c1", "bash", "Run ls", {"command": "ls\n\x1b[31m-l"}, SourceRef("builtin")),
        ev.ToolFinished("c1", "bash", "a\n", False, {}, Truncation("/out/c1.txt", 99_999)),
        ev.ToolStarted("c2", "read", "Read a.py", {"path": "src/a.py"}, SourceRef("builtin")),
    )
    first, second = (block for block in presenter.transcript.blocks if isinstance(block, ToolBlock))
    assert (first.command, first.path, first.whole) == ("ls\n-l", "", "/out/c1.txt")
    assert (second.command, second.path, second.whole) == ("", "src/a.py", "")


def test_an_event_that_cannot_be_shown_is_told_of_and_the_next_ones_are_shown(
    session: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("no such thing")

    monkeypatch.setattr(type(session.presenter.panels), "report", broken)
    session.play(
        START, ev.DiagnosticsReported("a.py", "fresh", 1, (), (), False), ev.TextDelta("on"), ev.TextFinished("on")
    )
    notice = only(session.presenter, NoticeBlock)
    assert (notice.level, notice.text) == ("error", "diagnostics_reported cannot be shown: KeyError: 'no such thing'")
    assert sources(session.presenter) == ["on"]
    assert "cannot be shown" in caplog.text
