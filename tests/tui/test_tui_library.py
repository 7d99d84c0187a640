"""Completion, preview and browser of commands and skills, over a fake workspace."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fakes.fake_backend import (
    FakeAttachment,
    FakeBackend,
    FakeCommand,
    FakeFinding,
    FakeOffer,
    FakePreview,
    FakeShell,
    FakeSkill,
)
from fakes.tui_screen import screen_text, until
from textual import events

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import CommandPart, CommandPreview
from harness_tui.core.messages import UserMessage
from harness_tui.library.slash_completion import Candidate, SlashCompleter, hint_after, value_being_typed
from harness_tui.tui.editing import open_in_editor
from harness_tui.tui.lines import line_cells, plain
from harness_tui.tui.panels.library import entry_rows, finding_rows
from harness_tui.tui.panels.state import PanelState
from harness_tui.tui.prompt.preview_lines import preview_lines
from harness_tui.tui.screens.library import LibraryScreen
from harness_tui.tui.state import SessionState
from harness_tui.tui.status import status_line

RUN = "run_1"
REVIEW = FakeCommand("review", "Review the changes", "[path] [focus]")


async def type_text(pilot: Any, text: str) -> None:
    await pilot.press(*({" ": "space", "/": "slash"}.get(letter, letter) for letter in text))


def names(found: object) -> list[str]:
    return [candidate.name for candidate in found]  # type: ignore[attr-defined]


# --- what is found -----------------------------------------------------------------------------------


def completer(*known: str | Candidate) -> SlashCompleter:
    made = SlashCompleter()
    made.use([one if isinstance(one, Candidate) else Candidate(one) for one in known])
    return made


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("fd", ["fix-diagnostics", "find"]),
        ("rvw", ["review"]),
        ("usr", []),
        ("fix", ["fix-diagnostics"]),
        ("xyz", []),
        ("diag", ["fix-diagnostics"]),
        ("usr/bin/x", []),
        ("etc/f", []),
    ],
)
def test_letters_in_their_order_find_a_name_when_nothing_better_does(typed: str, found: list[str]) -> None:
    made = completer("review", "fix-diagnostics", "find", "set-up-a-language-server", "etc-of-files")
    assert names(made.candidates(typed)) == found


def test_an_alias_is_offered_once_it_is_typed_and_says_what_it_stands_for() -> None:
    made = completer("new", Candidate("clear", alias_of="new"), "close")
    assert names(made.candidates("")) == ["new", "close"]
    assert names(made.candidates("cl")) == ["close", "clear"]


def test_values_of_a_command_are_completed_behind_it() -> None:
    asked: list[str] = []
    made = SlashCompleter(asked.append)
    assert made.values("agent", "") == ()
    made.use_values("agent", [("build", "Builds"), ("plan", "Plans")])
    assert names(made.values("agent", "")) == ["agent build", "agent plan"]
    assert names(made.values("agent", "pl")) == ["agent plan"]
    assert made.values("agent", "agent") == []
    assert asked == ["agent", "agent", "agent", "agent"]


@pytest.mark.parametrize(
    ("text", "cursor", "found"),
    [
        ("/agent pl", 9, ("agent", "pl")),
        ("/agent ", 7, ("agent", "")),
        ("/agent", 6, None),
        ("/agent a b", 10, None),
        ("/agent pl", 3, None),
        ("/agent\npl", 9, None),
        ("//agent pl", 10, None),
    ],
)
def test_only_the_one_argument_at_the_end_is_completed(text: str, cursor: int, found: object) -> None:
    assert value_being_typed(text, cursor) == found


def test_a_hint_shows_what_is_still_to_come() -> None:
    assert hint_after("[a file] <what> rest", 0) == "[a file] <what> rest"
    assert hint_after("[a file] <what> rest", 1) == "<what> rest"
    assert hint_after("[a file] <what> rest", 3) == ""


# --- completion on the screen ------------------------------------------------------------------------


async def test_enter_sends_a_value_only_where_somebody_moved_to_it(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await type_text(pilot, "/agent ")
        await until(lambda: "/agent plan" in screen_text(app))
        await type_text(pilot, "pla")
        await pilot.press("enter")  # what was typed counts, whatever is offered
        await until(lambda: backend.session.sent == [it.SetSession(agent="pla")])
        await type_text(pilot, "/agent p")
        await pilot.press("down", "enter")
        await until(lambda: backend.session.sent[-1] == it.SetSession(agent="plan"))
        await type_text(pilot, "/mode acc")
        await until(lambda: "Edits inside the project are allowed" in screen_text(app))
        await pilot.press("tab")
        assert app.prompt.text == "/mode accept-edits "


async def test_the_rest_of_a_hint_follows_what_is_typed(open_app: Any) -> None:
    async with open_app(FakeBackend(command_rows=[REVIEW])) as (app, pilot, _):
        await type_text(pilot, "/review ")
        await until(lambda: app.prompt.suggestion == "[path] [focus]")
        await type_text(pilot, "src")
        assert app.prompt.suggestion == ""
        await type_text(pilot, " ")
        assert app.prompt.suggestion == "[focus]"


async def test_a_name_is_completed_in_front_of_its_arguments(open_app: Any) -> None:
    async with open_app(FakeBackend(command_rows=[REVIEW])) as (app, pilot, _):
        app.prompt.set_text("/rev src  main")
        app.prompt.move_cursor((0, 4))
        await pilot.press("tab")
        await until(lambda: "/review" in screen_text(app))
        await pilot.press("tab")
        assert app.prompt.text == "/review src  main"


async def test_a_path_and_a_paste_open_no_list_and_are_sent_as_they_are(open_app: Any) -> None:
    async with open_app(FakeBackend(command_rows=[REVIEW, FakeCommand("user-bin")])) as (app, pilot, backend):
        app.prompt.post_message(events.Paste("/usr/bin/x is slow\nand /review is not"))
        await until(lambda: "slow" in app.prompt.text)
        assert not app.query_one("#completion").display
        await pilot.press("enter")
        await until(lambda: bool(backend.session.sent))
        assert backend.session.sent == [it.Submit("/usr/bin/x is slow\nand /review is not", when="now")]
        app.prompt.set_text("/usr/bin")
        await pilot.press("enter")
        await until(lambda: len(backend.session.sent) == 2)
        assert backend.session.sent[1] == it.Submit("/usr/bin", when="now")


async def test_what_changed_by_itself_is_offered_and_counted_without_a_key(open_app: Any) -> None:
    async with open_app(FakeBackend(command_rows=[REVIEW])) as (app, pilot, backend):
        await pilot.press("slash", "s")
        await until(lambda: app.query_one("#completion").display)
        assert "/ship" not in screen_text(app)
        backend.command_rows = [REVIEW, FakeCommand("ship", "Ships it")]
        backend.finding_rows = [FakeFinding("/x.md", 1, "yaml", "odd", "error")]
        backend.library_changed.set()
        await until(lambda: "/ship" in screen_text(app))
        await until(lambda: "files ✗1" in screen_text(app))


WILD = (
    FakeCommand("emoji", "🚀 日本語の説明 " * 300, "[日本]"),
    FakeCommand("evil\x1b[31m", "\x1b]0;title\x07red \x1b[2Jx\r\nnext", "\x1b[5m[a]"),
    FakeCommand("markup", "[bold]b[/bold] [/red] [@click=app.quit]z", "[/]"),
    FakeCommand("n" * 300, "d" * 5_000, "h" * 300),
)


async def test_the_list_stays_in_its_place_at_any_width_and_with_any_text(open_app: Any) -> None:
    rows = [*WILD, *(FakeCommand(f"step-{number:03d}", "Does a step") for number in range(300))]
    async with open_app(FakeBackend(command_rows=rows), size=(80, 24)) as (app, pilot, _):
        for size in ((80, 24), (40, 24), (200, 50), (20, 6)):
            await pilot.resize_terminal(*size)
            await pilot.press("slash")
            await until(lambda: app.query_one("#completion").display)
            await pilot.pause()
            before = screen_text(app)
            assert "\x1b" not in before
            if size[1] > 6:
                assert "100 in all, ↑↓" in before
                await pilot.press(*["down"] * 12)
                await pilot.pause()
                moved = screen_text(app)
                assert box_rows(moved) == box_rows(before)
                assert "/step-008" in moved
            await pilot.press("escape")
            assert app.prompt.text == "/"
            await pilot.press("backspace")


def box_rows(text: str) -> list[int]:
    """Return the rows of the screen on which a frame begins or ends."""
    return [y for y, line in enumerate(text.split("\n")) if line.startswith(("╭", "╰"))]


async def test_the_list_is_there_while_a_run_streams_and_its_mark_stays(open_app: Any) -> None:
    async with open_app(FakeBackend(command_rows=[REVIEW, FakeCommand("release")])) as (app, pilot, backend):
        backend.session.publish(ev.RunStarted("build", "m", "ask", UserMessage("go")), run=RUN)
        await type_text(pilot, "/re")
        await until(lambda: "/release" in screen_text(app))
        await pilot.press("down")
        for number in range(50):
            backend.session.publish(ev.TextDelta(f"word{number} "), run=RUN)
        await until(lambda: "word49" in screen_text(app))
        assert app.query_one("#completion").display
        await pilot.press("tab")
        assert app.prompt.text == "/release "


# --- preview -----------------------------------------------------------------------------------------


async def test_a_preview_comes_once_typing_pauses_and_goes_with_the_text(open_app: Any) -> None:
    backend = FakeBackend(command_rows=[REVIEW])
    backend.library.answer = lambda line: FakePreview(
        message=f"Look at {line.split()[-1]}",
        agent="plan",
        subtask=True,
        shell=(FakeShell("git diff", "allow"), FakeShell("rm x", "deny", "bash rm * deny")),
        words=("src", "a b"),
        attachments=(FakeAttachment("README.md", bytes=1200),),
        warnings=("@missing: no such file or folder",),
    )
    async with open_app(backend) as (app, pilot, _):
        app.prompt.set_text("/review src")
        await until(lambda: "Look at src" in screen_text(app))
        text = screen_text(app)
        for part in (
            "/review · agent plan · in a run of its own",
            "! @missing: no such file or folder",
            "$ git diff  allowed",
            "$ rm x  denied by bash rm *",
            "with the arguments src 'a b'",
            "+ README.md  text, 1.2 kB",
        ):
            assert part in text
        assert backend.session.sent == []
        await pilot.press("ctrl+c")
        await until(lambda: "Look at src" not in screen_text(app))


async def test_an_answer_that_comes_late_is_never_shown(open_app: Any) -> None:
    backend = FakeBackend(command_rows=[REVIEW])
    gate = backend.library.preview_gates["/review a"] = asyncio.Event()
    async with open_app(backend) as (app, pilot, _):
        await type_text(pilot, "/review a")
        await until(lambda: "/review a" in backend.library.previewed)
        await type_text(pilot, "b")
        await pilot.pause(0.3)
        gate.set()
        await until(lambda: "text of /review ab" in screen_text(app))
        assert backend.library.previewed == ["/review a", "/review ab"]  # one at a time, and only what is wanted
        gate = backend.library.preview_gates["/review abc"] = asyncio.Event()
        await type_text(pilot, "c")
        await until(lambda: "/review abc" in backend.library.previewed)
        await pilot.press("ctrl+c")
        gate.set()
        await pilot.pause(0.1)
        assert "text of" not in screen_text(app)


async def test_esc_closes_the_preview_and_keeps_text_and_run(open_app: Any) -> None:
    async with open_app(FakeBackend(command_rows=[REVIEW])) as (app, pilot, backend):
        backend.session.publish(ev.RunStarted("build", "m", "ask", UserMessage("go")), run=RUN)
        app.prompt.set_text("/review src")
        await until(lambda: "text of /review src" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: "text of" not in screen_text(app))
        assert (app.prompt.text, backend.session.sent) == ("/review src", [])
        app.prompt.set_text("/review srcx")
        await pilot.pause(0.3)
        assert "text of" not in screen_text(app)  # not again while it is the same command
        await pilot.press("escape")
        await until(lambda: backend.session.sent == [it.Cancel()])


async def test_f3_shows_all_of_it_also_where_there_is_no_room_for_the_box(open_app: Any) -> None:
    backend = FakeBackend(command_rows=[REVIEW])
    backend.library.answer = lambda line: FakePreview(message="\n".join(f"row {n}" for n in range(50)))
    async with open_app(backend, size=(60, 7)) as (app, pilot, _):
        app.prompt.set_text("/review x")
        await pilot.pause(0.3)
        assert backend.library.previewed == []
        await pilot.press("f3")
        await until(lambda: "row 0" in screen_text(app))
        await pilot.press("end")
        await until(lambda: "row 49" in screen_text(app))
        await pilot.press("escape")
        assert app.prompt.text == "/review x"


async def test_own_commands_paths_and_messages_have_no_preview(open_app: Any) -> None:
    backend = FakeBackend(command_rows=[REVIEW])
    backend.library.answer = lambda line: FakePreview(kind="message", name="", message=line)
    async with open_app(backend) as (app, pilot, _):
        for text in ("/permissions explain", "// literal x", "/usr", "!ls x", "a message"):
            app.prompt.set_text(text)
            await pilot.pause(0.25)
        assert backend.library.previewed == []
        app.prompt.set_text("/usr/bin/x is slow")
        await until(lambda: backend.library.previewed == ["/usr/bin/x is slow"])
        await pilot.pause()
        assert not app.query_one("#preview").display


async def test_another_mode_is_another_preview(open_app: Any) -> None:
    async with open_app(FakeBackend(command_rows=[REVIEW])) as (app, _, backend):
        app.prompt.set_text("/review x")
        await until(lambda: len(backend.library.previewed) == 1)
        backend.session.publish(ev.SessionChanged(mode="plan"))
        await until(lambda: len(backend.library.previewed) == 2)


async def test_a_request_hides_the_preview_and_an_answer_brings_it_back(open_app: Any) -> None:
    request = ev.PermissionRequested(
        "req_1", "c1", "bash", ("ls",), CommandPreview("ls", (CommandPart("ls", "ask"),), "/srv"), ()
    )
    async with open_app(FakeBackend(command_rows=[REVIEW])) as (app, pilot, backend):
        backend.session.publish(ev.RunStarted("build", "m", "ask", UserMessage("go")), run=RUN)
        app.prompt.set_text("/review x")
        await until(lambda: "text of" in screen_text(app))
        backend.session.publish(request, run=RUN)
        await until(lambda: not app.prompt.display and "text of" not in screen_text(app))
        await pilot.press("escape")
        await until(lambda: "text of" in screen_text(app))


def test_a_preview_fits_any_width_and_counts_what_is_left_out() -> None:
    row = FakePreview(
        message="\n".join(["日本語" * 40, "\x1b[31mred", *map(str, range(100))]),
        shell=(FakeShell("echo \u202ehidden " * 20), FakeShell("x", "deny", "r" * 200)),
        words=("w" * 300,),
        warnings=("u" * 200,),
        attachments=tuple(FakeAttachment(f"/srv/{'p' * 90}/{n}", note="asks first") for n in range(60)),
    )
    for width in (1, 8, 40, 200):
        lines = preview_lines(row, width)  # type: ignore[arg-type]
        assert all(line_cells(line) <= max(width, 8) for line in lines), width
        assert "\x1b" not in "".join(map(plain, lines))
    short = [plain(line) for line in preview_lines(row, 80, rows=70)]  # type: ignore[arg-type]
    assert short[-1].endswith("more lines")
    assert "+ … 10 more" in short
    failed = preview_lines(FakePreview(message="x", error="unknown-agent", error_text="no agent y"), 80)  # type: ignore[arg-type]
    assert [plain(line) for line in failed] == ["✗ no agent y"]


# --- browser -----------------------------------------------------------------------------------------

FINDING = FakeFinding("/commands/open.md", 3, "yaml", "a bad value")
BACKEND = {
    "command_rows": [REVIEW, FakeCommand("open", usable=False, hidden_reason="cannot be used", findings=(FINDING,))],
    "skill_rows": [FakeSkill("notes", "Takes notes"), FakeSkill("old", shadowed_by="/skills/x/SKILL.md")],
    "finding_rows": [FINDING, FakeFinding("/config.yaml", 1, "configuration", "no such key", "error")],
}


async def open_browser(app: Any, pilot: Any, line: str) -> None:
    app.prompt.set_text(line)
    await pilot.press("enter")
    await until(lambda: isinstance(app.screen, LibraryScreen))
    await pilot.pause()


async def test_the_browser_searches_previews_and_uses(open_app: Any) -> None:
    async with open_app(FakeBackend(**BACKEND), size=(120, 30)) as (app, pilot, _):
        await open_browser(app, pilot, "/skills")
        assert " Skills 2  Commands 2  Problems 2" in screen_text(app)
        await until(lambda: "# Text of /skills/notes/SKILL.md" in screen_text(app))
        await pilot.press("down")
        await until(lambda: "Not used, since /skills/x/SKILL.md has the same name" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: "old cannot be used" in screen_text(app))
        await pilot.press("escape", "n", "o", "t")
        await until(lambda: "filter: not" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: app.prompt.text == "/notes ")
        assert not isinstance(app.screen, LibraryScreen)


async def test_a_part_of_a_name_opens_the_browser_on_it_and_the_views_change(open_app: Any) -> None:
    async with open_app(FakeBackend(**BACKEND), size=(120, 30)) as (app, pilot, _):
        await open_browser(app, pilot, "/commands open")
        assert "filter: open" in screen_text(app)
        assert "line 3: a bad value [yaml]" in " ".join(screen_text(app).split())
        await pilot.press("right")
        await until(lambda: "no such key [configuration]" in screen_text(app))
        await pilot.press("right")
        await until(lambda: "Takes notes" in screen_text(app))
        await pilot.press("f3")
        await until(lambda: "↑↓ PgUp PgDn" in screen_text(app))
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is app.screen_stack[0])


async def test_problems_open_at_their_line_and_go_away_when_they_are_mended(
    open_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int | None]] = []

    async def edit(app: Any, library: Any, path: str, line: int | None = None) -> str:
        opened.append((path, line))
        backend.finding_rows = [row for row in backend.finding_rows if row.path != path]
        return ""

    monkeypatch.setattr("harness_tui.tui.screens.library.open_in_editor", edit)
    backend = FakeBackend(**BACKEND)
    async with open_app(backend, size=(100, 30)) as (app, pilot, _):
        await until(lambda: "files ✗1 !1" in screen_text(app))
        await open_browser(app, pilot, "/doctor")
        await pilot.press("down", "enter")
        await until(lambda: "a bad value" not in screen_text(app))
        assert opened == [("/commands/open.md", 3)]
        await pilot.press("escape")
        await until(lambda: "files ✗1" in screen_text(app))
        assert "files ✗1 !" not in screen_text(app)


async def test_a_new_command_is_made_from_its_template(open_app: Any) -> None:
    async with open_app(FakeBackend(**BACKEND), size=(120, 30)) as (app, pilot, backend):
        await open_browser(app, pilot, "/commands")
        await pilot.press("ctrl+n")
        await until(lambda: "name of the new command, for this project" in screen_text(app))
        await type_text(pilot, "taken")
        await pilot.press("tab", "enter")
        await until(lambda: "/commands/taken.md: there is" in screen_text(app))
        await pilot.press("ctrl+u")
        await type_text(pilot, "mine")
        await pilot.press("enter")
        await until(lambda: "made; Ctrl+E opens it in your editor" in screen_text(app))
        assert backend.calls[-2:] == ["create commands taken True", "create commands mine True"]
        await until(lambda: "Text of /commands/mine.md" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: app.prompt.text == "/mine ")


async def test_what_comes_with_harness_is_not_edited(open_app: Any) -> None:
    rows = [FakeCommand("review", source="bundled", own=False)]
    async with open_app(FakeBackend(command_rows=rows)) as (app, pilot, backend):
        await open_browser(app, pilot, "/commands")
        await pilot.press("ctrl+e")
        await until(lambda: "review comes with Harness" in screen_text(app))
        assert not [call for call in backend.calls if call.startswith("edit")]


async def test_a_first_click_shows_and_a_second_one_uses(open_app: Any) -> None:
    rows = [FakeSkill("alpha"), FakeSkill("beta")]
    async with open_app(FakeBackend(skill_rows=rows), size=(120, 30)) as (app, pilot, _):
        await open_browser(app, pilot, "/skills")
        await pilot.click("#library-list", offset=(5, 1))
        await until(lambda: "Text of /skills/beta" in screen_text(app))
        assert isinstance(app.screen, LibraryScreen)
        await pilot.click("#library-list", offset=(5, 1))
        await until(lambda: app.prompt.text == "/beta ")


async def test_the_browser_survives_every_size_and_any_text(open_app: Any) -> None:
    rows = [FakeSkill(row.name, row.description) for row in WILD]
    async with open_app(FakeBackend(skill_rows=rows, finding_rows=BACKEND["finding_rows"])) as (app, pilot, _):
        await open_browser(app, pilot, "/skills")
        for size in ((1, 1), (20, 5), (40, 12), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.press("down", "right", "right", "right")
            await pilot.pause()
        assert "\x1b" not in screen_text(app)
        assert "[bold]b[/bold]" in screen_text(app)


async def test_an_editor_that_fails_gives_the_screen_back(open_app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        async def edit(self, path: str, line: int | None = None) -> None:
            raise HarnessError("the editor vi ended with 1", where=path)

    given: list[str] = []

    async with open_app() as (app, _, __):
        monkeypatch.setattr(type(app._driver), "can_suspend", True)
        monkeypatch.setattr(app._driver, "suspend_application_mode", lambda: given.append("away"))
        monkeypatch.setattr(app._driver, "resume_application_mode", lambda: given.append("back"))
        told = await open_in_editor(app, Broken(), "/a.md", 1)  # type: ignore[arg-type]
        assert (told, given) == ("/a.md: the editor vi ended with 1", ["away", "back"])


def test_thousands_of_files_are_listed_in_part_and_found_by_typing() -> None:
    rows = [FakeSkill(f"skill-{number}") for number in range(2_000)]
    listed = entry_rows(rows, "", 80)
    assert len(listed) == 301
    assert plain(listed[-1].lines[0]) == "… 1700 more, type to find them"
    assert [row.key for row in entry_rows(rows, "skill-1999", 80)] == ["/skills/skill-1999/SKILL.md"]


def test_problems_stand_by_file_the_worst_first() -> None:
    findings = [
        FakeFinding("/b.md", 9, "x", "second"),
        FakeFinding("/b.md", 2, "x", "first"),
        FakeFinding("/a.md", 1, "y", "broken", "error"),
        FakeFinding("/0.md", 1, "z", "only a hint", "info"),
    ]
    shown = [plain(line) for row in finding_rows(findings, "", 60) for line in row.lines]
    assert shown == [
        "/a.md",
        "✗ 1 broken [y]",
        "/b.md",
        "! 2 first [x]",
        "! 9 second [x]",
        "/0.md",
        "i 1 only a hint [z]",
    ]
    state = PanelState(findings=findings)
    assert "files ✗1 !2" in plain(status_line(SessionState(), state, 100, 0.0))


async def test_a_text_that_begins_like_an_own_command_closes_nothing(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        app.prompt.post_message(events.Paste("/quit smoking is hard\nhelp me"))
        await until(lambda: "help me" in app.prompt.text)
        await pilot.press("enter")
        await until(lambda: "/quit takes nothing behind it" in screen_text(app))
        assert app.prompt.text == "/quit smoking is hard\nhelp me"
        assert backend.session.sent == []


async def test_a_prompt_of_a_server_is_offered_with_the_servers_name(open_app: Any) -> None:
    backend = FakeBackend()
    backend.library.extra_offers = (FakeOffer("mcp:docs:seek", "Finds", "<what>", "docs", "prompt"),)
    async with open_app(backend) as (app, pilot, _):
        await type_text(pilot, "/seek")
        await until(lambda: "mcp · docs" in screen_text(app))
        await pilot.press("enter")
        assert app.prompt.text == "/mcp:docs:seek "
        assert app.prompt.suggestion == "<what>"


async def test_commands_are_looked_at_again_after_a_run(open_app: Any) -> None:
    async with open_app() as (app, _, backend):
        await until(lambda: backend.library.looks >= 1)
        backend.session.publish(ev.RunStarted("build", "m", "ask", UserMessage("go")), run=RUN)
        await until(lambda: "Esc cancels" in screen_text(app))
        backend.finding_rows = [FINDING]
        backend.session.publish(ev.RunFinished("completed"), run=RUN)
        await until(lambda: "files !1" in screen_text(app))


def test_no_module_of_the_browser_is_on_the_start_path() -> None:
    source = (Path(__file__).parents[2] / "harness_tui/tui/app.py").read_text()
    assert "screens.library" not in source
