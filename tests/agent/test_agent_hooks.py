"""Hooks: what runs after an edit, before a tool, at the end of a run, and what they can hold back."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest
from fakes.fake_tool import FakeTool

from harness_tui.core.events import (
    FileChanged,
    MessageAdded,
    Notice,
    PermissionResolved,
    RunFinished,
    ToolFinished,
    UndoApplied,
)
from harness_tui.core.intents import CallTool, Cancel, Submit, Undo
from harness_tui.core.paths import digest

EDITS = ({"permission": "edit", "pattern": "*", "action": "allow"},)
WRITE = {"name": "write", "arguments": {"path": "a.py", "content": "x=1\n"}}


def python(code, *more):
    return [sys.executable, "-c", code, *more]


NAME = sys.executable.rsplit("/", 1)[-1]


def hooks(**events):
    return {"hooks": {event: list(items) for event, items in events.items()}}


REFUSE = python("import sys; sys.stderr.write('no tabs please'); sys.exit(2)")
UPPER = python("import sys; p = sys.argv[1]; t = open(p).read().upper(); open(p, 'w').write(t)", "{file}")


async def test_a_formatter_runs_after_a_write_and_the_change_is_what_it_left(stage):
    edit = {"name": "edit", "arguments": {"path": "a.py", "old": "X=1", "new": "y=2"}}
    show = await stage(
        {"turns": [{"tools": [WRITE]}, {"tools": [edit]}, {"text": "b"}]},
        rules=EDITS,
        settings=hooks(after_edit=[{"match": "*.py", "command": UPPER}]),
    )
    await show.say("go")
    assert (show.project / "a.py").read_text() == "Y=2\n"
    first, second = show.of(ToolFinished)
    assert not second.is_error  # the formatted bytes count as read
    assert "+X=1" in first.metadata["diff"]
    assert first.metadata["hooks"] == [sys.executable.rsplit("/", 1)[-1]]
    changes = show.of(FileChanged)
    assert [change.after for change in changes] == [digest(b"X=1\n"), digest(b"Y=2\n")]
    assert changes[1].before == digest(b"X=1\n")


async def test_a_hook_runs_for_the_files_that_fit_alone(stage):
    show = await stage(
        {"turns": [{"tools": [WRITE]}, {"text": "b"}]},
        rules=EDITS,
        settings=hooks(after_edit=[{"match": "*.js", "command": UPPER}, {"match": "src/*.py", "command": UPPER}]),
    )
    await show.say("go")
    assert (show.project / "a.py").read_text() == "x=1\n"
    assert "hooks" not in show.of(ToolFinished)[0].metadata


async def test_a_file_that_a_hook_takes_away_is_told_as_gone_and_an_undo_brings_it_back(stage):
    take_away = python("import os, sys; os.remove(sys.argv[1])", "{file}")
    edit = {"name": "edit", "arguments": {"path": "old.py", "old": "x = 1", "new": "x = 2"}}
    show = await stage(
        {"turns": [{"tools": [WRITE, {"name": "read", "arguments": {"path": "old.py"}}, edit]}, {"text": "b"}]},
        rules=EDITS,
        settings=hooks(after_edit=[{"match": "*.py", "command": take_away}]),
    )
    (show.project / "old.py").write_text("x = 1\n")
    await show.say("go")
    made, _, edited = show.of(ToolFinished)
    assert (made.is_error, edited.is_error) == (True, True)
    assert edited.output == f"old.py was written, and is not there any more: {NAME} took it away."
    (change,) = show.of(FileChanged)  # a.py was neither there before nor is it now
    assert (change.path, change.before, change.after, change.removed) == ("old.py", digest(b"x = 1\n"), None, 1)
    await show.send(Undo())
    await show.next(UndoApplied)
    assert (show.project / "old.py").read_text() == "x = 1\n"
    assert not (show.project / "a.py").exists()


async def test_a_linter_that_blocks_is_told_to_the_model(stage):
    show = await stage(
        {"turns": [{"tools": [WRITE]}, {"text": "b"}]}, rules=EDITS, settings=hooks(after_edit=[{"command": REFUSE}])
    )
    await show.say("go")
    (finished,) = show.of(ToolFinished)
    assert finished.is_error
    assert finished.output.endswith("no tabs please")
    assert (show.project / "a.py").read_text() == "x=1\n"


async def test_a_hook_before_a_tool_blocks_it_with_its_reason(stage):
    block = python("import sys; sys.stderr.write('not on a friday'); sys.exit(2)")
    show = await stage(
        {"turns": [{"tools": [WRITE, {"name": "list"}]}, {"text": "b"}]},
        rules=EDITS,
        settings=hooks(before_tool=[{"match": "write", "command": block}]),
    )
    assert (await show.say("go")).reason == "completed"
    write, listed = show.of(ToolFinished)
    assert write.is_error
    assert "not on a friday" in write.output
    assert not listed.is_error
    assert not (show.project / "a.py").exists()
    resolved = [event for event in show.of(PermissionResolved) if event.call == write.call]
    assert [(event.decision, event.scope, event.note) for event in resolved] == [("deny", "rule", "not on a friday")]
    assert "config.yaml" in resolved[0].rule


async def test_a_path_that_no_program_can_be_given_passes_no_guard(stage):
    guard = FakeTool("srv_do")
    show = await stage(
        {"turns": [{"text": "a"}]}, guard, settings=hooks(before_tool=[{"match": "srv_*", "command": UPPER}])
    )
    for path in ("a\0b", "\ud800", "x" * 200_000):
        await show.send(CallTool("srv_do", {"path": path}))
        await show.next(RunFinished)
    assert guard.ran == []
    assert ["cannot be given to a program" in event.output for event in show.of(ToolFinished)] == [True] * 3


async def test_a_hook_is_given_what_happens_as_json(stage):
    keep = python("import sys; open('told.json', 'w').write(sys.stdin.read())")
    show = await stage(
        {"turns": [{"tools": [{"name": "list", "arguments": {"path": "."}}]}, {"text": "b"}]},
        settings=hooks(before_tool=[{"command": keep}]),
    )
    await show.say("go")
    told = json.loads((show.project / "told.json").read_text())
    assert (told["event"], told["tool"], told["arguments"]) == ("before_tool", "list", {"path": "."})
    assert (told["session"], told["root"]) == (show.live.id, str(show.project))


async def test_a_denied_call_starts_no_hook(stage):
    keep = python("open('ran', 'w').close()")
    show = await stage(
        {"turns": [{"tools": [WRITE]}, {"text": "b"}]},
        rules=({"permission": "edit", "pattern": "*", "action": "deny"},),
        settings=hooks(before_tool=[{"command": keep}]),
    )
    await show.say("go")
    assert not (show.project / "ran").exists()


async def test_a_file_name_never_becomes_an_option_or_a_command(stage):
    name = "-rf; touch PWNED $(touch PWNED).py"
    write = {"name": "write", "arguments": {"path": name, "content": "x\n"}}
    keep = python("import sys, json; json.dump(sys.argv[1:], open('argv.json', 'w'))", "{file}")
    show = await stage(
        {"turns": [{"tools": [write]}, {"text": "b"}]}, rules=EDITS, settings=hooks(after_edit=[{"command": keep}])
    )
    await show.say("go")
    assert json.loads((show.project / "argv.json").read_text()) == [str(show.project / name)]
    assert not (show.project / "PWNED").exists()


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        ({"command": ["no-such-program-here", "x"]}, "could not run"),
        ({"command": python("import sys; sys.stderr.write('oops'); sys.exit(1)")}, "failed with exit code 1: oops"),
        ({"command": python("import time; time.sleep(60)"), "timeout": 0.5}, "did not end within 0.5 s"),
    ],
)
async def test_a_hook_that_does_not_work_is_a_notice_and_the_edit_stands(stage, hook, said):
    show = await stage({"turns": [{"tools": [WRITE]}, {"text": "b"}]}, rules=EDITS, settings=hooks(after_edit=[hook]))
    assert (await show.say("go")).reason == "completed"
    assert not show.of(ToolFinished)[0].is_error
    (notice,) = [notice for notice in show.of(Notice) if notice.source == "hooks"]
    assert said in notice.text
    assert (show.project / "a.py").read_text() == "x=1\n"


async def test_a_hook_at_the_end_lets_the_agent_go_on_until_it_agrees(stage):
    check = python("import os, sys\nif not os.path.exists('a.py'): sys.stderr.write('a.py is missing'); sys.exit(2)")
    show = await stage(
        {"turns": [{"text": "done"}, {"tools": [WRITE]}, {"text": "really done"}]},
        rules=EDITS,
        settings=hooks(run_finished=[{"match": "completed", "command": check}]),
    )
    assert (await show.say("go")).reason == "completed"
    (held,) = [event for event in show.of(MessageAdded) if event.origin == "hook"]
    assert "a.py is missing" in held.message.text
    assert len(show.requests()) == 3
    assert "a.py is missing" in show.requests()[1]["messages"][-1]["text"]


async def test_a_hook_that_never_agrees_fails_the_run(stage):
    never = python("import sys; sys.stderr.write('no'); sys.exit(2)")
    show = await stage({"turns": [{"text": "a"}] * 9}, settings=hooks(run_finished=[{"command": never}]))
    end = await show.say("go")
    assert (end.reason, end.error.kind) == ("failed", "hook")
    assert len(show.requests()) == 3


async def test_hooks_of_a_project_wait_for_its_trust(stage):
    show = await stage({"turns": []})
    config = show.project / ".harness" / "config.yaml"
    config.parent.mkdir()
    config.write_text(json.dumps(hooks(before_tool=[{"command": python("open('ran', 'w').close()")}])))
    await show.workspace.close()
    script = {"turns": [{"tools": [{"name": "list"}]}, {"text": "b"}]}
    show = await stage(script)
    await show.say("go")
    assert not (show.project / "ran").exists()
    show.workspace.trust.grant(show.workspace.project)
    await show.workspace.close()
    show = await stage(script)
    await show.say("go")
    assert (show.project / "ran").exists()


async def test_a_cancel_while_a_hook_runs_leaves_one_decision_and_one_result(stage):
    slow = python("import time; open('begun', 'w').close(); time.sleep(60)")
    show = await stage(
        {"turns": [{"tools": [{"name": "list"}]}, {"text": "b"}]}, settings=hooks(before_tool=[{"command": slow}])
    )
    await show.live.send(Submit("go"))
    async with asyncio.timeout(20):
        while not (show.project / "begun").exists():
            await asyncio.sleep(0.02)
    await show.send(Cancel())
    assert (await show.next(RunFinished)).reason == "cancelled"
    (resolved,) = show.of(PermissionResolved)
    (finished,) = show.of(ToolFinished)
    assert (resolved.decision, resolved.note) == ("deny", "the run was cancelled")
    assert finished.is_error
