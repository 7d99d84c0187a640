"""What is kept beside a record goes along when a session is copied, exported and imported."""

from __future__ import annotations

import base64
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.clock import SystemClock
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.event_parts import Truncation
from harness_tui.core.events import RunStarted, SessionStarted, StepFinished, ToolFinished, ToolStarted
from harness_tui.core.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from harness_tui.core.outputs import limit_output
from harness_tui.core.paths import make_private_folder
from harness_tui.core.values import SourceRef
from harness_tui.sessions import copying, kept_files, portable
from harness_tui.sessions.store import SessionStore

TIME = "2026-01-02T03:04:05.678Z"
WHOLE = "".join(f"line {number}\n" for number in range(20_000))
PIXELS = b"\x89PNG\r\n\x1a\n\xff\xfe"


@pytest.fixture
def session(store: SessionStore) -> str:
    """A session with two calls whose outputs were cut, and an image that a server sent with the first."""
    made = store.create(Path("/p")).session
    folder = store.folder(made)
    make_private_folder(folder / "images")
    (folder / "images" / "c1-1.png").write_bytes(PIXELS)
    (folder / "images" / "c1-1.png").chmod(0o600)
    events: list[Any] = [SessionStarted("/p"), RunStarted("build", "m", "ask", UserMessage("go"))]
    for call in ("c1", "c2"):
        cut = limit_output(WHOLE, folder=folder / "outputs", name=call)
        assert cut.path is not None
        text = f"[image: saved as {folder}/images/c1-1.png]\n{cut.text}" if call == "c1" else cut.text
        events += [
            StepFinished(1, AssistantMessage(calls=(ToolCall(call, "bash", {"command": "make"}),))),
            ToolStarted(call, "bash", "make", {"command": "make"}, SourceRef("builtin")),
            ToolFinished(call, "bash", text, False, {}, Truncation(cut.path, cut.bytes)),
        ]
    store.append(made, [Envelope(seq, TIME, made, event, "run_1") for seq, event in enumerate(events, 1)])
    return made


def told(store: SessionStore, session: str) -> list[str]:
    """Return what of the record speaks of kept files: their paths in events, and the results that a model reads."""
    events = [envelope.event for envelope in store.events(session)]
    paths = [event.truncated.path for event in events if isinstance(event, ToolFinished) and event.truncated]
    return paths + [item.message.text for item in store.messages(session) if isinstance(item.message, ToolMessage)]


def test_a_fork_has_the_whole_outputs_of_its_own_part_and_outlives_the_original(
    store: SessionStore, session: str
) -> None:
    made = copying.fork(store, session, SystemClock(), at=5).session
    store.delete(session)
    folder = store.folder(made)
    path, result = told(store, made)
    assert path == str(folder / "outputs" / "c1.txt")
    assert f"is in {path}]" in result
    assert f"saved as {folder}/images/c1-1.png]" in result
    assert session not in result
    assert Path(path).read_text() == WHOLE
    assert (folder / "images" / "c1-1.png").read_bytes() == PIXELS
    assert sorted(file.name for file in folder.rglob("*.*")) == ["c1-1.png", "c1.txt"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.rglob("*")} == {0o600, 0o700}


def test_an_original_keeps_its_outputs_when_its_fork_goes(store: SessionStore, session: str) -> None:
    before = told(store, session)
    store.delete(copying.fork(store, session, SystemClock()).session)
    assert told(store, session) == before
    assert Path(before[0]).read_text() == WHOLE


def test_a_fork_without_room_leaves_nothing(store: SessionStore, session: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(HarnessError, match="cannot be copied: No space left on device"):
        copying.fork(store, session, SystemClock())
    assert [info.session for info in store.list()] == [session]
    assert [path.name for path in store.folder(session).parent.iterdir()] == [session]


def test_a_document_carries_the_whole_outputs(store: SessionStore, session: str, tmp_path: Path) -> None:
    text = "".join(portable.export_json(store, session))
    files = {file["path"]: file for file in json.loads(text)["files"]}
    assert files["outputs/c1.txt"]["text"] == WHOLE
    assert base64.b64decode(files["images/c1-1.png"]["base64"]) == PIXELS
    other = SessionStore(tmp_path / "other" / "harness.db")
    made = portable.import_json(other, text, Path("/q")).info.session
    again = portable.import_json(other, text, Path("/q")).info.session
    assert made == session != again
    for name in (made, again):
        paths = told(other, name)[:2]
        assert paths == [str(other.folder(name) / "outputs" / f"c{number}.txt") for number in (1, 2)]
        assert [Path(path).read_text() for path in paths] == [WHOLE, WHOLE]
        assert (other.folder(name) / "images/c1-1.png").read_bytes() == PIXELS
        assert str(store.folder(session)) not in "".join(told(other, name))
    other.close()


def test_what_is_too_large_for_a_document_says_so_where_it_would_be(
    store: SessionStore, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "CARRIED_IN_ALL", len(WHOLE) + 20)  # the image, and one of the outputs
    text = "".join(portable.export_json(store, session))
    other = SessionStore(tmp_path / "other" / "harness.db")
    made = portable.import_json(other, text, Path("/q")).info.session
    first, second = (Path(path) for path in told(other, made)[:2])
    assert first.read_text() == WHOLE
    assert second.read_text() == f"[the {len(WHOLE)} bytes of this file were too many for the document]\n"
    other.close()


@pytest.mark.parametrize(
    "file",
    [
        {"path": "../../evil", "text": "x"},
        {"path": "outputs/../../evil", "text": "x"},
        {"path": "/tmp/evil", "text": "x"},
        {"path": "outputs/..", "text": "x"},
        {"path": "outputs/a/b", "text": "x"},
        {"path": "outputs/a\n", "text": "x"},
        {"path": "backups/a", "text": "x"},
        {"path": "outputs/a", "text": 5},
        {"path": "outputs/a", "text": "\ud800"},
        {"path": "outputs/a", "base64": "not base 64"},
        {"path": None},
        7,
    ],
)
def test_a_file_that_a_document_may_not_have_is_refused_and_nothing_is_written(
    store: SessionStore, session: str, tmp_path: Path, file: Any
) -> None:
    document = json.loads("".join(portable.export_json(store, session)))
    document["files"].append(file)
    other = SessionStore(tmp_path / "other" / "harness.db")
    with pytest.raises(UsageError, match=r"files\[3\]"):
        portable.import_json(other, json.dumps(document), Path("/q"))
    assert other.list() == []
    assert not (tmp_path / "other" / "sessions").exists()
    other.close()


def test_a_name_twice_and_a_folder_that_lies_are_no_way_out(store: SessionStore, session: str, tmp_path: Path) -> None:
    document = json.loads("".join(portable.export_json(store, session)))
    document["session"]["folder"] = "/p"  # not the folder of a session: no path of the record is changed
    other = SessionStore(tmp_path / "other" / "harness.db")
    made = portable.import_json(other, json.dumps(document), Path("/q")).info.session
    assert told(other, made) == told(store, session)
    document["files"].append(document["files"][0])
    with pytest.raises(UsageError, match=r"files\[3\]"):
        portable.import_json(other, json.dumps(document), Path("/q"))
    other.close()


def test_a_link_among_the_kept_files_is_not_followed(store: SessionStore, session: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    path = store.folder(session) / "outputs" / "c2.txt"
    path.unlink()
    path.symlink_to(secret)
    assert "mine" not in "".join(portable.export_json(store, session))
    made = copying.fork(store, session, SystemClock()).session
    assert sorted(file.name for file in (store.folder(made) / "outputs").iterdir()) == ["c1.txt"]
