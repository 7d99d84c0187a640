"""The app over a fake workspace: what a person does, and what stands on the screen then."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes.fake_backend import (
    FakeBackend,
    FakeCommand,
    FakeInfo,
    FakeSession,
    FakeSessionRow,
    FakeSkill,
    FakeTrust,
    FakeTrustItem,
)
from fakes.tui_screen import screen_text, until
from textual import events

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import CommandPart, CommandPreview, Offer, OfferedRule, QueueItem, ServerDetail
from harness_tui.core.messages import AssistantMessage, UserMessage
from harness_tui.core.values import DiagnosticItem, SourceRef
from harness_tui.tui.controller import STILL_S

RUN = "run_1"
START = ev.RunStarted("build", "replay/demo", "ask", UserMessage("hello"))
REQUEST = ev.PermissionRequested(
    "req_1",
    "c1",
    "bash",
    ("ls -l",),
    CommandPreview("ls -l", (CommandPart("ls -l", "ask"),), "/srv"),
    (Offer("session", (OfferedRule("bash", "ls *", "allow"),)),),
)


async def type_text(pilot: Any, text: str) -> None:
    await pilot.press(*("space" if letter == " " else "slash" if letter == "/" else letter for letter in text))


async def test_a_message_is_sent_and_the_answer_stands_in_the_transcript(open_app: Any) -> None:
    def answer(session: FakeSession, intent: it.Intent) -> None:
        if isinstance(intent, it.Submit):
            session.publish(ev.RunStarted("build", "replay/demo", "ask", UserMessage(intent.text)), run=RUN)
            session.publish(
                ev.TextDelta("An **an"), ev.TextDelta("swer**."), ev.TextFinished("An **answer**."), run=RUN
            )
            session.publish(ev.RunFinished("completed"), run=RUN)

    async with open_app(FakeBackend(on_send=answer)) as (app, pilot, backend):
        await type_text(pilot, "say it")
        await pilot.press("enter")
        await until(lambda: "● An answer." in screen_text(app))
        assert "❯ say it" in screen_text(app)
        assert backend.session.sent == [it.Submit("say it", when="now")]
        assert app.prompt.text == ""
        await pilot.press("up")
        assert app.prompt.text == "say it"


async def test_what_is_typed_right_behind_enter_stays_for_the_next_message(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await type_text(pilot, "first")
        for key in ("enter", "n", "e", "x", "t"):  # all before the message of the first one is handled
            app.prompt.post_message(events.Key(key, None if key == "enter" else key))
        await until(lambda: app.prompt.text == "next" and bool(backend.session.sent))
        assert backend.session.sent == [it.Submit("first", when="now")]


async def test_what_is_sent_before_the_session_is_there_waits_for_it(open_app: Any) -> None:
    gate = asyncio.Event()

    class SlowBackend(FakeBackend):
        async def open(self) -> FakeInfo:
            await gate.wait()
            return await super().open()

    async with open_app(SlowBackend(), wait=False) as (app, pilot, backend):
        await type_text(pilot, "early")
        await pilot.press("enter")
        await until(lambda: "1 to be sent then" in screen_text(app))
        gate.set()
        await until(lambda: bool(backend.sessions_made) and bool(backend.session.sent))
        assert backend.session.sent == [it.Submit("early", when="now")]


async def test_while_a_run_goes_on_messages_wait_steer_or_cancel(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        backend.session.publish(START, run=RUN)
        await until(lambda: "Esc cancels" in screen_text(app))
        await type_text(pilot, "next")
        await pilot.press("enter")
        await type_text(pilot, "now")
        await pilot.press("ctrl+s")
        await pilot.press("escape")
        await until(lambda: len(backend.session.sent) == 3)
        assert backend.session.sent == [it.Submit("next", when="queue"), it.Submit("now", when="steer"), it.Cancel()]
        item = QueueItem("m1", "next", "queue")
        backend.session.publish(ev.QueueChanged((item,)))
        await until(lambda: "queued: next" in screen_text(app))
        await pilot.press("alt+up")
        await until(lambda: app.prompt.text == "next")
        assert backend.session.sent[-1] == it.EditQueue(())


async def test_a_request_takes_the_place_of_the_prompt_and_keeps_its_draft(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await type_text(pilot, "draft")
        backend.session.publish(
            START, ev.ToolStarted("c1", "bash", "Run ls -l", {}, SourceRef("builtin")), REQUEST, run=RUN
        )
        await until(lambda: "Allow bash: Run ls -l?" in screen_text(app))
        assert "Yes, for this session: allow bash ls *" in screen_text(app)
        assert not app.prompt.display
        await pilot.press("2")
        await until(lambda: app.prompt.display)
        assert backend.session.sent == [it.Answer("req_1", "allow", scope="session", offer=0)]
        assert app.prompt.text == "draft"
        assert app.prompt.has_focus


async def test_a_request_takes_no_keys_in_its_first_moment(open_app: Any) -> None:
    async with open_app(grace=2.0) as (app, pilot, backend):
        backend.session.publish(START, REQUEST, run=RUN)
        await until(lambda: "keys are taken in a moment" in screen_text(app))
        await pilot.press("1", "enter", "escape")
        await pilot.pause()
        assert backend.session.sent == []
        await until(lambda: "Esc says no" in screen_text(app))
        await pilot.press("1")
        await until(lambda: backend.session.sent == [it.Answer("req_1", "allow", scope="once")])


async def test_a_no_can_tell_the_model_what_to_do_instead(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        backend.session.publish(START, REQUEST, run=RUN)
        await until(lambda: app.screen.focused is not None and not app.prompt.display)
        await pilot.press("4")
        await pilot.pause()
        await type_text(pilot, "use find")
        await pilot.press("enter")
        await until(lambda: bool(backend.session.sent))
        assert backend.session.sent == [it.Answer("req_1", "deny", note="use find")]


async def test_a_call_is_unfolded_by_keys_and_by_a_click(open_app: Any) -> None:
    output = "\n".join(f"row {number}" for number in range(1, 5))
    async with open_app() as (app, pilot, backend):
        for call in ("c1", "c2"):
            title = SourceRef("builtin")
            backend.session.publish(
                START if call == "c1" else ev.StepFinished(1, AssistantMessage("")),
                ev.ToolStarted(call, "read", f"Read {call}.py", {}, title),
                ev.ToolFinished(call, "read", output, False, {}),
                run=RUN,
            )
        await until(lambda: "Read c2.py" in screen_text(app))
        assert "row 4" not in screen_text(app)
        await pilot.press("tab", "left", "left", "enter")
        await until(lambda: "row 4" in screen_text(app))
        lines = screen_text(app).split("\n")
        assert next(y for y, line in enumerate(lines) if "row 4" in line) < next(
            y for y, line in enumerate(lines) if "Read c2.py" in line
        )
        await pilot.press("enter")
        await until(lambda: "row 4" not in screen_text(app))
        at = next(y for y, line in enumerate(screen_text(app).split("\n")) if "Read c2.py" in line)
        await pilot.click("#transcript", offset=(5, at))
        await until(lambda: "row 4" in screen_text(app))


async def test_a_default_of_a_form_that_looks_like_markup_is_shown_as_it_is(open_app: Any) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "string", "default": "[/bold] [x"}}}
    async with open_app() as (app, _, backend):
        backend.session.publish(START, ev.QuestionAsked("q1", "docs", "Name?", schema=schema), run=RUN)
        await until(lambda: "empty: [/bold] [x" in screen_text(app))


async def test_no_size_of_the_terminal_ends_the_program(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        for asked in (False, True):
            if asked:
                backend.session.publish(START, REQUEST, run=RUN)
                await until(lambda: not app.prompt.display)
            for size in ((1, 1), (1, 24), (2, 5), (3, 2), (5, 60), (200, 1), (300, 60)):
                await pilot.resize_terminal(*size)
                await pilot.pause()
        await pilot.resize_terminal(80, 24)
        await until(lambda: "Allow bash" in screen_text(app))


async def test_further_requests_wait_visibly(open_app: Any) -> None:
    second = ev.QuestionAsked("q1", "docs", "Which one?", url="https://example.test/")
    async with open_app() as (app, pilot, backend):
        backend.session.publish(START, REQUEST, second, run=RUN)
        await until(lambda: "then: docs asks: Which one?" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: "docs asks: Which one?" in screen_text(app))
        assert backend.session.sent == [it.Answer("req_1", "deny")]


async def test_a_slash_offers_commands_and_skills_and_enter_takes_one(open_app: Any) -> None:
    backend = FakeBackend(
        command_rows=[FakeCommand("review", "Review the changes", "[path]")], skill_rows=[FakeSkill("pdf-tools", "PDF")]
    )
    async with open_app(backend) as (app, pilot, _):
        await type_text(pilot, "/rev")
        await until(lambda: "/review [path]" in screen_text(app))
        await pilot.press("enter")
        assert app.prompt.text == "/review "
        assert app.prompt.suggestion == "[path]"
        assert backend.session.sent == []
        await type_text(pilot, "src")
        await pilot.press("enter")
        await until(lambda: backend.session.sent == [it.Submit("/review src", when="now")])
        await type_text(pilot, "/pdf")
        await until(lambda: "/pdf-tools" in screen_text(app))
        await pilot.press("escape")
        await pilot.pause()
        assert app.prompt.text == "/pdf"
        assert "PDF " not in screen_text(app)


async def test_a_command_that_is_new_is_offered_once_typing_pauses(open_app: Any) -> None:
    backend = FakeBackend(command_rows=[FakeCommand("review", "Review the changes")])
    async with open_app(backend) as (app, pilot, _):
        await type_text(pilot, "/re")
        await until(lambda: "/review" in screen_text(app))
        await pilot.press("backspace", "backspace", "backspace")
        await pilot.pause(STILL_S)
        backend.command_rows = [*backend.command_rows, FakeCommand("release", "Make a release")]
        await type_text(pilot, "/re")
        await until(lambda: "/release" in screen_text(app))
        assert app.prompt.text == "/re"


async def test_a_refused_command_comes_back_into_the_prompt(open_app: Any) -> None:
    def refuse(session: FakeSession, intent: it.Intent) -> None:
        session.publish(
            ev.Notice("error", "session", "no command hlep", "did you mean /help?"), ev.RunFinished("refused")
        )

    async with open_app(FakeBackend(on_send=refuse)) as (app, pilot, _):
        await type_text(pilot, "/hlep me")
        await pilot.press("enter")
        await until(lambda: app.prompt.text == "/hlep me")
        assert "did you mean /help?" in screen_text(app)


async def test_what_was_undone_is_struck_out_and_its_message_stands_in_the_prompt_until_a_redo(open_app: Any) -> None:
    start = ev.RunStarted("build", "m", "ask", UserMessage("make it blue"))
    async with open_app() as (app, pilot, backend):
        backend.session.publish(start, ev.TextFinished("it is blue"), ev.RunFinished("completed"), run="run_1")
        await until(lambda: "it is blue" in screen_text(app))
        backend.session.publish(ev.UndoApplied("run_1", (), ()), run="run_1")
        await until(lambda: app.prompt.text == "make it blue")
        assert "taken back: the model does not see it" in screen_text(app)
        backend.session.publish(ev.RedoApplied("run_1", (), ()), run="run_1")
        await until(lambda: app.prompt.text == "")
        assert "taken back: the model" not in screen_text(app)
        await type_text(pilot, "mine")
        backend.session.publish(ev.UndoApplied("run_1", (), ()), run="run_1")
        await until(lambda: "taken back: the model does not see it" in screen_text(app))
        assert app.prompt.text == "mine"  # what is being typed is never replaced


async def test_own_commands_are_not_sent(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        for line in ("/undo", "/redo", "/model replay/other", '/call read {"path": "a.py"}', "/call read {"):
            app.prompt.set_text(line)
            await pilot.press("enter")
            await pilot.pause()
        await until(lambda: len(backend.session.sent) == 4)
        assert backend.session.sent == [
            it.Undo(),
            it.Redo(),
            it.SetSession(model="replay/other"),
            it.CallTool("read", {"path": "a.py"}),
        ]
        assert "the arguments are no JSON" in screen_text(app)
        assert app.prompt.text == "/call read {"


async def test_a_shell_line_is_run_as_one(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        app.prompt.set_text("!ls -l")
        await pilot.press("enter")
        await until(lambda: backend.session.sent == [it.Shell("ls -l")])


async def test_a_session_is_resumed_from_the_list(open_app: Any) -> None:
    old = FakeSession("ses_old")
    old.publish(START, ev.TextFinished("An old answer."), ev.RunFinished("completed"), run=RUN)
    backend = FakeBackend(session_rows=[FakeSessionRow("ses_old", "The old one")], prepared={"ses_old": old})
    async with open_app(backend) as (app, pilot, _):
        app.prompt.set_text("/resume")
        await pilot.press("enter")
        await until(lambda: "The old one" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: "● An old answer." in screen_text(app))
        assert "resume ses_old" in backend.calls
        old.publish(ev.Notice("info", "x", "still alive"))
        await until(lambda: "still alive" in screen_text(app))


async def test_a_session_that_cannot_be_opened_leaves_the_present_one(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        app.prompt.set_text("/resume ses_gone")
        await pilot.press("enter")
        await until(lambda: "ses_gone: there is no such session" in screen_text(app))
        app.prompt.set_text("hello")
        await pilot.press("enter")
        await until(lambda: backend.session.sent == [it.Submit("hello", when="now")])


async def test_a_start_that_fails_says_why_and_opens_a_new_session(open_app: Any) -> None:
    backend = FakeBackend(start_error=HarnessError("open in another program", where="ses_9", mend="close it there"))
    async with open_app(backend) as (app, _, __):
        await until(lambda: "ses_9: open in another program" in screen_text(app))
        assert backend.calls[:3] == ["open", "start_session", "new_session"]


async def test_a_project_that_cannot_be_opened_says_why(open_app: Any) -> None:
    backend = FakeBackend(open_error=HarnessError("unreadable", where="config.yaml:3", mend="mend it"))
    async with open_app(backend, wait=False) as (app, _, __):
        await until(lambda: "config.yaml:3: unreadable" in screen_text(app))
        assert "could not be opened" in screen_text(app)


UNTRUSTED = FakeInfo(
    trust=FakeTrust(False, True, (FakeTrustItem("MCP server", "time: mcp-server-time", ".mcp.json:2"),))
)


async def test_the_trust_dialog_lets_typing_go_on_and_takes_not_now_by_default(open_app: Any) -> None:
    backend = FakeBackend(info=UNTRUSTED)
    async with open_app(backend) as (app, pilot, _):
        await until(lambda: "Trust /srv/project?" in screen_text(app))
        await type_text(pilot, "hey")
        await pilot.press("enter")
        await until(lambda: "dismiss_trust" in backend.calls)
        assert app.prompt.text == "hey"
        assert "grant_trust" not in backend.calls


async def test_trust_is_given_by_choosing_it(open_app: Any) -> None:
    backend = FakeBackend(info=UNTRUSTED)
    async with open_app(backend) as (app, pilot, _):
        await until(lambda: "Trust /srv/project?" in screen_text(app))
        await pilot.press("down", "enter")
        await until(lambda: "grant_trust" in backend.calls)


async def test_the_panel_shows_diagnostics_servers_and_skills(open_app: Any) -> None:
    item = DiagnosticItem("a.py", 3, 1, 3, 2, "error", "wrong name")
    async with open_app(FakeBackend(skill_rows=[FakeSkill("pdf-tools"), FakeSkill("notes")])) as (app, pilot, backend):
        backend.session.publish(ev.DiagnosticsReported("a.py", "fresh", 1, ("ty",), (item,), False))
        backend.session.publish(ev.ServerChanged("mcp", "time", "failed", ServerDetail(), "exit code 1"))
        await pilot.press("f2")
        await until(lambda: "✗ 3:1 wrong name" in screen_text(app))
        await pilot.press("down", "enter")
        assert app.prompt.text == "/fix-diagnostics a.py:3 wrong name"
        await pilot.press("f2", "f2")
        await until(lambda: app.focused is not None and app.focused.id == "panel-list")
        await pilot.press("right")
        await until(lambda: "exit code 1" in screen_text(app))
        await pilot.press("r")
        await until(lambda: "restart mcp time" in backend.calls)
        await pilot.press("right")
        await type_text(pilot, "note")
        await until(lambda: "# Text of /skills/notes/SKILL.md" in screen_text(app))
        await pilot.press("enter")
        assert app.prompt.text == "/notes "


async def test_a_paste_of_many_lines_is_a_chip_and_sends_nothing_by_itself(open_app: Any) -> None:
    text = "\n".join(f"row {number}" for number in range(12)) + "\x1b[2J"
    async with open_app() as (app, pilot, backend):
        app.prompt.post_message(events.Paste(text))
        await until(lambda: app.prompt.text == "[pasted 12 lines #1]")
        assert backend.session.sent == []
        await pilot.press("enter")
        await until(lambda: bool(backend.session.sent))
        assert backend.session.sent == [it.Submit(text.removesuffix("\x1b[2J"), when="now")]


async def test_a_paste_that_looks_like_a_command_is_text(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        app.prompt.post_message(events.Paste("/exit\n" * 12))
        await until(lambda: bool(app.prompt.text))
        await pilot.press("enter")
        await until(lambda: bool(backend.session.sent))
        assert backend.session.sent[0].text.startswith("//exit\n")


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j", "alt+enter"])
async def test_a_new_line_has_several_keys(open_app: Any, key: str) -> None:
    async with open_app() as (app, pilot, backend):
        await pilot.press("a", key, "b", "backslash", "enter", "c")
        assert app.prompt.text == "a\nb\nc"
        assert backend.session.sent == []


async def test_ctrl_c_clears_first_and_leaves_at_the_second_time(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await type_text(pilot, "text")
        await pilot.press("ctrl+c")
        assert app.prompt.text == ""
        assert app.is_running
        await pilot.press("ctrl+c")
        await until(lambda: not app.is_running)
    assert backend.calls[-1] == "close"


async def test_page_up_reads_back_and_new_blocks_are_counted(open_app: Any) -> None:
    async with open_app(size=(60, 16)) as (app, pilot, backend):
        backend.session.publish(*(ev.Notice("info", "x", f"notice {number}") for number in range(40)))
        await until(lambda: "notice 39" in screen_text(app))
        await pilot.press("pageup")
        await pilot.pause()
        before = screen_text(app).split("\n")[:8]
        assert "notice 39" not in "\n".join(before)
        backend.session.publish(ev.Notice("info", "x", "a new one"))
        await until(lambda: "↓ 1 new below" in screen_text(app))
        assert screen_text(app).split("\n")[:8] == before
        await pilot.press("ctrl+end")
        await until(lambda: "a new one" in screen_text(app))


async def test_no_size_breaks_the_screen(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        backend.session.publish(
            START, ev.TextFinished("# Title\n\n- one\n\n| a | b |\n|--|--|\n| 1 | 2 |"), REQUEST, run=RUN
        )
        await pilot.press("f2")
        for size in ((20, 5), (1, 1), (140, 40), (3, 3), (20, 5), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        await until(lambda: "Allow bash" in screen_text(app))


async def test_few_widgets_are_mounted_however_long_the_transcript_is(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        for number in range(300):
            backend.session.publish(ev.Notice("info", "x", f"notice {number}"))
        await pilot.press("f2")
        await pilot.pause()
        assert len(app.query("*")) < 40


async def test_markup_in_foreign_text_is_text_everywhere(open_app: Any) -> None:
    evil = "[/bold] [data: /m?id=1-609b-] [red] [@click=app.quit]z[/]"
    backend = FakeBackend(command_rows=[FakeCommand("evil", evil)], skill_rows=[FakeSkill("evil-skill", evil)])
    async with open_app(backend, size=(160, 40)) as (app, pilot, _):
        backend.session.publish(ev.SessionChanged(title=evil, model=evil))
        backend.session.publish(
            ev.ToolStarted("c1", "bash", evil, {"a": evil}, SourceRef("mcp", evil)), ev.Notice("error", evil, evil)
        )
        await until(lambda: screen_text(app).count("[/bold] [data: /m?id=1-609b-]") >= 3)
        await type_text(pilot, "/evil")
        await until(lambda: "/evil-skill" in screen_text(app))
        await pilot.press("escape")
        app.prompt.set_text("/commands")
        await pilot.press("enter")
        await until(lambda: evil in screen_text(app))


async def test_enter_takes_what_stands_in_the_prompt_however_quickly_it_was_typed(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await type_text(pilot, "/")
        await until(lambda: "/agent" in screen_text(app))
        for key, character in (*((letter, letter) for letter in "quit"), ("enter", "\r")):
            app.prompt.post_message(events.Key(key, character))
        await until(lambda: not app.is_running)
        assert backend.session.sent == []


def post_at_once(app: Any, text: str) -> None:
    """Press the keys of ``text`` in one moment, whatever else this process does meanwhile."""
    keys = [events.Key("enter" if character == "\r" else character, character) for character in text]
    for key in keys:
        key.time = keys[0].time
        app.prompt.post_message(key)


async def test_lines_that_come_in_one_burst_are_not_sent(open_app: Any) -> None:
    async with open_app() as (app, _pilot, backend):
        post_at_once(app, "a\rb\rc\r")
        await until(lambda: app.prompt.text == "a\nb\nc\n")
        await asyncio.sleep(0.1)
        assert backend.session.sent == []


async def test_a_line_that_comes_in_one_burst_is_sent(open_app: Any) -> None:
    async with open_app() as (app, _pilot, backend):
        post_at_once(app, "abc\r")
        await until(lambda: backend.session.sent == [it.Submit("abc", when="now")])


@pytest.mark.parametrize("line", ["/help", "/model"])
async def test_a_second_key_that_leaves_a_screen_closes_nothing_else(open_app: Any, line: str) -> None:
    async with open_app() as (app, pilot, _):
        await type_text(pilot, line)
        await pilot.press("escape", "enter")
        await until(lambda: app.screen is not app.screen_stack[0])
        for _ in range(2):
            app.screen.post_message(events.Key("escape", None))
        await until(lambda: app.screen is app.screen_stack[0])
        await type_text(pilot, "on")
        assert app.prompt.text == "on"


async def test_a_session_that_is_open_elsewhere_can_be_read_or_copied(open_app: Any) -> None:
    backend = FakeBackend(
        session_rows=[FakeSessionRow("ses_busy", "The busy one", live=True)],
        prepared={"ses_copy": FakeSession("ses_copy")},
    )
    async with open_app(backend) as (app, pilot, _):
        app.prompt.set_text("/resume ses_b")
        await pilot.press("enter")
        await until(lambda: "This session is open in another program" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: "in ses_busy" in screen_text(app))
        assert "The busy one (read only)" in screen_text(app)
        await pilot.press("escape")
        app.prompt.set_text("/resume ses_busy")
        await pilot.press("enter")
        await until(lambda: "Go on in a copy" in screen_text(app))
        await pilot.press("down", "enter")
        await until(lambda: "resume ses_copy" in backend.calls)
        assert "fork ses_busy None" in backend.calls


async def test_a_fork_before_a_message_brings_the_message_back_into_the_prompt(open_app: Any) -> None:
    backend = FakeBackend(prepared={"ses_copy": FakeSession("ses_copy")})
    async with open_app(backend) as (app, pilot, _):
        await until(lambda: backend.session is not None)
        present = backend.session.id
        app.prompt.set_text("/fork")
        await pilot.press("enter")
        await until(lambda: "second message" in screen_text(app))
        await pilot.press("down", "enter")
        await until(lambda: app.prompt.text == "second message")
        assert [call for call in backend.calls if call.startswith(("fork", "resume"))] == [
            f"fork {present} 11",
            "resume ses_copy",
        ]
        app.prompt.set_text("/fork twelve")
        await pilot.press("enter")
        await until(lambda: "/fork takes the number of an event" in screen_text(app))


async def test_an_export_says_where_it_is_or_why_it_is_not(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await until(lambda: backend.session is not None)
        app.prompt.set_text("/export html")
        await pilot.press("enter")
        await until(lambda: "written to ~/out.md, 7 bytes" in screen_text(app))
        app.prompt.set_text("/export taken.md")
        await pilot.press("enter")
        await until(lambda: "there is such a file already" in screen_text(app))
        assert [call for call in backend.calls if call.startswith("export")] == [
            f"export {backend.session.id} html",
            f"export {backend.session.id} taken.md",
        ]
