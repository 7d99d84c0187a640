"""A run is taken back and put in force again: its messages, its files, and nothing that somebody else did."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.events import FileChanged, Notice, RedoApplied, RunFinished, UndoApplied
from harness_tui.core.intents import CallTool, Compact, Redo, Shell, Undo
from harness_tui.core.paths import digest
from harness_tui.sessions.change_journal import note_change

ALLOW = ({"permission": "*", "pattern": "*", "action": "allow"},)


def write(path: str, content: str) -> dict[str, Any]:
    return {"name": "write", "arguments": {"path": path, "content": content}}


def read(path: str) -> dict[str, Any]:
    return {"name": "read", "arguments": {"path": path}}


def edit(path: str, old: str, new: str) -> dict[str, Any]:
    return {"name": "edit", "arguments": {"path": path, "old": old, "new": new}}


def turns(*calls: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a script: each list of calls is a turn of its own run, answered by "done"."""
    return {"turns": [turn for each in calls for turn in ({"tools": each}, {"text": "done"})]}


def files(project: Path) -> dict[str, bytes]:
    kept = ("play.yaml", "requests.jsonl")
    return {
        path.relative_to(project).as_posix(): path.read_bytes()
        for path in sorted(project.rglob("*"))
        if path.is_file() and path.name not in kept and ".git" not in path.parts
    }


async def undo(at: Any, run: str | None = None) -> UndoApplied:
    await at.send(Undo(run))
    return await at.next(UndoApplied)


async def redo(at: Any) -> RedoApplied:
    await at.send(Redo())
    return await at.next(RedoApplied)


def runs(at: Any) -> list[str]:
    return [envelope.run for envelope in at.seen if isinstance(envelope.event, RunFinished)]


def texts(request: dict[str, Any]) -> list[str]:
    return [message["text"] for message in request["messages"] if message["role"] == "user"]


async def test_a_run_is_taken_back_and_put_in_force_again(stage: Any) -> None:
    at = await stage(turns([write("new/deep/a.txt", "one\n"), read("b.txt"), edit("b.txt", "old", "new")]), rules=ALLOW)
    (at.project / "b.txt").write_bytes(b"\xef\xbb\xbfold\r\n")
    (at.project / "b.txt").chmod(0o751)
    await at.say("change them")
    after = {"b.txt": b"\xef\xbb\xbfnew\r\n", "new/deep/a.txt": b"one\n"}
    assert files(at.project) == after
    assert await undo(at) == UndoApplied(runs(at)[0], ("new/deep/a.txt", "b.txt"), ())
    assert files(at.project) == {"b.txt": b"\xef\xbb\xbfold\r\n"}
    assert not (at.project / "new").exists()
    assert stat.S_IMODE((at.project / "b.txt").stat().st_mode) == 0o751
    assert await redo(at) == RedoApplied(runs(at)[0], ("new/deep/a.txt", "b.txt"), ())
    assert files(at.project) == after


async def test_a_model_is_not_sent_what_was_undone(stage: Any) -> None:
    at = await stage({"turns": [{"text": f"answer {number}"} for number in range(1, 6)]})
    for text in ("first", "second"):
        await at.say(text)
    await undo(at)
    await at.say("third")
    assert texts(at.requests()[-1]) == ["first", "third"]
    await undo(at)
    await undo(at)
    await at.say("fourth")
    assert texts(at.requests()[-1]) == ["fourth"]


async def test_redo_brings_the_messages_back_until_something_new_was_said(stage: Any) -> None:
    at = await stage({"turns": [{"text": f"answer {number}"} for number in range(1, 6)]})
    for text in ("first", "second"):
        await at.say(text)
    first, second = runs(at)
    assert [(await undo(at)).run, (await undo(at)).run] == [second, first]
    assert [(await redo(at)).run, (await redo(at)).run] == [first, second]
    await at.say("third")
    assert texts(at.requests()[-1]) == ["first", "second", "third"]
    await undo(at)
    await at.say("other third")
    await at.send(Redo())
    assert (await at.next(Notice)).text == "there is nothing to redo"


async def test_an_earlier_run_is_undone_with_every_later_one(stage: Any) -> None:
    at = await stage(turns([write("a", "1")], [edit("a", "1", "2")], [write("b", "3")]), rules=ALLOW)
    for text in ("one", "two", "three"):
        await at.say(text)
    first, second, third = runs(at)
    await at.send(Undo(second))
    assert [(await at.next(UndoApplied)).run for _ in range(2)] == [third, second]
    assert files(at.project) == {"a": b"1"}
    assert (await undo(at)).run == first
    assert files(at.project) == {}
    for _ in range(3):
        await redo(at)
    assert files(at.project) == {"a": b"2", "b": b"3"}


async def test_what_somebody_else_changed_is_left_alone_and_told(stage: Any) -> None:
    at = await stage(turns([write("mine", "1"), write("theirs", "1"), write("gone", "1")]), rules=ALLOW)
    await at.say("write")
    (at.project / "theirs").write_text("changed by a person")
    (at.project / "gone").unlink()
    applied = await undo(at)
    assert (applied.paths, applied.conflicts) == (("mine", "gone"), ("theirs",))
    assert files(at.project) == {"theirs": b"changed by a person"}
    assert (await at.next(Notice)).text == "theirs was left as it is: it was changed by something else since"
    assert (await redo(at)).conflicts == ()
    assert files(at.project) == {"gone": b"1", "mine": b"1", "theirs": b"changed by a person"}


async def test_a_change_of_somebody_else_within_the_run_keeps_its_file_as_it_is(stage: Any) -> None:
    steps = [write("a", "1\n")], [read("a"), edit("a", "yours", "mine")]
    script = {"turns": [{"tools": steps[0]}, {"tools": steps[1], "wait": "go"}, {"text": "done"}]}
    at = await stage(script, rules=ALLOW)
    running = asyncio.create_task(at.say("go on"))
    while not (at.project / "a").exists():
        await asyncio.sleep(0.01)
    (at.project / "a").write_text("1\nyours\n")
    (at.project / "go").touch()
    await running
    assert (at.project / "a").read_text() == "1\nmine\n"
    applied = await undo(at)
    assert (applied.paths, applied.conflicts) == ((), ("a",))
    assert (at.project / "a").read_text() == "1\nmine\n"


async def test_two_sessions_take_back_only_what_each_of_them_did(stage: Any) -> None:
    at = await stage(turns([write("a", "first")]), rules=ALLOW)
    await at.say("write")
    other = await stage(turns([write("b", "second"), read("a"), edit("a", "first", "other")]), rules=ALLOW)
    await other.say("write")
    assert (await undo(at)).conflicts == ("a",)
    assert files(at.project) == {"a": b"other", "b": b"second"}
    await undo(other)
    assert files(at.project) == {"a": b"first"}


async def test_calls_by_hand_can_be_undone_and_what_did_nothing_is_passed_over(stage: Any) -> None:
    at = await stage({"turns": []}, rules=ALLOW)
    await at.send(CallTool("write", {"path": "a", "content": "1"}))
    await at.next(RunFinished)
    await at.send(CallTool("list", {}))
    await at.next(RunFinished)
    assert (await undo(at)).run == runs(at)[0]
    assert files(at.project) == {}


async def test_a_command_of_the_person_leaves_the_history(stage: Any) -> None:
    at = await stage({"turns": [{"text": "hello"}]})
    await at.send(Shell("echo kept-out"))
    await at.next(RunFinished)
    await undo(at)
    await at.say("hello")
    assert texts(at.requests()[-1]) == ["hello"]


async def test_what_a_subagent_did_belongs_to_the_run_that_it_worked_for(stage: Any) -> None:
    task = {"name": "task", "arguments": {"agent": "helper", "prompt": "help"}}
    script = turns([write("a", "1")], [write("b", "1"), task]) | {
        "agents": {"helper": [{"tools": [read("a"), edit("a", "1", "2"), write("c", "1")]}, {"text": "helped"}]}
    }
    agents = {"helper": {"description": "Helps", "mode": "subagent"}}
    at = await stage(script, rules=ALLOW, settings={"agents": agents})
    await at.say("first")
    await at.say("second")
    await at.live.idle()  # the subagent's run ends first
    assert files(at.project) == {"a": b"2", "b": b"1", "c": b"1"}
    assert sorted((await undo(at)).paths) == ["a", "b", "c"]
    assert files(at.project) == {"a": b"1"}
    await undo(at)
    assert files(at.project) == {}
    await redo(at)
    await redo(at)
    assert files(at.project) == {"a": b"2", "b": b"1", "c": b"1"}


async def test_what_commands_did_is_said_to_stay(stage: Any) -> None:
    command = {"name": "bash", "arguments": {"command": "echo 1 > made"}}
    at = await stage(turns([write("a", "1"), command]), rules=ALLOW)
    await at.say("go on")
    assert (await undo(at)).paths == ("a",)
    assert (await at.next(Notice)).text == "what commands and MCP servers did in this run stays as it is"
    assert files(at.project) == {"made": b"1\n"}


async def test_what_cannot_be_undone_is_told(stage: Any) -> None:
    at = await stage(turns([write("a", "1")]), rules=ALLOW)
    for intent, text in [
        (Undo(), "there is nothing to undo"),
        (Redo(), "there is nothing to redo"),
        (Undo("run_none"), "this session has no run 'run_none' that can be undone"),
    ]:
        await at.send(intent)
        assert (await at.next(Notice)).text == text
    await at.say("write")
    (run,) = runs(at)
    await undo(at)
    await at.send(Undo(run))
    assert (await at.next(Notice)).text == f"the run {run} is undone already"


async def test_nothing_is_undone_while_a_run_goes_on(stage: Any) -> None:
    at = await stage({"turns": [{"text": "late", "wait": "go"}]})
    running = asyncio.create_task(at.say("wait"))
    while not at.live.busy:
        await asyncio.sleep(0.01)
    await at.send(Undo())
    (at.project / "go").touch()
    await running
    assert [notice.text for notice in at.of(Notice)] == ["a run goes on"]
    assert at.of(UndoApplied) == []


async def test_an_undo_outlives_the_program_and_can_be_redone_after(stage: Any) -> None:
    at = await stage(turns([write("a", "1")]), rules=ALLOW)
    await at.say("first")
    await undo(at)
    await at.workspace.close()
    again = await stage({"turns": [{"text": "hello"}, {"text": "hello"}]}, rules=ALLOW, session=at.live.id)
    assert files(at.project) == {}
    await redo(again)
    assert files(at.project) == {"a": b"1"}
    await again.say("second")
    assert texts(again.requests()[-1]) == ["first", "second"]
    assert (await undo(again)).run != runs(at)[0]
    assert (await undo(again)).run == runs(at)[0]
    assert files(at.project) == {}


async def test_a_change_that_a_killed_program_did_not_record_is_undone_too(stage: Any) -> None:
    at = await stage(turns([write("a", "1")]), rules=ALLOW)
    await at.say("write")
    await at.workspace.close()
    (at.project / "b").write_bytes(b"2")  # what the next call had done when the program was killed
    note_change(at.workspace.store.folder(at.live.id), runs(at)[0], FileChanged("b", 1, 0, None, digest(b"2")))
    again = await stage({"turns": []}, rules=ALLOW, session=at.live.id)
    applied = await undo(again)
    assert (applied.paths, applied.conflicts) == (("a", "b"), ())
    assert files(at.project) == {}


async def test_an_undo_that_was_interrupted_is_finished_by_the_next(stage: Any) -> None:
    at = await stage(turns([write("a", "1"), write("b", "1")]), rules=ALLOW)
    await at.say("write")
    (at.project / "a").unlink()  # as a process that was killed in the middle of the undo had done
    applied = await undo(at)
    assert (applied.paths, applied.conflicts) == (("a", "b"), ())
    assert files(at.project) == {}


async def test_a_compaction_is_a_point_to_go_back_to(stage: Any) -> None:
    script = {"turns": [{"text": f"answer {number} " + "word " * 3000} for number in range(6)], "internal": ["summary"]}
    at = await stage(script, settings={"compaction": {"keep": 100}})
    for text in ("first", "second"):
        await at.say(text)
    await at.send(Compact())
    await at.next(RunFinished)
    await at.say("third")
    assert "first" not in texts(at.requests()[-1])
    await undo(at)
    await undo(at)
    await at.say("fourth")
    assert texts(at.requests()[-1]) == ["first", "second", "fourth"]


async def test_a_linked_path_is_not_followed_by_an_undo(stage: Any, tmp_path: Path) -> None:
    at = await stage(turns([write("folder/a", "1")]), rules=ALLOW)
    await at.say("write")
    outside = tmp_path / "outside"
    (at.project / "folder").rename(outside)
    (at.project / "folder").symlink_to(outside)
    assert (await undo(at)).conflicts == ("folder/a",)
    assert (outside / "a").read_text() == "1"


async def test_files_outside_the_root_and_hard_links_come_back(stage: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    out.write_text("old")
    at = await stage(turns([read(str(out)), edit(str(out), "old", "new"), read("a"), edit("a", "x", "y")]), rules=ALLOW)
    (at.project / "a").write_text("x")
    os.link(at.project / "a", at.project / "twin")
    await at.say("edit")
    assert (out.read_text(), (at.project / "twin").read_text()) == ("new", "y")
    await undo(at)
    assert (out.read_text(), (at.project / "twin").read_text()) == ("old", "x")
    assert (at.project / "a").stat().st_ino == (at.project / "twin").stat().st_ino


async def test_content_that_is_kept_no_more_is_a_conflict(stage: Any) -> None:
    at = await stage(turns([read("a"), edit("a", "1", "2")]), rules=ALLOW)
    (at.project / "a").write_text("1")
    await at.say("edit")
    (change,) = at.of(FileChanged)
    at.workspace.blobs._path(change.before).unlink()
    assert (await undo(at)).conflicts == ("a",)
    assert files(at.project) == {"a": b"2"}


@pytest.mark.parametrize("depth", [1, 2])
async def test_folders_that_hold_something_else_stay(stage: Any, depth: int) -> None:
    at = await stage(turns([write("x/y/a", "1")]), rules=ALLOW)
    await at.say("write")
    other = at.project / ("x" if depth == 1 else "x/y") / "mine"
    other.write_text("mine")
    await undo(at)
    assert files(at.project) == {other.relative_to(at.project).as_posix(): b"mine"}
    assert (at.project / "x" / "y").exists() is (depth == 2)


async def test_what_was_said_alone_is_taken_back_and_the_files_stay(stage: Any) -> None:
    at = await stage(turns([write("a.txt", "one\n")], [write("a.txt", "two\n")]), rules=ALLOW)
    await at.say("first")
    await at.say("second")
    await at.send(Undo(runs(at)[1], only="messages"))
    assert await at.next(UndoApplied) == UndoApplied(runs(at)[1], (), ())
    assert files(at.project) == {"a.txt": b"two\n"}
    assert await redo(at) == RedoApplied(runs(at)[1], (), ())
    assert files(at.project) == {"a.txt": b"two\n"}
    await at.send(Undo(runs(at)[1], only="messages"))
    await at.next(UndoApplied)
    await at.say("third")
    assert texts(at.requests()[-1]) == ["first", "third"]


async def test_files_alone_are_brought_back_the_model_is_told_and_that_can_be_taken_back_too(stage: Any) -> None:
    calls = [write("a.txt", "one\n"), write("new.txt", "x\n")], [read("a.txt"), edit("a.txt", "one", "two")]
    at = await stage(turns(*calls), rules=ALLOW)
    (at.project / "a.txt").unlink(missing_ok=True)
    await at.say("first")
    await at.say("second")
    first, second = runs(at)
    await at.send(Undo(second, only="files"))
    change = await at.next(FileChanged)
    assert (change.path, change.before, change.after) == ("a.txt", digest(b"two\n"), digest(b"one\n"))
    assert (await at.next(RunFinished)).reason == "completed"
    assert files(at.project) == {"a.txt": b"one\n", "new.txt": b"x\n"}
    assert not [envelope for envelope in at.seen if isinstance(envelope.event, UndoApplied)]
    await undo(at)  # the latest run that is in force is the bringing back
    assert files(at.project) == {"a.txt": b"two\n", "new.txt": b"x\n"}
    await at.send(Undo(first, only="files"))
    assert (await at.next(RunFinished)).reason == "completed"
    assert files(at.project) == {}
    await at.say("third")
    said = texts(at.requests()[-1])
    assert said[:2] == ["first", "second"]
    assert said[2].endswith("so read them again: a.txt, new.txt")
    await at.send(Undo(first, only="files"))
    assert (await at.next(RunFinished)).reason == "completed"
    assert files(at.project) == {}  # what was brought back before is taken back first: nothing is different


async def test_where_no_file_was_changed_bringing_files_back_fails_with_the_reason(stage: Any) -> None:
    at = await stage({"turns": [{"text": "done"}]})
    await at.say("first")
    await at.send(Undo(runs(at)[0], only="files"))
    end = await at.next(RunFinished)
    assert end.error.message == "no file was brought back: there is none, or each was changed since"
