"""Sessions leave the record and come back: forks, documents, pages, search, sums."""

from __future__ import annotations

import base64
import html.parser
import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.clock import SystemClock
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.event_parts import Parent
from harness_tui.core.events import (
    Event,
    FileChanged,
    MessageAdded,
    Notice,
    ReasoningFinished,
    RunFinished,
    RunStarted,
    SessionStarted,
    StepFinished,
    TextFinished,
    ToolFinished,
    ToolStarted,
    UsageUpdated,
)
from harness_tui.core.messages import AssistantMessage, Attachment, ToolCall, ToolMessage, UserMessage
from harness_tui.core.values import SourceRef
from harness_tui.sessions import copying, portable
from harness_tui.sessions.exporting import export, form_of, write
from harness_tui.sessions.repair import INTERRUPTED
from harness_tui.sessions.search import forget, search
from harness_tui.sessions.stats import stats
from harness_tui.sessions.store import SessionStore

TIME = "2026-01-02T03:04:05.678Z"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(6000)).decode()
IMAGE = Attachment("image", "image/png", 6008, path="shot.png", content=PNG)
DIFF = "--- a\n+++ b\n-old\n+new\n"
TEXT = "Straße mit 日本語テキスト und foo_bar(*args)?"
EVIL = "<script>alert(1)</script> \x1b[31m ``` & \"quoted\" 'single'"


def run(number: int, text: str, answer: str, output: str = "ok", *, is_error: bool = False) -> list[Event]:
    call = ToolCall(f"c{number}", "read", {"path": "a.py"})
    return [
        RunStarted("build", "replay:x", "ask", UserMessage(text, (IMAGE,))),
        MessageAdded(UserMessage(text, (IMAGE,)), "prompt"),
        ReasoningFinished("thinking " + text),
        StepFinished(1, AssistantMessage(calls=(call,), opaque={"provider": "p", "signature": "abc"})),
        ToolStarted(f"c{number}", "read", f"read {text}", {"path": "a.py"}, SourceRef("builtin")),
        ToolFinished(f"c{number}", "read", output, is_error, {"diff": DIFF} if is_error else {}),
        UsageUpdated(10, 2, 1, 3, 4, 12, cost=0.5 if number == 1 else None),
        TextFinished(answer),
        StepFinished(2, AssistantMessage(answer)),
        RunFinished("completed"),
    ]


def record(store: SessionStore, *runs: list[Event], root: str = "/p", session_id: str | None = None) -> str:
    session = store.create(Path(root), session_id=session_id).session
    seq, written = 1, [Envelope(1, TIME, session, SessionStarted(root))]
    for number, events in enumerate(runs, 1):
        for event in events:
            seq += 1
            written.append(Envelope(seq, TIME, session, event, f"run_{number}"))
    store.append(session, written)
    return session


@pytest.fixture
def session(store: SessionStore) -> str:
    return record(store, run(1, "first", "one", "x" * 5000), run(2, "second", "two", is_error=True))


# --- fork ----------------------------------------------------------------------------------------


def test_a_fork_has_everything_up_to_its_point_and_its_own_future(store: SessionStore, session: str) -> None:
    made = copying.fork(store, session, SystemClock(), at=11, title="elsewhere")
    assert made.title == "elsewhere"
    events = list(store.events(made.session))
    assert [envelope.seq for envelope in events] == list(range(1, 13))
    assert [replace(envelope, session=session) for envelope in events[:-1]] == list(store.events(session))[:11]
    assert events[-1].event == Notice("info", "sessions", f"this session was forked from {session} at event 11")
    assert [stored.message for stored in store.messages(made.session)] == [
        stored.message for stored in store.messages(session) if stored.seq <= 11
    ]
    store.append(made.session, [Envelope(13, TIME, made.session, TextFinished("other"), "run_9")])
    assert len(list(store.events(session))) == 21


def test_a_fork_outlives_what_it_was_copied_from(store: SessionStore, session: str) -> None:
    made = copying.fork(store, session, SystemClock())
    before = store.messages(session)
    store.delete(session)
    assert store.messages(made.session) == before
    assert store.info(made.session).bytes > 8000


def test_a_fork_within_a_step_is_answered_when_it_is_opened(store: SessionStore, session: str) -> None:
    made = copying.fork(store, session, SystemClock(), at=5)
    assert store.repair(made.session) == [ToolMessage("c1", "read", INTERRUPTED, True)]


def test_an_open_session_can_be_forked_and_an_unknown_event_is_refused(store: SessionStore, session: str) -> None:
    with store.locked(session):
        assert copying.fork(store, session, SystemClock()).messages == 8
    with pytest.raises(UsageError, match="there is no event 99"):
        copying.fork(store, session, SystemClock(), at=99)
    assert len(store.list()) == 2


def test_a_fork_of_a_subagents_session_works_for_nobody(store: SessionStore) -> None:
    parent = Parent("ses_above", "run_1", "c1")
    child = store.create(Path("/p"), parent=parent).session
    store.append(child, [Envelope(1, TIME, child, SessionStarted("/p", None, parent))])
    made = copying.fork(store, child, SystemClock())
    assert made.parent is None
    assert next(iter(store.events(made.session))).event == SessionStarted("/p")


def test_where_a_person_spoke_is_known_by_the_event_before(store: SessionStore, session: str) -> None:
    assert copying.message_numbers(store, session) == [(1, "first"), (11, "second")]


# --- JSON ----------------------------------------------------------------------------------------


def document(store: SessionStore, session: str) -> dict[str, Any]:
    return json.loads("".join(portable.export_json(store, session)))


def test_what_is_exported_is_imported_again_as_it_was(store: SessionStore, session: str, tmp_path: Path) -> None:
    store.rename(session, "my work")
    text = "".join(portable.export_json(store, session))
    other = SessionStore(tmp_path / "other" / "harness.db")
    made = portable.import_json(other, text, Path("/q"))
    assert (made.info.session, made.renamed_from, made.left_out) == (session, None, 0)
    assert (made.info.title, made.info.root, made.info.messages) == ("my work", "/q", 8)
    assert list(other.events(session)) == list(store.events(session))
    assert other.messages(session) == store.messages(session)
    again = "".join(portable.export_json(other, session)).replace('"/q"', '"/p"', 1)
    assert again.replace(str(other.folder(session)), str(store.folder(session))) == text
    other.close()


def test_an_id_that_is_taken_is_replaced(store: SessionStore, session: str) -> None:
    made = portable.import_json(store, "".join(portable.export_json(store, session)), Path("/p"))
    assert made.renamed_from == session
    assert made.info.session != session
    assert {envelope.session for envelope in store.events(made.info.session)} == {made.info.session}
    assert [item.message for item in store.messages(made.info.session)] == [
        item.message for item in store.messages(session)
    ]


def test_a_broken_history_is_repaired_as_it_is_imported(store: SessionStore, session: str) -> None:
    data = document(store, session)
    data["messages"] = [message for message in data["messages"] if message["role"] != "tool"]
    made = portable.import_json(store, json.dumps(data), Path("/p"))
    results = [item.message for item in store.messages(made.info.session) if item.message.role == "tool"]
    assert results == [ToolMessage(f"c{number}", "read", INTERRUPTED, True) for number in (1, 2)]


def test_events_of_a_later_version_are_counted_and_left_out(store: SessionStore, session: str) -> None:
    data = document(store, session)
    data["events"].append({"type": "from_the_future", "seq": 99, "time": TIME, "session": session})
    assert portable.import_json(store, json.dumps(data), Path("/p")).left_out == 1


def change(data: dict[str, Any], path: str, value: Any) -> None:
    holder: Any = data
    *steps, last = path.split(".")
    for step in steps:
        holder = holder[int(step)] if step.isdigit() else holder[step]
    holder[int(last) if last.isdigit() else last] = value


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("format", "x", "not an exported session"),
        ("version", 2, "version 2"),
        ("session", [], "session: this is not an object"),
        ("session.id", None, "session.id is missing"),
        ("session.id", "../../etc", "letters, digits"),
        ("session.created", "yesterday", "session.created"),
        ("events", {}, "events is not a list"),
        ("events.3", 7, "events[3]: this is not an object"),
        ("events.3.seq", 1, "event 1 follows event 3"),
        ("events.3.seq", "4", "events[3]"),
        ("events.3.time", "' OR 1=1", "events[3].time"),
        ("events.1.message", "text", "events[1]"),
        ("messages.0.role", "system", "messages[0]"),
        ("messages.0.seq", 2**70, "messages[0]"),
        ("messages.1.calls", "c", "messages[1]"),
        ("repairs", [{"seq": 0}], "repairs[0]"),
    ],
)
def test_a_document_that_does_not_fit_is_refused_with_its_place(
    store: SessionStore, session: str, path: str, value: Any, told: str
) -> None:
    data = document(store, session)
    change(data, path, value)
    with pytest.raises(HarnessError) as raised:
        portable.import_json(store, json.dumps(data), Path("/p"))
    assert told in str(raised.value)
    assert [info.session for info in store.list()] == [session]


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '"text"', "null", "\ud800"])
def test_what_is_no_document_is_refused(store: SessionStore, text: str) -> None:
    with pytest.raises(UsageError):
        portable.import_json(store, text, Path("/p"))


# --- Markdown and HTML ---------------------------------------------------------------------------


def test_markdown_holds_prompts_answers_and_calls_and_fences_what_is_foreign(store: SessionStore) -> None:
    session = record(store, run(1, EVIL, "**bold** answer", "has ```` in it"))
    text = "".join(export(store, session, "md"))
    assert "\x1b" not in text
    assert "\n## You\n\n````text\n<script>alert(1)</script>" in text
    assert "\n`````text\nhas ```` in it\n`````\n" in text
    assert "\n## Assistant\n\n**bold** answer\n" in text
    assert "- image: `shot.png`" in text
    assert text.count("## You") == 1


class Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def page_of(store: SessionStore, session: str) -> tuple[str, Page]:
    text = "".join(export(store, session, "html"))
    page = Page()
    page.feed(text)
    page.close()
    return text, page


def test_a_page_escapes_everything_and_loads_nothing(store: SessionStore) -> None:
    answer = (
        f"{EVIL}\n\n![x](http://evil.test/a.png) [js](javascript:alert(1)) [ok](https://example.test/) "
        "<img src=x onerror=alert(1)>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    events = run(1, EVIL, answer, EVIL, is_error=True)
    session = record(store, events, root=f"/p/{EVIL}")
    store.rename(session, EVIL)
    text, page = page_of(store, session)
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "iframe", "object", "embed", "form", "base", "svg"}
    assert [(attrs["src"] or "")[:22] for tag, attrs in page.tags if tag == "img"] == ["data:image/png;base64,"]
    links = [attrs.get("href") for tag, attrs in page.tags if tag == "a"]
    assert links == ["http://evil.test/a.png", "https://example.test/"]  # to be clicked on, never loaded
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text
    assert "table" in names
    assert '<span class="plus">+new</span>' in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    "content", ["not base 64!", base64.b64encode(b"<svg onload=alert(1)>").decode(), '"><script>', ""]
)
def test_what_is_no_picture_is_not_shown_as_one(store: SessionStore, content: str) -> None:
    image = replace(IMAGE, content=content)
    prompt = RunStarted("build", "m", "ask", UserMessage("see", (image,)))
    _, page = page_of(store, record(store, [prompt]))
    assert "img" not in {tag for tag, _ in page.tags}
    assert "script" not in {tag for tag, _ in page.tags}


def test_a_file_is_written_whole_for_the_person_alone(tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    assert write(target, iter(["a", "é"])) == 3
    assert target.read_text() == "aé"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600

    def broken():
        yield "half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(target, broken())
    assert target.read_text() == "aé"
    assert [path.name for path in tmp_path.iterdir()] == ["out.md"]
    with pytest.raises(HarnessError, match="cannot be written"):
        write(tmp_path / "no" / "out.md", iter(["a"]))
    assert (form_of(Path("a.HTM")), form_of(Path("a.txt"))) == ("html", None)


# --- search and sums -----------------------------------------------------------------------------


def found(store: SessionStore, cache: Path, text: str, **more: Any) -> list[tuple[int, str, str]]:
    return [(hit.seq, hit.role, hit.found) for hit in search(store, cache, text, **more)]


@pytest.mark.parametrize("trigrams", [True, False])
def test_a_text_is_found_wherever_it_stands(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trigrams: bool
) -> None:
    cache = tmp_path / "cache" / "search.db"
    if not trigrams:
        import sqlite3

        cache.parent.mkdir()
        with sqlite3.connect(cache) as connection:
            connection.execute("CREATE TABLE texts (text TEXT, session TEXT, seq INTEGER, role TEXT)")
            connection.execute("CREATE TABLE done (session TEXT PRIMARY KEY, seq INTEGER NOT NULL)")
            connection.execute("PRAGMA user_version = 1")
        connection.close()
    record(
        store,
        run(
            1,
            "\n" + "long head line " * 9 + "\nStraße mit 日本語テキスト und foo_bar(*args)?",
            "ANSWER [x]",
            "output of the tool",
        ),
    )
    assert found(store, cache, "oo_BAR(*ar") == [(2, "user", "oo_bar(*ar")]
    assert found(store, cache, "本語テ") == [(2, "user", "本語テ")]
    assert found(store, cache, "本") == [(2, "user", "本")]
    assert found(store, cache, "answer [X]") == [(10, "assistant", "ANSWER [x]")]
    assert found(store, cache, "of the tool") == [(7, "tool", "of the tool")]
    assert found(store, cache, ")?") == [(2, "user", ")?")]
    assert found(store, cache, "STRASSE") == [(2, "user", "Straße")]
    assert [role for _, role, _ in found(store, cache, "LONG HEAD")] == ["title", "user"]
    assert found(store, cache, "nowhere at all") == []
    assert found(store, cache, "'; DROP TABLE texts") == []
    assert stat.S_IMODE(cache.stat().st_mode) == 0o600
    with pytest.raises(HarnessError):
        search(store, cache, "  ")


def test_new_messages_are_found_and_deleted_sessions_are_not(store: SessionStore, tmp_path: Path) -> None:
    cache = tmp_path / "search.db"
    first = record(store, run(1, "needle one", "x"))
    assert len(found(store, cache, "needle one")) == 2  # the title too
    second = record(store, run(1, "needle two", "x"))
    third = record(store, run(1, "other", "needle three"))
    assert [hit.session for hit in search(store, cache, "needle t")] == [third, second, second]
    assert found(store, cache, "needle", limit=1)[0] is not None
    assert {hit.session for hit in search(store, cache, "needle", sessions=[first])} == {first}
    store.delete(first)
    assert {hit.session for hit in search(store, cache, "needle")} == {second, third}
    forget(store, cache)
    assert b"needle one" not in cache.read_bytes()


def test_a_damaged_index_is_made_anew(store: SessionStore, tmp_path: Path) -> None:
    cache = tmp_path / "search.db"
    cache.write_bytes(b"no database at all" * 100)
    record(store, run(1, "needle", "x"))
    assert len(found(store, cache, "needle")) == 2


def test_sums_are_those_of_the_events(store: SessionStore, session: str) -> None:
    store.append(session, [Envelope(seq, TIME, session, FileChanged("a.py", 1, 0)) for seq in (22, 23)])
    data = stats(store, [session]).to_json()
    assert data["bytes"] == store.info(session).bytes
    assert data | {"bytes": 0} == {
        "sessions": 1,
        "runs": 2,
        "messages": 8,
        "requests": 2,
        "input": 20,
        "output": 4,
        "reasoning": 2,
        "cache_read": 6,
        "cache_write": 8,
        "cost": 0.5,
        "unpriced_requests": 1,
        "bytes": 0,
        "ends": {"completed": 2},
        "models": {"replay:x": 2},
        "tools": {"read": {"calls": 2, "errors": 1}},
        "files_changed": 1,
    }
    assert stats(store, []).to_json()["cost"] is None
