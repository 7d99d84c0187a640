"""The tabs Changes and Todos: what the runs in force did to files, and what can be done about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fakes.fake_backend import FakeBackend
from fakes.tui_screen import screen_text, until

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.core.messages import UserMessage
from harness_tui.core.values import TodoItem
from harness_tui.tui.lines import line_cells, plain
from harness_tui.tui.panels.changes import ChangedFileKey, ChangedRunKey, change_rows
from harness_tui.tui.panels.state import PanelState
from harness_tui.tui.panels.tabs import tab_counts
from harness_tui.tui.panels.todos import TodoKey, todo_rows


def started(text: str) -> ev.RunStarted:
    return ev.RunStarted("build", "m", "ask", UserMessage(text))


def change(path: str, before: str | None, after: str | None, added: int = 1, removed: int = 0) -> ev.FileChanged:
    return ev.FileChanged(path, added, removed, before, after)


def texts(rows: Any) -> list[str]:
    return [plain(line) for row in rows for line in row.lines]


def played(session: Any) -> PanelState:
    session.play(started("Fix the total\nplease"), change("src/a.py", "a1", "a2", 2, 1), run="run_1")
    session.play(ev.RunFinished("completed"), run="run_1")
    session.play(started("Add a test"), change("src/a.py", "a2", "a3", 1, 0), run="run_2")
    session.play(change("b.py", None, "b1", 5), change("old.py", "o1", None, 0, 7), run="run_2")
    session.play(ev.RunFinished("completed"), run="run_2")
    return session.presenter.panels


def test_files_of_all_runs_are_summed_up_and_the_messages_that_changed_them_stand_below(session: Any) -> None:
    state = played(session)
    assert texts(change_rows(state, 40)) == [
        "3 files changed                    +8 -8",
        "A b.py                             +5 -0",
        "D old.py                           +0 -7",
        "M src/a.py                         +3 -1",
        "",
        "By message, latest first",
        "Add a test                 3 files +6 -7",
        "Fix the total               1 file +2 -1",
    ]
    assert tab_counts(state)["changes"] == "3"


def test_an_undone_run_is_no_change_and_a_redo_brings_it_back(session: Any) -> None:
    state = played(session)
    session.play(ev.UndoApplied("run_2", ("src/a.py", "b.py"), ()))
    assert texts(change_rows(state, 40)) == [
        "1 file changed                     +2 -1",
        "M src/a.py                         +2 -1",
        "",
        "By message, latest first",
        "Fix the total               1 file +2 -1",
    ]
    session.play(ev.RedoApplied("run_2", (), ()))
    assert tab_counts(state)["changes"] == "3"


def test_a_record_that_lags_behind_brings_nothing_back_that_was_undone(session: Any) -> None:
    state = played(session)
    session.play(ev.UndoApplied("run_2", ("src/a.py", "b.py"), ()))
    late = Logged("run_2", "", [("", change("deep.py", None, "d"))] * 4)
    state.changes.seed([late, Logged("run_3", "", [("", change("other.py", None, "o"))], undone=True)])
    assert [file.path for file in state.changes.files()] == ["src/a.py"]
    session.play(ev.RedoApplied("run_2", (), ()))
    assert [file.path for file in state.changes.files()] == ["deep.py", "src/a.py"]


def test_a_file_that_came_and_went_is_no_change_and_a_subagents_change_belongs_to_the_run(session: Any) -> None:
    session.play(started("go"), change("tmp", None, "t"), change("tmp", "t", None), run="run_1")
    session.presenter.apply(session.envelope(change("sub.py", None, "s1"), session="ses_child", run="run_c"))
    state = session.presenter.panels
    assert [file.path for file in state.changes.files()] == ["sub.py"]
    assert [run.run for run in state.changes.runs()] == ["run_1"]


def test_an_undo_says_how_many_messages_and_files_it_takes_back(session: Any) -> None:
    changes = played(session).changes
    assert (changes.since("run_1"), changes.since("run_2")) == ((2, 3), (1, 3))
    assert (changes.last_run_of("src/a.py"), changes.last_run_of("nowhere")) == ("run_2", None)


def test_long_and_hostile_names_stay_within_the_panel(session: Any) -> None:
    name = "src/\x1b[31m" + "漢字" * 40 + "/x.py"
    session.play(started("go " * 60), change(name, "1", "2", 123456, 98765), run="run_1")
    for width in (20, 24, 41, 64):
        rows = change_rows(session.presenter.panels, width)
        assert all(line_cells(line) <= width for row in rows for line in row.lines)
        assert not any("\x1b" in text for text in texts(rows))


def test_todos_show_how_they_stand() -> None:
    state = PanelState()
    assert texts(todo_rows(state, 60)) == [
        "No list of steps. The agent makes one for longer work, with",
        "its tool todo.",
    ]
    state.take_todos(
        [TodoItem("1", "read", "done"), TodoItem("2", "write it down", "active"), TodoItem("3", "x", "pending")]
    )
    rows = todo_rows(state, 12)
    assert texts(rows) == ["1 of 3 done", "✓ read", "▸ write it", "  down", "○ x"]
    assert (rows[2].key, tab_counts(state)["todos"]) == (TodoKey("2", "write it down"), "1/3")


@dataclass(frozen=True)
class Logged:
    run: str
    began: str
    files: list[tuple[str, ev.FileChanged]] = field(default_factory=list)
    undone: bool = False


async def opened_changes(app: Any, pilot: Any, backend: FakeBackend) -> None:
    backend.session.publish(started("Fix it"), change("a.py", "1", "2"), run="run_1")
    backend.session.publish(ev.RunFinished("completed"), run="run_1")
    backend.session.publish(started("And more"), change("b.py", "3", "4"), run="run_2")
    backend.session.publish(ev.RunFinished("completed"), run="run_2")
    await pilot.press("f2", "right", "right", "right")
    await until(lambda: "Enter differences" in screen_text(app))


async def test_enter_shows_the_differences_of_a_file_and_of_all_that_a_message_changed(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await opened_changes(app, pilot, backend)
        await pilot.press("enter")
        await until(lambda: "Changes: a.py" in screen_text(app))
        assert "1 + 2" in screen_text(app)
        await pilot.press("escape", "end", "enter")
        await until(lambda: "Changes: Fix it" in screen_text(app))
        assert backend.calls[-2:] == ["differences a.py", "differences a.py"]


async def test_u_twice_takes_back_the_message_that_changed_the_file_and_any_other_key_does_not(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await opened_changes(app, pilot, backend)
        await pilot.press("u")
        await until(lambda: "u again: undo 2 messages, 2 files" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: "u again" not in screen_text(app))
        await pilot.press("down", "u")
        await until(lambda: "u again: undo the last message, 1 file" in screen_text(app))
        await pilot.press("u")
        await until(lambda: it.Undo("run_2") in backend.session.sent)
        assert [intent for intent in backend.session.sent if isinstance(intent, it.Undo)] == [it.Undo("run_2")]


async def test_a_todo_goes_into_the_prompt(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        backend.session.publish(ev.TodoUpdated((TodoItem("1", "mend the door", "active"),)))
        await pilot.press("f2", "right", "right", "right", "right")
        await until(lambda: "▸ mend the door" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: app.prompt.text == "mend the door")


async def test_the_width_of_the_panel_is_changed_by_keys_and_kept(open_app: Any) -> None:
    backend = FakeBackend(screen={"panel_columns": 50})
    async with open_app(backend, size=(120, 30)) as (app, pilot, _):
        await pilot.press("f2")
        panel = lambda: app.query_one("#panel").outer_size.width  # noqa: E731
        await until(lambda: panel() == 50)
        await pilot.press("less_than_sign")
        await until(lambda: panel() == 52)
        await pilot.press(*["greater_than_sign"] * 20)
        await until(lambda: panel() == 26)
        assert backend.screen["panel_columns"] == 26
        assert app.prompt.text == ""


async def test_a_notice_is_read_whole(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        backend.session.publish(ev.Notice("warning", "mcp", "the server " + "said much " * 12 + "and ended", "look"))
        await pilot.press("f2", "right")
        await until(lambda: "Notices" in screen_text(app))
        await pilot.press("end", "enter")
        await until(lambda: "and ended" in screen_text(app) and "Esc leaves" in screen_text(app))


async def test_what_the_record_knows_of_subagents_is_listed_after_a_resume(open_app: Any) -> None:
    row = Logged("run_9", "2026-01-02T03:04:05Z", [("2026-01-02T03:04:06Z", change("deep.py", None, "d"))])
    async with open_app(FakeBackend(recorded_changes=(row,))) as (app, pilot, _):
        await pilot.press("f2", "right", "right", "right")
        await until(lambda: "A deep.py" in screen_text(app))


def test_the_keys_of_rows_tell_files_and_messages_apart(session: Any) -> None:
    keys = [row.key for row in change_rows(played(session), 40) if row.key]
    assert keys[:1] + keys[-1:] == [ChangedFileKey("b.py"), ChangedRunKey("run_1", "Fix the total")]
