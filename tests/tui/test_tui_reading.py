"""Reading in the transcript: the mark on blocks, search, selection, and what is copied and opened."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from fakes.fake_backend import FakeBackend, FakeInfo
from fakes.tui_screen import screen_text, until
from textual import events

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.core.event_parts import CommandPart, CommandPreview, Truncation
from harness_tui.core.messages import UserMessage
from harness_tui.core.values import SourceRef
from harness_tui.tui.app import HarnessApp
from harness_tui.tui.transcript.blocks import RunEndBlock

RUN = "run_1"
ANSWER = "First **bold** words.\n\n```python\nprint('one')\n```\n\n- a\n- b"


def turn(session: Any, number: int, answer: str = ANSWER) -> None:
    run = f"run_{number}"
    session.publish(
        ev.RunStarted("build", "replay/demo", "ask", UserMessage(f"question {number}")),
        ev.ToolStarted(f"c{number}", "bash", "Run ls", {"command": f"ls {number}"}, SourceRef("builtin")),
        ev.ToolFinished(f"c{number}", "bash", "\n".join(f"row {n}" for n in range(20)), False, {}),
        ev.TextDelta(answer),
        ev.TextFinished(answer),
        ev.RunFinished("completed"),
        run=run,
    )


async def shown_turns(app: HarnessApp, backend: FakeBackend, count: int) -> None:
    for number in range(1, count + 1):
        turn(backend.session, number)
    await until(lambda: ends(app) == count and "s · 1 call" in screen_text(app))


def ends(app: HarnessApp) -> int:
    return sum(isinstance(block, RunEndBlock) for block in app.transcript._layout._blocks)


def top(app: HarnessApp) -> str:
    return screen_text(app).split("\n")[0]


def said(app: HarnessApp) -> str:
    return "\n".join(note.message for note in app._notifications)


def rows(app: HarnessApp) -> list[str]:
    return [row.rstrip(" ┃") for row in screen_text(app).split("\n")]


async def test_blocks_are_copied_by_keys_as_they_were_written(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await shown_turns(app, backend, 2)
        await pilot.press("f8")
        await until(lambda: "end 12 of 12" in screen_text(app) and "Esc back" in screen_text(app))
        copied = backend.copied
        await pilot.press("left", "c")  # over the end of the run: the list
        await until(lambda: copied == ["- a\n- b"])
        await pilot.press("a")
        await until(lambda: copied[1:] == [ANSWER])
        await pilot.press("left", "c", "k")
        await until(lambda: copied[2:] == ["```python\nprint('one')\n```", "print('one')"])
        await pilot.press("left", "left", "x")
        await until(lambda: copied[4:] == ["ls 2"])
        await pilot.press("c")
        await until(lambda: copied[5:] == ["\n".join(f"row {n}" for n in range(20))])
        await pilot.press("escape")
        assert app.prompt.has_focus
        await pilot.press("c")
        assert app.prompt.text == "c"
        assert len(copied) == 6


async def test_letters_are_typed_into_the_prompt_unless_a_block_is_marked(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await shown_turns(app, backend, 1)
        app.transcript.focus()
        await pilot.press("c", "a")
        assert app.prompt.text == "ca"
        assert backend.copied == []


async def test_a_search_finds_folded_text_and_esc_goes_back(open_app: Any) -> None:
    async with open_app(size=(80, 20)) as (app, pilot, backend):
        await shown_turns(app, backend, 3)
        await until(lambda: "s · 1 call" in screen_text(app))
        before = rows(app)
        await pilot.press("ctrl+f", *"row")
        assert "  │ row 2" not in before  # its call shows the last six rows alone
        await pilot.press("space", "2")
        await until(lambda: "Find row 2▏" in screen_text(app))
        await until(lambda: "3 of 3" in screen_text(app))
        assert "│ row 2\n" in screen_text(app)
        await pilot.press("up")
        await until(lambda: "2 of 3" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: rows(app) == before)
        assert app.prompt.has_focus


async def test_after_enter_n_goes_on_and_the_block_can_be_copied(open_app: Any) -> None:
    async with open_app(size=(80, 20)) as (app, pilot, backend):
        await shown_turns(app, backend, 3)
        await pilot.press("ctrl+f", *"question", "enter")
        await until(lambda: "“question” 3 of 3" in screen_text(app))
        await pilot.press("n", "c")
        await until(lambda: backend.copied == ["question 1"])
        assert "“question” 1 of 3" in screen_text(app)
        await pilot.press("N")
        assert "“question” 3 of 3" in screen_text(app)
        await pilot.press("escape", "escape")
        assert app.prompt.has_focus
        assert "“question”" not in screen_text(app)


async def test_what_is_found_is_highlighted_and_capitals_count_where_they_are_typed(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        backend.session.publish(ev.Notice("info", "x", "needle Needle"))
        await pilot.press("ctrl+f", *"needle")
        await until(lambda: "2 of 2" in screen_text(app))
        rows = app.screen._compositor.render_strips()
        found = [s.text for row in rows for s in row if s.style and s.style.reverse and "eedle" in s.text]
        assert found == ["needle", "Needle"]
        await pilot.press("ctrl+u", *"Needle")
        await until(lambda: "1 of 1" in screen_text(app))
        await pilot.press("x")
        await until(lambda: "nothing found" in screen_text(app))


async def test_messages_are_reached_from_the_prompt_without_leaving_it(open_app: Any) -> None:
    async with open_app(size=(80, 16)) as (app, pilot, backend):
        await shown_turns(app, backend, 3)
        await pilot.press("h", "ctrl+up")
        assert top(app) == "❯ question 3"
        await pilot.press("ctrl+up")
        assert top(app) == "❯ question 2"
        await pilot.press("i", "ctrl+down")
        assert top(app) == "❯ question 3"
        await pilot.press("ctrl+down")
        assert app.transcript.following
        assert app.prompt.text == "hi"


async def test_rows_are_selected_by_keys_and_copied_without_their_frame(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await shown_turns(app, backend, 1)
        await pilot.press("f8", "left", "left", "v")  # the code block: language, code, and an empty line
        await until(lambda: "lines selected" in screen_text(app))
        await pilot.press("down", "c")
        await until(lambda: backend.copied == ["python\nprint('one')\n\n• a"])
        await pilot.press("escape")
        assert app.prompt.has_focus


async def test_a_drag_selects_and_copies_and_folds_nothing(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await shown_turns(app, backend, 1)
        rows = screen_text(app).split("\n")
        y = next(place for place, row in enumerate(rows) if "row 15" in row)
        view = app.transcript
        view.post_message(_mouse(events.MouseDown, view, 4, y, button=1))
        view.post_message(_mouse(events.MouseMove, view, 8, y + 1, button=1))
        view.post_message(_mouse(events.MouseUp, view, 8, y + 1, button=1))
        await until(lambda: backend.copied == ["row 15\nrow 1"])
        view.post_message(_mouse(events.Click, view, 8, y + 1, button=1))
        await pilot.pause()
        assert "… 14 more lines (Ctrl+O shows all)" in screen_text(app)


def _mouse(kind: Any, widget: Any, x: int, y: int, *, button: int) -> Any:
    event = kind(widget, x, y, 0, 0, button, False, False, False, x, y)
    event._set_forwarded()  # as the screen marks what it hands on
    return event


async def test_without_a_tool_the_terminal_is_asked_to_copy(open_app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STY", raising=False)
    async with open_app(FakeBackend(copy_tool="")) as (app, _, backend):
        written: list[str] = []
        monkeypatch.setattr(app, "write_terminal", written.append)
        await shown_turns(app, backend, 1)
        app.controller.submit("/copy", "/copy", steer=False)
        await until(lambda: bool(written) and "where it takes it" in said(app))
        assert written == [f"\x1b]52;c;{base64.b64encode(ANSWER.encode()).decode()}\x07"]
        app.controller.submit("/copy code", "/copy code", steer=False)
        await until(lambda: backend.copied == [ANSWER, "print('one')"])
        backend.session.publish(ev.TextDelta("x" * 200_000), ev.TextFinished("x" * 200_000), run="run_9")
        app.controller.submit("/copy", "/copy", steer=False)
        await until(lambda: "too much for this terminal" in screen_text(app))
        assert len(written) == 2


async def test_a_file_is_opened_at_its_line_and_a_link_is_copied(
    open_app: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness_tui.tui import reading_runner

    opened: list[tuple[str, int | None]] = []

    async def open_in_editor(_: object, __: object, path: str, line: int | None = None) -> str:
        opened.append((path, line))
        return ""

    monkeypatch.setattr(reading_runner, "open_in_editor", open_in_editor)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "calc.py").write_text("x\n")
    async with open_app(FakeBackend(info=FakeInfo(root=str(tmp_path)))) as (app, pilot, backend):
        turn(backend.session, 1, "Look at src/calc.py:12 and no/such.py:3.")
        turn(backend.session, 2, "See https://example.test/a_(b).")
        await until(lambda: "See https" in screen_text(app))
        await pilot.press("f8", "left", "o")
        await until(lambda: backend.copied == ["https://example.test/a_(b)"])
        await pilot.press("left_square_bracket", "left", "left", "o")
        await until(lambda: opened == [(str(tmp_path / "src" / "calc.py"), 12)])


async def test_cut_output_is_read_whole(open_app: Any, tmp_path: Path) -> None:
    whole = tmp_path / "c1.txt"
    whole.write_text("the very first\n\x1b[31mmiddle\nlast\n")
    async with open_app() as (app, pilot, backend):
        backend.session.publish(
            ev.ToolStarted("c1", "bash", "Run make", {"command": "make"}, SourceRef("builtin")),
            ev.ToolFinished("c1", "bash", "last", False, {}, Truncation(str(whole), 99)),
            run=RUN,
        )
        await until(lambda: "cut; all 99 bytes" in screen_text(app))
        await pilot.press("f8", "w")
        await until(lambda: "the very first" in screen_text(app))
        assert "middle" in screen_text(app)
        await pilot.press("escape")
        await until(lambda: "the very first" not in screen_text(app))


async def test_while_somebody_reads_an_answer_that_comes_moves_nothing(open_app: Any) -> None:
    async with open_app(size=(80, 16)) as (app, pilot, backend):
        await shown_turns(app, backend, 3)
        await pilot.press("ctrl+up", "ctrl+up")
        before = rows(app)[:6]
        backend.session.publish(ev.TextDelta("# More\n\n" + "word " * 400 + "\n\nend"), run="run_9")
        await until(lambda: "new below (Ctrl+End)" in screen_text(app))
        assert rows(app)[:6] == before
        await pilot.press("ctrl+end")
        await until(lambda: "new below" not in screen_text(app))


async def test_the_mark_and_the_search_survive_an_answer_that_comes(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await shown_turns(app, backend, 1)
        await pilot.press("ctrl+f", *"print", "enter")
        await until(lambda: "“print” 1 of 1" in screen_text(app))
        turn(backend.session, 2)
        await until(lambda: "“print” 1 of 2" in screen_text(app))
        await pilot.press("n", "k")
        await until(lambda: backend.copied == ["print('one')"])


async def test_going_on_elsewhere_ends_the_mark_and_a_new_session_the_search(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await shown_turns(app, backend, 1)
        await pilot.press("f8")
        await until(lambda: "Esc back" in screen_text(app))
        app.prompt.focus()
        await until(lambda: "Esc back" not in screen_text(app))
        app.transcript.focus()
        await pilot.press("c")
        assert app.prompt.text == "c"
        await pilot.press("ctrl+f", *"print", "enter")
        await until(lambda: "“print” 1 of 1" in screen_text(app))
        await app.use_session(backend.new_session())
        await until(lambda: "“print”" not in screen_text(app))
        await pilot.press("n", "x")
        assert app.prompt.text == "cnx"
        assert backend.copied == []


async def test_reading_works_at_any_size(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await shown_turns(app, backend, 2)
        for size in ((1, 1), (20, 5), (8, 3), (300, 100), (2, 40), (60, 12)):
            await pilot.resize_terminal(*size)
            await pilot.press("f8", "left", "v", "up", "down", "escape", "escape")
            await pilot.press("ctrl+f", *"row", "up", "down", "escape")
            assert app.prompt.has_focus
        assert backend.copied == []
        await pilot.press("f8", "left", "c")
        await until(lambda: backend.copied == ["- a\n- b"])


async def test_what_was_seen_before_a_resize_is_wrapped_anew_once_nobody_does_anything(
    open_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness_tui.tui.transcript import rows as rows_module

    monkeypatch.setattr(rows_module, "_IDLE_S", 0.05)
    monkeypatch.setattr(rows_module, "_BETWEEN_SLICES_S", 0.01)
    async with open_app(size=(80, 14)) as (app, pilot, backend):
        await shown_turns(app, backend, 3)
        await pilot.press(*["pageup"] * 8, "ctrl+end")
        kept = app.transcript._layout._rows
        assert all(drawn is not None for drawn in kept)
        await pilot.resize_terminal(60, 14)
        await until(lambda: app.transcript.size.width == 59)
        await until(lambda: all(drawn is not None for drawn in app.transcript._layout._rows))
        widths = {strip.cell_length for drawn in app.transcript._layout._rows for strip in drawn or ()}
        assert widths == {59}


async def test_who_reads_while_a_request_waits_comes_back_to_it(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await shown_turns(app, backend, 1)
        session = backend.session
        session.publish(ev.RunStarted("build", "replay/demo", "ask", UserMessage("go")), run="run_2")
        session.publish(ev.ToolStarted("c9", "bash", "Run ls", {"command": "ls"}, SourceRef("builtin")), run="run_2")
        preview = CommandPreview("ls", (CommandPart("ls", "ask"),), "/srv")
        session.publish(ev.PermissionRequested("req_1", "c9", "bash", ("ls",), preview, ()), run="run_2")
        await until(lambda: "Allow bash" in screen_text(app))
        await pilot.press("f8", "x")
        await until(lambda: backend.copied == ["ls"])
        await pilot.press("ctrl+f", *"row", "escape")
        await pilot.press("escape")  # of the request: no
        await until(lambda: bool(session.sent))
        assert session.sent == [it.Answer("req_1", "deny")]
