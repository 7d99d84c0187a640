"""The prompt's aids: chips of pastes, what was typed before, drafts put aside, the editor, images, waiting messages."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.fake_backend import FakeBackend, FakePastText
from fakes.tui_screen import screen_text, until
from textual import events

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import QueueItem
from harness_tui.core.messages import Attachment, UserMessage
from harness_tui.tui.prompt.history import PromptHistory
from harness_tui.tui.prompt.paste import PasteShelf, dropped_images

LONG = "\n".join(f"line {number}" for number in range(20))


@pytest.fixture
def screen_is_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness_tui.tui.app import HarnessApp

    @contextlib.contextmanager
    def suspend(_: HarnessApp) -> Iterator[None]:
        yield

    monkeypatch.setattr(HarnessApp, "suspend", suspend)


async def paste(app: Any, pilot: Any, text: str) -> None:
    app.prompt.post_message(events.Paste(text))
    await pilot.pause()


def test_older_texts_stand_before_what_was_sent_and_the_place_stays() -> None:
    history = PromptHistory()
    history.add("now")
    history.put_before(["a", "b", "b", "  "])
    assert history.entries == ("a", "b", "now")
    assert [history.older("draft"), history.older(""), history.older(""), history.older("")] == ["now", "b", "a", None]
    history.put_before(["even older"])
    assert history.older("") == "even older"


def test_a_chip_is_found_at_and_in_it_and_stands_for_its_text_again() -> None:
    shelf = PasteShelf()
    chip = shelf.shelve(LONG)
    line = f"see {chip}!"
    assert shelf.chip_at(line, 4) == shelf.chip_at(line, 4 + len(chip)) == (4, 4 + len(chip), chip)
    assert shelf.chip_at(line, 3) is None
    assert shelf.expand(f"{chip} {chip}") == f"{LONG} {LONG}"
    assert shelf.expand("[pasted 20 lines #9]") == "[pasted 20 lines #9]"


def test_paths_of_images_are_mentions_and_other_paths_stay_text(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(b"x")
    (tmp_path / "c.PNG").write_bytes(b"x")
    spaced, plain = f'@"{tmp_path}/a b.png"', f"@{tmp_path}/c.PNG"
    assert dropped_images(f"{tmp_path}/a\\ b.png ") == spaced
    assert dropped_images(f"'{tmp_path}/a b.png' {tmp_path}/c.PNG") == f"{spaced} {plain}"
    assert dropped_images(f"{tmp_path}/a b.png") == spaced
    assert dropped_images(f"file://{tmp_path}/a%20b.png") == spaced
    for text in (
        f"{tmp_path}/none.png",
        str(tmp_path),
        "c.PNG",
        f"see {tmp_path}/c.PNG",
        "it's",
        "a\nb",
        "",
        "x" * 9_999,
    ):
        assert dropped_images(text) is None


async def test_a_chip_is_deleted_whole_opened_by_tab_and_brought_back_by_undo(open_app: Any) -> None:
    async with open_app() as (app, pilot, _):
        await paste(app, pilot, LONG)
        chip = app.prompt.text
        assert chip == "[pasted 20 lines #1]"
        await pilot.press("tab")
        assert app.prompt.text == LONG
        await pilot.press("ctrl+underscore")
        assert app.prompt.text == chip
        app.prompt.move_cursor(app.prompt.document.end)
        await pilot.press("backspace")
        assert app.prompt.text == ""


async def test_a_message_that_comes_back_has_its_paste_still(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        await paste(app, pilot, LONG)
        await pilot.press("enter", "up", "enter")
        await until(lambda: len(backend.session.sent) == 2)
        assert [intent.text for intent in backend.session.sent] == [LONG, LONG]
        assert backend.prompt.remembered == [LONG, LONG]


async def test_what_was_typed_in_the_project_before_is_behind_the_arrow(open_app: Any) -> None:
    backend = FakeBackend()
    backend.prompt.past = [FakePastText("mine"), FakePastText("elsewhere", "/srv/other")]
    async with open_app(backend) as (app, pilot, _):
        await until(lambda: app.prompt.sent.entries == ("mine",))
        await pilot.press("up")
        assert app.prompt.text == "mine"


async def test_the_search_finds_what_was_typed_in_any_project(open_app: Any) -> None:
    backend = FakeBackend()
    backend.prompt.past = [FakePastText("fix the parser", "/srv/other"), FakePastText("write [bold]docs[/bold]")]
    async with open_app(backend) as (app, pilot, _):
        app.prompt.set_text("a draft")
        await pilot.press("ctrl+r")
        await until(lambda: "write [bold]docs[/bold]" in screen_text(app))
        assert "/srv/other" in screen_text(app)
        await pilot.press(*"parser", "enter")
        await until(lambda: app.prompt.text == "fix the parser")
        await pilot.press("ctrl+underscore")
        assert app.prompt.text == "a draft"


async def test_a_draft_is_put_aside_and_comes_back(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        app.prompt.set_text("half a thought")
        await pilot.press("alt+s")
        assert app.prompt.text == ""
        assert "1 put aside" in screen_text(app)
        app.prompt.set_text("quick question")
        await pilot.press("enter")
        await until(lambda: backend.session.sent == [it.Submit("quick question")])
        await pilot.press("f6")
        assert app.prompt.text == "half a thought"
        assert "put aside" not in screen_text(app)


@pytest.mark.usefixtures("screen_is_lent")
async def test_the_editor_gets_the_message_with_its_pastes_and_gives_it_back(open_app: Any) -> None:
    backend = FakeBackend()
    backend.prompt.edited = lambda text: f"{text}\nand more"
    async with open_app(backend) as (app, pilot, _):
        app.prompt.set_text("first")
        await pilot.press("ctrl+g")
        await until(lambda: app.prompt.text == "first\nand more")
        assert "edit_text first" in backend.calls
        app.prompt.set_text("/editor")
        await pilot.press("enter")
        await until(lambda: "edit_text " in backend.calls)


@pytest.mark.usefixtures("screen_is_lent")
async def test_on_a_chip_the_editor_gets_the_paste_alone(open_app: Any) -> None:
    backend = FakeBackend()
    backend.prompt.edited = lambda text: f"{text}\none more line"
    async with open_app(backend) as (app, pilot, _):
        app.prompt.insert("see ")
        await paste(app, pilot, LONG)
        await pilot.press("ctrl+g")
        await until(lambda: app.prompt.text == "see [pasted 21 lines #2]")
        assert app.prompt.expanded == f"see {LONG}\none more line"


@pytest.mark.usefixtures("screen_is_lent")
async def test_an_editor_that_fails_leaves_the_message_as_it_was(open_app: Any) -> None:
    def fail(_: str) -> str:
        raise HarnessError("the editor vi ended with 1; the text is as it was")

    backend = FakeBackend()
    backend.prompt.edited = fail
    async with open_app(backend) as (app, pilot, _):
        app.prompt.set_text("keep me")
        await pilot.press("ctrl+g")
        await until(lambda: "ended with 1" in screen_text(app))
        assert app.prompt.text == "keep me"


async def test_an_image_comes_from_the_clipboard_and_a_missing_one_is_told(open_app: Any) -> None:
    backend = FakeBackend()
    async with open_app(backend) as (app, pilot, _):
        app.prompt.insert("see")
        await pilot.press("alt+v")
        await until(lambda: app.prompt.text == "see @/data/ses_1/images/clipboard.png ")
        backend.prompt.image = HarnessError("there is no image in the clipboard", mend="copy one first")
        await paste(app, pilot, "")  # what some terminals make of an image
        await until(lambda: "there is no image in the clipboard" in screen_text(app))


FILE = Attachment("text", "text/plain", 3, path="a.py")
WAITING = (
    QueueItem("q1", "first", "queue"),
    QueueItem("q2", "second", "queue", (FILE,), agent="plan", piped="data"),
)


def queue_of(session: Any, intent: it.Intent) -> None:
    if isinstance(intent, it.EditQueue):
        session.publish(ev.QueueChanged(intent.items))


async def running(app: Any, backend: FakeBackend) -> None:
    backend.session.publish(ev.RunStarted("build", "m", "ask", UserMessage("go")), run="run_1")
    backend.session.publish(ev.QueueChanged(WAITING))
    await until(lambda: "second" in screen_text(app))


async def test_a_message_that_is_taken_back_keeps_what_it_held(open_app: Any) -> None:
    backend = FakeBackend(on_send=queue_of)
    async with open_app(backend) as (app, pilot, _):
        await running(app, backend)
        await pilot.press("alt+up")
        await until(lambda: app.prompt.text == "second")
        assert "1 attached, with data" in screen_text(app)
        await pilot.press("!", "enter")
        await until(lambda: len(backend.session.sent) == 2)
        assert backend.session.sent[-1] == it.Submit("second!", (FILE,), agent="plan", when="queue", piped="data")
        assert "1 attached, with data" not in screen_text(app)
        app.prompt.set_text("another")
        await pilot.press("enter")
        await until(lambda: backend.session.sent[-1] == it.Submit("another", when="queue"))


async def test_waiting_messages_are_moved_switched_deleted_and_edited(open_app: Any) -> None:
    backend = FakeBackend(on_send=queue_of)
    async with open_app(backend) as (app, pilot, _):
        await running(app, backend)

        def now() -> list[tuple[str, str]]:
            sent = [intent for intent in backend.session.sent if isinstance(intent, it.EditQueue)]
            return [(item.id, item.mode) for item in sent[-1].items] if sent else []

        await pilot.press("alt+q")
        await until(lambda: "Waiting messages" in screen_text(app))
        assert "1 attached · with data · after the run" in screen_text(app)
        await pilot.press("shift+down")
        await until(lambda: now() == [("q2", "queue"), ("q1", "queue")])
        await pilot.press("s")
        await until(lambda: now() == [("q2", "queue"), ("q1", "steer")])
        await pilot.press("up", "d")
        await until(lambda: now() == [("q1", "steer")])
        await pilot.press("enter")
        await until(lambda: app.prompt.text == "first")
        assert now() == []
